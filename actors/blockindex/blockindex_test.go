package blockindex_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/blockindex"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

var errBroken = errors.New("broken")

// memory is an index that remembers the blocks in it.
type memory struct {
	mu     sync.Mutex
	blocks []chainhash.Hash
	had    map[chainhash.Hash]bool // blocks that were connected
	hook   func(height int32) error

	synced         int // blocks at the last Sync
	rewound, reset int // how often
}

func (m *memory) Best() (hash chainhash.Hash, height int32, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.blocks) == 0 {
		return hash, -1, false
	}
	return m.blocks[len(m.blocks)-1], int32(len(m.blocks)) - 1, true
}

func (m *memory) Connect(_ chainview.Reader, b *chainview.Block) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if int(b.Height) != len(m.blocks) || b.Height > 0 && m.blocks[b.Height-1] != b.Parent.Hash {
		return errors.New("not the next block")
	}
	if m.hook != nil {
		if err := m.hook(b.Height); err != nil {
			return err
		}
	}
	m.blocks = append(m.blocks, b.Hash)
	if m.had == nil {
		m.had = make(map[chainhash.Hash]bool)
	}
	m.had[b.Hash] = true
	return nil
}

func (m *memory) Disconnect(_ chainview.Reader, b *chainview.Block) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.blocks[len(m.blocks)-1] != b.Hash {
		return errors.New("not the best block")
	}
	m.blocks = m.blocks[:len(m.blocks)-1]
	return nil
}

func (m *memory) Has(_ chainview.Reader, b *chainview.Block) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.had[b.Hash], nil
}

func (m *memory) Sync() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.synced = len(m.blocks)
	return nil
}

func (m *memory) Reset(known func(*chainhash.Hash) bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known == nil {
		m.blocks, m.reset = nil, m.reset+1
		return nil
	}
	m.rewound++
	for len(m.blocks) > 0 && !known(&m.blocks[len(m.blocks)-1]) {
		m.blocks = m.blocks[:len(m.blocks)-1]
	}
	return nil
}

// check compares the index with the active chain.
func (m *memory) check(t *testing.T, chain *chaintest.Chain) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	var want []chainhash.Hash
	for h := range chain.Active().Height() + 1 {
		want = append(want, chain.Active().At(h).Hash)
	}
	if !slices.Equal(m.blocks, want) {
		t.Errorf("%d blocks in the index, %d in the chain, or others", len(m.blocks), len(want))
	}
}

type rig struct {
	chain  *chaintest.Chain
	index  *memory
	tip    *ask.Feed[messages.TipChanged]
	ref    *ask.Ref
	failed chan error
}

func newRig(t *testing.T, kept *memory, blocks int) *rig {
	t.Helper()
	return newRigWith(t, actortest.New(t), kept, blocks, nil)
}

func newRigWith(t *testing.T, sys *actortest.System, kept *memory, blocks int, locks *ask.Ref) *rig {
	t.Helper()
	r := &rig{
		chain: chaintest.New(&chaincfg.RegressionNetParams), index: kept,
		tip: new(ask.Feed[messages.TipChanged]), failed: make(chan error, 1),
	}
	r.chain.MineN(blocks)
	current := new(chainview.Current)
	current.Set(r.chain)
	r.ref = sys.Spawn("index", blockindex.New(blockindex.Config{
		Name: "test index", Target: &index.Target{Name: "test index", Blocks: kept, Log: sys.Log},
		Chain: current, Tip: r.tip, Log: sys.Log, PruneLocks: locks,
		OnFailed: func(err error) { r.failed <- err },
	}), blockindex.Requests...)
	return r
}

func (r *rig) publish() {
	tip := r.chain.Active().Tip()
	r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
}

