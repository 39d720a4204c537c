package segment

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// testSegment makes segments that hold about ten filters.
const testSegment = 1 << 10

// testBlock is the hash of a made-up block: the same for the same arguments.
func testBlock(branch, height int) chainhash.Hash {
	var seed [16]byte
	binary.LittleEndian.PutUint64(seed[:], uint64(branch))
	binary.LittleEndian.PutUint64(seed[8:], uint64(height))
	return chainhash.HashH(seed[:])
}

// testEntry is an entry whose fields follow from block, with a filter of 1 to
// 180 bytes.
func testEntry(block, prev chainhash.Hash, height int32) Entry {
	filter := testFilter(&block)
	return Entry{
		Block: block, Prev: prev, Height: height,
		FilterHash: chainhash.DoubleHashH(filter),
		Header:     chainhash.HashH(block[:]),
		Filter:     filter,
	}
}

func testFilter(block *chainhash.Hash) []byte {
	r := rand.New(rand.NewChaCha8(*block))
	filter := make([]byte, 1+r.IntN(180))
	for i := range filter {
		filter[i] = byte(r.Uint32())
	}
	return filter
}

func remake(_ context.Context, block *chainhash.Hash) ([]byte, error) {
	return testFilter(block), nil
}

// testChain is n entries from height 0.
func testChain(n int) []Entry {
	entries := make([]Entry, n)
	var prev chainhash.Hash
	for i := range entries {
		entries[i] = testEntry(testBlock(0, i), prev, int32(i))
		prev = entries[i].Block
	}
	return entries
}

// testBranch is n entries on top of one, with hashes of their own.
func testBranch(from Entry, branch, n int) []Entry {
	entries := make([]Entry, n)
	for i := range entries {
		height := from.Height + 1
		entries[i] = testEntry(testBlock(branch, int(height)), from.Block, height)
		from = entries[i]
	}
	return entries
}

