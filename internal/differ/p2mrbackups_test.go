package differ_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/differ"
	"github.com/seed61375155/trawl/internal/e2e"
)

// TestP2MRBackups has qbitd make wallets by chance, which are paid, pay, are encrypted and locked. Restored here from
// their backups they tell the same, call by call.
func TestP2MRBackups(t *testing.T) {
	p := differ.Start(t, differ.Config{
		Args:  []string{"-keypool=2", "-fallbackfee=0.00005", "-whitelist=noban,relay,mempool@127.0.0.1", "-maxtxfee=10"},
		Peers: true, Qbit: true,
	}, walletExceptions()...)
	w := &p2mrWallets{peerWallets: newPeerWallets(t, p), dir: t.TempDir()}
	w.get(w.core, nil, "", "createwallet", "bank")
	w.get(w.core, &w.bank, "bank", "getnewaddress")
	const coins, maturity = 40, 1000
	w.get(w.core, nil, "", "generatetoaddress", coins, w.bank)
	w.get(w.core, nil, "", "generatetodescriptor", maturity,
		"mr(pk(3d69debe97aea0e7a8e04ba7e6eec390013f9d276b447b6681730e71e3934ddf))")
	for n := range differ.QbitCases(t, 3) {
		w.wallet(fmt.Sprintf("w%d", n))
		if t.Failed() {
			return
		}
	}
	t.Logf("%d payments, %d refused", w.sends, w.refused)
	p.Alive()
}

// p2mrWallets makes wallets of qbitd and compares them with wallets that are restored from their backups.
type p2mrWallets struct {
	*peerWallets

	bank      string // an address of the wallet that pays all others
	dir       string // of backups
	addresses []string
	labels    []string
}

// wallet makes a wallet, uses it, and compares its backup.
func (w *p2mrWallets) wallet(name string) {
	w.t.Helper()
	w.addresses, w.labels = nil, []string{""}
	watches := w.IntN(6) == 0
	w.get(w.core, nil, "", "createwallet", name, watches, watches)
	if watches {
		w.watchKeys(name)
	} else {
		w.takeAddresses(name, 1+w.IntN(4))
	}
	for range 1 + w.IntN(3) {
		w.use(name, watches)
	}
	if !watches && w.IntN(4) == 0 {
		w.get(w.core, nil, name, "encryptwallet", "phrase")
	}
	if w.IntN(3) > 0 {
		w.get(w.core, nil, "bank", "generatetoaddress", 1+w.IntN(2), w.bank)
	}
	w.atOneTip()
	backup := filepath.Join(w.dir, name+".dat")
	w.get(w.core, nil, name, "backupwallet", backup)
	w.get(w.trawl, nil, "", "restorewallet", name, backup)
	w.get(w.core, nil, name, "unloadwallet") // a wallet that is loaded fills up its keys
	w.get(w.core, nil, "", "loadwallet", name)
	w.compare(name)
	for _, s := range []*side{w.trawl, w.core} {
		w.get(s, nil, name, "unloadwallet")
	}
}

// watchKeys imports public keys of the bank's addresses.
func (w *p2mrWallets) watchKeys(name string) {
	w.t.Helper()
	var info struct{ Desc string }
	w.get(w.core, &info, "bank", "getaddressinfo", w.bank)
	label := fmt.Sprintf("watched %d", w.IntN(3))
	w.labels = append(w.labels, label)
	item := map[string]any{"desc": info.Desc, "timestamp": "now", "label": label}
	w.get(w.core, nil, name, "importdescriptors", []any{item})
	w.addresses = append(w.addresses, w.bank)
}

func (w *p2mrWallets) takeAddresses(name string, n int) {
	w.t.Helper()
	for range n {
		label, address := pick(w.Rand, []string{"", "a", "b c", "é"}, ""), ""
		w.get(w.core, &address, name, "getnewaddress", label)
		w.addresses, w.labels = append(w.addresses, address), append(w.labels, label)
	}
}

// use has something happen to a wallet.
func (w *p2mrWallets) use(name string, watches bool) {
	w.t.Helper()
	if watches {
		w.get(w.core, nil, "bank", "generatetoaddress", 1, w.bank)
		return
	}
	to := pick(w.Rand, w.addresses, "")
	switch w.IntN(6) {
	case 0, 1, 2:
		w.pay("bank", to)
		if w.IntN(3) > 0 {
			w.get(w.core, nil, "bank", "generatetoaddress", 1, w.bank)
		}
	case 3:
		w.pay(name, pick(w.Rand, []string{w.bank, to}, to))
	case 4:
		w.get(w.core, nil, name, "setlabel", to, pick(w.Rand, []string{"new", "", "a"}, ""))
		w.labels = append(w.labels, "new")
	default:
		w.takeAddresses(name, 1)
	}
}

func (w *p2mrWallets) pay(from, to string) {
	amount := float64(1+w.IntN(1000)) / 1000
	if err := w.core.call(nil, from, "sendtoaddress", to, amount); err != nil {
		w.refused++ // for lack of coins
		return
	}
	w.sends++
}

// atOneTip waits until the node here has the blocks and the pool of qbitd.
func (w *p2mrWallets) atOneTip() {
	w.t.Helper()
	w.get(w.core, nil, "", "syncwithvalidationinterfacequeue")
	e2e.Eventually(w.t, 2*time.Minute, "both have the same blocks and pool", func() bool {
		var tips [2]string
		var pools [2][]string
		for i, s := range []*side{w.trawl, w.core} {
			w.get(s, &tips[i], "", "getbestblockhash")
			w.get(s, &pools[i], "", "getrawmempool")
		}
		return tips[0] == tips[1] && sameSet(pools[0], pools[1])
	})
}

func sameSet(a, b []string) bool {
	in := map[string]bool{}
	for _, s := range a {
		in[s] = true
	}
	for _, s := range b {
		if !in[s] {
			return false
		}
	}
	return len(a) == len(b)
}

// compare asks both for all that a wallet tells.
func (w *p2mrWallets) compare(name string) {
	w.t.Helper()
	calls := []differ.Call{
		{Method: "getbalances"},
		{Method: "listunspent", Params: []any{0}},
		{Method: "listlabels"},
		{Method: "listreceivedbyaddress", Params: []any{w.IntN(3), true}},
		{Method: "listreceivedbylabel", Params: []any{0, true}},
		{Method: "listtransactions", Params: []any{"*", 1000}},
		{Method: "listsinceblock"},
		{Method: "listdescriptors"},
		{Method: "listdescriptors", Params: []any{true}},
		{Method: "gethdkeys"},
		{Method: "gethdkeys", Params: []any{map[string]any{"private": true}}},
		{Method: "listaddressgroupings"},
		{Method: "listlockunspent"},
		{Method: "getbalance"},
	}
	for _, address := range w.addresses {
		calls = append(calls,
			differ.Call{Method: "getaddressinfo", Params: []any{address}},
			differ.Call{Method: "getreceivedbyaddress", Params: []any{address, w.IntN(2)}})
	}
	for _, label := range w.labels {
		calls = append(calls, differ.Call{Method: "getaddressesbylabel", Params: []any{label}})
	}
	rand.Shuffle(len(calls), func(a, b int) { calls[a], calls[b] = calls[b], calls[a] })
	for i := range calls {
		calls[i].Wallet = name
	}
	w.p.Send(calls...)
}
