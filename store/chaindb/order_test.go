package chaindb

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// A stripped file has its blocks in their order, and readers who knew a place find the new one. The sizes of
// the files are counted anew. Before, the owner is told of just these blocks, which are whole then.
func TestStripKeepsOrder(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	must(t, errors.Join(l.makeBuckets(db), l.commit(9)(db), db.Close()))
	db = open(t, l.options(vfs.OS)) // which lists blocks by their hashes
	files, used := db.Files()
	for i := range l.order[:4] {
		part, err := db.BlockPart(&l.order[i], 5, 9)
		if err != nil || !bytes.Equal(part, l.blocks[l.order[i]][5:14]) {
			t.Errorf("block %d: %v", i, err)
		}
		l.short[l.order[i]] = true
	}
	told := 0
	must(t, db.Strip(0, Stripper{stripHalf, func(blocks []chainhash.Hash) {
		told++
		if !slices.Equal(blocks, files[0].Blocks) || len(blocks) != 4 {
			t.Errorf("told of %d blocks", len(blocks))
		}
		for i := range blocks {
			if n, err := db.BlockSize(&blocks[i]); n != blockSize || err != nil {
				t.Errorf("block %d has %d bytes, %v", i, n, err)
			}
		}
	}}))
	if told != 1 {
		t.Errorf("told %d times", told)
	}
	for i, hash := range l.order[:4] {
		at, err := findLocation(db.ldb, &hash)
		must(t, err)
		if want := uint32(i * (blockfile.HeaderSize + blockSize/2)); at.file != 0 || at.offset != want {
			t.Errorf("block %d is at %d, want %d", i, at.offset, want)
		}
		part, err := db.BlockPart(&hash, 5, 9)
		if err != nil || !bytes.Equal(part, l.blocks[hash][5:14]) {
			t.Errorf("block %d after that: %v", i, err)
		}
	}
	l.checkBlocks(t, db, l.order)
	if _, now := db.Files(); now != used-4*blockSize/2 || now != db.Used() {
		t.Errorf("%d bytes are used of %d", now, used)
	}
}

// A file with a block that cannot be read is not stripped, and no other error takes the place of its error.
func TestStripOfDamagedBlock(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	must(t, errors.Join(l.makeBuckets(db), l.commit(9)(db)))
	corrupt(t, blockfile.Blocks.Path(db.o.BlocksDir, 0), blockSize-5, 1, 2, 3)
	before := func([]chainhash.Hash) { t.Error("it was prepared") }
	if err := db.Strip(0, Stripper{stripHalf, before}); !errors.Is(err, ErrCorrupt) || db.HasStripped() {
		t.Errorf("got %v", err)
	}
	left, err := blockfile.Blocks.Leftovers(vfs.OS, db.o.BlocksDir)
	if len(left) > 0 || err != nil {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	must(t, db.Commit(&Change{Rows: []Row{{"rows", []byte("k"), []byte("v")}}})) // it goes on
}

// A file that cannot take the place of the other has the database opened again, with all blocks.
func TestStripCannotHandOver(t *testing.T) {
	t.Parallel()
	fs, l := faultfs.New(), newLife(t)
	db := open(t, l.options(fs))
	must(t, errors.Join(l.makeBuckets(db), l.commit(9)(db)))
	bad := error(syscall.EIO)
	failing(fs, faultfs.Rename, "blk00000.dat", &bad)
	if err := l.strip(db); !errors.Is(err, ErrHandOver) || !errors.Is(err, syscall.EIO) || db.HasStripped() {
		t.Errorf("got %v", err)
	}
	if err := l.commit(1)(db); !errors.Is(cause(err), ErrFailed) {
		t.Errorf("then: %v", err)
	}
	fs.Inject(nil)
	must(t, db.Close())
	db, _ = l.open(t)
	l.checkBlocks(t, db, l.order)
	l.goesOn(t, db)
}

// Files above a number are listed ascending, each with its blocks and its size, as long as they are wanted. A
// file with a single block is among them, the file that is being filled never is.
func TestFilesAbove(t *testing.T) {
	t.Parallel()
	db := open(t, newLife(t).options(vfs.OS))
	for n, size := range []int{40 << 10, 40 << 10, 14 << 10, 14 << 10, 40 << 10, 40 << 10, 14 << 10} {
		raw := make([]byte, size)
		raw[0] = byte(n)
		hash := chainhash.DoubleHashH(raw[:80])
		must(t, db.Commit(&Change{
			Blocks: []NewBlock{{hash, raw}}, Undo: []BlockUndo{{hash, make([]byte, 3<<10)}},
		}))
	}
	list := func(above, most int) (got []string) {
		db.FilesAbove(above, func(f BlockFile) bool {
			got = append(got, fmt.Sprintf("%d:%d:%d", f.Number, len(f.Blocks), f.Size>>10))
			return len(got) < most
		})
		return got
	}
	for _, test := range []struct {
		above, most int
		want        string
	}{
		{-1, 9, "0:1:43 1:2:60 2:2:60"}, {0, 9, "1:2:60 2:2:60"}, {1, 9, "2:2:60"}, {2, 9, ""}, {9, 9, ""},
		{-1, 1, "0:1:43"}, {-1, 2, "0:1:43 1:2:60"}, {0, 1, "1:2:60"},
	} {
		if got := strings.Join(list(test.above, test.most), " "); got != test.want {
			t.Errorf("above %d, %d of them: %s, want %s", test.above, test.most, got, test.want)
		}
	}
}

// Files that a kill has left beside no file, and of which the metadata knows nothing, go.
func TestLeftoverOfNoFile(t *testing.T) {
	t.Parallel()
	db, l := withStripped(t)
	must(t, db.Close())
	var paths []string
	for _, n := range []int{2, 77, 78} { // one of a file that is there
		path := blockfile.Blocks.Path(db.o.BlocksDir, n)
		must(t, os.WriteFile(path+".wpruned", []byte("torn"), 0o600))
		paths = append(paths, path)
	}
	db = open(t, l.options(vfs.OS))
	for i, path := range paths {
		if _, err := os.Stat(path + ".wpruned"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is left: %v", path, err)
		}
		if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) != (i > 0) {
			t.Errorf("%s: %v", path, err)
		}
	}
	l.checkBlocks(t, db, l.order)
}

