package mempool_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// received notes the pool's events, in words.
type received struct {
	feed  *ask.Feed[messages.PoolChanged]
	names map[chainhash.Hash]string

	listens chan struct{} // closed when it does
	ref     *ask.Ref

	mu    sync.Mutex
	words []string
}

func (h *received) Receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *actor.Started:
		h.feed.Subscribe(c)
		close(h.listens)
	case *actor.Stopping:
		h.feed.Unsubscribe(c)
	case chan struct{}:
		close(m)
	case messages.PoolChanged:
		h.mu.Lock()
		defer h.mu.Unlock()
		blocks := m.Blocks
		if m.Reset {
			h.words = append(h.words, "reset")
		}
		for i := range len(m.Changes) + 1 {
			for ; len(blocks) > 0 && blocks[0].After == i; blocks = blocks[1:] {
				h.words = append(h.words, h.step(&blocks[0]))
			}
			if i < len(m.Changes) {
				h.words = append(h.words, h.change(&m.Changes[i]))
			}
		}
		if m.Alone {
			h.words = append(h.words, "alone")
		}
		if len(blocks) > 0 {
			h.words = append(h.words, fmt.Sprintf("%d blocks after changes that there are not", len(blocks)))
		}
	}
}

func (h *received) step(s *messages.PoolStep) string {
	if s.Leap {
		return fmt.Sprintf("leap to %d", s.Height)
	}
	if s.Connected {
		return fmt.Sprintf("block %d", s.Height)
	}
	return fmt.Sprintf("no block %d", s.Height)
}

func (h *received) change(c *messages.PoolChange) string {
	name, verb := h.names[c.ID], "leaves"
	if c.Added {
		verb = "comes"
	}
	return fmt.Sprintf("%s %s %d", name, verb, c.Number)
}

// since returns the events since the last time.
func (h *received) since() []string {
	all := make(chan struct{})
	h.ref.Tell(all)
	<-all
	h.mu.Lock()
	defer h.mu.Unlock()
	words := h.words
	h.words = nil
	return words
}

func listen(t *testing.T, r *rig, txs map[string]*wire.MsgTx) *received {
	t.Helper()
	h := &received{feed: &r.feed, names: map[chainhash.Hash]string{}, listens: make(chan struct{})}
	for name, tx := range txs {
		h.names[tx.TxHash()] = name
	}
	h.ref = r.sys.Spawn("received", func() actor.Actor { return h })
	<-h.listens
	return h
}

// Blocks are published among the changes of the pool. A block that joins the chain follows the
// removals that it caused. After a reorganisation it also follows the return of
// transactions from blocks that left. Each change has its number.
func TestBlocksAmongChanges(t *testing.T) {
	r := newRig(t)
	a := spend(50*coin-1000, r.coins[0])
	rival := spend(50*coin-5000, r.coins[0])
	b := spend(50*coin-1000, r.coins[1])
	better := spend(50*coin-9000, r.coins[1])
	r.ids() // the pool has seen the chain
	h := listen(t, r, map[string]*wire.MsgTx{"a": a, "rival": rival, "b": b, "better": better})
	want := func(step string, words ...string) {
		t.Helper()
		r.ids() // the pool has seen the tip
		if got := h.since(); !slices.Equal(got, words) {
			t.Errorf("%s: events\n%q\nwant\n%q", step, got, words)
		}
	}
	for _, tx := range []*wire.MsgTx{a, b} {
		if err := r.submit(tx); err != nil {
			t.Fatal(err)
		}
	}
	want("submitted", "a comes 1", "b comes 2")
	if err := r.submit(better); err != nil {
		t.Fatal(err)
	}
	want("replaced", "b leaves 3", "better comes 4")
	r.generate(rival)
	want("conflict", "a leaves 5", fmt.Sprintf("block %d", blocks+1))
	gone := r.mine(1)
	want("mined", "better leaves 6", fmt.Sprintf("block %d", blocks+2))
	at := func(height int32) string { return fmt.Sprintf("block %d", height) }
	invalidate := func(hash chainhash.Hash) {
		ok(ask.Ask(t.Context(), r.chain, messages.InvalidateBlock{Hash: hash})).must(t)
	}
	reconsider := func(hash chainhash.Hash) {
		ok(ask.Ask(t.Context(), r.chain, messages.ReconsiderBlock{Hash: hash})).must(t)
	}
	invalidate(gone)
	want("invalidated", "no "+at(blocks+2), "better comes 7")
	r.generate()
	want("another block", at(blocks+2))
	r.generate()
	want("one more", at(blocks+3))
	other := r.view.Open().Active().At(blocks + 2).Hash
	invalidate(other)
	want("invalidated too", "no "+at(blocks+3), "no "+at(blocks+2))
	reconsider(gone)
	want("reconsidered", "better leaves 8", at(blocks+2))
	reconsider(other)
	want("reorganised", "no "+at(blocks+2), "better comes 9", at(blocks+2), at(blocks+3))
}
