package walletrpc_test

import (
	"context"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

const (
	own     = "bcrt1qd0m6z476pgc4w0k06m5ynmddmph2x0en7r9vl3"
	foreign = "mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn"
)

var (
	ownScript     = fromHex("00146bf7a157da0a31573ecfd6e849edadd86ea33f33")
	foreignScript = fromHex("76a914243f1394f44554f4ce3fd68649c19adc483ce92488ac")
)

func fromHex(text string) []byte {
	raw, err := hex.DecodeString(text)
	if err != nil {
		panic(err)
	}
	return raw
}

// A request is what a call asks of an actor.
type request struct {
	method, params string
	want           any
}

// ask checks the last request of the type of Q.
func check[Q messages.Request[R], R any](t *testing.T, r *rig, d *double, path *string, tests []request) {
	t.Helper()
	answer(d, func(Q) (reply R, err error) { return reply, nil })
	for _, test := range tests {
		r.call(path, test.method, test.params)
		if got := asked[Q](d); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s %s\nasked %+v\nwant  %+v", test.method, test.params, got, test.want)
		}
	}
}

func TestRegistryRequests(t *testing.T) {
	r := newRig(t)
	r.load("a", plain)
	type m = messages.CreateWallet
	check[messages.CreateWallet](t, r, r.registry, nil, []request{
		{"createwallet", `["w"]`, m{Name: "w"}},
		{"createwallet", `["", true, true]`, m{DisablePrivateKeys: true, Blank: true}},
		{"createwallet", `["w", null, null, "pw", true, true, true]`, m{
			Name: "w", Passphrase: messages.Secret("pw"), AvoidReuse: true, OnStartup: messages.LoadOnStartup,
		}},
		{"createwallet", `{"wallet_name": "w", "load_on_startup": false}`, m{Name: "w", OnStartup: messages.DontLoadOnStartup}},
	})
	check[messages.LoadWallet](t, r, r.registry, nil, []request{
		{"loadwallet", `["w"]`, messages.LoadWallet{Name: "w"}},
		{"loadwallet", `["w", false]`, messages.LoadWallet{Name: "w", OnStartup: messages.DontLoadOnStartup}},
	})
	check[messages.PreviewRestore](t, r, r.registry, nil, []request{
		{"previewrestore", `["b"]`, messages.PreviewRestore{Backup: "b"}},
		{"previewrestore", `["b", ""]`, messages.PreviewRestore{Backup: "b", Name: new("")}},
	})
	check[messages.RestoreWallet](t, r, r.registry, nil, []request{
		{"restorewallet", `["w", "b"]`, messages.RestoreWallet{Name: "w", Backup: "b"}},
		{"restorewallet", `["w", "", true]`, messages.RestoreWallet{Name: "w", OnStartup: messages.LoadOnStartup}},
	})
	check[messages.MigrateWallet](t, r, r.registry, nil, []request{
		{"migratewallet", `["w"]`, messages.MigrateWallet{Name: "w"}},
		{"migratewallet", `["w", null, null]`, messages.MigrateWallet{Name: "w"}},
		{"migratewallet", `{"wallet_name": "w", "load_wallet": false}`, messages.MigrateWallet{Name: "w", DontLoad: true}},
		{"migratewallet", `["w", "pw"]`, messages.MigrateWallet{Name: "w", Passphrase: messages.Secret("pw")}},
	})
	check[messages.MigrateWallet](t, r, r.registry, new("a"), []request{
		{"migratewallet", `[]`, messages.MigrateWallet{Name: "a"}},
		{"migratewallet", `["a"]`, messages.MigrateWallet{Name: "a"}},
	})
	check[messages.UnloadWallet](t, r, r.registry, nil, []request{
		{"unloadwallet", `["a"]`, messages.UnloadWallet{Name: "a"}},
	})
	check[messages.UnloadWallet](t, r, r.registry, new("a"), []request{
		{"unloadwallet", `[null, true]`, messages.UnloadWallet{Name: "a", OnStartup: messages.LoadOnStartup}},
		{"unloadwallet", `["a", false]`, messages.UnloadWallet{Name: "a", OnStartup: messages.DontLoadOnStartup}},
	})
}

