package segment

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// All that a store makes is its owner's alone to read, a rebuilt segment too, and a key that others could read.
func TestNobodyElseReads(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "index")
	options := Options{Dir: dir, SegmentSize: 1 << 16, MakeLines: testLines, RangeFilters: true}
	s, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, testChain(groupSize+5))
	addAllProbes(t, s)
	if err := errors.Join(
		s.PutRange(0, []byte("a range")), s.Rebuild(t.Context(), 0, remake), s.Close(),
		os.Chmod(filepath.Join(dir, "range.key"), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(options); err != nil {
		t.Fatal(err)
	}
	mustClose(t, s)
	kinds := map[string]bool{}
	if err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		kinds[(entry.Name() + "    ")[:4]] = true
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"fltr", "prob", "rang"} {
		if !kinds[kind] {
			t.Errorf("no file %s", kind)
		}
	}
}

// Filters of one byte up to the longest are taken at the first height, and sizes of segments up to the largest.
func TestBounds(t *testing.T) {
	for size, want := range map[int]error{0: ErrInvalid, 1: nil, maxFilter: nil, maxFilter + 1: ErrInvalid} {
		e := Entry{Filter: make([]byte, size)}
		e.FilterHash = chainhash.DoubleHashH(e.Filter)
		if err := e.check(); !errors.Is(err, want) {
			t.Errorf("a filter of %d bytes: %v", size, err)
		}
	}
	for size, want := range map[int64]bool{-1: false, 1: true, maxSegmentSize: true, maxSegmentSize + 1: false} {
		s, err := Open(Options{Dir: t.TempDir(), SegmentSize: size})
		if (err == nil) != want {
			t.Errorf("size %d: %v", size, err)
		}
		if err == nil {
			mustClose(t, s)
		}
	}
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil || s.segmentSize != DefaultSegmentSize {
		t.Fatal(s, err)
	}
	mustClose(t, s)
	tail := &tail{end: 100, capacity: 100 + 30 + padding}
	for _, test := range []struct {
		n, length int
		want      bool
	}{{0, 30, true}, {10, 20, true}, {30, 0, true}, {0, 31, false}, {11, 20, false}} {
		if got := tail.fits(test.n, test.length); got != test.want {
			t.Errorf("%d bytes behind %d: %v", test.length, test.n, got)
		}
	}
}

// The longest chain is the highest whose ancestors are all there. Among equals the first stored chain counts.
func TestLongest(t *testing.T) {
	chain := testChain(4)
	fork := testBranch(chain[1], 1, 2) // as high
	orphan := testEntry(testBlock(2, 9), testBlock(2, 8), 9)
	jump := testEntry(testBlock(3, 9), chain[3].Block, 9)
	for name, test := range map[string]struct {
		entries [][]Entry
		tip     *chainhash.Hash
	}{
		"nothing":      {nil, nil},
		"one":          {[][]Entry{chain[:1]}, &chain[0].Block},
		"a chain":      {[][]Entry{chain}, &chain[3].Block},
		"without root": {[][]Entry{chain[1:]}, nil},
		"a fork":       {[][]Entry{chain, fork}, &chain[3].Block},
		"a fork first": {[][]Entry{chain[:2], fork, chain[2:]}, &fork[1].Block},
		"loose ones":   {[][]Entry{{orphan, jump}, chain, {jump}}, &chain[3].Block},
	} {
		var c catalog
		offset := uint32(headerSize)
		for _, list := range test.entries {
			for _, e := range list {
				c.add(&record{position: position{0, offset}, block: e.Block, prev: e.Prev, height: e.Height, length: 1})
				offset++
			}
		}
		tip, ok := c.longest()
		if ok != (test.tip != nil) || ok && tip != *test.tip {
			t.Errorf("%s: %v, %v", name, tip, ok)
		}
	}
}

// Dropped filters are mapped no longer. Their successors are synced, although segments of these numbers were.
func TestDropAndAppend(t *testing.T) {
	o, entries := mappedStore(t)
	disk := faultfs.New()
	o.FS = disk
	s, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Segments()) < 3 {
		t.Fatal("too few segments")
	}
	if err := s.DropFrom(&entries[0].Block); err != nil {
		t.Fatal(err)
	}
	wantMapped(t, "dropped", o.Dir, false, false, false)
	mustAppend(t, s, entries)
	synced := map[string]bool{}
	disk.Inject(func(op faultfs.Op) error {
		if op.Kind == faultfs.Sync {
			synced[op.Path] = true
		}
		return nil
	})
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	for _, info := range s.Segments() {
		if !synced[info.Path] {
			t.Errorf("%s is not synced", info.Path)
		}
	}
	disk.Inject(nil)
	checkActive(t, s, entries)
	mustClose(t, s)
}