func (r *rig) settle(t *testing.T) messages.IndexStatus {
	t.Helper()
	if _, err := ask.Ask(t.Context(), r.ref, messages.WaitIndexIdle{}); err != nil {
		t.Fatal(err)
	}
	status, err := ask.Ask(t.Context(), r.ref, messages.GetIndexStatus{})
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// The index follows the chain, over reorganisations, and says how far it is.
func TestFollow(t *testing.T) {
	r := newRig(t, &memory{}, 1500)
	for range 3 {
		status := r.settle(t)
		tip := r.chain.Active().Tip()
		if !status.Synced || status.Height != tip.Height || status.Hash != tip.Hash {
			t.Errorf("status %+v at %d", status, tip.Height)
		}
		r.index.check(t, r.chain)
		parent := tip.Ancestor(tip.Height - 7)
		for range 12 {
			parent = r.chain.MineOn(parent, chaintest.Template{Script: []byte{byte(tip.Height)}})
		}
		r.publish()
	}
}

// An index that knows more than the chain goes back to what the chain knows.
func TestAheadOfTheChain(t *testing.T) {
	index := &memory{blocks: []chainhash.Hash{{1}, {2}}}
	r := newRig(t, index, 5)
	r.settle(t)
	index.check(t, r.chain)
	if index.rewound != 1 || index.reset != 0 {
		t.Errorf("rewound %d times, reset %d times", index.rewound, index.reset)
	}
}

// Announcements of the chain while a batch runs are not forgotten: here the chain
// closes, opens again, and announces its tip before the batch has noticed.
func TestEventsDuringABatch(t *testing.T) {
	var once sync.Once
	var r *rig
	ready := make(chan struct{})
	index := &memory{hook: func(height int32) (err error) {
		if height == 20 {
			once.Do(func() {
				<-ready
				r.publish()
				_, _ = ask.Ask(t.Context(), r.ref, messages.GetIndexStatus{}) // the actor has taken it
				err = fmt.Errorf("block: %w", chainview.ErrClosed)
			})
		}
		return err
	}}
	r = newRig(t, index, 50)
	close(ready)
	r.settle(t)
	index.check(t, r.chain)
}

// A damaged index is rebuilt, whoever finds the damage; meanwhile nobody is told
// that it is in step with the chain.
func TestDamage(t *testing.T) {
	damaged := fmt.Errorf("table: %w", index.ErrDamaged)
	t.Run("found by the worker", func(t *testing.T) {
		var once sync.Once
		kept := &memory{hook: func(height int32) (err error) {
			if height == 30 {
				once.Do(func() { err = damaged })
			}
			return err
		}}
		r := newRig(t, kept, 50)
		for { // waiting callers get the error, and may ask again
			_, err := ask.Ask(t.Context(), r.ref, messages.WaitIndexIdle{})
			if err == nil {
				break
			}
			if !errors.Is(err, index.ErrDamaged) {
				t.Fatal(err)
			}
		}
		kept.check(t, r.chain)
		if kept.reset != 1 {
			t.Errorf("reset %d times", kept.reset)
		}
	})
	t.Run("found by a reader", func(t *testing.T) {
		kept := &memory{}
		r := newRig(t, kept, 50)
		r.settle(t)
		held := make(chan struct{})
		kept.mu.Lock()
		kept.hook = func(int32) error { <-held; return nil }
		kept.mu.Unlock()
		r.ref.Tell(index.Damaged{Err: damaged})
		r.ref.Tell(index.Damaged{Err: damaged})
		status, err := ask.Ask(t.Context(), r.ref, messages.GetIndexStatus{})
		if err != nil || status.Synced || status.Height != -1 {
			t.Errorf("status %+v, %v", status, err)
		}
		close(held)
		if status := r.settle(t); !status.Synced {
			t.Errorf("status %+v", status)
		}
		kept.check(t, r.chain)
		if kept.reset != 1 {
			t.Errorf("reset %d times", kept.reset)
		}
	})
	t.Run("again at once", func(t *testing.T) {
		r := newRig(t, &memory{hook: func(height int32) error {
			if height == 30 {
				return damaged
			}
			return nil
		}}, 50)
		if err := <-r.failed; !errors.Is(err, index.ErrDamaged) {
			t.Error(err)
		}
		<-r.ref.Done()
	})
}

// lockKeeper is the keeper of the blocks: it remembers how far the index is said to be.
type lockKeeper struct{ locks chan int32 }

func (k *lockKeeper) Receive(c actor.Context) {
	if m, ok := c.Message().(*ask.Call[nodemsg.SetPruneLock, messages.Done]); ok {
		k.locks <- m.Req.Height
		m.Answer(messages.Done{}, nil)
	}
}

// Blocks are given free only when it is sure that the index no longer needs them.
func TestLockFollowsWhatIsSure(t *testing.T) {
	index := &memory{}
	keeper := &lockKeeper{make(chan int32, 100)}
	sys := actortest.New(t)
	ref := sys.Spawn("keeper", func() actor.Actor { return keeper }, ask.Serve[nodemsg.SetPruneLock]())
	r := newRigWith(t, sys, index, 1100, ref)
	for range 2 {
		r.settle(t)
		tip := r.chain.Active().Height()
		for height := range keeper.locks {
			index.mu.Lock()
			if synced := int32(index.synced) - 1; height > synced {
				t.Errorf("blocks up to %d are given free, sure are those up to %d", height, synced)
			}
			index.mu.Unlock()
			if height == tip {
				break
			}
		}
		r.chain.MineN(10)
		r.publish()
	}
}

// An actor that is stopped in the middle of a batch answers waiting calls, and its
// worker ends.
func TestStop(t *testing.T) {
	reached, release := make(chan struct{}), make(chan struct{})
	r := newRig(t, &memory{hook: func(height int32) error {
		if height == 3 {
			close(reached)
			<-release
		}
		return nil
	}}, 10)
	<-reached
	answer := make(chan error, 1)
	go func() {
		_, err := ask.Ask(t.Context(), r.ref, messages.WaitIndexIdle{})
		answer <- err
	}()
	// Answered behind the one above or before it: either way the actor lives.
	if _, err := ask.Ask(t.Context(), r.ref, messages.GetIndexStatus{}); err != nil {
		t.Fatal(err)
	}
	stopped := make(chan error, 1)
	go func() { stopped <- r.ref.Stop(t.Context()) }()
	close(release) // the actor ends after its worker
	if err := <-answer; err != nil && !errors.Is(err, ask.ErrStopped) {
		t.Errorf("who waits gets %v", err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if _, err := ask.Ask(t.Context(), r.ref, messages.GetIndexStatus{}); !errors.Is(err, ask.ErrStopped) {
		t.Errorf("asked afterwards: %v", err)
	}
	select {
	case err := <-r.failed:
		t.Errorf("reported to have failed: %v", err)
	default:
	}
}

// A panic is overcome, an error ends the actor and says why.
func TestFailures(t *testing.T) {
	var once sync.Once
	index := &memory{hook: func(height int32) error {
		if height == 3 {
			once.Do(func() { panic("boom") })
		}
		if height == 30 {
			return errBroken
		}
		return nil
	}}
	r := newRig(t, index, 10)
	if _, err := ask.Ask(t.Context(), r.ref, messages.WaitIndexIdle{}); err != nil &&
		!errors.Is(err, ask.ErrRestarted) {
		t.Error(err)
	}
	r.settle(t)
	index.check(t, r.chain)
	r.chain.MineN(30)
	r.publish()
	if err := <-r.failed; !errors.Is(err, errBroken) {
		t.Error(err)
	}
	<-r.ref.Done()
}
