package txpool_test

import (
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool"
)

// chunk is a fee for a size.
type chunk struct{ fee, size int64 }

func rates(chunks []chunk) []txpool.FeeRate {
	list := make([]txpool.FeeRate, len(chunks))
	for i, c := range chunks {
		list[i] = txpool.RateOf(c.fee, c.size)
	}
	return list
}

// paid is what the first bytes of the best paying chunks pay, a part of a chunk its
// share.
func paid(chunks []chunk, size int64) *big.Rat {
	chunks = slices.Clone(chunks)
	slices.SortFunc(chunks, func(x, y chunk) int {
		return big.NewRat(y.fee, y.size).Cmp(big.NewRat(x.fee, x.size))
	})
	sum := new(big.Rat)
	for _, c := range chunks {
		part := min(c.size, size)
		sum.Add(sum, big.NewRat(c.fee*part, c.size))
		size -= part
	}
	return sum
}

// A list of chunks is better than another list if it pays at least as much at
// every size, and more at some.
func TestDiagrams(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	random := func() (list []chunk) {
		for range 1 + rng.IntN(4) {
			list = append(list, chunk{rng.Int64N(8) - 1, 1 + rng.Int64N(4)})
		}
		return list
	}
	better := 0
	for range 3000 {
		a, b := random(), random()
		want := false
		for size := range int64(17) {
			switch paid(a, size).Cmp(paid(b, size)) {
			case -1:
				want = false
			case 1:
				want = true
				continue
			default:
				continue
			}
			break
		}
		if got := txpool.Above(rates(a), rates(b)); got != want {
			t.Fatalf("%v above %v: %v, want %v", a, b, got, want)
		}
		if want {
			better++
		}
	}
	if better < 300 {
		t.Errorf("%d pairs of the one kind", better)
	}
}

