package txpool_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/messages"
)

// The rules for restricted transactions in packages: each of them has at most one
// parent or one child, of its own kind.
func TestPackageTRUC(t *testing.T) {
	truc := restricted
	type txs = []*wire.MsgTx
	for _, test := range []struct {
		what string
		txs  func(r *rig) txs
		want string // numbers stand for transactions of the package, ID for one of the pool
	}{
		{"parent and child", func(r *rig) txs {
			parent := truc(r.tx(1000, 1, r.coin()))
			return txs{parent, truc(r.spending(1000, parent, 0))}
		}, ""},
		{"unrelated", func(r *rig) txs {
			return txs{truc(r.tx(1000, 1, r.coin())), r.tx(1000, 1, r.coin()), truc(r.tx(1000, 1, r.coin()))}
		}, ""},
		{"another child", func(r *rig) txs {
			parent := truc(r.tx(1000, 1, r.coin()))
			return txs{parent, r.spending(1000, parent, 0)}
		}, "non-version=3 tx 1 cannot spend from version=3 tx 0"},
		{"another child of one in the pool", func(r *rig) txs {
			parent := r.must(truc(r.tx(1000, 1, r.coin())))
			return txs{r.spending(1000, parent, 0), r.tx(1000, 1, r.coin())}
		}, "non-version=3 tx 0 cannot spend from version=3 tx ID"},
		{"another parent", func(r *rig) txs {
			parent := r.tx(1000, 1, r.coin())
			return txs{parent, truc(r.spending(1000, parent, 0))}
		}, "version=3 tx 1 cannot spend from non-version=3 tx 0"},
		{"another parent in the pool", func(r *rig) txs {
			parent := r.must(r.tx(1000, 1, r.coin()))
			return txs{r.tx(1000, 1, r.coin()), truc(r.spending(1000, parent, 0))}
		}, "version=3 tx 1 cannot spend from non-version=3 tx ID"},
		{"large child", func(r *rig) txs {
			parent := truc(r.tx(1000, 1, r.coin()))
			return txs{parent, truc(sized(r.spending(20_000, parent, 0), 1001-2))}
		}, "version=3 child tx 1 is too big: 1001 > 1000 virtual bytes"},
		{"child that is just small enough", func(r *rig) txs {
			parent := truc(r.tx(1000, 1, r.coin()))
			return txs{parent, truc(sized(r.spending(20_000, parent, 0), 1000-2))}
		}, ""},
		{"large parent", func(r *rig) txs {
			parent := truc(sized(r.tx(20_000, 1, r.coin()), 9000))
			return txs{parent, truc(r.spending(20_000, parent, 0))}
		}, ""},
		{"two parents", func(r *rig) txs {
			first, second := truc(r.tx(1000, 1, r.coin())), truc(r.tx(1000, 1, r.coin()))
			return txs{first, second, truc(r.joined(1000, first, second))}
		}, "tx 2 would have too many ancestors"},
		{"two parents, one in the pool", func(r *rig) txs {
			first, second := r.must(truc(r.tx(1000, 1, r.coin()))), truc(r.tx(1000, 1, r.coin()))
			return txs{second, truc(r.joined(1000, first, second))}
		}, "tx 1 would have too many ancestors"},
		{"two children", func(r *rig) txs {
			parent := truc(r.tx(1000, 2, r.coin()))
			return txs{parent, truc(r.spending(1000, parent, 0)), truc(r.spending(1000, parent, 1))}
		}, "tx 0 would exceed descendant count limit"},
		{"two children of one in the pool", func(r *rig) txs {
			parent := r.must(truc(r.tx(1000, 2, r.coin())))
			return txs{truc(r.spending(1000, parent, 0)), truc(r.spending(1000, parent, 1))}
		}, "tx ID would exceed descendant count limit"},
		{"a child of one in the pool", func(r *rig) txs {
			parent := r.must(truc(r.tx(1000, 2, r.coin())))
			return txs{truc(r.spending(1000, parent, 0)), r.tx(1000, 1, r.coin())}
		}, ""},
		{"a child of one in the pool that has one", func(r *rig) txs {
			parent := r.must(truc(r.tx(1000, 2, r.coin())))
			r.must(truc(r.tx(1000, 1, out(parent, 0))))
			return txs{truc(r.spending(1000, parent, 1)), r.tx(1000, 1, r.coin())}
		}, "tx ID would exceed descendant count limit"},
		{"three generations", func(r *rig) txs {
			parent := truc(r.tx(1000, 1, r.coin()))
			child := truc(r.spending(1000, parent, 0))
			return txs{parent, child, truc(r.spending(1000, child, 0))}
		}, "tx 2 would have too many ancestors"},
		{"a child of one in the pool, with a child", func(r *rig) txs {
			parent := r.must(truc(r.tx(1000, 1, r.coin())))
			child := truc(r.spending(1000, parent, 0))
			return txs{child, truc(r.spending(1000, child, 0))}
		}, "tx 1 would have too many ancestors"},
	} {
		t.Run(test.what, func(t *testing.T) {
			r := newRig(t)
			list := test.txs(r)
			got := r.pool.Try(list, r.coins, r.now)
			debug := ""
			for _, part := range append([]messages.TxResult{{Rejected: got.Failed}}, got.Results...) {
				if part.Rejected != nil && debug == "" {
					debug = part.Rejected.Debug
				}
			}
			for i, tx := range list {
				name := fmt.Sprintf("%v (wtxid=%v)", tx.TxHash(), tx.WitnessHash())
				debug = strings.ReplaceAll(debug, name, strconv.Itoa(i))
			}
			for _, e := range r.pool.Ordered() {
				debug = strings.ReplaceAll(debug, fmt.Sprintf("%v (wtxid=%v)", e.ID, e.WID), "ID")
			}
			if debug != test.want {
				t.Errorf("got %v, want %q; %s", got.Failed, test.want, said(got))
			}
		})
	}
}

