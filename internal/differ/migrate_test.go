package differ_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/internal/walletfile/legacytest"
)

var legacyNet = descriptor.NetworkOf(&chaincfg.RegressionNetParams)

// foreignAddress is no wallet's.
const foreignAddress = "bcrt1qs758ursh4q9z627kt3pp5yysm78ddny6txaqgw"

// TestMigrate migrates the same legacy wallets, in both byte orders, with payments in
// the file and others that came later, here and in Core.
func TestMigrate(t *testing.T) {
	load, err := exec.LookPath("db5.3_load")
	if os.Getenv("BITCOIND") != "" && err != nil {
		t.Skip("db5.3_load of Debian's db5.3-util makes the wallets")
	}
	p := differ.Start(t, differ.Config{Args: []string{"-keypool=4", "-fallbackfee=0.0001"}}, migrateExceptions()...)
	m := &migrationPlay{t: t, p: p, load: load, hashes: []chainhash.Hash{*chaincfg.RegressionNetParams.GenesisHash}}
	p.Get(nil, "setmocktime", 1_700_000_000)
	m.kinds = make(map[string]*legacytest.Wallet)
	for _, kind := range legacytest.Kinds {
		m.kinds[kind] = legacytest.Make(kind, legacyNet, nil)
	}
	m.pay()
	for i, kind := range legacytest.Kinds {
		t.Run(kind, func(t *testing.T) {
			m := *m
			m.t, m.name, m.order = t, "w-"+kind, []string{"1234", "4321"}[i%2]
			m.place(m.kinds[kind])
			m.run(kind)
		})
	}
	p.Alive()
}

// seed is what wallets get that had none: each node makes its own.
var seed = regexp.MustCompile(`\{"desc":"[^"]*","timestamp":\d+,"active":true[^}]*\},?`)

func migrateExceptions() []differ.Exception {
	return append(walletExceptions(), differ.Exception{
		Reason: "the order in which Core finds wallets in a directory",
		Is: func(c differ.Call, got differ.Replies) bool {
			return c.Method == "listwalletdir" && sortedNames(got.Trawl) == sortedNames(got.Core)
		},
	}, differ.Exception{
		Reason: "the new descriptors of a wallet that had no seed",
		Is: func(c differ.Call, got differ.Replies) bool {
			return strings.HasSuffix(c.Wallet, "w-single") &&
				(c.Method == "listdescriptors" || c.Method == "gethdkeys") &&
				(c.Method == "gethdkeys" ||
					seed.ReplaceAllString(got.Trawl.String(), "") == seed.ReplaceAllString(got.Core.String(), ""))
		},
	})
}

func sortedNames(r differ.Reply) string {
	var dir struct{ Wallets []any }
	if json.Unmarshal(r.Result, &dir) != nil {
		return r.String()
	}
	sortSet(dir.Wallets)
	text, _ := json.Marshal(dir)
	return string(text)
}

type migrationPlay struct {
	t     *testing.T
	p     *differ.Pair
	load  string
	kinds map[string]*legacytest.Wallet

	hashes []chainhash.Hash // of blocks, by height
	seen   int              // height up to which the wallets have seen the chain

	name, order string
}

// mine has Core make a block, which is handed on.
func (m *migrationPlay) mine(address string) *wire.MsgBlock {
	m.t.Helper()
	var made []chainhash.Hash
	var text string
	core := func(result any, method string, params ...any) {
		if err := m.p.Core.Call(m.t.Context(), result, method, params...); err != nil {
			m.t.Fatal(method, err)
		}
	}
	core(&made, "generatetoaddress", 1, address)
	core(&text, "getblock", made[0].String(), 0)
	m.p.Trawl.Get(nil, "submitblock", text)
	m.hashes = append(m.hashes, made[0])
	raw, err := hex.DecodeString(text)
	var block wire.MsgBlock
	if err == nil {
		err = block.Deserialize(bytes.NewReader(raw))
	}
	if err != nil {
		m.t.Fatal(err)
	}
	return &block
}

// pay pays to the wallets and has them spend: what they have seen is in their files.
func (m *migrationPlay) pay() {
	note := func(w *legacytest.Wallet, tx *wire.MsgTx, index, pos int) {
		if w == m.kinds["watching"] {
			return // Core fails where nothing but what is watched has transactions
		}
		height := len(m.hashes) - 1
		w.AddTx(&walletfile.Tx{
			Tx: tx, State: walletfile.ConfirmedState(m.hashes[height], int32(index)), OrderPos: int64(pos),
			TimeReceived: 1_600_000_000, TimeSmart: 1_600_000_000, Values: map[string]string{"comment": "old"},
		})
	}
	coins := make(map[string]*wire.MsgTx)
	for _, kind := range legacytest.Kinds {
		w := m.kinds[kind]
		pos := 0
		for _, scripts := range [][][]byte{w.Own, w.Watched} {
			for _, script := range scripts {
				if address, ok := descriptor.AddressOf(script, legacyNet); ok && pos < 6 {
					note(w, m.mine(address).Transactions[0], 0, pos)
					if pos == 0 {
						coins[kind] = w0(w)
					}
					pos++
				}
			}
		}
	}
	for range 101 {
		m.mine(foreignAddress)
	}
	for _, kind := range legacytest.Kinds {
		w := m.kinds[kind]
		if coins[kind] == nil || len(w.Keys) == 0 {
			continue
		}
		tx := m.spend(w, coins[kind])
		m.p.Get(nil, "sendrawtransaction", tx)
		block := m.mine(foreignAddress)
		note(w, block.Transactions[1], 1, 6)
	}
	m.seen = len(m.hashes) - 1
	for _, kind := range legacytest.Kinds { // and what they have not seen
		w := m.kinds[kind]
		for _, scripts := range [][][]byte{w.Own, w.Watched} {
			for i := len(scripts) - 1; i >= 0 && i >= len(scripts)-2; i-- {
				if address, ok := descriptor.AddressOf(scripts[i], legacyNet); ok {
					m.mine(address)
				}
			}
		}
	}
}

