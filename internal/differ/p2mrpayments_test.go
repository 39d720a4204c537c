package differ_test

import (
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/differ"
)

// TestP2MRPayments has the same wallet of P2MR keys here and in qbitd, and pays from both, over a connection. Each
// node takes the other's transactions, and after every block both agree on the coins. A kill of the node neither
// loses a coin nor pays twice.
func TestP2MRPayments(t *testing.T) {
	p := differ.Start(t, differ.Config{
		Args: []string{
			"-keypool=16", "-fallbackfee=0.00005", "-whitelist=in,out,noban,relay,mempool@127.0.0.1", "-maxtxfee=10",
		},
		Peers: true, Qbit: true,
	})
	w := newPeerWallets(t, p)
	w.same = true
	w.trawl.wallet, w.core.wallet = "one", "one"
	w.trawl.watched, w.core.watched = "one", "one"
	const inputSize = 3850 // of one key
	w.changeTypes, w.changeCost = []string{"p2mr"}, 43+inputSize
	w.get(w.core, nil, "", "createwallet", "one", false, false, "", false, true, true)
	for range 6 {
		var address string
		w.get(w.core, &address, "one", "getnewaddress")
		w.core.to = append(w.core.to, address)
	}
	w.trawl.to = w.core.to
	backup := filepath.Join(t.TempDir(), "one.dat")
	w.get(w.core, nil, "one", "backupwallet", backup)
	w.get(w.trawl, nil, "", "restorewallet", "one", backup, true)
	const coins, maturity = 30, 1000
	w.get(w.core, nil, "", "generatetoaddress", coins, w.core.to[0])
	w.get(w.core, nil, "", "generatetodescriptor", maturity,
		"mr(pk(3d69debe97aea0e7a8e04ba7e6eec390013f9d276b447b6681730e71e3934ddf))")
	w.settle()
	w.agree()
	w.play()
}
