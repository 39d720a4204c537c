package chaindb

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// listed returns what a visit lists.
func listed(t *testing.T, visit func(func(*chainhash.Hash)) error) (all []chainhash.Hash) {
	t.Helper()
	must(t, visit(func(hash *chainhash.Hash) { all = append(all, *hash) }))
	return all
}

// A block that is stored again after its file was pruned is a whole block: neither pruned nor stripped, without undo
// data. It is stored once, whoever stores it twice.
func TestStoredAgain(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]func(*DB, chainhash.Hash, []byte) error{
		"twice in a change": func(db *DB, hash chainhash.Hash, raw []byte) error {
			return db.Commit(&Change{Blocks: []NewBlock{{hash, raw}, {hash, raw}}})
		},
		"in two changes": func(db *DB, hash chainhash.Hash, raw []byte) error {
			change := &Change{Blocks: []NewBlock{{hash, raw}}}
			return errors.Join(db.Commit(change), db.Commit(change))
		},
	} {
		l := newLife(t)
		db := open(t, l.options(vfs.OS))
		must(t, errors.Join(l.makeBuckets(db), l.commit(10)(db)))
		if db.HasPruned() {
			t.Error("files were removed")
		}
		must(t, errors.Join(l.strip(db), l.prune(true)(db)))
		hash := l.order[0]
		if gone, err := db.IsPruned(&hash); !gone || err != nil || !slices.Contains(listed(t, db.Stripped), hash) {
			t.Errorf("%s: pruned %v, %v", name, gone, err)
		}
		before := db.Used()
		must(t, store(db, hash, l.blocks[hash]))
		if grown := db.Used() - before; grown != blockSize+blockfile.HeaderSize {
			t.Errorf("%s: the files have grown by %d bytes", name, grown)
		}
		for range 2 {
			if gone, err := db.IsPruned(&hash); gone || err != nil {
				t.Errorf("%s: pruned %v, %v", name, gone, err)
			}
			if slices.Contains(listed(t, db.Stripped), hash) || slices.Contains(listed(t, db.Pruned), hash) {
				t.Errorf("%s: it is listed as pruned or stripped", name)
			}
			if _, err := db.findUndo(&hash); !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: undo data: %v", name, err)
			}
			if got, err := db.Block(&hash); err != nil || !bytes.Equal(got, l.blocks[hash]) {
				t.Errorf("%s: %d bytes, %v", name, len(got), err)
			}
			if gone, err := db.IsPruned(&l.order[1]); !gone || err != nil {
				t.Errorf("%s: another block: %v, %v", name, gone, err)
			}
			must(t, db.Close())
			db = open(t, l.options(vfs.OS))
		}
	}
}

// btcd cannot store a block twice that was pruned before.
func TestStoreBlockAgain(t *testing.T) {
	t.Parallel()
	db, l := pruned(t)
	var gone chainhash.Hash
	for gone = range l.gone {
		break
	}
	block := headOf(t, l.blocks[gone])
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		must(t, tx.StoreBlock(block))
		wantCode(t, "StoreBlock twice", tx.StoreBlock(block), database.ErrBlockExists)
		return nil
	}))
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		wantCode(t, "StoreBlock later", tx.StoreBlock(block), database.ErrBlockExists)
		return nil
	}))
}

// Other undo data of a block takes the place of its former, and the same is not written again.
func TestOtherUndoData(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	must(t, errors.Join(l.makeBuckets(db), l.commit(1)(db)))
	hash := l.order[0]
	for _, data := range []string{"first", "first", "second", "first"} {
		before := db.Used()
		stored, err := db.findUndo(&hash)
		must(t, err)
		must(t, db.Commit(&Change{Undo: []BlockUndo{{hash, []byte(data)}}}))
		if grew := db.Used() > before; grew == (string(stored) == data) {
			t.Errorf("%s after %s: the files have grown: %v", data, stored, grew)
		}
		if got, err := db.findUndo(&hash); err != nil || string(got) != data {
			t.Errorf("got %q, want %q: %v", got, data, err)
		}
	}
}

