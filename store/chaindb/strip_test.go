package chaindb

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// withStripped returns a database of which one file was stripped, and what it was told.
func withStripped(t *testing.T) (*DB, *life) {
	t.Helper()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	if err := errors.Join(l.makeBuckets(db), l.commit(20)(db), l.strip(db)); err != nil {
		t.Fatal(err)
	}
	return db, l
}

// A file that was stripped has its blocks without witnesses, in their order and nothing else; all other blocks,
// and undo data, are as before, also when the database is opened again. The format says it for ever.
func TestStrip(t *testing.T) {
	t.Parallel()
	db, l := withStripped(t)
	if err := db.BTCD().Update(func(tx database.Tx) error {
		_, err := tx.Metadata().CreateBucket([]byte(coinSets[SecondCoins].bucket))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	second, err := db.CoinStore(SecondCoins)
	if err != nil {
		t.Fatal(err)
	}
	putCoins(t, second, 1, 0, "a") // what raises the format of others
	for opened := range 2 {
		if begun := db.HasBegunToStrip(); begun != (opened == 0) {
			t.Errorf("opened again %d times: witnesses were first removed since then is %v", opened, begun)
		}
		l.checkBlocks(t, db, l.order)
		size, err := db.blocks.Size(0)
		want := 0
		for hash, short := range l.short {
			if !short {
				t.Fatal("nothing was stripped")
			}
			want += blockfile.HeaderSize + blockSize/2
			if n, err := db.BlockSize(&hash); n != blockSize/2 || err != nil {
				t.Errorf("size of a block: %d, %v", n, err)
			}
		}
		if err != nil || int(size) != want || !db.HasStripped() {
			t.Errorf("the file has %d bytes, want %d: %v", size, want, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		db = open(t, l.options(vfs.OS))
	}
	l.goesOn(t, db)
}

// Readers find each block whole or without its witnesses while files are rewritten, and never anything else.
func TestStripUnderReaders(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	if err := errors.Join(l.makeBuckets(db), l.commit(40)(db)); err != nil {
		t.Fatal(err)
	}
	order := slices.Clone(l.order)
	var readers sync.WaitGroup
	done := make(chan struct{})
	for seed := range uint64(2) {
		readers.Go(func() {
			r := rand.New(rand.NewPCG(seed, 23))
			for {
				select {
				case <-done:
					return
				default:
				}
				n := r.IntN(len(order))
				_, raw, _ := faultBlock(n)
				got, err := db.Block(&order[n])
				if err != nil || !bytes.Equal(got, raw) && !bytes.Equal(got, raw[:blockSize/2]) {
					t.Errorf("block %d: %d bytes, %v", n, len(got), err)
					return
				}
				if part, err := db.BlockPart(&order[n], 100, 50); err != nil || !bytes.Equal(part, raw[100:150]) {
					t.Errorf("part of block %d: %v", n, err)
					return
				}
			}
		})
	}
	for range 8 {
		if err := l.strip(db); err != nil {
			t.Error(err)
		}
	}
	close(done)
	readers.Wait()
	l.checkBlocks(t, db, l.order)
}

// Files that a kill has left beside a block file are brought in order by the metadata of its blocks.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	const coming, replaced = ".wpruned", ".wfull"
	for _, c := range []struct {
		name  string
		strip bool
		put   map[string]string // "": what the file holds
		moved string            // where the file itself is now
		want  string            // of the error
	}{
		{name: "complete but for the old file", strip: true, put: map[string]string{replaced: "full"}},
		{name: "complete but for the name", strip: true, moved: coming},
		{name: "a stale new file over a stripped one", strip: true, put: map[string]string{coming: ""}},
		{name: "both", strip: true, put: map[string]string{coming: "x", replaced: "y"}, want: "conflicting"},
		{name: "only the old file", strip: true, moved: replaced, want: "is missing canonical blk file"},
		{name: "not begun", put: map[string]string{coming: "torn"}},
		{name: "old file moved", moved: replaced},
		{name: "old file moved, new one there", moved: replaced, put: map[string]string{coming: "new"}},
		{name: "new file in its place", moved: replaced, put: map[string]string{"": "new"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			db, l := withStripped(t)
			number := 1
			if c.strip {
				number = 0
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			path := blockfile.Blocks.Path(db.o.BlocksDir, number)
			held, err := os.ReadFile(path)
			if err == nil && c.moved != "" {
				err = os.Rename(path, path+c.moved)
			}
			for suffix, text := range c.put {
				if text == "" {
					text = string(held)
				}
				err = errors.Join(err, os.WriteFile(path+suffix, []byte(text), 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
			db, err = Open(l.options(vfs.OS))
			if c.want != "" {
				if !errors.Is(err, ErrLeftover) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			l.checkBlocks(t, db, l.order)
			for _, suffix := range []string{coming, replaced} {
				if _, err := os.Stat(path + suffix); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("%s is there: %v", suffix, err)
				}
			}
			if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, held) {
				t.Errorf("the file is another: %v", err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// The file that was replaced is not taken for one of a chain that the metadata knows nothing of, and comes to its
// place again before metadata is rebuilt.
func TestLeftoversWithoutMetadata(t *testing.T) {
	t.Parallel()
	db, l := withStripped(t)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	path := blockfile.Blocks.Path(db.o.BlocksDir, 1)
	if err := os.Rename(path, path+".wfull"); err != nil {
		t.Fatal(err)
	}
	o := l.options(vfs.OS)
	moved := o
	moved.Dir += "2"
	if _, err := Open(moved); !errors.Is(err, ErrLeftover) ||
		!strings.Contains(err.Error(), "without indexed block data") {
		t.Errorf("got %v", err)
	}
	if err := Rebuild(o); err != nil {
		t.Fatal(err)
	}
	db, rebuilt := l.open(t)
	if !rebuilt {
		t.Error("nothing was made anew")
	}
	l.checkBlocks(t, db, l.order)
	l.goesOn(t, db)
}

// Nothing changes where a block cannot be read or stripped, nor for a file that is being filled; and files are
// stripped later.
func TestStripRefuses(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	if err := errors.Join(l.makeBuckets(db), l.commit(10)(db)); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	before := func([]chainhash.Hash) { t.Error("it was prepared") }
	fails := Stripper{func(_, _ []byte) ([]byte, error) { return nil, broken }, before}
	if err := db.Strip(0, fails); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	for _, number := range []int{db.current, 99} {
		if err := db.Strip(number, Stripper{stripHalf, before}); !errors.Is(err, ErrNotFound) {
			t.Errorf("file %d: %v", number, err)
		}
	}
	left, err := blockfile.Blocks.Leftovers(vfs.OS, db.o.BlocksDir)
	if len(left) > 0 || err != nil || db.HasStripped() {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	if err := l.strip(db); err != nil {
		t.Error(err)
	}
	l.checkBlocks(t, db, l.order)
}

// A part of the new file that could not be written ends it, though the disk works again when the rest is written.
func TestStripOnABadDisk(t *testing.T) {
	t.Parallel()
	fs, l := faultfs.New(), newLife(t)
	db := open(t, l.options(fs))
	must(t, errors.Join(l.makeBuckets(db), l.commit(10)(db)))
	bad := true
	fs.Inject(func(op faultfs.Op) error {
		if op.Kind == faultfs.Write && strings.HasSuffix(op.Path, ".wpruned") && bad {
			bad = false
			return syscall.EIO
		}
		return nil
	})
	long := func(dst, _ []byte) ([]byte, error) { return append(dst, make([]byte, 1<<20)...), nil }
	before := func([]chainhash.Hash) { t.Error("it was prepared") }
	if err := db.Strip(0, Stripper{long, before}); !errors.Is(err, syscall.EIO) || db.HasStripped() {
		t.Errorf("got %v", err)
	}
	must(t, l.strip(db))
	l.checkBlocks(t, db, l.order)
}

// Whenever the power is lost while a file is stripped: it is as it was, or stripped as a whole.
func TestPowerLossWhileStripping(t *testing.T) {
	t.Parallel()
	ends := map[bool]int{}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 29))
		fs, l := faultfs.New(), newLife(t)
		db, err := Open(l.options(fs))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(l.makeBuckets(db), l.commit(6)(db), l.sync(db)); err != nil {
			t.Fatal(err)
		}
		fs.Inject(faultfs.From(r.IntN(20), os.ErrDeadlineExceeded))
		_ = l.strip(db)
		if err := fs.PowerLoss(r); err != nil {
			t.Fatal(err)
		}
		_ = db.Close()
		db, rebuilt := l.open(t)
		if rebuilt {
			t.Fatalf("seed %d: the database was damaged", seed)
		}
		l.checkBlocks(t, db, l.order)
		ends[db.HasStripped()]++
		l.goesOn(t, db)
	}
	if ends[false] == 0 || ends[true] == 0 {
		t.Errorf("ends: %v", ends)
	}
}