// The places of some files are looked up of all their blocks, and of no others.
func TestIndexedBlocks(t *testing.T) {
	t.Parallel()
	db, _ := withStripped(t)
	for number, want := range map[int]indexedBlocks{0: {true, false}, 1: {true, true}, 4: {true, true}, 9: {}} {
		got, err := leftovers{db}.indexedBlocks([]*blockfile.Leftover{{Number: number}})
		if err != nil || len(got) != 1 || *got[number] != want {
			t.Errorf("file %d: %+v, %v", number, got[number], err)
		}
		nothingKept(t, "looked up", db)
	}
}

// Before metadata is rebuilt a file has its place again that was replaced, and what was to come goes, unless nothing
// else has the blocks.
func TestRestoreReplaced(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ file, replaced, coming, want string }{
		{"file", "", "", "file"}, {"file", "", "torn", "file"}, {"", "", "whole", "whole"}, {"", "full", "", "full"},
		{"file", "full", "", "full"}, {"", "full", "torn", "full"}, {"file", "full", "torn", "full"},
	} {
		dir := t.TempDir()
		path := blockfile.Blocks.Path(dir, 3)
		for suffix, text := range map[string]string{"": test.file, ".wfull": test.replaced, ".wpruned": test.coming} {
			if text != "" {
				must(t, os.WriteFile(path+suffix, []byte(text), 0o600))
			}
		}
		fs := faultfs.New()
		fs.Inject(func(faultfs.Op) error { return syscall.EIO })
		touched := test.replaced+test.coming != ""
		if err := restoreReplaced(fs, dir); errors.Is(err, syscall.EIO) != touched {
			t.Errorf("%+v, on a bad disk: %v", test, err)
		}
		must(t, restoreReplaced(vfs.OS, dir))
		got, err := os.ReadFile(path)
		if names, _ := os.ReadDir(dir); string(got) != test.want || err != nil || len(names) != 1 {
			t.Errorf("%+v: %q in one of %d files, %v", test, got, len(names), err)
		}
	}
}

// Over block files with a gap a prunable database begins without those behind the gap, and another database keeps them.
func TestBlockFilesBehindAGap(t *testing.T) {
	t.Parallel()
	for _, prunable := range []bool{true, false} {
		l := newLife(t)
		o := l.options(vfs.OS)
		o.Prunable = prunable
		db := open(t, o)
		must(t, errors.Join(l.makeBuckets(db), l.commit(12)(db), db.Close()))
		must(t, os.Remove(blockfile.Blocks.Path(o.BlocksDir, 1)))
		must(t, Rebuild(o))
		db = open(t, o)
		read := 0
		for _, err := range db.Reload() {
			must(t, err)
			read++
		}
		if want := map[bool]int{true: 4, false: 8}[prunable]; read != want {
			t.Errorf("prunable %v: %d blocks, want %d", prunable, read, want)
		}
		must(t, errors.Join(db.ReloadDone(), db.Close()))
	}
}

// Nothing is removed from a folder whose leftovers cannot be brought in order.
func TestNothingGoesBeforeLeftovers(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	o := l.options(vfs.OS)
	db := open(t, o)
	must(t, errors.Join(l.makeBuckets(db), l.commit(12)(db), db.Close()))
	path := blockfile.Blocks.Path(o.BlocksDir, 0)
	must(t, os.Rename(path, path+".wfull"))
	o.Dir += "2"
	before := content(t, o.BlocksDir)
	if _, err := Open(o); !errors.Is(err, ErrLeftover) {
		t.Errorf("got %v", err)
	}
	if after := content(t, o.BlocksDir); len(after) != len(before) {
		t.Errorf("%d of %d files are left", len(after), len(before))
	}
}