func TestWalletRequests(t *testing.T) {
	r := newRig(t)
	info := plain
	info.LastProcessedHeight = 10
	w := r.load("a", info)
	check[messages.ExportWatchOnly](t, r, w, nil, []request{
		{"exportwatchonlywallet", `["/b"]`, messages.ExportWatchOnly{Path: "/b"}},
	})
	check[messages.BackupWallet](t, r, w, nil, []request{{"backupwallet", `["/b"]`, messages.BackupWallet{Path: "/b"}}})
	check[messages.ListDescriptors](t, r, w, nil, []request{
		{"listdescriptors", `[null]`, messages.ListDescriptors{}},
		{"listdescriptors", `[true]`, messages.ListDescriptors{Private: true}},
	})
	check[messages.GetHDKeys](t, r, w, nil, []request{
		{"gethdkeys", `[]`, messages.GetHDKeys{}},
		{"gethdkeys", `[null]`, messages.GetHDKeys{}},
		{"gethdkeys", `{"active_only": true, "private": true}`, messages.GetHDKeys{ActiveOnly: true, Private: true}},
	})
	check[messages.CreateWalletDescriptor](t, r, w, nil, []request{
		{"createwalletdescriptor", `["legacy"]`, messages.CreateWalletDescriptor{Type: "legacy"}},
		{"createwalletdescriptor", `{"type": "bech32m", "internal": false, "hdkey": "k"}`, messages.CreateWalletDescriptor{
			Type: "bech32m", Internal: new(false), HDKey: "k",
		}},
		{"createwalletdescriptor", `["bech32", {"internal": null, "hdkey": null}]`, messages.CreateWalletDescriptor{Type: "bech32"}},
	})
	check[messages.AddHDKey](t, r, w, nil, []request{
		{"addhdkey", `[]`, messages.AddHDKey{}},
		{"addhdkey", `[null]`, messages.AddHDKey{}},
		{"addhdkey", `[""]`, messages.AddHDKey{Key: new("")}},
		{"addhdkey", `["x"]`, messages.AddHDKey{Key: new("x")}},
	})
	check[messages.DeriveHDKey](t, r, w, nil, []request{
		{"derivehdkey", `["m/87h/1"]`, messages.DeriveHDKey{Path: []uint32{87 | 1<<31, 1}}},
		{"derivehdkey", `{"path": "0'", "hdkey": "k", "private": true}`, messages.DeriveHDKey{
			Path: []uint32{1 << 31}, HDKey: new("k"), Private: true,
		}},
	})
	check[messages.NewAddress](t, r, w, nil, []request{
		{"getnewaddress", `[]`, messages.NewAddress{}},
		{"getnewaddress", `["*", ""]`, messages.NewAddress{Label: "*", HasType: true}},
		{"getnewaddress", `["l", "x"]`, messages.NewAddress{Label: "l", Type: "x", HasType: true}},
		{"getrawchangeaddress", `[]`, messages.NewAddress{Change: true}},
		{"getrawchangeaddress", `["legacy"]`, messages.NewAddress{Change: true, Type: "legacy", HasType: true}},
	})
	check[messages.GetAddressInfo](t, r, w, nil, []request{
		{"getaddressinfo", `["` + own + `"]`, messages.GetAddressInfo{Script: ownScript}},
	})
	check[messages.SetLabel](t, r, w, nil, []request{
		{"setlabel", `["BCRT1QD0M6Z476PGC4W0K06M5YNMDDMPH2X0EN7R9VL3", ""]`, messages.SetLabel{Address: own, Script: ownScript}},
		{"setlabel", `["` + foreign + `", "l"]`, messages.SetLabel{
			Address: foreign, Script: foreignScript, Label: "l",
		}},
	})
	check[messages.ListLabels](t, r, w, nil, []request{
		{"listlabels", `[""]`, messages.ListLabels{}}, {"listlabels", `["send"]`, messages.ListLabels{Purpose: "send"}},
	})
	check[messages.GetAddressesByLabel](t, r, w, nil, []request{
		{"getaddressesbylabel", `[""]`, messages.GetAddressesByLabel{}},
	})
	check[messages.KeypoolRefill](t, r, w, nil, []request{
		{"keypoolrefill", `[]`, messages.KeypoolRefill{}}, {"keypoolrefill", `[7]`, messages.KeypoolRefill{Size: 7}},
	})
	check[messages.Rescan](t, r, w, nil, []request{
		{"rescanblockchain", `[]`, messages.Rescan{}},
		{"rescanblockchain", `[10, 10]`, messages.Rescan{Start: 10, Stop: new(int32(10))}},
		{"rescanblockchain", `[null, 0]`, messages.Rescan{Stop: new(int32(0))}},
	})
}