// A sibling leaves for a transaction only if it is alone with its parent, and the
// transaction comes by itself.
func TestSiblings(t *testing.T) {
	r := newRig(t)
	parent := r.must(restricted(r.tx(1000, 3, r.coin())))
	r.must(restricted(r.tx(1000, 1, out(parent, 0))))
	// The same child again is a replacement like any other.
	child := r.must(restricted(r.tx(2000, 1, out(parent, 0))))
	sibling := restricted(r.tx(5000, 1, out(parent, 1)))
	if got := r.pool.Try([]*wire.MsgTx{sibling, r.tx(1000, 1, r.coin())}, r.coins, r.now); reasonOf(got.Failed) !=
		"transaction failed" || reasonOf(got.Results[0].Rejected) != "TRUC-violation" {
		t.Errorf("in a package: %s", said(got))
	}
	r.holds("before", parent, child)
	r.must(sibling)
	r.holds("after", parent, sibling)

	// A child with another parent does not leave: its sibling would not be alone.
	r = newRig(t)
	parent = restricted(r.tx(1000, 2, r.coin()))
	r.coins[out(parent, 0)] = coinOf(parent, 0)
	other := r.must(restricted(r.tx(1000, 1, r.coin())))
	child = r.must(restricted(r.joined(1000, parent, other)))
	delete(r.coins, out(parent, 0))
	r.pool.Return([]*wire.MsgTx{parent}, r.coins, r.now)
	r.holds("back", parent, other, child)
	if got := reasonOf(r.accept(restricted(r.tx(9000, 1, out(parent, 1))))); got != "TRUC-violation" {
		t.Errorf("sibling of a child with two parents: %q", got)
	}

	// A block may have left two children behind, of which none leaves for a third.
	r = newRig(t)
	parent = restricted(r.tx(1000, 3, r.coin()))
	for i := range uint32(3) {
		r.coins[out(parent, i)] = coinOf(parent, i)
	}
	var both []*wire.MsgTx
	for i := range uint32(2) {
		both = append(both, r.must(restricted(r.tx(1000, 1, out(parent, i)))))
	}
	for i := range uint32(3) {
		delete(r.coins, out(parent, i))
	}
	r.pool.Return([]*wire.MsgTx{parent}, r.coins, r.now)
	r.holds("back", parent, both[0], both[1])
	if got := r.accept(restricted(r.tx(9000, 1, out(parent, 2)))); !strings.HasSuffix(
		fmt.Sprint(got), "would exceed descendant count limit") {
		t.Errorf("a third child: %v", got)
	}
}
