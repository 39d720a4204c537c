package follow_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/messages"
)

var errEnded = errors.New("the program has ended")

// hosted is a host over a chain that the test changes.
type hosted struct {
	*follow.Host

	chain *chaintest.Chain
	ended chan struct{}
}

func newHost(blocks int) *hosted {
	h := &hosted{chain: chaintest.New(&chaincfg.RegressionNetParams), ended: make(chan struct{})}
	h.chain.MineN(blocks)
	h.Host = &follow.Host{
		Chain: new(chainview.Current), Tip: new(ask.Feed[messages.TipChanged]), Ended: h.ended,
		Err: func() error {
			select {
			case <-h.ended:
				return errEnded
			default:
				return nil
			}
		},
	}
	h.Chain.Set(h.chain)
	return h
}

// applied follows a host into a list of the connected blocks.
type applied struct {
	t      *testing.T
	blocks []messages.BlockID
	steps  int
	most   int
}

func (a *applied) take(s messages.ChainStep) error {
	a.steps++
	a.most = max(a.most, len(s.Connected), len(s.Disconnected))
	for _, b := range s.Disconnected {
		if n := len(a.blocks); n == 0 || a.blocks[n-1] != b {
			a.t.Fatalf("%v is disconnected, which is not the last", b)
		}
		a.blocks = a.blocks[:len(a.blocks)-1]
	}
	a.blocks = append(a.blocks, s.Connected...)
	if n := len(a.blocks); n == 0 || a.blocks[n-1] != s.Last {
		a.t.Errorf("the last of %d is said to be %v", n, s.Last)
	}
	return nil
}

func (a *applied) check(chain *chainview.Chain) {
	a.t.Helper()
	var want []messages.BlockID
	for b := chain.At(0); b != nil; b = chain.Next(b) {
		want = append(want, follow.ID(b))
	}
	if !slices.Equal(a.blocks, want) {
		a.t.Errorf("%d blocks, want %d, or others", len(a.blocks), len(want))
	}
}

// A follower gets every block that joins or leaves, in steps of a hundred, from its last
// position on.
func TestHostFollows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, a := newHost(250), &applied{t: t}
		ctx, cancel := context.WithCancelCause(t.Context())
		ends := make(chan error, 1)
		go func() { ends <- h.Follow(ctx, messages.BlockID{}, a.take) }()
		settle := func() {
			t.Helper()
			h.Tip.Publish(tipOf(h.chain))
			synctest.Wait()
			a.check(h.chain.Active())
		}
		settle()
		if a.steps != 3 || a.most != 100 {
			t.Errorf("%d steps of %d", a.steps, a.most)
		}
		settle() // nothing new
		at := h.chain.Active().At(40)
		for range 230 {
			at = h.chain.MineOn(at, chaintest.Template{Script: []byte{1}})
		}
		settle()
		if a.most != 100 {
			t.Errorf("a step of %d", a.most)
		}
		h.chain.MineN(1)
		settle()
		cancel(errBroken)
		if err := <-ends; !errors.Is(err, errBroken) {
			t.Errorf("ended with %v", err)
		}
		steps := a.steps
		h.chain.MineN(2)
		h.Tip.Publish(tipOf(h.chain))
		synctest.Wait()
		if a.steps != steps {
			t.Error("notified after the end")
		}
		ctx, cancel = context.WithCancelCause(t.Context())
		defer cancel(nil)
		go func() { ends <- h.Follow(ctx, a.blocks[len(a.blocks)-1], a.take) }()
		settle()
		close(h.ended)
		if err := <-ends; !errors.Is(err, errEnded) {
			t.Errorf("ended with %v", err)
		}
	})
}