// w0 is the only transaction of a wallet.
func w0(w *legacytest.Wallet) *wire.MsgTx {
	for _, r := range w.Records {
		if entry, err := walletfile.Parse(r); err == nil {
			if tx, ok := entry.(*walletfile.Tx); ok {
				return tx.Tx
			}
		}
	}
	return nil
}

// spend signs a transaction that spends a coin of a wallet.
func (m *migrationPlay) spend(w *legacytest.Wallet, coin *wire.MsgTx) string {
	m.t.Helper()
	address, _ := descriptor.AddressOf(w.Own[len(w.Own)-1], legacyNet)
	var raw string
	var signed struct {
		Hex      string
		Complete bool
	}
	value := btcutil.Amount(coin.TxOut[0].Value).ToBTC()
	m.p.Get(&raw, "createrawtransaction", []any{map[string]any{"txid": coin.TxHash().String(), "vout": 0}},
		[]any{map[string]any{foreignAddress: 1}, map[string]any{address: value - 1.001}})
	key := w.Keys[0]
	wif, err := btcutil.NewWIF(secp256k1.PrivKeyFromBytes(key.Scalar[:]), &chaincfg.RegressionNetParams, key.Compressed)
	if err != nil {
		m.t.Fatal(err)
	}
	m.p.Get(&signed, "signrawtransactionwithkey", raw, []string{wif.String()})
	if !signed.Complete {
		m.t.Fatalf("%s: not signed", raw)
	}
	return signed.Hex
}

// place makes the wallet's file for both nodes.
func (m *migrationPlay) place(w *legacytest.Wallet) {
	m.t.Helper()
	w.Put(walletfile.BestBlockNoMerkle(walletfile.NewLocator(int32(m.seen), func(height int32) chainhash.Hash {
		return m.hashes[height]
	})))
	var dump strings.Builder
	if err := legacytest.Dump(&dump, w.Records); err != nil {
		m.t.Fatal(err)
	}
	for _, dir := range []string{m.p.Trawl.Dir, m.p.CoreDir} {
		path := filepath.Join(dir, "regtest", "wallets", m.name, "wallet.dat")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			m.t.Fatal(err)
		}
		load := exec.CommandContext(m.t.Context(), m.load, "-c", "db_lorder="+m.order, path)
		load.Stdin = strings.NewReader(dump.String())
		if out, err := load.CombinedOutput(); err != nil {
			m.t.Fatalf("%v: %s", err, out)
		}
	}
}

func (m *migrationPlay) run(kind string) {
	call := func(method string, params ...any) []differ.Replies {
		return m.p.Send(differ.Call{Method: method, Params: params})
	}
	call("listwalletdir")
	call("loadwallet", m.name)
	call("restorewallet", "copy", filepath.Join(m.p.Trawl.Dir, "regtest", "wallets", m.name, "wallet.dat"))
	params := []any{m.name}
	if kind == "encrypted" {
		call("migratewallet", m.name, "wrong")
		call("migratewallet", m.name, "with a zero\x00 in it")
		call("migratewallet", m.name)
		params = append(params, legacytest.Passphrase)
	}
	got := call("migratewallet", params...)
	call("migratewallet", m.name)
	call("listwalletdir")
	call("listwallets")
	var reply map[string]string
	if err := json.Unmarshal(got[0].Core.Result, &reply); err != nil {
		m.t.Log(got[0].Core.String())
		return
	}
	for _, key := range []string{"wallet_name", "watchonly_name", "solvables_name"} {
		if name, ok := reply[key]; ok {
			m.compare(name, kind)
		}
	}
}

// compare compares a wallet.
func (m *migrationPlay) compare(name, kind string) {
	if kind == "encrypted" && name == m.name {
		m.p.Send(differ.Call{Method: "listdescriptors", Wallet: name})
		m.p.Send(differ.Call{Method: "walletpassphrase", Params: []any{legacytest.Passphrase, 1000}, Wallet: name})
	}
	private := name == m.name && kind != "noprivate"
	for _, c := range []differ.Call{
		{Method: "getwalletinfo"},
		{Method: "listdescriptors", Params: []any{private}},
		{Method: "getbalances"},
		{Method: "listtransactions", Params: []any{"*", 1000}},
		{Method: "listunspent", Params: []any{0}},
		{Method: "listreceivedbyaddress", Params: []any{0, true}},
		{Method: "listlabels"},
		{Method: "listlabels", Params: []any{"receive"}},
		{Method: "listlabels", Params: []any{"send"}},
		{Method: "listaddressgroupings"},
		{Method: "listlockunspent"},
		{Method: "gethdkeys"},
	} {
		c.Wallet = name
		m.p.Send(c)
	}
	w := m.kinds[kind]
	for _, script := range append(w.Own, w.Watched...) {
		if address, ok := descriptor.AddressOf(script, legacyNet); ok {
			m.p.Send(differ.Call{Method: "getaddressinfo", Params: []any{address}, Wallet: name})
		}
	}
}
