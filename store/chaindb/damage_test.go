package chaindb

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// image copies an open database as a kill would leave it. LevelDB may remove a file of its own meanwhile: then it is
// copied anew.
func image(t *testing.T, db *DB) Options {
	t.Helper()
	for {
		o := testOptions(t.TempDir())
		before := filesOf(t, db.o.Dir)
		err := os.CopyFS(o.Dir, os.DirFS(db.o.Dir))
		if err == nil {
			err = os.CopyFS(o.BlocksDir, os.DirFS(db.o.BlocksDir))
		}
		switch {
		case err == nil && slices.Equal(before, filesOf(t, db.o.Dir)):
			return o
		case err == nil: // tables have come meanwhile, of which the copy may lack some
		case !errors.Is(err, fs.ErrNotExist):
			t.Fatal(err)
		}
	}
}

// filesOf returns the names of the files in a folder.
func filesOf(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// loaded returns a database that holds the chain of testdata, unsynced after
// the first syncTo blocks.
func loaded(t *testing.T, syncTo int) (*DB, []*wire.MsgBlock) {
	t.Helper()
	db, blocks := open(t, testOptions(t.TempDir())), readBlocks(t, "chain.blk.gz")
	chain := newChain(t, db)
	feed(t, chain, blocks[1:syncTo])
	if err := db.Sync(); err != nil {
		t.Fatal(err)
	}
	feed(t, chain, blocks[syncTo:])
	return db, blocks
}

// corrupt changes bytes of a file.
func corrupt(t *testing.T, path string, offset int64, b ...byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(b, offset)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// lastOf returns the path of the highest numbered file of a kind.
func lastOf(t *testing.T, o Options, kind blockfile.Kind) (path string, number int) {
	t.Helper()
	numbers, err := kind.Numbers(vfs.OS, o.BlocksDir)
	if err != nil || len(numbers) == 0 {
		t.Fatalf("no %s files: %v", kind, err)
	}
	number = numbers[len(numbers)-1]
	return kind.Path(o.BlocksDir, number), number
}

// TestUnclean opens what a kill left, whole and with a torn tail.
func TestUnclean(t *testing.T) {
	t.Parallel()
	db, blocks := loaded(t, 300)
	o := image(t, db)
	for _, kind := range []blockfile.Kind{blockfile.Blocks, blockfile.Undo} {
		path, number := lastOf(t, o, kind)
		ends := db.ends[number]
		end := map[blockfile.Kind]int64{blockfile.Blocks: ends.blk, blockfile.Undo: ends.rev}[kind]
		corrupt(t, path, end, regtestMagic[:]...)
	}
	again := open(t, o)
	if again.Reloading() {
		t.Error("reload due after a kill")
	}
	chain := newChain(t, again)
	wantTip(t, chain, chainHeight, chainTip)
	wantBlocks(t, again, blocks)
	wantUndo(t, again, spentCoins(blocks))
	feed(t, chain, readBlocks(t, "branch.blk.gz")) // overwrites the tails
	wantTip(t, chain, branchHeight, branchTip)
	if err := again.Sync(); err != nil {
		t.Fatal(err)
	}
	it := again.ldb.NewIterator(util.BytesPrefix([]byte{prefixCommit}), nil)
	defer it.Release()
	if it.Next() {
		t.Error("commits are listed after a Sync")
	}
}

// TestDamaged damages what a kill left, which must be noticed, and rebuilds.
func TestDamaged(t *testing.T) {
	t.Parallel()
	db, blocks := loaded(t, 300)
	tip := blocks[chainHeight].BlockHash()
	l, err := findLocation(db.ldb, &tip)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name   string
		damage func(t *testing.T, o Options)
	}{
		{"block lost", func(t *testing.T, o Options) {
			t.Helper()
			corrupt(t, blockfile.Blocks.Path(o.BlocksDir, int(l.file)), int64(l.offset)+100, make([]byte, 50)...)
		}},
		{"undo data lost", func(t *testing.T, o Options) {
			t.Helper()
			path, number := lastOf(t, o, blockfile.Undo)
			corrupt(t, path, db.ends[number].rev-1, 1, 2)
			corrupt(t, path, db.ends[number].rev-3, 1, 2)
		}},
		{"block file shorter", func(t *testing.T, o Options) {
			t.Helper()
			path := blockfile.Blocks.Path(o.BlocksDir, int(l.file))
			if err := os.Truncate(path, int64(l.offset+l.length)); err != nil {
				t.Fatal(err)
			}
		}},
		{"commit lost", func(t *testing.T, o Options) {
			t.Helper()
			o.FS = vfs.OS
			ldb, folder, err := openLevelDB(&o)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(
				ldb.Delete(numberKey(prefixCommit, db.seq-1), nil), ldb.Close(), folder.Close(),
			); err != nil {
				t.Fatal(err)
			}
		}},
		{"location lost", func(t *testing.T, o Options) {
			t.Helper()
			o.FS = vfs.OS
			ldb, folder, err := openLevelDB(&o)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(
				ldb.Delete(hashKey(prefixBlock, &tip), nil), ldb.Close(), folder.Close(),
			); err != nil {
				t.Fatal(err)
			}
		}},
		{"sync record lost", func(t *testing.T, o Options) {
			t.Helper()
			o.FS = vfs.OS
			ldb, folder, err := openLevelDB(&o)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(ldb.Delete(syncedKey, nil), ldb.Close(), folder.Close()); err != nil {
				t.Fatal(err)
			}
		}},
		{"metadata unreadable", func(t *testing.T, o Options) {
			t.Helper()
			manifests, err := filepath.Glob(filepath.Join(o.Dir, "MANIFEST-*"))
			if err != nil || len(manifests) == 0 {
				t.Fatalf("no manifest: %v", err)
			}
			if err := os.WriteFile(manifests[0], bytes.Repeat([]byte{7}, 100), 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := image(t, db)
			tc.damage(t, o)
			if _, err := Open(o); !errors.Is(err, ErrDamaged) {
				t.Fatalf("Open: %v", err)
			}
			rebuild(t, o, blocks)
		})
	}
}

// rebuild rebuilds the metadata and checks that all blocks are back, whether
// they were whole in the files or not.
func rebuild(t *testing.T, o Options, blocks []*wire.MsgBlock) {
	t.Helper()
	if err := Rebuild(o); err != nil {
		t.Fatal(err)
	}
	before := blockBytes(t, o, blockfile.Blocks)
	db := open(t, o)
	if !db.Reloading() {
		t.Fatal("no reload due")
	}
	chain := newChain(t, db)
	fromFiles := reload(t, db, chain)
	if fromFiles < chainHeight-1 {
		t.Fatalf("reload ended at height %d", fromFiles)
	}
	if after := blockBytes(t, o, blockfile.Blocks); after != before {
		t.Fatalf("block files grew from %d to %d bytes", before, after)
	}
	if err := db.ReloadDone(); err != nil {
		t.Fatal(err)
	}
	db = reopen(t, db, chain)
	if db.Reloading() {
		t.Fatal("reload due again")
	}
	chain = newChain(t, db)
	feed(t, chain, blocks[1:])
	wantTip(t, chain, chainHeight, chainTip)
	wantBlocks(t, db, blocks)
	wantUndo(t, db, spentCoins(blocks))
}

// reload feeds the chain from the block files and returns its height. A block
// that does not parse is passed over.
func reload(t *testing.T, db *DB, chain *blockchain.BlockChain) int32 {
	t.Helper()
	for record, err := range db.Reload() {
		if err != nil {
			t.Fatal(err)
		}
		if block, err := btcutil.NewBlockFromBytes(record.Block); err == nil {
			chain.ProcessBlock(block, blockchain.BFFastAdd)
		}
	}
	return chain.BestSnapshot().Height
}

// TestReloadInterrupted ends a reload in the middle; the next start goes on.
func TestReloadInterrupted(t *testing.T) {
	t.Parallel()
	db, blocks := loaded(t, 1)
	o := image(t, db)
	if err := Rebuild(o); err != nil {
		t.Fatal(err)
	}
	before := blockBytes(t, o, blockfile.Blocks)
	db = open(t, o)
	chain := newChain(t, db)
	n := 0
	for record, err := range db.Reload() {
		if n++; err != nil || n > 100 {
			break
		}
		if block, err := btcutil.NewBlockFromBytes(record.Block); err == nil {
			chain.ProcessBlock(block, blockchain.BFFastAdd)
		}
	}
	db = reopen(t, db, chain)
	if !db.Reloading() {
		t.Fatal("the rest of the reload is forgotten")
	}
	chain = newChain(t, db)
	reload(t, db, chain)
	wantTip(t, chain, chainHeight, chainTip)
	wantBlocks(t, db, blocks)
	if after := blockBytes(t, o, blockfile.Blocks); after != before {
		t.Fatalf("block files grew from %d to %d bytes", before, after)
	}
}

// TestCorrupt reads blocks and undo data whose bytes have changed.
func TestCorrupt(t *testing.T) {
	t.Parallel()
	db, blocks := loaded(t, 300)
	for height, harm := range map[int]struct {
		at     func(*location) uint32
		reason string
	}{
		10: {func(l *location) uint32 { return l.offset }, ""}, // in the magic
		20: {func(l *location) uint32 { return l.offset + 20 }, "block hash doesn't match index"},
		30: {func(l *location) uint32 { return l.offset + l.length }, "block checksum mismatch"}, // in a transaction
	} {
		hash := blocks[height].BlockHash()
		l, err := findLocation(db.ldb, &hash)
		if err != nil {
			t.Fatal(err)
		}
		corrupt(t, blockfile.Blocks.Path(db.o.BlocksDir, int(l.file)), int64(harm.at(l)), 1, 2)
		if _, err := db.Block(&hash); !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), harm.reason) {
			t.Errorf("block %d: %v", height, err)
		}
		if _, err := db.BlockHeader(&hash); err != nil {
			t.Errorf("header %d: %v", height, err)
		}
	}
	hash := blocks[chainHeight].BlockHash()
	path, number := lastOf(t, db.o, blockfile.Undo)
	corrupt(t, path, db.ends[number].rev-2, 1, 2)
	if _, err := db.Undo(&hash); !errors.Is(err, ErrCorrupt) {
		t.Errorf("undo data: %v", err)
	}
	if _, err := db.SpentScripts(&hash); !errors.Is(err, ErrCorrupt) {
		t.Errorf("spent scripts: %v", err)
	}
	unknown := chainhash.Hash{1}
	for name, read := range map[string]func() error{
		"Block":        func() error { _, err := db.Block(&unknown); return err },
		"BlockHeader":  func() error { _, err := db.BlockHeader(&unknown); return err },
		"BlockSize":    func() error { _, err := db.BlockSize(&unknown); return err },
		"Undo":         func() error { _, err := db.Undo(&unknown); return err },
		"SpentScripts": func() error { _, err := db.SpentScripts(&unknown); return err },
	} {
		if err := read(); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s of an unknown block: %v", name, err)
		}
	}
}

// TestOpenRefusals has what Open refuses without calling it damage.
func TestOpenRefusals(t *testing.T) {
	t.Parallel()
	db := open(t, testOptions(t.TempDir()))
	o := image(t, db)
	if _, err := Open(db.o); err == nil || errors.Is(err, ErrDamaged) {
		t.Errorf("a second Open: %v", err)
	}
	o.Magic[0]++
	if _, err := Open(o); !errors.Is(err, ErrWrongNetwork) || errors.Is(err, ErrDamaged) {
		t.Errorf("another network: %v", err)
	}
	o.Magic[0]--
	o.XOR = false
	if _, err := Open(o); !errors.Is(err, blockfile.ErrKeyStored) {
		t.Errorf("obfuscation switched off: %v", err)
	}
}
