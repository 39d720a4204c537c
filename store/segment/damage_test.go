package segment

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
)

// isDamaged reports whether err says that a segment is damaged.
func isDamaged(err error, segment int) bool {
	var damaged *DamagedError
	return errors.As(err, &damaged) && damaged.Segment == segment
}

func mustRead(tb testing.TB, path string) []byte {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

func mustWriteAt(tb testing.TB, path string, b []byte, offset int64) {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, offset); err != nil {
		tb.Fatal(err)
	}
}

// checkNoWrongBytes reads every entry in both ways: right, or damaged. It
// returns how many were damaged.
func checkNoWrongBytes(tb testing.TB, s *Store, entries []Entry) (damaged int) {
	tb.Helper()
	v := s.View()
	defer v.Release()
	for i, want := range entries {
		var dst [1][]byte
		err := v.Filters(want.Height, []chainhash.Hash{want.Block}, dst[:])
		got, byHash := s.ByHash(&want.Block)
		var viewDamage, hashDamage *DamagedError
		switch {
		case err == nil && byHash == nil:
			if !bytes.Equal(dst[0], want.Filter) || !sameEntry(got, want) {
				tb.Fatalf("wrong bytes of entry %d: %x, %x, want %x", i, dst[0], got.Filter, want.Filter)
			}
		case errors.As(err, &viewDamage) && errors.As(byHash, &hashDamage):
			if viewDamage.Block != want.Block {
				tb.Fatalf("damage of entry %d names block %v", i, viewDamage.Block)
			}
			damaged++
		default:
			tb.Fatalf("entry %d: Filters: %v, ByHash: %v", i, err, byHash)
		}
	}
	return damaged
}

// healOne asserts that a segment, and no other, is damaged, and rebuilds it.
func healOne(tb testing.TB, s *Store, segment int) {
	tb.Helper()
	for _, info := range s.Segments() {
		err := s.Verify(tb.Context(), info.Number, false)
		if info.Number == segment && !isDamaged(err, segment) {
			tb.Fatalf("Verify of the damaged segment %d = %v", segment, err)
		}
		if info.Number != segment && err != nil {
			tb.Fatalf("Verify of segment %d = %v", info.Number, err)
		}
	}
	if err := s.Rebuild(tb.Context(), segment, remake); err != nil {
		tb.Fatal(err)
	}
	if err := s.Verify(tb.Context(), segment, true); err != nil {
		tb.Fatal(err)
	}
}

// TestEveryBit flips each bit of a segment file in turn.
func TestEveryBit(t *testing.T) {
	s, entries := newStore(t, 30)
	info := s.Segments()[1]
	right := mustRead(t, info.Path)
	others := mustRead(t, s.Segments()[0].Path)
	for bit := range 8 * len(right) {
		flipped := right[bit/8] ^ 1<<(bit%8)
		mustWriteAt(t, info.Path, []byte{flipped}, int64(bit/8))
		if err := s.Verify(t.Context(), info.Number, false); !isDamaged(err, info.Number) {
			t.Fatalf("bit %d flipped: Verify = %v", bit, err)
		}
		if bit%97 != 0 { // the rest is slower: a sample
			mustWriteAt(t, info.Path, right[bit/8:bit/8+1], int64(bit/8))
			continue
		}
		if got := checkNoWrongBytes(t, s, entries); got > 1 {
			t.Fatalf("bit %d flipped: %d filters are damaged", bit, got)
		}
		healOne(t, s, info.Number)
		if !bytes.Equal(mustRead(t, info.Path), right) {
			t.Fatalf("bit %d flipped: the rebuilt segment differs", bit)
		}
	}
	if !bytes.Equal(mustRead(t, s.Segments()[0].Path), others) {
		t.Error("another segment changed")
	}
	checkActive(t, s, entries)
}

