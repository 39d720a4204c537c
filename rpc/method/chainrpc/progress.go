package chainrpc

import (
	"sync"

	"github.com/seed61375155/trawl/internal/chainview"
)

// progress tells how far the node has come with validating its chain.
type progress struct {
	deps   *Deps
	txs    txCounter
	before branchCounter
}

// verified estimates the share of all transactions that the active chain
// holds. It is 0 when the chain's transactions cannot be counted.
func (p *progress) verified(reader chainview.Reader, active *chainview.Chain, best *chainview.Block) float64 {
	count, err := p.txs.count(reader, active)
	if err != nil {
		return 0
	}
	tip := active.Tip()
	ahead := func() int32 { return best.Height - tip.Height }
	return p.deps.Network.Progress(count, tip.Time(), p.deps.Now(), ahead)
}

// upTo estimates the share of all transactions that the active chain has up to a block.
func (p *progress) upTo(reader chainview.Reader, active *chainview.Chain, b, best *chainview.Block) float64 {
	if !active.Contains(b) {
		return 0
	}
	count, known, err := p.txs.upTo(reader, active, b)
	if err != nil || !known {
		return 0
	}
	ahead := func() int32 { return best.Height - b.Height }
	return p.deps.Network.Progress(count, b.Time(), p.deps.Now(), ahead)
}

// branchCounter counts the transactions up to a block that moves on, and reads only the blocks that came since.
type branchCounter struct {
	mu  sync.Mutex
	at  *chainview.Block // nil: none was counted
	sum int64
}

func (c *branchCounter) upTo(reader chainview.Reader, b *chainview.Block) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	counted := int32(-1)
	if c.at != nil && c.at.Height <= b.Height && b.Ancestor(c.at.Height).Is(c.at) {
		counted = c.at.Height
	} else {
		c.sum = 0
	}
	n, err := sumTxs(reader, b, counted)
	if err != nil {
		c.at = nil
		return 0, err
	}
	c.at, c.sum = b, c.sum+n
	return c.sum, nil
}

// txCounter counts the transactions of the active chain. It remembers the last
// count and reads only the blocks that came and went since.
type txCounter struct {
	mu  sync.Mutex
	at  *chainview.Block // nil before the first count
	sum int64            // of the chain that ends in at
}

func (t *txCounter) count(reader chainview.Reader, active *chainview.Chain) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.at != nil && !t.within(active) {
		if err := t.add(reader, t.at, -1); err != nil {
			return 0, err
		}
		t.at = t.at.Parent
	}
	if a := chainview.AssumedOf(reader); a != nil && (t.at == nil || t.at.Height < a.Base.Height) {
		t.at, t.sum = a.Base, int64(a.Txs)
	}
	next := int32(0)
	if t.at != nil {
		next = t.at.Height + 1
	}
	for height := next; height <= active.Height(); height++ {
		b := active.At(height)
		if err := t.add(reader, b, 1); err != nil {
			return 0, err
		}
		t.at = b
	}
	return t.sum, nil
}

// within reports whether the last block counted is part of the chain. Blocks
// are compared by hash, for they are others after the chain was opened anew.
func (t *txCounter) within(active *chainview.Chain) bool {
	b := active.At(t.at.Height)
	return b != nil && b.Hash == t.at.Hash
}

func (t *txCounter) add(reader chainview.Reader, b *chainview.Block, sign int64) error {
	txs, err := b.TxCount(reader)
	if err != nil {
		return err
	}
	t.sum += sign * int64(txs)
	return nil
}
