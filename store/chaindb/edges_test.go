package chaindb

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// Each set is the other's other.
func TestOtherSet(t *testing.T) {
	t.Parallel()
	if FirstCoins.Other() != SecondCoins || SecondCoins.Other() != FirstCoins {
		t.Errorf("%d and %d", FirstCoins.Other(), SecondCoins.Other())
	}
}

// A block that a reload has shown is read again from its place.
func TestRecord(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	must(t, errors.Join(l.makeBuckets(db), l.commit(3)(db)))
	n := 0
	for record, err := range db.Reload() {
		must(t, err)
		got, err := db.Record(record.File, record.Offset, len(record.Block))
		if err != nil || !bytes.Equal(got, l.blocks[l.order[n]]) {
			t.Errorf("block %d: %d bytes, %v", n, len(got), err)
		}
		n++
	}
	if n != 3 {
		t.Errorf("%d blocks", n)
	}
}

// A sync ends with a write that is durable, and with the name of the journal that it may have begun.
func TestOrderOfSync(t *testing.T) {
	t.Parallel()
	fs, l := faultfs.New(), newLife(t)
	db := open(t, l.options(fs))
	must(t, errors.Join(l.makeBuckets(db), l.commit(1)(db)))
	var calls []faultfs.Op
	fs.Inject(func(op faultfs.Op) error { calls = append(calls, op); return nil })
	must(t, db.Sync())
	fs.Inject(nil)
	if len(calls) < 3 {
		t.Fatalf("%v", calls)
	}
	last := calls[len(calls)-3:]
	for i, kind := range []faultfs.Kind{faultfs.Write, faultfs.Sync, faultfs.SyncDir} {
		if last[i].Kind != kind {
			t.Errorf("call %d is %v", i, last[i])
		}
	}
	if last[2].Path != db.o.Dir || filepath.Ext(last[1].Path) != ".log" {
		t.Errorf("%v", last)
	}
}

// Block files that cannot be read fit nothing, and that is told.
func TestFitsFails(t *testing.T) {
	t.Parallel()
	o := settled(t)
	f, err := Look(o.Dir, true)
	must(t, err)
	path := filepath.Join(o.BlocksDir, "xor.dat")
	key, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(key, 1), 0o600))
	if fits, err := f.Fits(o.BlocksDir); fits || err == nil {
		t.Errorf("a key that is none: %v, %v", fits, err)
	}
	must(t, os.WriteFile(path, key, 0o600))
	numbers, err := blockfile.Blocks.Numbers(vfs.OS, o.BlocksDir)
	must(t, err)
	for _, n := range numbers {
		path := blockfile.Blocks.Path(o.BlocksDir, n)
		must(t, errors.Join(os.Remove(path), os.Mkdir(path, 0o700)))
	}
	if fits, err := f.Fits(o.BlocksDir); fits || err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("folders: %v, %v", fits, err)
	}
}

// A damaged row under a cursor is damage for a transaction with rows of its own too, and no gap.
func TestDamageUnderOwnRows(t *testing.T) {
	t.Parallel()
	l := stocked(t)
	o, _ := l.copyOf(t)
	db := open(t, o)
	paths, err := filepath.Glob(filepath.Join(o.Dir, "*.ldb"))
	must(t, err)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		must(t, err)
		if at := bytes.Index(content, []byte("height")); at >= 0 {
			corrupt(t, path, int64(at), 1, 2, 3)
		}
	}
	for _, own := range []bool{false, true} {
		func() {
			defer func() {
				if err, _ := recover().(error); !errors.Is(err, ErrDamaged) {
					t.Errorf("own rows %v: %v", own, err)
				}
			}()
			_ = db.BTCD().Update(func(tx database.Tx) error {
				rows := tx.Metadata().Bucket([]byte("rows"))
				if own {
					must(t, rows.Put([]byte("z"), []byte("own")))
				}
				c := rows.Cursor()
				for ok := c.First(); ok; ok = c.Next() {
				}
				t.Errorf("own rows %v: all can be read", own)
				return nil
			})
		}()
	}
}