// A look finds the record of the network behind however many records of its own, and some blocks.
func TestLookBehindCommits(t *testing.T) {
	t.Parallel()
	o := testOptions(t.TempDir())
	o.FS = vfs.OS
	must(t, os.MkdirAll(o.Dir, 0o700))
	ldb, folder, err := openLevelDB(&o)
	must(t, err)
	batch := new(leveldb.Batch)
	for n := range uint64(manyOthers + 200) {
		batch.Put(numberKey(prefixCommit, n), nil)
	}
	hash := chainhash.Hash{9}
	batch.Put(hashKey(prefixBlock, &hash), (&location{length: 99}).encode())
	batch.Put(formatKey, append([]byte{formatVersion}, regtestMagic[:]...))
	must(t, errors.Join(ldb.Write(batch, nil), ldb.Close(), folder.Close()))
	f, err := Look(o.Dir, true)
	if err != nil || f.Whose != dbfiles.Own || !f.HasMagic || f.Magic != regtestMagic || len(f.blocks) != 1 {
		t.Errorf("%v, network %x, %d blocks, %v", f.Whose, f.Magic, len(f.blocks), err)
	}
}

// A file that holds nothing may be missing.
func TestEmptyFileMayBeMissing(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	o := l.options(vfs.OS)
	db := open(t, o)
	must(t, errors.Join(l.makeBuckets(db), l.commit(2)(db)))
	must(t, db.ldb.Put(numberKey(prefixFile, 7), fileEnds{}.encode(), nil))
	must(t, db.Close())
	db = open(t, o)
	l.checkBlocks(t, db, l.order)
	if db.current != 7 {
		t.Errorf("file %d is filled", db.current)
	}
	must(t, db.Close())
}

// A list of commits that cannot be read is damage, not a missing disk or a wrong key.
func TestDamagedListOfCommits(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	o := l.options(vfs.OS)
	o.writeBuffer = 0
	db := open(t, o)
	must(t, errors.Join(l.makeBuckets(db), db.Sync()))
	list := new(leveldb.Batch)
	for n := range uint64(400) { // so that the first ones have a part of the table of their own
		hash := chainhash.DoubleHashH([]byte{byte(n), byte(n >> 8)})
		list.Put(numberKey(prefixCommit, db.synced+2+n), appendWritten(nil, wroteUndo, &hash))
	}
	must(t, errors.Join(l.commit(1)(db), db.ldb.Write(list, nil)))
	hash := l.order[0]
	at, err := findLocation(db.ldb, &hash)
	must(t, errors.Join(err, db.ldb.CompactRange(util.Range{})))
	dirs := image(t, db)
	o.Dir, o.BlocksDir = dirs.Dir, dirs.BlocksDir
	blk := blockfile.Blocks.Path(o.BlocksDir, int(at.file))
	paths, err := filepath.Glob(filepath.Join(o.Dir, "*.ldb"))
	must(t, err)
	harmed, first := 0, appendWritten(appendWritten(nil, wroteBlock, &hash), wroteUndo, &hash)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		must(t, err)
		if i := bytes.Index(content, first); i >= 0 {
			corrupt(t, path, int64(i)+9, 1, 2, 3)
			harmed++
		}
	}
	if harmed == 0 {
		t.Fatal("no table has the list")
	}
	corrupt(t, blk, 0, make([]byte, 16)...) // torn: with the wrong key it would look like that
	if _, err := Open(o); !errors.Is(err, ErrDamaged) || errors.Is(err, ErrKey) {
		t.Errorf("a torn block: %v", err)
	}
	must(t, os.Remove(blk))
	if _, err := Open(o); !errors.Is(err, ErrDamaged) || errors.Is(err, ErrMissing) {
		t.Errorf("a missing file: %v", err)
	}
}

// A number of transactions that no block can have is damage.
func TestTxCountOfNoBlock(t *testing.T) {
	t.Parallel()
	for n, want := range map[uint32]error{blockfile.MaxBlockSize: nil, blockfile.MaxBlockSize + 1: ErrCorrupt} {
		db := open(t, testOptions(t.TempDir()))
		raw := append(make([]byte, 80), 0xfe, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
		hash := chainhash.DoubleHashH(raw[:80])
		must(t, db.Commit(&Change{Blocks: []NewBlock{{hash, raw}}}))
		if got, err := db.TxCount(&hash); !errors.Is(err, want) || want == nil && got != int(n) {
			t.Errorf("%d transactions: %d, %v", n, got, err)
		}
	}
}
