package segment

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
)

// testLines are the filter's bytes in other order: the store knows no better.
func testLines(dst []byte, block *chainhash.Hash, filter []byte) ([]byte, uint32, error) {
	turned := slices.Clone(filter)
	slices.Reverse(turned)
	return append(append(dst, block[:2]...), turned...), uint32(len(filter)), nil
}

func openLaid(tb testing.TB, dir string, lines MakeLines) *Store {
	tb.Helper()
	s, err := Open(Options{Dir: dir, SegmentSize: 1 << 16, MakeLines: lines})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { s.Close() })
	return s
}

// addAllProbes makes all lines, as the store's owner does.
func addAllProbes(tb testing.TB, s *Store) (steps int) {
	tb.Helper()
	for s.WithoutProbes() > 0 {
		left, err := s.AddProbes(tb.Context())
		if err != nil || left != s.WithoutProbes() {
			tb.Fatalf("AddProbes left %d of %d: %v", left, s.WithoutProbes(), err)
		}
		steps++
	}
	return steps
}

// laidStore is a closed store of two files of lines and some filters more.
func laidStore(tb testing.TB) (dir string, entries []Entry) {
	tb.Helper()
	dir, entries = tb.TempDir(), testChain(2*groupSize+50)
	s := openLaid(tb, dir, testLines)
	mustAppend(tb, s, entries)
	if steps := addAllProbes(tb, s); steps != 3 {
		tb.Errorf("made in %d steps, want 3", steps)
	}
	checkLaid(tb, s, entries)
	mustClose(tb, s)
	return dir, entries
}

// checkLaid reads filters with their lines, of which there must be all.
func checkLaid(tb testing.TB, s *Store, entries []Entry) {
	tb.Helper()
	v := s.View()
	defer v.Release()
	for i := range entries {
		e := &entries[i]
		var byHeight, byBlock Stored
		if err := errors.Join(v.Stored(e.Height, nil, &byHeight), v.Stored(e.Height, &e.Block, &byBlock)); err != nil {
			tb.Fatal(err)
		}
		lines, items, _ := testLines(nil, &e.Block, e.Filter)
		if got := &byHeight; *got.Block != e.Block || !bytes.Equal(got.Filter, e.Filter) ||
			got.CRC != checksum(e.Filter) ||
			!bytes.Equal(got.Lines, lines) || got.Items != items || got.LinesCRC != checksum(lines) {
			tb.Fatalf("height %d: got %+v", e.Height, got)
		}
		if *byBlock.Block != e.Block || !bytes.Equal(byBlock.Lines, lines) {
			tb.Fatalf("height %d by its block: got %+v", e.Height, byBlock)
		}
	}
}

func TestLay(t *testing.T) {
	dir, entries := laidStore(t)
	s := openLaid(t, dir, testLines)
	if left := s.WithoutProbes(); left != 50 {
		t.Errorf("%d filters without lines after a start, want those after the last file", left)
	}
	addAllProbes(t, s)
	checkLaid(t, s, entries)

	// A branch: its filters come next in the store, and have lines too.
	branch := testBranch(entries[100], 1, 2100)
	mustAppend(t, s, branch)
	addAllProbes(t, s)
	checkLaid(t, s, slices.Concat(entries[:101], branch))
	v := s.View()
	defer v.Release()
	tip := &branch[len(branch)-1]
	if !v.Active(0, &entries[0].Block) || v.Active(tip.Height+1, &tip.Block) || !v.Active(tip.Height, &tip.Block) ||
		v.Active(200, &entries[200].Block) || v.Active(-1, &tip.Block) {
		t.Error("wrong active chain")
	}
}

// TestLayOldDirectory gives a store its lines that was made without, while
// somebody reads.
func TestLayOldDirectory(t *testing.T) {
	dir, entries := t.TempDir(), testChain(groupSize+10)
	old := openLaid(t, dir, nil)
	mustAppend(t, old, entries)
	if n, err := old.AddProbes(t.Context()); n != 0 || err != nil || old.WithoutProbes() != 0 {
		t.Errorf("a store without lines: AddProbes returned %d and %v", n, err)
	}
	mustClose(t, old)

	s := openLaid(t, dir, testLines)
	before := s.View()
	defer before.Release()
	addAllProbes(t, s)
	checkLaid(t, s, entries)
	var got Stored
	if err := before.Stored(5, nil, &got); err != nil || got.Lines != nil ||
		!bytes.Equal(got.Filter, entries[5].Filter) {
		t.Errorf("a view from before: got %+v and %v", got, err)
	}
	mustClose(t, s)

	plain := openLaid(t, dir, nil)
	if files, _ := filesLike(vfs.OS, dir, "prob*"); len(files) > 0 {
		t.Errorf("left without the option: %q", files)
	}
	checkActive(t, plain, entries)
}