// A location that cannot be read is damage, whatever is looked up because of what else is wrong.
func TestShortLocationBeside(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(o Options){
		"a missing file": func(o Options) { must(t, os.Remove(blockfile.Blocks.Path(o.BlocksDir, 1))) },
		"a leftover": func(o Options) {
			must(t, os.WriteFile(blockfile.Blocks.Path(o.BlocksDir, 1)+".wpruned", nil, 0o600))
		},
	} {
		l := newLife(t)
		o := l.options(vfs.OS)
		db := open(t, o)
		must(t, errors.Join(l.makeBuckets(db), l.commit(9)(db)))
		must(t, db.ldb.Put(hashKey(prefixBlock, &chainhash.Hash{}), []byte("short"), nil))
		must(t, db.Close())
		harm(o)
		if _, err := Open(o); !errors.Is(err, ErrDamaged) || errors.Is(err, ErrMissing) ||
			!strings.Contains(err.Error(), "location of 5 bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A database is not made over block files that cannot be looked at, or removed behind a gap.
func TestMadeOverBlockFiles(t *testing.T) {
	t.Parallel()
	made := func() Options {
		l := newLife(t)
		o := l.options(vfs.OS)
		db := open(t, o)
		must(t, errors.Join(l.makeBuckets(db), l.commit(12)(db), db.Close()))
		must(t, os.Remove(blockfile.Blocks.Path(o.BlocksDir, 1)))
		must(t, Rebuild(o))
		return o
	}
	o := made()
	fs, bad := faultfs.New(), error(syscall.EIO)
	failing(fs, faultfs.Remove, "blk00002.dat", &bad)
	o.FS = fs
	if _, err := Open(o); !errors.Is(err, syscall.EIO) {
		t.Errorf("behind a gap: %v", err)
	}
	for _, file := range []string{"blk00000.dat", "blk00002.dat", "rev00000.dat"} {
		o := made()
		o.Prunable = false
		o.FS = unseen{vfs.OS, file}
		if _, err := Open(o); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// unseen is the system's file system, of which a name cannot be looked at.
type unseen struct {
	vfs.FS

	name string
}

// Stat implements vfs.FS.
func (u unseen) Stat(name string) (os.FileInfo, error) {
	if filepath.Base(name) == u.name {
		return nil, &os.PathError{Op: "stat", Path: name, Err: syscall.EIO}
	}
	return u.FS.Stat(name)
}

// A database that is opened begins with an empty folder for copies of blocks.
func TestCopiesOfOpened(t *testing.T) {
	t.Parallel()
	o := testOptions(t.TempDir())
	hash, raw := chainhash.Hash{7}, []byte("a block")
	for range 2 {
		db := open(t, o)
		copies := db.Copies()
		if copies.Has(&hash) {
			t.Error("a copy of another run is there")
		}
		must(t, copies.Put(&hash, raw))
		if got, err := copies.Get(&hash, len(raw)); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("kept %q, %v", got, err)
		}
		must(t, db.Close())
	}
	must(t, open(t, o).Close())
	if _, err := os.Stat(filepath.Join(o.BlocksDir, blockfile.CopiesFolder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder of copies: %v", err)
	}
}

// A block whose bytes end before their time has no shape: spent coins that fit its first transactions are not taken.
func TestShapeOfCutBlock(t *testing.T) {
	t.Parallel()
	var block wire.MsgBlock
	for range 2 {
		block.AddTransaction(&wire.MsgTx{TxIn: []*wire.TxIn{{}}, TxOut: []*wire.TxOut{{}}})
	}
	var raw bytes.Buffer
	must(t, block.Serialize(&raw))
	hash := block.BlockHash()
	db := open(t, testOptions(t.TempDir()))
	must(t, db.Commit(&Change{Blocks: []NewBlock{{hash, raw.Bytes()[:raw.Len()-1]}}}))
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		journal, err := tx.Metadata().CreateBucket([]byte(journalName))
		must(t, err)
		wantCode(t, "a cut block", journal.Put(hash[:], nil), database.ErrCorruption)
		return nil
	}))
}
