package txpool_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool"
)

// In whatever order the same transactions come, they have the same chunks once these are known to be the best. Neither
// a transaction that came and was replaced changes that, nor how the best order is looked for.
func TestArrivalOfClusters(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 1))
		first := newRig(t, byClusters)
		txs := family(rng, first, 10+rng.IntN(50))
		want := chunksOf(t, first.pool)
		for range 4 {
			r := newRig(t, byClusters, func(p *txpool.Policy) { p.Seed = rng.Uint64() })
			r.coins = first.coins
			if rng.IntN(2) == 0 {
				r.must(r.tx(100, 1, txs[0].TxIn[0].PreviousOutPoint)) // less than what comes for it
			}
			for _, i := range anyOrder(rng, txs) {
				r.must(txs[i])
			}
			if got := chunksOf(t, r.pool); got != want {
				t.Fatalf("seed %d:\n%s, want\n%s", seed, got, want)
			}
		}
	}
}

// family adds transactions to a pool, in some clusters. Many pay the same rate.
func family(rng *rand.Rand, r *rig, n int) (txs []*wire.MsgTx) {
	var free []wire.OutPoint
	for i := range n {
		from := []wire.OutPoint{r.coin()}
		for range rng.IntN(4) {
			if i%20 > 0 && len(free) > 0 {
				at := rng.IntN(len(free))
				from, free = append(from, free[at]), slices.Delete(free, at, at+1)
			}
		}
		if i%20 == 0 {
			free = nil // of the cluster before
		}
		parts := 2 + rng.IntN(2)
		tx := r.must(r.tx(1000*(1+rng.Int64N(4)), parts, from...))
		for k := range parts {
			free = append(free, out(tx, uint32(k)))
		}
		txs = append(txs, tx)
	}
	return txs
}

// anyOrder returns the indexes of transactions in an order in which they can come.
func anyOrder(rng *rand.Rand, txs []*wire.MsgTx) (list []int) {
	at := make(map[wire.OutPoint]int)
	for i, tx := range txs {
		for k := range tx.TxOut {
			at[out(tx, uint32(k))] = i
		}
	}
	done := make(map[int]bool)
	for len(list) < len(txs) {
		i := rng.IntN(len(txs))
		ready := !done[i]
		for _, in := range txs[i].TxIn {
			parent, ours := at[in.PreviousOutPoint]
			ready = ready && (!ours || done[parent])
		}
		if ready {
			done[i] = true
			list = append(list, i)
		}
	}
	return list
}

func chunksOf(t *testing.T, p *txpool.Pool) string {
	t.Helper()
	var text strings.Builder
	all := txpool.ChunksOf(p)
	if !all.Optimal() {
		t.Fatal("not the best, as far as is known")
	}
	for _, c := range all.All() {
		fmt.Fprintf(&text, "%d for %d:", c.Fees, c.Weight)
		for _, e := range c.Entries {
			text.WriteString(" " + e.ID.String()[:8])
		}
		text.WriteString("\n")
	}
	return text.String()
}
