package segment

import (
	"bytes"
	"errors"
	"flag"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"pgregory.net/rapid"
)

// model is the store as a map: the oracle of the property test.
type model struct {
	store  *Store
	stored map[chainhash.Hash]Entry
	blocks []chainhash.Hash // of stored, in order
	tip    chainhash.Hash   // zero: none
	next   int              // names blocks
}

// chain returns the active chain from height 0.
func (m *model) chain() []Entry {
	var chain []Entry
	for block := m.tip; block != (chainhash.Hash{}); block = m.stored[block].Prev {
		chain = append(chain, m.stored[block])
	}
	slices.Reverse(chain)
	return chain
}

// grow makes entries on a block of the model, or a first one.
func (m *model) grow(t *rapid.T) []Entry {
	n := rapid.IntRange(1, 12).Draw(t, "entries")
	m.next++
	if len(m.blocks) == 0 {
		first := testEntry(testBlock(m.next, 0), chainhash.Hash{}, 0)
		return append([]Entry{first}, testBranch(first, m.next, n)...)
	}
	parent := m.tip
	if parent == (chainhash.Hash{}) || rapid.Bool().Draw(t, "fork") {
		parent = rapid.SampledFrom(m.blocks).Draw(t, "parent")
	}
	return testBranch(m.stored[parent], m.next, n)
}

func (m *model) append(t *rapid.T) {
	entries := m.grow(t)
	batch := entries
	if len(m.blocks) > 0 && rapid.Bool().Draw(t, "known") { // known blocks are passed over
		batch = append(batch, m.stored[rapid.SampledFrom(m.blocks).Draw(t, "again")])
	}
	if err := m.store.Append(batch); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		m.stored[e.Block] = e
		m.blocks = append(m.blocks, e.Block)
	}
}

func (m *model) setTip(t *rapid.T) {
	if len(m.blocks) == 0 {
		t.Skip("no blocks")
	}
	m.tip = rapid.SampledFrom(m.blocks).Draw(t, "tip")
	if rapid.Bool().Draw(t, "newest") {
		m.tip = m.blocks[len(m.blocks)-1]
	}
	if err := m.store.SetTip(&m.tip); err != nil {
		t.Fatal(err)
	}
}

func (m *model) reopen(t *rapid.T) {
	dir := m.store.dir
	if err := m.store.Close(); err != nil {
		t.Fatal(err)
	}
	m.open(t, dir)
}

func (m *model) open(t *rapid.T, dir string) {
	size := rapid.SampledFrom([]int64{300, testSegment, 1 << 16}).Draw(t, "segment size")
	s, err := Open(Options{Dir: dir, SegmentSize: size})
	if err != nil {
		t.Fatal(err)
	}
	m.store = s
}

func (m *model) rebuild(t *rapid.T) {
	infos := m.store.Segments()
	if len(infos) == 0 {
		t.Skip("no segments")
	}
	number := rapid.SampledFrom(infos).Draw(t, "segment").Number
	if err := m.store.Rebuild(t.Context(), number, remake); err != nil {
		t.Fatal(err)
	}
}

// drop forgets a block, its segment, and all that follows.
func (m *model) drop(t *rapid.T) {
	if len(m.blocks) == 0 {
		t.Skip("no blocks")
	}
	block := rapid.SampledFrom(m.blocks).Draw(t, "dropped")
	first := 0
	for _, info := range m.store.Segments() {
		if first+info.Filters > slices.Index(m.blocks, block) {
			break
		}
		first += info.Filters
	}
	chain := m.chain()
	for _, gone := range m.blocks[first:] {
		delete(m.stored, gone)
	}
	m.blocks, m.tip = m.blocks[:first], chainhash.Hash{}
	for _, e := range chain {
		if _, ok := m.stored[e.Block]; !ok {
			break
		}
		m.tip = e.Block
	}
	old := m.store.View()
	defer old.Release()
	if err := m.store.DropFrom(&block); err != nil {
		t.Fatal(err)
	}
	filters := make([][]byte, len(chain)) // views keep what they have
	if err := old.Filters(0, blocksOf(chain), filters); err != nil {
		t.Fatal(err)
	}
	for i, e := range chain {
		if !bytes.Equal(filters[i], e.Filter) {
			t.Fatalf("filter at height %d = %x, want %x", i, filters[i], e.Filter)
		}
	}
}

func (m *model) read(t *rapid.T) {
	if len(m.blocks) == 0 {
		t.Skip("no blocks")
	}
	want := m.stored[rapid.SampledFrom(m.blocks).Draw(t, "block")]
	got, err := m.store.ByHash(&want.Block)
	if err != nil || !sameEntry(got, want) {
		t.Fatalf("ByHash = %+v, %v, want %+v", got, err, want)
	}
	unknown := testBlock(-1, len(m.blocks))
	if _, err := m.store.ByHash(&unknown); !errors.Is(err, ErrNotFound) || m.store.Has(&unknown) {
		t.Fatalf("ByHash of an unknown block = %v, want %v", err, ErrNotFound)
	}
}

// check compares all of the store with the model.
func (m *model) check(t *rapid.T) {
	chain := m.chain()
	height, tip, ok := m.store.Tip()
	if int(height) != len(chain)-1 || tip != m.tip || ok != (len(chain) > 0) {
		t.Fatalf("Tip = %d, %v, %v, want %d, %v", height, tip, ok, len(chain)-1, m.tip)
	}
	v := m.store.View()
	defer v.Release()
	dst := make([][]byte, len(chain))
	if err := v.Filters(0, blocksOf(chain), dst); err != nil {
		t.Fatal(err)
	}
	for i, e := range chain {
		if !bytes.Equal(dst[i], e.Filter) {
			t.Fatalf("filter at height %d = %x, want %x", i, dst[i], e.Filter)
		}
	}
	filters := 0
	for _, info := range m.store.Segments() {
		filters += info.Filters
		if err := m.store.Verify(t.Context(), info.Number, true); err != nil {
			t.Fatal(err)
		}
	}
	if filters != len(m.blocks) || m.store.Len() != len(m.blocks) {
		t.Fatalf("%d filters in segments, Len = %d, want %d", filters, m.store.Len(), len(m.blocks))
	}
}

// TestModel runs random operations on a store and on a map.
func TestModel(t *testing.T) {
	if f := flag.Lookup("rapid.checks"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("20"); err != nil { // files are slow; ask for more by the flag
			t.Fatal(err)
		}
	}
	newDir := t.TempDir
	rapid.Check(t, func(t *rapid.T) {
		m := &model{stored: make(map[chainhash.Hash]Entry)}
		m.open(t, newDir())
		defer func() { m.store.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"append":  m.append,
			"set tip": m.setTip,
			"reopen":  m.reopen,
			"rebuild": m.rebuild,
			"drop":    m.drop,
			"read":    m.read,
			"sync": func(t *rapid.T) {
				if err := m.store.Sync(); err != nil {
					t.Fatal(err)
				}
			},
			"": m.check,
		})
	})
}
