package differ_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/differ"
)

// TestWalletRefusals asks wallets that cannot pay for payments, by each method. The
// wallets are encrypted and locked, without private keys, blank, empty, or have a
// damaged file. They refuse in the same words.
func TestWalletRefusals(t *testing.T) {
	f := &fundingPlay{own: map[string][]string{}}
	p := differ.Start(t, differ.Config{Args: []string{"-keypool=3", "-fallbackfee=0.0001", "-acceptnonstdtxn=1"}},
		append(walletExceptions(), madeByChance)...)
	f.walletPlay = walletPlay{keys: keys{differ.Random(t)}, p: p, t: t, now: 1_700_000_000}
	f.begin()
	f.send(differ.Call{Method: "generatetodescriptor", Params: []any{130, "raw(51)"}})
	f.damaged()
	for name, params := range map[string][]any{
		"locked": {"locked", false, true}, "watching": {"watching", true, true}, "blank": {"blank", false, true},
		"empty": {"empty", false, true}, "lockedempty": {"lockedempty", false, true, "secret"},
	} {
		f.send(differ.Call{Method: "createwallet", Params: params})
		f.names = append(f.names, name)
		if name == "locked" || name == "empty" {
			f.importStandard(name)
		}
	}
	got := f.send(differ.Call{Method: "getnewaddress", Params: []any{"", "bech32"}, Wallet: "locked"})
	f.own["locked"] = []string{textOf(got[0].Core.Result)}
	f.give("locked", 8)
	f.mine(f.faucet(), 1)
	f.send(differ.Call{Method: "encryptwallet", Params: []any{"secret"}, Wallet: "locked"})
	for _, name := range append(f.names, "damaged", "none") {
		f.send(f.payments(name)...)
	}
	p.Alive()
}

func textOf(raw []byte) string {
	if len(raw) < 2 {
		return ""
	}
	return string(raw[1 : len(raw)-1])
}

// damaged makes a file that is no wallet any more, and has both load it.
func (f *fundingPlay) damaged() {
	f.send(differ.Call{Method: "createwallet", Params: []any{"damaged", false, true}},
		differ.Call{Method: "unloadwallet", Params: []any{"damaged"}})
	for _, dir := range []string{f.p.Trawl.NetDir, filepath.Join(f.p.CoreDir, "regtest")} {
		file, err := os.OpenFile(filepath.Join(dir, "wallets", "damaged", "wallet.dat"), os.O_RDWR, 0)
		if err != nil {
			f.t.Fatal(err)
		}
		if _, err := file.WriteAt(make([]byte, 2000), 0); err != nil {
			f.t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			f.t.Fatal(err)
		}
	}
	f.send(differ.Call{Method: "loadwallet", Params: []any{"damaged"}})
}

// payments asks a wallet to pay by each method.
func (f *fundingPlay) payments(name string) []differ.Call {
	to, txid := f.faucet(), f.txid()
	outs := []any{map[string]any{to: "0.00002"}}
	calls := []differ.Call{
		{Method: "sendtoaddress", Params: []any{to, "0.00002"}},
		{Method: "sendtoaddress", Params: []any{to, "100"}},
		{Method: "sendtoaddress", Params: []any{to, "0.00000001"}},
		{Method: "sendtoaddress", Params: []any{"x", "0.1"}},
		{Method: "sendmany", Params: []any{"", map[string]any{to: "0.00002"}}},
		{Method: "sendmany", Params: []any{"", map[string]any{}}},
		{Method: "send", Params: []any{[]any{map[string]any{to: "100"}}}},
		{Method: "send", Params: []any{outs, nil, "x"}},
		{Method: "sendall", Params: []any{[]any{}}},
		{Method: "walletcreatefundedpsbt", Params: []any{[]any{}, []any{map[string]any{to: "100"}}}},
		{Method: "walletcreatefundedpsbt", Params: []any{[]any{map[string]any{"txid": txid, "vout": 0}}, outs}},
		{Method: "fundrawtransaction", Params: []any{"00"}},
		{Method: "bumpfee", Params: []any{txid}},
		{Method: "psbtbumpfee", Params: []any{txid}},
		{Method: "abandontransaction", Params: []any{txid}},
		{Method: "removeprunedfunds", Params: []any{txid}},
		{Method: "lockunspent", Params: []any{false, []any{map[string]any{"txid": txid, "vout": 0}}}},
		{Method: "simulaterawtransaction", Params: []any{[]any{"00"}}},
		{Method: "signmessage", Params: []any{to, "text"}},
		{Method: "settxfee", Params: []any{"0.1"}},
		{Method: "setwalletflag", Params: []any{"avoid_reuse", true}},
		{Method: "listaddressgroupings"},
		{Method: "listlockunspent"},
	}
	if name == "empty" || name == "watching" || name == "blank" { // these have nothing, in any case
		calls = append(calls, differ.Call{Method: "sendall", Params: []any{[]any{to}}})
	}
	for i := range calls {
		calls[i].Wallet = name
	}
	return calls
}

// txid is an id that no wallet has.
func (*fundingPlay) txid() string {
	return "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
}