func TestHistoryRequests(t *testing.T) {
	r := newRig(t)
	w := r.load("a", plain)
	genesis := r.chain.Active().Tip().Hash
	check[messages.GetBalances](t, r, w, nil, []request{
		{"getbalances", `[]`, messages.GetBalances{AvoidReuse: true}},
		{"getbalance", `[]`, messages.GetBalances{AvoidReuse: true}},
		{"getbalance", `["*", 6, false, false]`, messages.GetBalances{MinConf: 6}},
		{"getbalance", `[null, -1, null, null]`, messages.GetBalances{MinConf: -1, AvoidReuse: true}},
	})
	check[messages.GetReceived](t, r, w, nil, []request{
		{"getreceivedbyaddress", `["` + own + `"]`, messages.GetReceived{Script: ownScript, MinConf: 1}},
		{"getreceivedbyaddress", `["` + own + `", 0, true]`, messages.GetReceived{
			Script: ownScript, IncludeImmature: true,
		}},
		{"getreceivedbylabel", `[""]`, messages.GetReceived{Label: new(""), MinConf: 1}},
		{"getreceivedbylabel", `["l", -3, true]`, messages.GetReceived{
			Label: new("l"), MinConf: -3, IncludeImmature: true,
		}},
	})
	check[messages.ListReceived](t, r, w, nil, []request{
		{"listreceivedbyaddress", `[]`, messages.ListReceived{MinConf: 1}},
		{"listreceivedbyaddress", `[0, true, true, "", true]`, messages.ListReceived{IncludeEmpty: true, IncludeImmature: true}},
		{"listreceivedbyaddress", `{"address_filter": "` + own + `"}`, messages.ListReceived{MinConf: 1, Script: ownScript}},
		{"listreceivedbylabel", `[2, true, false, true]`, messages.ListReceived{
			MinConf: 2, IncludeEmpty: true, IncludeImmature: true, ByLabel: true,
		}},
	})
	check[messages.ListTransactions](t, r, w, nil, []request{
		{"listtransactions", `[]`, messages.ListTransactions{Count: 10}},
		{"listtransactions", `["*", 0, 2147483647]`, messages.ListTransactions{Skip: 2147483647}},
		{"listtransactions", `["l", 3]`, messages.ListTransactions{Label: new("l"), Count: 3}},
	})
	check[messages.ListSinceBlock](t, r, w, nil, []request{
		{"listsinceblock", `[]`, messages.ListSinceBlock{TargetConf: 1, IncludeRemoved: true}},
		{"listsinceblock", `["` + genesis.String() + `", 6, null, false, true, ""]`, messages.ListSinceBlock{
			Block: &genesis, TargetConf: 6, IncludeChange: true, Label: new(""),
		}},
	})
	check[messages.GetTransaction](t, r, w, nil, []request{
		{"gettransaction", `["` + genesis.String() + `"]`, messages.GetTransaction{TxID: genesis}},
	})
	type m = messages.ListUnspent
	const most = btcutil.Amount(21e14)
	check[messages.ListUnspent](t, r, w, nil, []request{
		{"listunspent", `[]`, m{MinConf: 1, MaxConf: 9999999, IncludeUnsafe: true, MaxAmount: most}},
		{"listunspent", `[0, 5, ["` + own + `", "` + foreign + `"], false]`, m{
			MaxConf: 5, Scripts: [][]byte{ownScript, foreignScript}, MaxAmount: most,
		}},
		{"listunspent", `{"minimumAmount": "0.5", "maximumAmount": 2, "minimumSumAmount": 3, "maximumCount": 4, ` +
			`"include_immature_coinbase": true}`, m{
			MinConf: 1, MaxConf: 9999999, IncludeUnsafe: true, MinAmount: 5e7, MaxAmount: 2e8, MinSum: 3e8, MaxCount: 4,
			IncludeImmature: true,
		}},
		{"listunspent", `{"minimumSumAmount": 0, "maximumCount": -1}`, m{
			MinConf: 1, MaxConf: 9999999, IncludeUnsafe: true, MaxAmount: most, MinSum: 1,
		}},
	})
}