// TestTruncated cuts a segment to every length, under a running store and
// before a store is opened.
func TestTruncated(t *testing.T) {
	s, entries := newStore(t, 30)
	dir, last := s.dir, len(s.Segments())-1
	for _, i := range []int{0, last} {
		info := s.Segments()[i]
		for size := int64(0); size < info.Size; size += 13 {
			if err := os.Truncate(info.Path, size); err != nil {
				t.Fatal(err)
			}
			checkNoWrongBytes(t, s, entries)
			if size%5 == 0 {
				mustClose(t, s)
				s = mustOpen(t, dir)
				checkNoWrongBytes(t, s, entries)
				if size >= info.Size-padding {
					continue // Open has mended the padding
				}
			}
			healOne(t, s, info.Number)
			checkActive(t, s, entries)
		}
	}
}

func TestMissingFile(t *testing.T) {
	s, entries := newStore(t, 30)
	for i := range s.Segments() {
		info := s.Segments()[i]
		mustClose(t, s)
		if err := os.Remove(info.Path); err != nil {
			t.Fatal(err)
		}
		s = mustOpen(t, s.dir)
		if got := checkNoWrongBytes(t, s, entries); got != info.Filters {
			t.Fatalf("%d filters are damaged, want %d", got, info.Filters)
		}
		more := testBranch(entries[len(entries)-1], 0, 1)
		mustAppend(t, s, more) // goes on beside the damage
		entries = append(entries, more...)
		healOne(t, s, info.Number)
		checkActive(t, s, entries)
	}
}

func TestExcessIsCut(t *testing.T) {
	s, entries := newStore(t, 30)
	mustClose(t, s)
	infos := s.Segments()
	for _, info := range []SegmentInfo{infos[0], infos[len(infos)-1]} {
		mustWriteAt(t, info.Path, []byte("torn"), info.Size+100)
	}
	strays := []string{segmentPath(s.dir, 77), segmentPath(s.dir, 0) + ".tmp"}
	for _, stray := range strays {
		if err := os.WriteFile(stray, []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s = mustOpen(t, s.dir)
	checkActive(t, s, entries)
	checkEntries(t, s, entries)
	for _, stray := range strays {
		if _, err := os.Stat(stray); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", filepath.Base(stray), err)
		}
	}
}

func TestRebuildRefusesOtherFilters(t *testing.T) {
	s, entries := newStore(t, 30)
	info := s.Segments()[0]
	mustWriteAt(t, info.Path, []byte{entries[1].Filter[0] ^ 1}, int64(headerSize+len(entries[0].Filter)))
	mustWriteAt(t, info.Path, []byte{1}, headerSize-1)
	damage := errors.New("no such block")
	tests := []struct {
		name string
		make MakeFilter
		want error
	}{
		{"error", func(context.Context, *chainhash.Hash) ([]byte, error) { return nil, damage }, damage},
		{"other length", func(context.Context, *chainhash.Hash) ([]byte, error) { return nil, nil }, errChecksum},
		{"other filter", func(context.Context, *chainhash.Hash) ([]byte, error) {
			return make([]byte, len(entries[1].Filter)), nil
		}, errChecksum},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := s.Rebuild(t.Context(), info.Number, tt.make); !errors.Is(err, tt.want) {
				t.Errorf("Rebuild = %v, want %v", err, tt.want)
			}
			if got := checkNoWrongBytes(t, s, entries); got != 1 {
				t.Errorf("%d filters are damaged, want the one that could not be made", got)
			}
		})
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Rebuild(cancelled, info.Number, remake); !errors.Is(err, context.Canceled) {
		t.Errorf("Rebuild = %v, want %v", err, context.Canceled)
	}
	if err := s.Rebuild(t.Context(), 999, remake); !errors.Is(err, ErrNotFound) {
		t.Errorf("Rebuild of no segment = %v, want %v", err, ErrNotFound)
	}
	healOne(t, s, info.Number)
}