// A package that pays enough may replace transactions with a single neighbour that has
// no other neighbours.
func TestPackageReplaces(t *testing.T) {
	for _, test := range []struct {
		what string
		// conflict returns an output that the replaced transactions spend, and the
		// package too.
		conflict func(r *rig) wire.OutPoint
		want     string // without ids; of some, what is said of the one with the least id
	}{
		{"one", func(r *rig) wire.OutPoint {
			coin := r.coin()
			r.must(r.tx(1000, 1, coin))
			return coin
		}, ""},
		{"one with a child", func(r *rig) wire.OutPoint {
			coin := r.coin()
			r.chain(2, coin)
			return coin
		}, ""},
		{"one with a parent", func(r *rig) wire.OutPoint {
			at := r.chain(1, r.coin())
			r.must(r.tx(1000, 1, at))
			return at
		}, "new transaction cannot have mempool ancestors"},
		{"two children", func(r *rig) wire.OutPoint {
			coin := r.coin()
			parent := r.must(r.tx(1000, 2, coin))
			r.must(r.tx(1000, 1, out(parent, 0)))
			r.must(r.tx(1000, 1, out(parent, 1)))
			return coin
		}, "ID has 2 descendants, max 1 allowed or ID is not the only child of parent ID"},
		{"two generations", func(r *rig) wire.OutPoint {
			coin := r.coin()
			r.chain(3, coin)
			return coin
		}, "ID has 2 descendants, max 1 allowed"},
		{"a parent of another coin", func(r *rig) wire.OutPoint {
			coin := r.coin()
			r.must(r.tx(1000, 1, coin, r.chain(1, r.coin())))
			return coin
		}, ""},
		{"two parents", func(r *rig) wire.OutPoint {
			coin := r.coin()
			r.must(r.tx(1000, 1, coin, r.chain(1, r.coin()), r.chain(1, r.coin())))
			return coin
		}, "ID has 2 ancestors, max 1 allowed"},
		{"a grandparent", func(r *rig) wire.OutPoint {
			coin := r.coin()
			r.must(r.tx(1000, 1, coin, r.chain(2, r.coin())))
			return coin
		}, "ID has 2 ancestors, max 1 allowed"},
		{"parent and child", func(r *rig) wire.OutPoint {
			coin := r.coin()
			r.chain(1, out(r.must(r.tx(1000, 1, coin, r.chain(1, r.coin()))), 0))
			return coin
		}, "ID has both ancestor and descendant, exceeding cluster limit of 2 or ID has 2 ancestors, max 1 allowed"},
		{"a child with another parent", func(r *rig) wire.OutPoint {
			coin := r.coin()
			first := r.must(r.tx(1000, 1, coin))
			r.must(r.tx(1000, 1, out(first, 0), r.chain(1, r.coin())))
			return coin
		}, "ID is not the only parent of child ID"},
		{"a parent with another child", func(r *rig) wire.OutPoint {
			coin := r.coin()
			parent := r.must(r.tx(1000, 2, r.coin()))
			r.must(r.tx(1000, 1, out(parent, 0)))
			r.must(r.tx(1000, 1, coin, out(parent, 1)))
			return coin
		}, "ID is not the only child of parent ID"},
	} {
		t.Run(test.what, func(t *testing.T) {
			r := newRig(t)
			coin := test.conflict(r)
			parent := r.tx(10, 1, coin) // just enough to be relayed
			child := r.spending(45_000, parent, 0)
			got := r.pool.Submit([]*wire.MsgTx{parent, child}, r.coins, r.now, txpool.FeeRate{})
			reason := strings.TrimPrefix(withoutIDs(r, reasonOf(got.Failed)), "package RBF failed: ")
			if !slices.Contains(strings.Split(test.want, " or "), reason) || got.Policy != (test.want != "") {
				t.Errorf("got %v, %v; want %q", got.Failed, got.Policy, test.want)
			}
			if err := r.pool.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A package must pay for the replaced transactions, and be the better choice at every
// size. The package and the transactions that stay behind are compared with the
// transactions before.
func TestPackageDiagrams(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	count := make(map[string]int)
	for range 600 {
		r := newRig(t)
		most := []int64{50, 1000, 5000}[rng.IntN(3)]
		tx := func(from ...wire.OutPoint) (*wire.MsgTx, chunk) {
			tx := sized(r.tx(100+rng.Int64N(most), 1, from...), 200+rng.IntN(500))
			r.must(tx)
			id := tx.TxHash()
			e := r.pool.Lookup(&id)
			return tx, chunk{e.Fee, e.VSize}
		}
		coin := r.coin()
		var replaced int64
		var before, after []chunk
		if rng.IntN(2) == 0 { // one stays that the replaced one depends on
			stays, its := tx(r.coin())
			_, own := tx(coin, out(stays, 0))
			before, after, replaced = linear(its, own), []chunk{its}, own.fee
		} else {
			first, own := tx(coin)
			before, replaced = []chunk{own}, own.fee
			if rng.IntN(2) == 0 {
				_, its := tx(out(first, 0))
				before, replaced = linear(own, its), own.fee+its.fee
			}
		}
		own := 100 + rng.Int64N(15) // too little to get in alone
		parent := sized(r.tx(own, 1, coin), 200+rng.IntN(600))
		child := sized(r.spending(max(replaced-200+rng.Int64N(1000), 100), parent, 0), 200+rng.IntN(600))
		whole := chunk{coinValue - child.TxOut[0].Value, r.virtual(parent) + r.virtual(child)}
		after = append(after, whole)
		want := ""
		switch {
		case whole.fee < replaced+(whole.size+9)/10:
			want = "insufficient anti-DoS fees"
		case big.NewRat(whole.fee, whole.size).Cmp(big.NewRat(own, r.virtual(parent))) <= 0:
			want = "package feerate is less than or equal to parent feerate"
		case !txpool.Above(rates(after), rates(before)):
			want = "insufficient feerate: does not improve feerate diagram"
		}
		count[want]++
		got := r.pool.Submit([]*wire.MsgTx{parent, child}, r.coins, r.now, txpool.FeeRate{})
		if reason := strings.TrimPrefix(reasonOf(got.Failed), "package RBF failed: "); reason != want {
			t.Fatalf("%+v instead of %+v: got %q, want %q", after, before, reason, want)
		}
	}
	if len(count) != 4 || slices.Min(slices.Collect(maps.Values(count))) < 10 {
		t.Errorf("cases: %v", count)
	}
}

// linear is how a parent and a child are mined: together if the child pays more.
func linear(parent, child chunk) []chunk {
	if big.NewRat(child.fee, child.size).Cmp(big.NewRat(parent.fee, parent.size)) > 0 {
		return []chunk{{parent.fee + child.fee, parent.size + child.size}}
	}
	return []chunk{parent, child}
}

// spending spends an output of a transaction that is not in the pool yet.
func (r *rig) spending(fee int64, parent *wire.MsgTx, index uint32) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: out(parent, index), Sequence: wire.MaxTxInSequenceNum, Witness: wire.TxWitness{{0x51}},
	})
	tx.AddTxOut(wire.NewTxOut(parent.TxOut[index].Value-fee, anyone))
	return tx
}

// withoutIDs puts ID in the place of those of a pool's transactions.
func withoutIDs(r *rig, text string) string {
	for _, e := range r.pool.Ordered() {
		text = strings.ReplaceAll(text, fmt.Sprint(e.ID), "ID")
	}
	return text
}