// Segments of a killed store are synced by the next sync.
func TestSyncAfterKill(t *testing.T) {
	s, _ := newStore(t, 30)
	copied := filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(copied, os.DirFS(s.dir)); err != nil {
		t.Fatal(err)
	}
	disk := faultfs.New()
	killed, err := Open(Options{FS: disk, Dir: copied, SegmentSize: testSegment})
	if err != nil {
		t.Fatal(err)
	}
	synced := 0
	disk.Inject(func(op faultfs.Op) error {
		if op.Kind == faultfs.Sync && filepath.Ext(op.Path) == ".dat" {
			synced++
		}
		return nil
	})
	if err := killed.Sync(); err != nil || synced != len(killed.Segments()) {
		t.Errorf("%d of %d segments are synced, %v", synced, len(killed.Segments()), err)
	}
	mustClose(t, killed)
}

// Pairs of the database that are worthless, or contradict others, are deleted when the store is opened.
func TestContradictions(t *testing.T) {
	s, entries := newStore(t, 30)
	first := record{position: position{0, headerSize + 1}, block: chainhash.Hash{1}, length: 1}
	known := record{position: position{900, headerSize}, block: entries[3].Block, length: 1}
	pairs := map[string][]byte{
		string(first.key()): first.value(), string(known.key()): known.value(),
		string(position{901, headerSize}.key()): {1, 2}, "f\x01short": first.value(), "other": {1},
	}
	for key, value := range pairs {
		if err := s.keys.db.Put([]byte(key), value, nil); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, s)
	s = mustOpen(t, s.dir)
	for key := range pairs {
		if _, err := s.keys.db.Get([]byte(key), nil); !errors.Is(err, leveldb.ErrNotFound) {
			t.Errorf("%q is there, %v", key, err)
		}
	}
	checkActive(t, s, entries)
	checkEntries(t, s, entries)
	if _, err := s.Headers(blocksOf(entries)); err != nil {
		t.Error(err)
	}
	if n, err := s.keys.db.GetProperty("leveldb.aliveiters"); n != "0" || err != nil {
		t.Errorf("%s iterators are kept, %v", n, err)
	}
}

// A last segment that is damaged gets no more filters, and stays closed.
func TestDamagedTail(t *testing.T) {
	for name, damage := range map[string]func(info SegmentInfo) error{
		"header": func(info SegmentInfo) error { return flipAt(info.Path, 3) },
		"size":   func(info SegmentInfo) error { return os.Truncate(info.Path, info.Size-padding-1) },
		"none":   func(SegmentInfo) error { return nil },
	} {
		s, entries := newStore(t, 30)
		mustClose(t, s)
		last := s.Segments()[len(s.Segments())-1]
		if err := damage(last); err != nil {
			t.Fatal(err)
		}
		s = mustOpen(t, s.dir)
		if n := opened(t, s.dir)["fltr"]; (n == 1) != (name == "none") {
			t.Errorf("%s: %d segments are open", name, n)
		}
		more := testBranch(entries[29], 1, 1)
		more[0].Filter = []byte{7} // which has room everywhere
		more[0].FilterHash = chainhash.DoubleHashH(more[0].Filter)
		mustAppend(t, s, more)
		if number := s.Segments()[len(s.Segments())-1].Number; (number == last.Number) != (name == "none") {
			t.Errorf("%s: the next filter is in segment %d", name, number)
		}
		mustClose(t, s)
	}
}

func flipAt(path string, at int) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, flippedByte(b, at), 0o600)
}

