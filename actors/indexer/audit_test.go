package indexer_test

import (
	"bytes"
	"runtime"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// imported is a chain that gives the filters of another node.
type imported struct {
	*chaintest.Chain
	filters map[chainhash.Hash][]byte

	mu      sync.Mutex
	audited map[chainhash.Hash]bool
	refused bool
}

var _ chainview.FilterAuditor = &imported{}

func (m *imported) Filter(hash *chainhash.Hash) (filter []byte, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	filter, ok = m.filters[*hash]
	return filter, ok && !m.refused, nil
}

// Unaudited gives three blocks at a time.
func (m *imported) Unaudited(from, to int32) (blocks []*chainview.Block, next int32, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for next = from; next <= min(to, m.Active().Height()) && len(blocks) < 3; next++ {
		b := m.Active().At(next)
		if _, ok := m.filters[b.Hash]; ok && !m.audited[b.Hash] {
			blocks = append(blocks, b)
		}
	}
	return blocks, next, nil
}

func (m *imported) Audited(b *chainview.Block) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.audited[b.Hash] = true
	return nil
}

func (m *imported) RefuseFilters() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = true
	return nil
}

func (m *imported) state() (audited int, refused bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.audited), m.refused
}

// importedChain returns a chain whose even blocks have filters of another node, and what
// all filters should be.
func importedChain(t *testing.T, n int) (m *imported, want map[chainhash.Hash][]byte) {
	t.Helper()
	m = &imported{
		Chain: chaintest.New(&chaincfg.RegressionNetParams), filters: map[chainhash.Hash][]byte{},
		audited: map[chainhash.Hash]bool{},
	}
	m.MineN(n)
	want = map[chainhash.Hash][]byte{}
	var builder filters.Builder
	for h := range int32(n + 1) {
		b := m.Active().At(h)
		raw, _ := m.Raw(&b.Hash)
		filter, err := builder.BuildBlock(&b.Hash, raw, filters.HeaderLen, nil)
		if err != nil {
			t.Fatal(err)
		}
		want[b.Hash] = filter
		if h%2 == 0 {
			m.filters[b.Hash] = filter
		}
	}
	return m, want
}

// wantFilters asserts that the store has the right filters, with matching headers.
func (r *rig) wantFilters(t *testing.T, m *imported, want map[chainhash.Hash][]byte) {
	t.Helper()
	var header chainhash.Hash
	for h := range m.Active().Height() + 1 {
		block := m.Active().At(h).Hash
		got, err := r.store.ByHash(&block)
		hash := filters.Hash(want[block])
		header = filters.Header(&hash, &header)
		if err != nil || !bytes.Equal(got.Filter, want[block]) || got.Header != header {
			t.Errorf("filter at height %d: %x, want %x: %v", h, got.Filter, want[block], err)
		}
	}
	if failed := r.failures(); failed != nil {
		t.Error(failed)
	}
}

// Filters of another node are built in the background, too.
func TestAudit(t *testing.T) {
	t.Parallel()
	m, want := importedChain(t, 40)
	pruned := m.Active().At(10)
	r := newRig(t, m)
	r.audit = true
	m.Fail(pruned, chainview.ErrPruned)
	r.spawn()
	r.announce(t)
	for n, _ := m.state(); n < 20; n, _ = m.state() { // 21 were given, and one cannot be built
		runtime.Gosched()
	}
	r.wantFilters(t, m, want)
	if n, refused := m.state(); n != 20 || refused {
		t.Errorf("%d filters are compared, refused: %v", n, refused)
	}
}

// A wrong filter is replaced, and all later filters are, as their headers depend on its header.
// No other filters are taken from the chain any more.
func TestAuditFindsWrongFilter(t *testing.T) {
	t.Parallel()
	for _, height := range []int32{0, 2, 20, 40} {
		m, want := importedChain(t, 40)
		wrong := m.Active().At(height)
		m.filters[wrong.Hash] = want[m.Active().At((height+2)%40).Hash]
		r := newRig(t, m)
		r.audit = true
		r.spawn()
		tip := m.Active().Tip()
		r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
		for _, refused := m.state(); !refused; _, refused = m.state() {
			runtime.Gosched()
		}
		for e, err := r.store.ByHash(&wrong.Hash); err != nil || !bytes.Equal(e.Filter, want[wrong.Hash]); {
			e, err = r.store.ByHash(&wrong.Hash)
			runtime.Gosched()
		}
		r.announce(t)
		r.wantFilters(t, m, want)
	}
}

// Without -attachverify nothing is built twice.
func TestNoAudit(t *testing.T) {
	t.Parallel()
	m, want := importedChain(t, 10)
	r := newRig(t, m)
	r.spawn()
	r.announce(t)
	do(t, r.Ref, messages.VerifyIndex{})
	r.wantFilters(t, m, want)
	if n, _ := m.state(); n != 0 {
		t.Errorf("%d filters are compared", n)
	}
}