// TestDamagedLineFiles damages files of lines between two starts: what is not as
// it was written is rebuilt, before or when it is looked at.
func TestDamagedLineFiles(t *testing.T) {
	dir, entries := laidStore(t)
	path := linesPath(dir, 0)
	good := mustRead(t, path)
	other := mustRead(t, linesPath(dir, 1))
	head := linesStart(groupSize)
	flip := func(at int) []byte {
		b := slices.Clone(good)
		b[at] ^= 4
		return b
	}
	for name, c := range map[string]struct {
		file    []byte
		noticed bool // by Open; else by VerifyLines
	}{
		"missing":      {nil, true},
		"empty":        {[]byte{}, true},
		"cut":          {good[:len(good)-1], true},
		"cut head":     {good[:100], true},
		"longer":       {append(slices.Clone(good), 0), true},
		"another's":    {other, true},
		"magic":        {flip(0), true},
		"version":      {flip(8), true},
		"fingerprint":  {flip(30), true},
		"header's sum": {flip(61), true},
		"directory":    {flip(70), true},
		"first line":   {flip(head), false},
		"last line":    {flip(len(good) - 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			if c.file != nil {
				mustWriteFile(t, path, c.file)
			}
			mustWriteFile(t, filepath.Join(dir, "prob00009.dat"), good)
			mustWriteFile(t, path+".tmp", good[:50])
			s := openLaid(t, dir, testLines)
			defer s.Close()
			if files, _ := filesLike(vfs.OS, dir, "prob*"); len(files) > 2 {
				t.Errorf("left over: %q", files)
			}
			if got := s.WithoutProbes() > 50; got != c.noticed {
				t.Errorf("%d filters without lines after the start", s.WithoutProbes())
			}
			addAllProbes(t, s)
			if err := s.VerifyLines(t.Context()); err != nil {
				t.Fatal(err)
			}
			if lost := len(s.ProbesLost()) > 0; lost == c.noticed {
				t.Errorf("lines lost: %v", lost)
			}
			addAllProbes(t, s)
			checkLaid(t, s, entries)
			if !bytes.Equal(mustRead(t, path), good) {
				t.Error("the file is not as it was")
			}
		})
	}
}

func mustWriteFile(tb testing.TB, path string, b []byte) {
	tb.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// TestLinesOfDamagedFilter: a filter that cannot be read is an error of AddProbes, and
// once it is re-made there are its lines.
func TestLinesOfDamagedFilter(t *testing.T) {
	dir, entries := t.TempDir(), testChain(30)
	s := openLaid(t, dir, testLines)
	mustAppend(t, s, entries)
	mustWriteAt(t, segmentPath(dir, 0), []byte{^entries[0].Filter[0]}, headerSize)
	_, err := s.AddProbes(t.Context())
	if !isDamaged(err, 0) {
		t.Fatalf("got %v, want damage", err)
	}
	healOne(t, s, 0)
	addAllProbes(t, s)
	checkLaid(t, s, entries)
}

// TestLostLines: a file that shrinks under its mapping is a fault where it is
// read, and dropped by whoever notices.
func TestLostLines(t *testing.T) {
	dir, entries := laidStore(t)
	s := openLaid(t, dir, testLines)
	addAllProbes(t, s)
	if err := os.Truncate(linesPath(dir, 1), 100); err != nil {
		t.Fatal(err)
	}
	v := s.View()
	defer v.Release()
	e := &entries[2*groupSize-1]
	var got Stored
	if err := v.Stored(e.Height, nil, &got); err != nil {
		t.Fatal(err)
	}
	if err := Guard(func() { checksum(got.Lines) }); !errors.Is(err, ErrFault) {
		t.Errorf("got %v, want a fault", err)
	}
	s.DropLines(&e.Block)
	s.DropLines(&chainhash.Hash{}) // of no filter
	if s.WithoutProbes() != groupSize || len(s.ProbesLost()) != 1 {
		t.Errorf("%d filters without lines", s.WithoutProbes())
	}
	addAllProbes(t, s)
	checkLaid(t, s, entries)
	mustClose(t, s)
	if left := s.WithoutProbes(); left != 0 {
		t.Errorf("after Close: %d filters without lines", left)
	}
	s.DropLines(&e.Block)
	if _, err := s.AddProbes(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: got %v", err)
	}
}

// Where all filters have their lines there is nothing to add.
func TestNothingToAdd(t *testing.T) {
	for _, n := range []int{0, 1, 50, groupSize - 1, groupSize, groupSize + 1} {
		s := openLaid(t, t.TempDir(), testLines)
		entries := testChain(n)
		if n > 0 {
			mustAppend(t, s, entries)
		}
		if steps := addAllProbes(t, s); steps != (n+groupSize-1)/groupSize {
			t.Errorf("%d filters: made in %d steps", n, steps)
		}
		for range 2 {
			if left, err := s.AddProbes(t.Context()); left != 0 || err != nil {
				t.Errorf("%d filters: %d are left, %v", n, left, err)
			}
		}
		checkLaid(t, s, entries)
		dir := s.dir
		mustClose(t, s)
		s = openLaid(t, dir, testLines)
		if left := s.WithoutProbes(); left != n%groupSize {
			t.Errorf("%d filters: %d without lines after a start", n, left)
		}
		mustClose(t, s)
	}
}

// A file of lines is as the comment on its form says: older programs have written such files.
func TestLineFile(t *testing.T) {
	dir, entries := laidStore(t)
	const number = 1
	le := binary.LittleEndian
	var filters, directory, lines []byte
	for i := range groupSize {
		e := &entries[number*groupSize+i]
		filters = append(filters, e.Block[:]...)
		filters = le.AppendUint32(filters, uint32(len(e.Filter)))
		filters = le.AppendUint32(filters, crc32.ChecksumIEEE(e.Filter))
		own, items, _ := testLines(nil, &e.Block, e.Filter)
		for _, n := range []uint32{items, uint32(len(own)), crc32.ChecksumIEEE(own)} {
			directory = le.AppendUint32(directory, n)
		}
		lines = append(lines, own...)
	}
	want := []byte("TRAWLPRB")
	for _, n := range []uint32{1, number, groupSize, crc32.ChecksumIEEE(directory)} {
		want = le.AppendUint32(want, n)
	}
	sum := sha256.Sum256(filters)
	want = append(append(want, sum[:]...), 0, 0, 0, 0)
	want = append(le.AppendUint32(want, crc32.ChecksumIEEE(want)), directory...)
	for len(want)%64 != 0 {
		want = append(want, 0)
	}
	if !bytes.Equal(mustRead(t, linesPath(dir, number)), append(want, lines...)) {
		t.Error("the file has another form")
	}
}
