package coins

import (
	"sync"

	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/messages"
)

// coinTotals counts and hashes the set.
type coinTotals struct {
	mode coinstats.Mode
	set  messages.CoinSet

	mu   sync.Mutex
	sum  *coinstats.Sum // of the workers that have ended
	disk int64
	tip  messages.Tip
}

func newCoinTotals(hash messages.CoinHash) *coinTotals {
	t := &coinTotals{}
	switch hash {
	case messages.HashSerialized:
		t.mode = coinstats.Serial
	case messages.MuHash:
		t.mode = coinstats.Set
	case messages.NoHash:
	}
	return t
}

// readers returns how many workers may read: one where the order counts.
func (t *coinTotals) readers(limit int) int {
	if t.mode == coinstats.Serial {
		return 1
	}
	return limit
}

func (t *coinTotals) prepare(set messages.CoinSet) (err error) {
	t.set, t.tip = set, set.Tip()
	t.disk, err = set.DiskSize()
	return err
}

// reader returns what a worker does with the outputs it reads.
func (t *coinTotals) reader() (visit func(*messages.SetCoin) error, done func()) {
	sum := coinstats.New(t.mode)
	var coin coinstats.Coin
	visit = func(c *messages.SetCoin) (err error) {
		coin = coinstats.Coin{
			Out: c.Out, Height: c.Height, Coinbase: c.Coinbase, Amount: c.Amount, Script: coin.Script[:0],
		}
		if coin.Script, err = t.set.Unpack(coin.Script, c.Packed); err != nil {
			return err
		}
		sum.Add(&coin)
		return nil
	}
	return visit, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.sum == nil {
			t.sum = sum
			return
		}
		t.sum.Join(sum)
	}
}

// result is called when all workers have ended.
func (t *coinTotals) result() messages.CoinSums {
	hash := t.sum.Hash() // ends the count too
	return messages.CoinSums{
		Tip: t.tip, Hash: hash, Txs: t.sum.Txs, Outputs: t.sum.Outputs,
		BogoSize: t.sum.BogoSize, Amount: t.sum.Amount, DiskSize: t.disk,
	}
}