func mustOpen(tb testing.TB, dir string) *Store {
	tb.Helper()
	s, err := Open(Options{Dir: dir, SegmentSize: testSegment})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

func mustClose(tb testing.TB, s *Store) {
	tb.Helper()
	if err := s.Close(); err != nil {
		tb.Fatal(err)
	}
}

// mustAppend appends entries and makes the last one the tip.
func mustAppend(tb testing.TB, s *Store, entries []Entry) {
	tb.Helper()
	if err := s.Append(entries); err != nil {
		tb.Fatal(err)
	}
	if err := s.SetTip(&entries[len(entries)-1].Block); err != nil {
		tb.Fatal(err)
	}
}

// newStore is an open store with a chain of n filters.
func newStore(tb testing.TB, n int) (*Store, []Entry) {
	tb.Helper()
	s := mustOpen(tb, tb.TempDir())
	entries := testChain(n)
	mustAppend(tb, s, entries)
	return s, entries
}

func sameEntry(a, b Entry) bool {
	return a.Block == b.Block && a.Prev == b.Prev && a.Height == b.Height &&
		a.FilterHash == b.FilterHash && a.Header == b.Header && bytes.Equal(a.Filter, b.Filter)
}

// checkEntries reads entries by hash, and verifies all segments.
func checkEntries(tb testing.TB, s *Store, entries []Entry) {
	tb.Helper()
	for _, want := range entries {
		got, err := s.ByHash(&want.Block)
		if err != nil {
			tb.Fatalf("ByHash at height %d: %v", want.Height, err)
		}
		if !sameEntry(got, want) {
			tb.Fatalf("ByHash at height %d = %+v, want %+v", want.Height, got, want)
		}
	}
	for _, info := range s.Segments() {
		if err := s.Verify(tb.Context(), info.Number, true); err != nil {
			tb.Fatal(err)
		}
	}
}

// checkActive compares the active chain with entries from height 0.
func checkActive(tb testing.TB, s *Store, want []Entry) {
	tb.Helper()
	height, block, ok := s.Tip()
	if int(height) != len(want)-1 || ok != (len(want) > 0) {
		tb.Fatalf("Tip = %d, %v, want height %d", height, ok, len(want)-1)
	}
	if ok && block != want[height].Block {
		tb.Fatalf("Tip = block %v, want %v", block, want[height].Block)
	}
	v := s.View()
	defer v.Release()
	dst := make([][]byte, len(want))
	if err := v.Filters(0, blocksOf(want), dst); err != nil {
		tb.Fatal(err)
	}
	for i := range want {
		if !bytes.Equal(dst[i], want[i].Filter) {
			tb.Fatalf("filter at height %d = %x, want %x", i, dst[i], want[i].Filter)
		}
		if cap(dst[i]) < len(dst[i])+64 {
			tb.Fatalf("filter at height %d has %d bytes behind it", i, cap(dst[i])-len(dst[i]))
		}
		if got, ok := s.BlockAt(int32(i)); !ok || got != want[i].Block {
			tb.Fatalf("BlockAt(%d) = %v, %v", i, got, ok)
		}
	}
}

func blocksOf(entries []Entry) []chainhash.Hash {
	blocks := make([]chainhash.Hash, len(entries))
	for i := range entries {
		blocks[i] = entries[i].Block
	}
	return blocks
}

func TestEmpty(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	checkActive(t, s, nil)
	if _, err := s.ByHeight(0); !errors.Is(err, ErrNotFound) {
		t.Errorf("ByHeight(0) = %v, want %v", err, ErrNotFound)
	}
	if err := s.Append(nil); err != nil {
		t.Error(err)
	}
	if got := s.Segments(); len(got) != 0 {
		t.Errorf("Segments = %v, want none", got)
	}
}

func TestReopen(t *testing.T) {
	s, entries := newStore(t, 100)
	if got := len(s.Segments()); got < 5 {
		t.Fatalf("%d segments; the test wants several", got)
	}
	for range 3 {
		checkActive(t, s, entries)
		checkEntries(t, s, entries)
		mustClose(t, s)
		s = mustOpen(t, s.dir)
		more := testBranch(entries[len(entries)-1], 0, 7)
		mustAppend(t, s, more)
		entries = append(entries, more...)
	}
	if got := s.Len(); got != len(entries) {
		t.Errorf("Len = %d, want %d", got, len(entries))
	}
}

func TestReorganise(t *testing.T) {
	s, entries := newStore(t, 50)
	before := s.View()
	defer before.Release()

	branch := testBranch(entries[39], 1, 20)
	mustAppend(t, s, branch)
	chain := append(slices.Clone(entries[:40]), branch...)
	check := func() {
		checkActive(t, s, chain)
		checkEntries(t, s, append(slices.Clone(entries), branch...))
	}
	check()
	mustClose(t, s)
	s = mustOpen(t, s.dir)
	check()

	// The old view has the old chain, and of the new one what it shares.
	dst := make([][]byte, 50)
	if err := before.Filters(0, blocksOf(entries), dst); err != nil {
		t.Error(err)
	}
	if err := before.Filters(0, blocksOf(chain[:50]), dst); !errors.Is(err, ErrNotFound) {
		t.Errorf("view of before: %v, want %v", err, ErrNotFound)
	}
	// A view of after finds the stale blocks, too.
	after := s.View()
	defer after.Release()
	if err := after.Filters(0, blocksOf(entries), dst); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(dst[49], entries[49].Filter) {
		t.Error("stale filter differs")
	}

	// Disconnecting is setting an ancestor.
	if err := s.SetTip(&entries[10].Block); err != nil {
		t.Fatal(err)
	}
	checkActive(t, s, entries[:11])
	if err := s.SetTip(&entries[49].Block); err != nil {
		t.Fatal(err)
	}
	checkActive(t, s, entries)
}

func TestAppendOrderAndRepetition(t *testing.T) {
	s := mustOpen(t, t.TempDir())
	entries := testChain(20)
	shuffled := slices.Clone(entries)
	slices.Reverse(shuffled)
	shuffled = append(shuffled, entries...)
	mustAppend(t, s, append(shuffled, entries...))
	if got := s.Len(); got != len(entries) {
		t.Errorf("Len = %d, want %d", got, len(entries))
	}
	checkActive(t, s, entries)
	checkEntries(t, s, entries)
}

func TestInvalid(t *testing.T) {
	s, entries := newStore(t, 3)
	good := testBranch(entries[2], 1, 1)[0]
	tests := []struct {
		name string
		edit func(*Entry)
	}{
		{"empty filter", func(e *Entry) { e.Filter = nil }},
		{"long filter", func(e *Entry) { e.Filter = make([]byte, maxFilter+1) }},
		{"negative height", func(e *Entry) { e.Height = -1 }},
		{"other hash", func(e *Entry) { e.FilterHash[0] ^= 1 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bad := good
			tt.edit(&bad)
			if err := s.Append([]Entry{good, bad}[1:]); !errors.Is(err, ErrInvalid) {
				t.Errorf("Append = %v, want %v", err, ErrInvalid)
			}
		})
	}
	orphan := testEntry(testBlock(2, 9), testBlock(2, 8), 9)
	jump := testEntry(testBlock(3, 9), entries[2].Block, 9)
	if err := s.Append([]Entry{orphan, jump}); err != nil {
		t.Fatal(err)
	}
	if err := s.SetTip(&orphan.Block); !errors.Is(err, ErrNotFound) {
		t.Errorf("SetTip over a gap = %v, want %v", err, ErrNotFound)
	}
	if err := s.SetTip(&jump.Block); !errors.Is(err, ErrInvalid) {
		t.Errorf("SetTip over a jump = %v, want %v", err, ErrInvalid)
	}
	checkActive(t, s, entries)
}