// After a kill what was written since the last sync is read back, and nothing else: a block without undo data, and
// undo data of a block from before.
func TestWhatIsVerified(t *testing.T) {
	t.Parallel()
	for _, wroteUndoOnly := range []bool{false, true} {
		for _, harm := range []string{"nothing", "block", "undo"} {
			l := newLife(t)
			db := open(t, l.options(vfs.OS))
			must(t, errors.Join(l.makeBuckets(db), l.commit(1)(db), db.Sync()))
			hash, raw, undo := faultBlock(1)
			must(t, db.Commit(&Change{Blocks: []NewBlock{{hash, raw}}}))
			if wroteUndoOnly {
				must(t, errors.Join(db.Sync(), db.Commit(&Change{Undo: []BlockUndo{{hash, undo}}})))
			}
			o, ends := image(t, db), db.ends[0]
			if harm == "block" {
				corrupt(t, blockfile.Blocks.Path(o.BlocksDir, 0), ends.blk-9, 1, 2, 3)
			}
			if harm == "undo" {
				corrupt(t, blockfile.Undo.Path(o.BlocksDir, 0), ends.rev-9, 1, 2, 3)
			}
			want := harm == "block" && !wroteUndoOnly || harm == "undo" && wroteUndoOnly
			opened, err := Open(o)
			if errors.Is(err, ErrDamaged) != want || !want && err != nil {
				t.Errorf("undo data alone %v, harmed %s: %v", wroteUndoOnly, harm, err)
			}
			if err == nil {
				must(t, opened.Close())
			}
		}
	}
}

// The key is judged by blocks that are there and durable: by one alone too, however many were pruned before it in the
// list. Blocks that a loss of power has torn prove nothing.
func TestKeyOfFewBlocks(t *testing.T) {
	t.Parallel()
	turn := func(o Options) { // the key
		path := filepath.Join(o.BlocksDir, "xor.dat")
		key, err := os.ReadFile(path)
		must(t, err)
		for i := range key {
			key[i] ^= 0x5a
		}
		must(t, os.WriteFile(path, key, 0o600))
	}
	one := newLife(t)
	db := open(t, one.options(vfs.OS))
	must(t, errors.Join(one.makeBuckets(db), one.commit(1)(db), db.Close()))
	db = open(t, db.o) // with the right key
	must(t, db.Close())
	turn(db.o)
	if _, err := Open(db.o); !errors.Is(err, ErrKey) {
		t.Errorf("one block: %v", err)
	}

	few := newLife(t)
	db = open(t, few.options(vfs.OS))
	must(t, errors.Join(few.makeBuckets(db), few.commit(40)(db)))
	for range 8 {
		must(t, few.prune(true)(db))
	}
	first := slices.MinFunc(few.order, func(a, b chainhash.Hash) int { return bytes.Compare(a[:], b[:]) })
	if !few.gone[first] {
		t.Fatal("the first block of the list was not pruned")
	}
	must(t, db.Close())
	turn(db.o)
	if _, err := Open(db.o); !errors.Is(err, ErrKey) {
		t.Errorf("many pruned blocks: %v", err)
	}

	torn := newLife(t)
	db = open(t, torn.options(vfs.OS))
	must(t, errors.Join(torn.makeBuckets(db), db.Sync(), torn.commit(3)(db)))
	o := image(t, db)
	path, _ := lastOf(t, o, blockfile.Blocks)
	corrupt(t, path, 0, make([]byte, db.ends[0].blk)...)
	if _, err := Open(o); !errors.Is(err, ErrDamaged) || errors.Is(err, ErrKey) {
		t.Errorf("torn blocks: %v", err)
	}
}