func TestKeyRequests(t *testing.T) {
	r := newRig(t)
	w := r.load("a", unlocked)
	check[messages.UnlockWallet](t, r, w, nil, []request{
		{"walletpassphrase", `["pw", 60]`, messages.UnlockWallet{Passphrase: messages.Secret("pw"), For: time.Minute}},
		{"walletpassphrase", `["pw", 0]`, messages.UnlockWallet{Passphrase: messages.Secret("pw")}},
		{"walletpassphrase", `["pw", 9223372036854775807]`, messages.UnlockWallet{
			Passphrase: messages.Secret("pw"), For: 100_000_000 * time.Second,
		}},
	})
	check[messages.ChangePassphrase](t, r, w, nil, []request{
		{"walletpassphrasechange", `["a", "b"]`, messages.ChangePassphrase{
			Old: messages.Secret("a"), New: messages.Secret("b"),
		}},
	})
	check[messages.LockWallet](t, r, w, nil, []request{{"walletlock", `[]`, messages.LockWallet{}}})
	r.directory.Remove("a")
	w = r.load("b", plain)
	check[messages.EncryptWallet](t, r, w, nil, []request{
		{"encryptwallet", `["pw"]`, messages.EncryptWallet{Passphrase: messages.Secret("pw")}},
	})
}

// spendTx spends output 0 of a transaction of 0xaa and output 1 of one of 0xbb.
const spendTx = "0200000002" +
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" + "00000000" + "00" + "ffffffff" +
	"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb" + "01000000" + "00" + "ffffffff" +
	"01" + "00e1f50500000000" + "0151" + "00000000"

func TestSignRequests(t *testing.T) {
	var hashA, hashB chainhash.Hash
	for i := range hashA {
		hashA[i], hashB[i] = 0xaa, 0xbb
	}
	r := newRig(t)
	r.deps.Unspent = func(_ context.Context, at *wire.OutPoint) (*wire.TxOut, error) {
		if at.Hash == hashA {
			return &wire.TxOut{Value: 5, PkScript: []byte{0x51}}, nil
		}
		return nil, nil
	}
	r.build()
	w := r.load("a", plain)
	prev := func(hash chainhash.Hash, more string) string {
		return `{"txid": "` + hash.String() + `", "vout": 1, "scriptPubKey": "52"` + more + `}`
	}
	ofChain := messages.PrevOut{TxID: hashA, Script: []byte{0x51}, Amount: new(btcutil.Amount(5))}
	brought := messages.PrevOut{TxID: hashB, Index: 1, Script: []byte{0x52}}
	priced := brought
	priced.Amount = new(btcutil.Amount(1e8))
	type m = messages.SignWithWallet
	check[messages.SignWithWallet](t, r, w, nil, []request{
		{"signrawtransactionwithwallet", `["` + spendTx + `"]`, m{
			RawTx: fromHex(spendTx), Prevs: []messages.PrevOut{ofChain},
		}},
		{"signrawtransactionwithwallet", `["` + spendTx + `", [` + prev(hashB, "") + `], "ALL"]`, m{
			RawTx: fromHex(spendTx), Prevs: []messages.PrevOut{ofChain, brought}, HashType: "ALL",
		}},
		{"signrawtransactionwithwallet", `["` + spendTx + `", [` + prev(hashB, "") + `, ` + prev(hashB, `, "amount": 1`) + `]]`, m{
			RawTx: fromHex(spendTx), Prevs: []messages.PrevOut{ofChain, priced},
		}},
	})
	// A coin of the chain with another script than the client says.
	got := r.call(nil, "signrawtransactionwithwallet", `["`+spendTx+`", [{"txid": "`+hashA.String()+`", "vout": 0, "scriptPubKey": "52"}]]`)
	if want := `{"code":-22,"message":"Previous output scriptPubKey mismatch:\n1\nvs:\n2"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A wallet signs for outputs of later witness versions from the block on that may have them.
func TestSignLaterVersions(t *testing.T) {
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{Activation: map[string]int32{"outerwitness": 2}})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	r.chain = chaintest.NewOn(network)
	r.deps.Network, r.deps.Chain = network, new(chainview.Current)
	r.deps.Chain.Set(r.chain)
	r.build()
	w := r.load("a", plain)
	answer(w, func(messages.SignWithWallet) (messages.Signed, error) { return messages.Signed{Complete: true}, nil })
	prev := `{"txid": "` + strings.Repeat("aa", 32) + `", "vout": 0, "scriptPubKey": "5302abcd", "amount": 1}`
	for height := range 4 {
		want := `{"code":-8,"message":"Only restricted-output-mode prevout scriptPubKeys are supported on this chain"}`
		if height >= 2 {
			want = `{"hex":"","complete":true}`
		}
		if got := r.call(nil, "signrawtransactionwithwallet", `["`+spendTx+`", [`+prev+`]]`); got != want {
			t.Errorf("tip %d: got %s, want %s", height, got, want)
		}
		r.chain.MineN(1)
	}
}