// Whichever call fails while a segment is rebuilt: that is told, nothing is left of the attempt, and the other
// filters can be read.
func TestRebuildFails(t *testing.T) {
	s, entries := newStore(t, 30)
	mustClose(t, s)
	for n, fired := 0, true; fired; n++ {
		disk := faultfs.New()
		s, err := Open(Options{FS: disk, Dir: s.dir, SegmentSize: testSegment})
		if err != nil {
			t.Fatal(err)
		}
		info := s.Segments()[0]
		mustWriteAt(t, info.Path, []byte{^entries[0].Filter[0]}, headerSize)
		fired = false
		nth := faultfs.Nth(n, syscall.EIO)
		disk.Inject(func(op faultfs.Op) error {
			err := nth(op)
			fired = fired || err != nil
			return err
		})
		err = s.Rebuild(t.Context(), info.Number, remake)
		disk.Inject(nil)
		if errors.Is(err, syscall.EIO) != fired {
			t.Errorf("call %d fails: %v, %v", n, fired, err)
		}
		if all, _ := filepath.Glob(filepath.Join(s.dir, "fltr*")); len(all) != len(s.Segments()) {
			t.Errorf("call %d: there is %q", n, all)
		}
		if got := checkNoWrongBytes(t, s, entries); got > 1 || !fired && got > 0 {
			t.Errorf("call %d: %d filters are damaged", n, got)
		}
		mustClose(t, s)
	}
}

// A filter that is not the one of its hash is found where that is looked for.
func TestDeepVerify(t *testing.T) {
	s, entries := newStore(t, 30)
	at, err := positions(s, blocksOf(entries[:1]))
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.keys.filter(at[0])
	if err != nil {
		t.Fatal(err)
	}
	r.filterHash[0] ^= 1
	if err := s.keys.db.Put(r.key(), r.value(), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(t.Context(), 0, false); err != nil {
		t.Error(err)
	}
	if err := s.Verify(t.Context(), 0, true); !isDamaged(err, 0) || !errors.Is(err, errHash) {
		t.Errorf("deep: %v", err)
	}
	if err := s.keys.db.Delete(r.key(), nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Verify(t.Context(), 0, true); !errors.Is(err, errKeys) {
		t.Errorf("without its record: %v", err)
	}
}

// Lines are made until the context ends, their loss is told of once, and what is made of a filter that has none is
// damage of its block.
func TestLinesEnd(t *testing.T) {
	dir, entries := laidStore(t)
	s := openLaid(t, dir, testLines)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.AddProbes(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("added: %v", err)
	}
	if err := s.VerifyLines(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("verified: %v", err)
	}
	for n := range 2 {
		if err := os.Truncate(linesPath(dir, n), int64(linesStart(groupSize))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.VerifyLines(t.Context()); err != nil {
		t.Error(err)
	}
	if n := len(s.ProbesLost()); n != 1 || s.WithoutProbes() != len(entries) {
		t.Errorf("told %d times, %d filters without lines", n, s.WithoutProbes())
	}
	mustClose(t, s)
	failure := errors.New("no lines")
	s = openLaid(t, dir, func([]byte, *chainhash.Hash, []byte) ([]byte, uint32, error) { return nil, 0, failure })
	var damaged *DamagedError
	if _, err := s.AddProbes(t.Context()); !errors.As(err, &damaged) || damaged.Block != entries[0].Block ||
		!errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	mustClose(t, s)
}

// All that is known of a filter is filled in anew.
func TestStoredAgain(t *testing.T) {
	s := openLaid(t, t.TempDir(), testLines)
	entries := testChain(10)
	mustAppend(t, s, entries)
	addAllProbes(t, s)
	more := testBranch(entries[9], 1, 1)
	mustAppend(t, s, more)
	v := s.View()
	defer v.Release()
	var again Stored
	if err := errors.Join(v.Stored(3, nil, &again), v.Stored(10, nil, &again)); err != nil {
		t.Fatal(err)
	}
	if again.Lines != nil || again.Items != 0 || again.LinesCRC != 0 || again.LinesMapped ||
		*again.Block != more[0].Block {
		t.Errorf("got %+v", again)
	}
}

// Without a mark of the last sync, or with one beyond all filters, all whole filters count as synced.
func TestSyncedWithoutAMark(t *testing.T) {
	s, entries := newStore(t, 5)
	end := s.catalog.end()
	beyond := marks{synced: syncMark{end: position{end.segment + 7, 0}}, hasSynced: true}
	within := marks{synced: syncMark{end: s.catalog.positionOf(&s.catalog.slots[2])}, hasSynced: true}
	for name, test := range map[string]struct {
		marks marks
		want  position
		dirty bool
	}{
		"none": {marks{}, end, false}, "beyond": {beyond, end, false}, "within": {within, within.synced.end, true},
	} {
		if err := s.restoreSynced(test.marks); err != nil || s.synced != test.want || s.dirty != test.dirty {
			t.Errorf("%s: synced up to %v, want %v; dirty %v, %v", name, s.synced, test.want, s.dirty, err)
		}
	}
	checkActive(t, s, entries)
}