// A block is read anew from the files where they have the very block; a torn one, with the same header, is stored.
func TestAdopt(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	o := l.options(vfs.OS)
	db := open(t, o)
	must(t, errors.Join(l.makeBuckets(db), l.commit(3)(db), db.Close()))
	path := blockfile.Blocks.Path(o.BlocksDir, 0)
	corrupt(t, path, 2*(blockSize+blockfile.HeaderSize)-5, 1, 2, 3) // the end of the second
	must(t, Rebuild(o))
	if _, err := os.Stat(o.Dir + ".old"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the former metadata is there: %v", err)
	}
	db = open(t, o)
	if !db.Reloading() {
		t.Fatal("a single file is not read again")
	}
	db.FilesAbove(-1, func(BlockFile) bool { t.Error("a file without known blocks is listed"); return true })
	for _, err := range db.Reload() {
		must(t, err)
	}
	before := db.Used()
	for i, hash := range l.order {
		if len(db.found.at) != len(l.order)-i {
			t.Errorf("%d places are remembered before block %d", len(db.found.at), i)
		}
		must(t, db.Commit(&Change{Blocks: []NewBlock{{hash, l.blocks[hash]}}}))
		if got, err := db.Block(&hash); err != nil || !bytes.Equal(got, l.blocks[hash]) {
			t.Errorf("block %d: %v", i, err)
		}
	}
	if grown := db.Used() - before; grown != blockSize+blockfile.HeaderSize {
		t.Errorf("the files have grown by %d bytes", grown)
	}
	for _, err := range db.Reload() {
		must(t, err)
	}
	if len(db.found.at) != 0 {
		t.Errorf("%d places of stored blocks are remembered", len(db.found.at))
	}
	must(t, errors.Join(db.ReloadDone(), db.Close()))
}

// Rebuild leaves nothing of the former metadata, be it that an earlier one was interrupted, or that there is none.
func TestRebuildOverLeftovers(t *testing.T) {
	t.Parallel()
	for name, dirs := range map[string][2]bool{ // whether there is a folder, and one of an interrupted rebuild
		"both": {true, true}, "the folder": {true, false}, "the old one": {false, true}, "none": {false, false},
	} {
		o := testOptions(t.TempDir())
		for i, dir := range []string{o.Dir, o.Dir + ".old"} {
			if dirs[i] {
				must(t, os.MkdirAll(filepath.Join(dir, "below"), 0o700))
				must(t, os.WriteFile(filepath.Join(dir, "below", "file"), []byte("x"), 0o600))
			}
		}
		if err := Rebuild(o); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, dir := range []string{o.Dir, o.Dir + ".old"} {
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: %s is there: %v", name, dir, err)
			}
		}
	}
}

// Bytes between header and transactions are left out where the number of inputs is counted; a header that is
// longer than its block is damage.
func TestShapeBehindLongHeader(t *testing.T) {
	t.Parallel()
	var block wire.MsgBlock
	block.AddTransaction(&wire.MsgTx{TxIn: []*wire.TxIn{{}}, TxOut: []*wire.TxOut{{}}})
	block.AddTransaction(&wire.MsgTx{TxIn: []*wire.TxIn{{}, {}}, TxOut: []*wire.TxOut{{}}})
	var plain bytes.Buffer
	must(t, block.Serialize(&plain))
	raw := slices.Concat(plain.Bytes()[:80], []byte("merged mining"), plain.Bytes()[80:])
	hash := block.BlockHash()
	coin := []byte{2, 0, 0, 6}
	for name, test := range map[string]struct {
		header int
		bad    bool
	}{
		"its header": {80 + len("merged mining"), false}, "none": {-1, true}, "too short": {79, true},
		"the whole block": {len(raw), true}, "more than the block": {len(raw) + 1, true},
	} {
		o := testOptions(t.TempDir())
		o.HeaderLen = func([]byte) int { return test.header }
		db := open(t, o)
		must(t, db.Commit(&Change{Blocks: []NewBlock{{hash, raw}}}))
		must(t, db.BTCD().Update(func(tx database.Tx) error {
			journal, err := tx.Metadata().CreateBucket([]byte(journalName))
			must(t, err)
			err = journal.Put(hash[:], slices.Concat(coin, coin))
			if test.bad {
				wantCode(t, name, err, database.ErrCorruption)
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return nil
		}))
	}
}
