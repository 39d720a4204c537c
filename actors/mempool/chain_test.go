package mempool_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/mempool"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
)

// unreadable is a chain of which some blocks cannot be read for a while.
type unreadable struct {
	chainview.Reader
	now *chainview.Current
	on  *atomic.Bool
}

func (u unreadable) Active() *chainview.Chain { return u.now.Open().Active() }

func (u unreadable) Tips() []*chainview.Block { return u.now.Open().Tips() }

func (u unreadable) Lookup(hash *chainhash.Hash) *chainview.Block { return u.now.Open().Lookup(hash) }

func (u unreadable) Block(hash *chainhash.Hash) (*wire.MsgBlock, error) {
	if u.on.Load() {
		return nil, chainview.ErrUnreadable
	}
	return u.now.Open().Block(hash)
}

// While blocks cannot be read that the pool must see, nothing is judged and what is known
// is served; with the next block it is tried again.
func TestUnreadableBlock(t *testing.T) {
	var fails atomic.Bool
	view := new(chainview.Current)
	r := newRig(t, func(c *mempool.Config) {
		view.Set(unreadable{now: c.View, on: &fails})
		c.View = view
	})
	r.ids()
	first, second := spend(50*coin-1000, r.coins[0]), spend(50*coin-1000, r.coins[1])
	h := listen(t, r, map[string]*wire.MsgTx{"first": first, "second": second})
	if err := r.submit(first); err != nil {
		t.Fatal(err)
	}
	fails.Store(true)
	r.generate(first)
	if err := r.submit(second); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("judged by a chain that cannot be read: %v", err)
	}
	r.holds("served as it was", first)
	at := r.contents()
	if got, want := slices.Compact(h.since()), []string{"first comes 1", "alone"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
	if at.At.Height != blocks || !at.Alone || at.Published != r.feed.Published() {
		t.Errorf("the pool is at height %d, alone: %v, after %d announcements", at.At.Height, at.Alone, at.Published)
	}
	fails.Store(false)
	r.generate()
	if err := r.submit(second); err != nil {
		t.Error(err)
	}
	r.holds("readable again", second)
	want := []string{
		"first leaves 2", fmt.Sprintf("block %d", blocks+1), fmt.Sprintf("block %d", blocks+2), "second comes 3",
	}
	if got := h.since(); !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
	if at := r.contents(); at.At.Height != blocks+2 || at.Alone {
		t.Errorf("the pool is at height %d, alone: %v", at.At.Height, at.Alone)
	}
}

// contents asks for the pool's transactions.
func (r *rig) contents() messages.PoolTxs {
	r.t.Helper()
	return ok(ask.Ask(r.t.Context(), r.pool, messages.GetPoolTxs{})).must(r.t)
}

// A block that could not be read is tried again without a further block.
func TestUnreadableForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		var fails atomic.Bool
		view := new(chainview.Current)
		r := newRig(t, func(c *mempool.Config) {
			view.Set(unreadable{now: c.View, on: &fails})
			c.View = view
		})
		first, second := spend(50*coin-1000, r.coins[0]), spend(50*coin-1000, r.coins[1])
		if err := r.submit(first); err != nil {
			t.Fatal(err)
		}
		fails.Store(true)
		r.generate(first)
		if err := r.submit(second); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("checked by a chain that cannot be read: %v", err)
		}
		fails.Store(false)
		time.Sleep(time.Minute) // of the bubble
		if err := r.submit(second); err != nil {
			t.Error(err)
		}
		r.holds("readable again", second)
	})
}

// generate makes a block of some transactions, without asking the pool.
func (r *rig) generate(txs ...*wire.MsgTx) {
	r.t.Helper()
	order := messages.Generate{Script: anyone, Count: 1, Tries: 1 << 30, Fees: 1000 * int64(len(txs))}
	for _, tx := range txs {
		order.Txs = append(order.Txs, enginetest.Serialize(tx))
	}
	ok(ask.Ask(r.t.Context(), r.chain, order)).must(r.t)
}

