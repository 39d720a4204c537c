package blockindex_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/blockindex"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

var errBroken = errors.New("broken")

// memory is an index that remembers the blocks in it.
type memory struct {
	mu      sync.Mutex
	blocks  []chainhash.Hash
	cleared int
	hook    func(height int32) error
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

func (m *memory) Clear() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.blocks, m.cleared = nil, m.cleared+1
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
	tip    *ask.Topic[messages.TipChanged]
	ref    *ask.Ref
	failed chan error
}

func newRig(t *testing.T, index *memory, blocks int) *rig {
	t.Helper()
	r := &rig{
		chain: chaintest.New(&chaincfg.RegressionNetParams), index: index,
		tip: new(ask.Topic[messages.TipChanged]), failed: make(chan error, 1),
	}
	r.chain.MineN(blocks)
	current := new(chainview.Current)
	current.Set(r.chain)
	sys := actortest.New(t)
	r.ref = sys.Spawn("index", blockindex.New(blockindex.Config{
		Name: "test index", Index: index, Chain: current, Tip: r.tip, Log: sys.Log,
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

// An index that knows more than the chain is made anew.
func TestAheadOfTheChain(t *testing.T) {
	index := &memory{blocks: []chainhash.Hash{{1}, {2}}}
	r := newRig(t, index, 5)
	r.settle(t)
	index.check(t, r.chain)
	if index.cleared != 1 {
		t.Errorf("cleared %d times", index.cleared)
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
	if _, err := ask.Ask(t.Context(), r.ref, messages.WaitIndexIdle{}); err != nil && !errors.Is(err, ask.ErrRestarted) {
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