// TestRebuildKeepsWhatIsIntact: only the damaged filter is asked for, so that
// filters of blocks which the chain no longer has are not lost.
func TestRebuildKeepsWhatIsIntact(t *testing.T) {
	s, entries := newStore(t, 30)
	info := s.Segments()[0]
	mustWriteAt(t, info.Path, []byte{entries[0].Filter[0] ^ 1}, headerSize)
	var asked []chainhash.Hash
	err := s.Rebuild(t.Context(), info.Number, func(ctx context.Context, block *chainhash.Hash) ([]byte, error) {
		asked = append(asked, *block)
		return remake(ctx, block)
	})
	if err != nil || !slices.Equal(asked, blocksOf(entries[:1])) {
		t.Errorf("Rebuild = %v and asked for %v", err, asked)
	}
}

// TestDamagedKeys removes, cuts or flips bits of every file of the database.
// Every loss is noticed, and lost filters can be appended again.
func TestDamagedKeys(t *testing.T) {
	damages := []struct {
		name string
		do   func(path string, b []byte) error
	}{
		{"remove", func(path string, _ []byte) error { return os.Remove(path) }},
		{"empty", func(path string, _ []byte) error { return os.Truncate(path, 0) }},
		{"cut", func(path string, b []byte) error { return os.Truncate(path, int64(len(b)/2)) }},
		{"flip", func(path string, b []byte) error {
			for i := 0; i < len(b); i += 1 + len(b)/7 {
				b[i] ^= 0x10
			}
			return os.WriteFile(path, b, 0o600)
		}},
	}
	s, entries := newStore(t, 60)
	mustClose(t, s)
	for range 2 { // so that there are tables, too
		mustClose(t, mustOpen(t, s.dir))
	}
	files, err := filesLike(vfs.OS, filepath.Join(s.dir, "db"), "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for _, damage := range damages {
			name := filepath.Base(file)
			t.Run(name+"/"+damage.name, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(s.dir)); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, "db", name)
				if err := damage.do(path, mustRead(t, path)); err != nil {
					t.Fatal(err)
				}
				checkRestored(t, dir, entries)
			})
		}
	}
	t.Run("all", func(t *testing.T) {
		if err := os.RemoveAll(filepath.Join(s.dir, "db")); err != nil {
			t.Fatal(err)
		}
		checkRestored(t, s.dir, entries)
	})
}

// checkRestored opens a damaged store: what it has is right, and what it lost
// can be stored again.
func checkRestored(t *testing.T, dir string, entries []Entry) {
	t.Helper()
	s := mustOpen(t, dir)
	for _, want := range entries {
		if got, err := s.ByHash(&want.Block); err == nil && !sameEntry(got, want) {
			t.Fatalf("ByHash = %+v, want %+v", got, want)
		} else if err != nil && !errors.Is(err, ErrNotFound) {
			t.Fatal(err)
		}
	}
	tip, _, _ := s.Tip()
	for height := range tip + 1 {
		if block, _ := s.BlockAt(height); block != entries[height].Block {
			t.Fatalf("block at height %d = %v", height, block)
		}
	}
	mustAppend(t, s, entries)
	checkActive(t, s, entries)
	for _, info := range s.Segments() {
		if s.Verify(t.Context(), info.Number, true) != nil {
			healOne(t, s, info.Number) // bytes of lost records
		}
	}
	mustClose(t, s)
	checkActive(t, mustOpen(t, dir), entries)
}

// TestDamagedTable loses one block of a table, and no more than that.
func TestDamagedTable(t *testing.T) {
	s, entries := newStore(t, 200)
	mustClose(t, s)
	mustClose(t, mustOpen(t, s.dir)) // which turns the journal into a table
	tables, err := filesLike(vfs.OS, filepath.Join(s.dir, "db"), "*.ldb")
	if err != nil || len(tables) == 0 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
	middle := int64(len(mustRead(t, tables[0])) / 2)
	mustWriteAt(t, tables[0], []byte("damaged"), middle)

	s = mustOpen(t, s.dir)
	if got := s.Len(); got < 150 || got >= 200 {
		t.Errorf("%d filters are left of 200", got)
	}
	height, _, _ := s.Tip()
	if height < 50 || height > 150 {
		t.Errorf("tip is at height %d, want where the gap begins", height)
	}
	mustClose(t, s)
	checkRestored(t, s.dir, entries)
}
