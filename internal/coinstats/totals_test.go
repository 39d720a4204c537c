package coinstats

import (
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/wire"
)

// randomChain makes blocks that create and spend outputs, and the set after each.
func randomChain(n int) (blocks []*Block, sets []map[wire.OutPoint]Coin) {
	rng := rand.New(rand.NewPCG(5, 6))
	set := map[wire.OutPoint]Coin{}
	var list []wire.OutPoint // of set, in an order that repeats
	for height := range int32(n) {
		b := &Block{Height: height, Subsidy: 5000}
		for i := range 1 + rng.IntN(4) {
			tx := wire.NewMsgTx(2)
			tx.LockTime = uint32(height)<<8 | uint32(i)
			var spent []Coin
			for range min(i, len(list)) {
				k := rng.IntN(len(list))
				out := list[k]
				list = append(list[:k], list[k+1:]...)
				spent = append(spent, set[out])
				delete(set, out)
				tx.AddTxIn(wire.NewTxIn(&out, nil, nil))
			}
			for range 1 + rng.IntN(3) {
				script := []byte{0x51, byte(rng.IntN(5))}
				if rng.IntN(5) == 0 {
					script[0] = 0x6a
				}
				tx.AddTxOut(wire.NewTxOut(rng.Int64N(100), script))
			}
			b.Txs = append(b.Txs, tx)
			if i > 0 {
				b.Spent = append(b.Spent, spent)
			}
			if height == 0 {
				continue
			}
			for n, out := range tx.TxOut {
				if out.PkScript[0] != 0x6a {
					at := wire.OutPoint{Hash: tx.TxHash(), Index: uint32(n)}
					set[at] = Coin{at, height, i == 0, out.Value, out.PkScript}
					list = append(list, at)
				}
			}
		}
		blocks = append(blocks, b)
		sets = append(sets, maps.Clone(set))
	}
	return blocks, sets
}

// The totals are those of the set after each block, over restarts, and taking blocks
// back leads to the totals before them.
func TestChain(t *testing.T) {
	blocks, sets := randomChain(40)
	c := new(Chain)
	var history []Totals
	for h, b := range blocks {
		c.Connect(b)
		history = append(history, c.Totals)
		sum := New(Set)
		for _, coin := range sets[h] {
			sum.Add(&coin)
		}
		want := Totals{Outputs: uint64(
			sum.Outputs,
		), BogoSize: uint64(sum.BogoSize), Amount: uint64(sum.Amount), MuHash: sum.Hash()}
		got := Totals{Outputs: c.Outputs, BogoSize: c.BogoSize, Amount: c.Amount, MuHash: c.MuHash}
		if got != want {
			t.Fatalf("height %d: got %+v, want %+v", h, got, want)
		}
		if c.Subsidy != uint64(h+1)*5000 || c.Unspendable != c.Genesis+c.BIP30+c.Scripts+c.Unclaimed ||
			c.Amount+c.Unspendable != c.Subsidy {
			t.Fatalf("height %d: the amounts do not add up: %+v", h, c.Totals)
		}
		again, err := DecodeChain(c.Encode())
		if err != nil || again.Totals != c.Totals {
			t.Fatalf("height %d: %v", h, err)
		}
		c = again
	}
	for h := len(blocks) - 1; h > 0; h-- {
		c.Disconnect(blocks[h], &history[h-1])
		if c.set.Sum() != [32]byte(history[h-1].MuHash) {
			t.Fatalf("back at height %d: another set", h-1)
		}
	}
	if _, err := DecodeTotals(make([]byte, 5)); err == nil {
		t.Error("5 bytes are totals")
	}
}