// late is a chain whose answers about coins come when the test wants it.
type late struct {
	chain *ask.Ref
	mu    sync.Mutex
	hold  chan struct{} // nil: they come at once
	asked chan struct{}
}

type getCoins = ask.Call[messages.GetCoins, messages.Coins]

func (l *late) receive(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.WaitImported, messages.Done]:
		m.Answer(messages.Done{}, nil)
	case *getCoins:
		l.mu.Lock()
		hold := l.hold
		l.mu.Unlock()
		go func() {
			got, err := ask.Ask(m.Ctx, l.chain, m.Req)
			if hold != nil {
				l.asked <- struct{}{}
				<-hold
			}
			m.Answer(got, err)
		}()
	default:
		ask.Unhandled(c)
	}
}

// A transaction is not judged by coins of an older chain than the pool has seen.
func TestCoinsOfAnOlderTip(t *testing.T) {
	r := newRig(t)
	l := &late{chain: r.chain, asked: make(chan struct{}, 100)}
	if err := r.pool.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	slow := r.sys.Spawn("late", func() actor.Actor { return actor.ReceiveFunc(l.receive) })
	r.start(func(c *mempool.Config) { c.Chain = slow })
	other := spend(50*coin-1000, r.coins[1])
	if err := r.submit(other); err != nil { // so that blocks matter to the pool
		t.Fatal(err)
	}
	l.mu.Lock()
	l.hold = make(chan struct{})
	l.mu.Unlock()
	answer := make(chan error, 1)
	go func() { answer <- r.submit(spend(50*coin-2000, r.coins[0])) }()
	<-l.asked
	r.generate(spend(50*coin-1000, r.coins[0])) // which spends the same
	r.ids()                                     // the pool has seen it
	l.mu.Lock()
	close(l.hold)
	l.hold = nil
	l.mu.Unlock()
	var reject *messages.TxReject
	select {
	case err := <-answer:
		if !errors.As(err, &reject) || reject.Kind != messages.TxMissingInputs {
			t.Errorf("judged by coins that are spent: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no answer")
	}
	r.holds("after that", other)
}

// held is a chain whose blocks come to the knowledge of the pool late.
type held struct {
	unreadable
	active *atomic.Pointer[chainview.Chain] // what the pool knows; nil: all
}

func (h held) Active() *chainview.Chain {
	if known := h.active.Load(); known != nil {
		return known
	}
	return h.unreadable.Active()
}

// A block may come and go before the pool has seen it. Its transactions come back all the same, and the listeners are
// notified of the block. The pool is led through it once.
func TestBlockThatCameAndWent(t *testing.T) {
	view := new(chainview.Current)
	var known atomic.Pointer[chainview.Chain]
	r := newRig(t, func(c *mempool.Config) {
		view.Set(held{unreadable{now: c.View, on: new(atomic.Bool)}, &known})
		c.View = view
	})
	paid := spend(50*coin-1000, r.coins[0])
	r.ids() // the pool has seen the chain
	h := listen(t, r, map[string]*wire.MsgTx{"paid": paid})
	known.Store(view.Open().Active())
	r.generate(paid)
	gone := r.view.Open().Active().Tip()
	ok(ask.Ask(t.Context(), r.chain, messages.InvalidateBlock{Hash: gone.Hash})).must(t)
	known.Store(nil)
	if got := r.ids(); len(got) != 1 {
		t.Errorf("%v came back", got)
	}
	at := fmt.Sprintf("block %d", gone.Height)
	if got, want := h.since(), []string{at, "no " + at, "paid comes 1"}; !slices.Equal(got, want) {
		t.Errorf("published %q, want %q", got, want)
	}
	r.generate()
	r.ids()
	if got, want := h.since(), []string{at}; !slices.Equal(got, want) {
		t.Errorf("then published %q, want %q", got, want)
	}
	if err := r.pool.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.start(func(c *mempool.Config) { c.File = filepath.Join(t.TempDir(), "none") })
	if got := r.ids(); len(got) != 0 {
		t.Errorf("%v of a block that had left the chain before the pool began", got)
	}
}
