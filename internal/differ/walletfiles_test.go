package differ_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// TestWalletFiles has each node make a wallet, be paid, pay and pay more, and the other restore the file. Both then
// give the same answers about the wallet. Payments here have keys that make them idempotent, which the file keeps
// through Core. The other restores the file without private keys, too.
func TestWalletFiles(t *testing.T) {
	config := differ.Config{Later: true, Args: []string{"-keypool=4", "-fallbackfee=0.0001"}}
	p := differ.Start(t, config, walletExceptions()...)
	w := &walletPlay{keys: keys{differ.QbitRandom(t)}, p: p, t: t, now: 1_700_000_000, dir: t.TempDir()}
	w.begin()
	nodes := map[string]*jsonrpc.Client{"trawl": p.Trawl.Client, "core": p.Core}
	for _, way := range []struct{ from, to string }{{"trawl", "core"}, {"core", "trawl"}} {
		f := &fileJourney{walletPlay: w, name: way.from, from: nodes[way.from], to: nodes[way.to]}
		f.make()
		f.pay()
		f.move("backupwallet", f.name)
		f.ask(f.name)
		w.mine(w.faucet(), 1)
		f.ask(f.name)
		watched := f.name + " watched"
		f.move("exportwatchonlywallet", watched)
		f.get(f.from, nil, "", "restorewallet", watched, f.path)
		f.ask(watched)
		if way.from == "trawl" {
			f.payAgain()
		}
	}
	p.Alive()
}

// fileJourney is a wallet that a node makes and both have.
type fileJourney struct {
	*walletPlay

	name     string // of the wallet
	from, to *jsonrpc.Client
	path     string // where the file was written last
	payment  []any  // arguments of the payment with a key
	paid     string // its id
}

func (f *fileJourney) get(node *jsonrpc.Client, result any, wallet, method string, params ...any) {
	f.t.Helper()
	if err := node.CallWallet(f.t.Context(), wallet, result, method, params...); err != nil {
		f.t.Fatalf("wallet %s: %s %.300s: %v\nlog of trawld:\n%s", f.name, method, fmt.Sprint(params...), err,
			f.p.Trawl.LogTail())
	}
}

// make has the one node make the wallet, and gives it coins of each type.
func (f *fileJourney) make() {
	f.get(f.from, nil, "", "createwallet", f.name)
	f.get(f.from, nil, f.name, "addhdkey")
	f.addresses = nil
	for _, kind := range []string{"legacy", "p2sh-segwit", "bech32", "bech32m"} {
		var address string
		f.get(f.from, &address, f.name, "getnewaddress", "of "+kind, kind)
		f.addresses = append(f.addresses, address)
		f.mine(address, 2)
	}
	f.mine(f.faucet(), 101)
	var coins []unspent
	f.get(f.from, &coins, f.name, "listunspent")
	locked := []any{map[string]any{"txid": coins[0].TxID, "vout": coins[0].Vout}}
	f.get(f.from, nil, f.name, "lockunspent", false, locked, true)
}

// pay has the one node pay, and tells the other of the transactions.
func (f *fileJourney) pay() {
	f.payment = []any{f.faucet(), "1.5", "comment", "to whom", false, true, nil, nil, nil, 20}
	if f.from == f.p.Trawl.Client {
		f.payment = append(f.payment, nil, "once")
	}
	f.get(f.from, &f.paid, f.name, "sendtoaddress", f.payment...)
	var replaced string
	f.get(f.from, &replaced, f.name, "sendtoaddress", f.addresses[0], "3", "", "", false, true, nil, nil, nil, 5)
	var bumped struct{ TxID string }
	f.get(f.from, &bumped, f.name, "bumpfee", replaced, map[string]any{"fee_rate": 40})
	f.txids = []string{f.paid, replaced, bumped.TxID}
	for _, id := range []string{f.paid, bumped.TxID} {
		var raw string
		f.get(f.from, &raw, "", "getrawtransaction", id)
		f.get(f.to, nil, "", "sendrawtransaction", raw)
	}
	f.settleAt(f.name)
}

// move has the one node write the wallet's file by a method, and the other restore it.
func (f *fileJourney) move(method, name string) {
	f.t.Helper()
	f.path = filepath.Join(f.dir, name)
	f.get(f.from, nil, f.name, method, f.path)
	f.get(f.to, nil, "", "restorewallet", name, f.path)
}

// ask compares what both say of a wallet.
func (f *fileJourney) ask(wallet string) {
	f.t.Helper()
	f.settleAt(wallet)
	calls := []differ.Call{
		{Method: "listdescriptors", Params: []any{true}}, {Method: "listdescriptors"}, {Method: "getwalletinfo"},
		{Method: "gethdkeys", Params: []any{map[string]any{"private": true}}}, {Method: "listlockunspent"},
		{Method: "getbalances"}, {Method: "listunspent", Params: []any{0}}, {Method: "listlabels"},
		{Method: "listtransactions"}, {Method: "listreceivedbyaddress", Params: []any{0, true}},
		{Method: "listaddressgroupings"}, {Method: "listsinceblock"},
	}
	for _, id := range f.txids {
		calls = append(calls, differ.Call{Method: "gettransaction", Params: []any{id, true, true}})
	}
	for i := range calls {
		calls[i].Wallet = wallet
	}
	f.names = []string{wallet}
	f.send(calls...)
	for range 10 {
		f.look()
	}
}

// settleAt waits until the wallets of a name have heard of everything.
func (f *fileJourney) settleAt(name string) {
	f.t.Helper()
	_ = f.p.Trawl.CallWallet(f.t.Context(), name, nil, "getwalletinfo")
	f.get(f.p.Core, nil, "", "syncwithvalidationinterfacequeue")
}

// payAgain restores the file that the other node writes, and repeats the payment in that wallet: nothing is paid.
func (f *fileJourney) payAgain() {
	f.t.Helper()
	path := filepath.Join(f.dir, "back")
	f.get(f.to, nil, f.name, "backupwallet", path)
	f.get(f.from, nil, "", "restorewallet", "back", path)
	var again string
	f.get(f.from, &again, "back", "sendtoaddress", f.payment...)
	if again != f.paid {
		f.t.Errorf("paid again in %s, first in %s", again, f.paid)
	}
}