// Following ends with the error of the function, for an unknown block at once, and tells
// nothing where it has ended before.
func TestHostEnds(t *testing.T) {
	h := newHost(5)
	calls := 0
	fail := func(messages.ChainStep) error { calls++; return errBroken }
	if err := h.Follow(t.Context(), messages.BlockID{}, fail); !errors.Is(err, errBroken) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	unknown := messages.BlockID{Hash: chainhash.Hash{1}}
	if err := h.Follow(t.Context(), unknown, fail); !errors.Is(err, messages.ErrBlockNotFound) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Follow(ctx, messages.BlockID{}, fail); !errors.Is(err, context.Canceled) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	if _, err := h.Read(ctx, &unknown.Hash); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(h.ended)
	if err := h.Follow(t.Context(), messages.BlockID{}, fail); !errors.Is(err, errEnded) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	if _, err := h.Read(t.Context(), &unknown.Hash); !errors.Is(err, errEnded) {
		t.Error(err)
	}
}

// A block is read, or why not is said: it was pruned, it is not here yet, nobody knows it,
// it cannot be read.
func TestHostReads(t *testing.T) {
	h := newHost(5)
	hash := h.chain.Active().At(3).Hash
	block, err := h.Read(t.Context(), &hash)
	if err != nil || block.BlockHash() != hash {
		t.Errorf("got %v", err)
	}
	if _, err := h.Read(t.Context(), &chainhash.Hash{1}); !errors.Is(err, messages.ErrBlockNotFound) ||
		errors.Is(err, messages.ErrBlockNotYet) {
		t.Errorf("unknown: %v", err)
	}
	header := h.chain.AddHeader(h.chain.Active().Tip())
	if _, err := h.Read(t.Context(), &header.Hash); !errors.Is(err, messages.ErrBlockNotYet) ||
		errors.Is(err, messages.ErrBlockNotFound) {
		t.Errorf("a header: %v", err)
	}
	for fails, want := range map[error]error{
		chainview.ErrPruned: messages.ErrBlockPruned,
		chainview.ErrNotYet: messages.ErrBlockNotYet,
		errBroken:           errBroken,
	} {
		h.chain.Fail(h.chain.Active().At(3), fails)
		if _, err := h.Read(t.Context(), &hash); !errors.Is(err, want) || !errors.Is(err, fails) {
			t.Errorf("%v: %v", fails, err)
		}
	}
	h.Fetch = func(context.Context, *chainhash.Hash) (chainview.Fetched, error) {
		return chainview.Fetched{Block: block}, nil
	}
	h.chain.Fail(h.chain.Active().At(3), chainview.ErrPruned)
	if got, err := h.Read(t.Context(), &hash); got != block || err != nil {
		t.Errorf("from elsewhere: %v", err)
	}
}

// While the chain is opened again, a reader waits, until its context or the program ends.
func TestHostWaitsForTheChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(5)
		b := h.chain.Active().At(3)
		h.chain.Fail(b, chainview.ErrClosed)
		type read struct {
			block *wire.MsgBlock
			err   error
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		reads := map[string]chan read{}
		for name, ctx := range map[string]context.Context{"stays": t.Context(), "leaves": ctx} {
			answer := make(chan read, 1)
			reads[name] = answer
			go func() { block, err := h.Read(ctx, &b.Hash); answer <- read{block, err} }()
		}
		synctest.Wait()
		h.Tip.Publish(tipOf(h.chain)) // it is still away
		synctest.Wait()
		cancel(errBroken)
		if got := <-reads["leaves"]; !errors.Is(got.err, errBroken) {
			t.Errorf("who left: %v", got.err)
		}
		if _, ok := got(reads["stays"]); ok {
			t.Error("answered while the chain is away")
		}
		h.chain.Fail(b, nil)
		h.Tip.Publish(tipOf(h.chain))
		if got := <-reads["stays"]; got.err != nil || got.block.BlockHash() != b.Hash {
			t.Errorf("who stayed: %v", got.err)
		}
		h.chain.Fail(b, chainview.ErrClosed)
		ends := make(chan error, 1)
		go func() { _, err := h.Read(t.Context(), &b.Hash); ends <- err }()
		synctest.Wait()
		close(h.ended)
		if err := <-ends; !errors.Is(err, errEnded) {
			t.Errorf("at the end: %v", err)
		}
	})
}
