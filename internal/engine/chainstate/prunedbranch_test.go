package chainstate_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/messages"
)

// rawFrom returns the blocks of the active chain from a height on.
func rawFrom(t *testing.T, e *bitcoin.Engine, height int32) (blocks [][]byte) {
	t.Helper()
	r := e.Reader()
	for h := height; h <= r.Active().Height(); h++ {
		raw, err := r.Raw(&r.Active().At(h).Hash)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, raw)
	}
	return blocks
}

// accept hands over blocks of which some are there.
func (p *pruned) accept(blocks [][]byte) {
	p.t.Helper()
	for _, raw := range blocks {
		var reject *messages.RejectError
		if err := p.Accept(raw); err != nil && (!errors.As(err, &reject) || reject.Reason != "duplicate") {
			p.t.Fatal(err)
		}
	}
}

// A branch whose first blocks were pruned is returned to once it has more work and they
// have come again, in whatever order; then it is as whole as any.
func TestReturnToPrunedBranch(t *testing.T) {
	const fork, old, other, longer = 300, 30, 300, 275
	source := openPruned(t, 0)
	p := openPruned(t, 0)
	mine(t, source.Engine, trueScript, fork)
	mine(t, source.Engine, bytes.Repeat([]byte{0x51}, 9000), old) // few in a file
	p.accept(rawFrom(t, source.Engine, 1))
	first := source.Reader().Active().At(fork + 1).Hash
	if err := source.Invalidate(&first); err != nil {
		t.Fatal(err)
	}
	mine(t, source.Engine, []byte{0x52}, other)
	p.accept(rawFrom(t, source.Engine, fork+1))
	rival := source.Reader().Active().At(fork + 1).Hash
	if err := source.Reconsider(&first); err != nil {
		t.Fatal(err)
	}
	if err := source.Invalidate(&rival); err != nil {
		t.Fatal(err)
	}
	mine(t, source.Engine, trueScript, longer)
	blocks := rawFrom(t, source.Engine, fork+1)
	want := source.Reader().Active().Tip().Hash

	if err := p.StartPruning(); err != nil {
		t.Fatal(err)
	}
	p.prune(5000)
	var gone int
	for ; gone < old; gone++ {
		hash := chainhash.DoubleHashH(blocks[gone][:80])
		if p.Reader().Lookup(&hash).Status()&chainview.Pruned == 0 {
			break
		}
	}
	if gone < 3 || gone == old {
		t.Fatalf("%d blocks of the branch were pruned", gone)
	}
	headers := make([][]byte, len(blocks))
	for i, raw := range blocks {
		headers[i] = raw[:80]
	}
	if _, _, err := p.AcceptHeaders(headers); err != nil {
		t.Fatal(err)
	}
	p.reopen()
	// The tip moves with the last of them, not before.
	last := slices.Clone(blocks)
	slices.Reverse(last[:gone])
	last = append(last[1:], last[0])
	p.accept(last[:len(last)-1])
	if tip := p.Reader().Active().Tip(); tip.Hash == want || tip.Height != fork+other {
		t.Fatalf("a branch that lacks a block is the active chain up to %d", tip.Height)
	}
	p.reopen()
	p.accept(last[len(last)-1:])
	for range 2 {
		r := p.Reader()
		if tip := r.Active().Tip(); tip.Hash != want {
			t.Fatalf("the tip is at %d, want the branch with more work", tip.Height)
		}
		if !slices.EqualFunc(rawFrom(t, p.Engine, fork+1), blocks, bytes.Equal) {
			t.Error("the branch has other blocks")
		}
		for h := int32(fork + 1); h <= r.Active().Height(); h++ {
			b := r.Active().At(h)
			if _, err := r.Spent(&b.Hash); err != nil || b.Status()&chainview.NoUndo != 0 {
				t.Errorf("undo data of height %d: %v, status %b", h, err, b.Status())
			}
		}
		p.reopen()
	}
	// And back, with the undo data of now.
	if err := p.Invalidate(&first); err != nil {
		t.Fatal(err)
	}
	if tip := p.Reader().Active().Tip(); tip.Height != fork+other {
		t.Errorf("after invalidating the tip is at %d", tip.Height)
	}
}

// Blocks of the active chain that were pruned and are stored again have no undo data: nothing
// goes back behind them.
func TestNoWayBackOverRestored(t *testing.T) {
	p := openPruned(t, 0)
	mine(t, p.Engine, trueScript, 700)
	blocks := rawFrom(t, p.Engine, 1)
	first := p.Reader().Active().At(1).Hash
	if err := p.StartPruning(); err != nil {
		t.Fatal(err)
	}
	p.prune(5000)
	gone := p.gone()
	if gone < 20 {
		t.Fatalf("%d was pruned", gone)
	}
	for _, raw := range blocks[:gone] {
		if err := p.Restore(raw); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := p.Invalidate(&first); !errors.Is(err, messages.ErrBlockPruned) {
			t.Errorf("leaving blocks behind without undo data: %v", err)
		}
		if got := p.Reader().Active().Height(); got != 700 {
			t.Errorf("the tip is at %d", got)
		}
		p.reopen()
	}
}
