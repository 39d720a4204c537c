package chaindb

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// Whichever call of one use fails, the use says so; all that was acknowledged is there when the database is opened
// again, and it goes on.
func TestEveryCallOfOneUseFails(t *testing.T) {
	faultfs.SkipUnderRace(t)
	t.Parallel()
	for name, use := range map[string]func(*life) func(*DB) error{
		"commit":       func(l *life) func(*DB) error { return l.commit(1) },
		"commits":      func(l *life) func(*DB) error { return l.commit(5) },
		"sync":         func(l *life) func(*DB) error { return l.sync },
		"few outputs":  func(l *life) func(*DB) error { return l.writeCoins(0) },
		"many outputs": func(l *life) func(*DB) error { return l.writeCoins(2 * smallFlush) },
		"prune":        func(l *life) func(*DB) error { return l.prune(true) },
		"strip":        func(l *life) func(*DB) error { return l.strip },
	} {
		hit := true
		for n := 0; hit; n++ {
			fs, l := faultfs.New(), newLife(t)
			o := l.options(fs)
			o.writeBuffer = 0
			db, err := Open(o)
			must(t, err)
			must(t, errors.Join(l.makeBuckets(db), l.commit(9)(db)))
			var where faultfs.Op
			hit = false
			fails := faultfs.Nth(n, syscall.EIO)
			fs.Inject(func(op faultfs.Op) error {
				err := fails(op)
				if err != nil {
					hit, where = true, op
				}
				return err
			})
			err = use(l)(db)
			ended := name == "many outputs" && filepath.Ext(where.Path) == ".log" // of a journal that is in tables
			if errors.Is(cause(err), syscall.EIO) != hit && !errors.Is(err, errManifest) && !ended {
				t.Errorf("%s, call %d, %v of %s: %v", name, n, where.Kind, filepath.Base(where.Path), err)
			}
			fs.Inject(nil)
			must(t, db.Close())
			db, rebuilt := l.open(t)
			if rebuilt {
				t.Fatalf("%s, call %d: the database was damaged", name, n)
			}
			l.checkBlocks(t, db, l.order)
			l.checkRest(t, db, l.height, l.acked)
			l.goesOn(t, db)
		}
	}
}

// A database cannot be opened, made or removed where a call for that fails: what is there stays, and is opened once
// the disk works again.
func TestEveryCallOfOpenFails(t *testing.T) {
	faultfs.SkipUnderRace(t)
	t.Parallel()
	opened := func(o Options) error {
		db, err := Open(o)
		if err != nil {
			return err
		}
		o.FS.(*faultfs.FS).Inject(nil)
		return db.Close()
	}
	for name, test := range map[string]struct {
		fresh bool
		use   func(Options) error
	}{
		"make": {true, opened}, "open": {false, opened}, "rebuild": {false, Rebuild},
	} {
		hit := true
		for n := 0; hit; n++ {
			fs, l := faultfs.New(), newLife(t)
			if !test.fresh {
				db := open(t, l.options(vfs.OS))
				must(t, errors.Join(l.makeBuckets(db), l.commit(9)(db), db.Close()))
			}
			var where faultfs.Op
			hit = false
			fails := faultfs.Nth(n, syscall.EIO)
			fs.Inject(func(op faultfs.Op) error {
				err := fails(op)
				if err != nil {
					hit, where = true, op
				}
				return err
			})
			err := test.use(l.options(fs))
			fs.Inject(nil)
			if told := errors.Is(err, syscall.EIO); told != hit && where.Kind != faultfs.Remove {
				t.Errorf("%s, call %d, %v of %s: %v", name, n, where.Kind, filepath.Base(where.Path), err)
			}
			db, _ := l.open(t)
			l.checkBlocks(t, db, l.order)
			l.goesOn(t, db)
		}
	}
}

// After a failed write the database takes no other, of any kind, and says which failed first.
func TestEveryWriteAfterAFailure(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	must(t, errors.Join(l.makeBuckets(db), l.commit(5)(db), l.sync(db)))
	db.writer.Lock()
	if err := errors.Join(db.fail(nil), db.failed); err != nil {
		t.Error(err)
	}
	first, second := db.fail(syscall.EIO), db.fail(syscall.ENOSPC)
	if !errors.Is(first, syscall.EIO) || !errors.Is(second, syscall.ENOSPC) || !errors.Is(db.failed, syscall.EIO) {
		t.Errorf("%v, then %v: %v", first, second, db.failed)
	}
	db.writer.Unlock()
	store, err := db.CoinStore(FirstCoins)
	must(t, err)
	put := func(func(key, value []byte) error) error { t.Error("changes are asked for"); return nil }
	row := func(tx database.Tx) error { return tx.Metadata().Put([]byte("k"), []byte("v")) }
	for name, err := range map[string]error{
		"commit": l.commit(1)(db), "update": db.BTCD().Update(row),
		"few outputs":  store.WriteCoins(&chainhash.Hash{1}, 0, put),
		"many outputs": store.WriteCoins(&chainhash.Hash{1}, 2*smallFlush, put),
		"erase":        of(store.Erase(1)),
	} {
		if got := cause(err); !errors.Is(got, ErrFailed) || !errors.Is(got, syscall.EIO) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, db.BTCD().Update(func(database.Tx) error { return nil })) // nothing is to be written
	l.checkBlocks(t, db, l.order)
}

// A write that fails between the sync that outputs rest on and the outputs ends them.
func TestOutputsAfterAFailure(t *testing.T) {
	t.Parallel()
	for _, set := range []CoinSet{FirstCoins, SecondCoins} {
		for _, size := range []int{0, 2 * smallFlush} {
			fs, l := faultfs.New(), newLife(t)
			db := open(t, l.options(fs))
			must(t, errors.Join(l.makeBuckets(db), db.BTCD().Update(createSecond)))
			store, err := db.CoinStore(set)
			must(t, err)
			fs.Inject(func(op faultfs.Op) error {
				if op.Kind == faultfs.SyncDir && op.Path == db.o.Dir { // the last call of the sync
					_ = db.fail(syscall.EIO)
				}
				return nil
			})
			put := func(func(key, value []byte) error) error { t.Error("changes are asked for"); return nil }
			if err := store.WriteCoins(&chainhash.Hash{1}, size, put); !errors.Is(err, ErrFailed) {
				t.Errorf("size %d: %v", size, err)
			}
			fs.Inject(nil)
		}
	}
}

// A sync without changes makes no call.
func TestSyncOfNothing(t *testing.T) {
	t.Parallel()
	fs, l := faultfs.New(), newLife(t)
	db := open(t, l.options(fs))
	must(t, errors.Join(l.makeBuckets(db), l.commit(2)(db), l.sync(db)))
	fs.Inject(func(op faultfs.Op) error { t.Errorf("%v of %s", op.Kind, op.Path); return nil })
	must(t, errors.Join(db.Sync(), db.Sync()))
	fs.Inject(nil)
	must(t, l.commit(1)(db))
	calls := 0
	fs.Inject(func(faultfs.Op) error { calls++; return nil })
	if must(t, db.Sync()); calls == 0 {
		t.Error("a commit was not synced")
	}
	fs.Inject(nil)
	if db.seq != db.synced {
		t.Errorf("%d commits are not synced", db.seq-db.synced)
	}
}

// Tables that goleveldb could not commit may count already: none of them is removed, and nothing else changes the
// folder. The next program opens it with the set from before or the whole of the new one.
func TestTablesThatCannotBeCommitted(t *testing.T) {
	t.Parallel()
	for _, kind := range []faultfs.Kind{faultfs.Write, faultfs.Sync} {
		fs, l := faultfs.New(), newLife(t)
		begun, bad := false, false
		o := l.options(fs)
		o.WroteCoins = func(int) { begun = true } // what is in memory is in tables by then
		db, err := Open(o)
		must(t, err)
		must(t, errors.Join(l.makeBuckets(db), l.commit(3)(db), l.writeCoins(0)(db)))
		fs.Inject(func(op faultfs.Op) error {
			isList := op.Kind == kind && strings.HasPrefix(filepath.Base(op.Path), "MANIFEST")
			if bad = bad || begun && isList; bad {
				return syscall.EIO
			}
			return nil
		})
		err = l.writeCoins(2 * smallFlush)(db)
		fs.Inject(nil)
		if !errors.Is(err, errManifest) && !errors.Is(err, syscall.EIO) || !db.stuck {
			t.Errorf("kind %v: stuck %v, %v", kind, db.stuck, err)
		}
		if _, err := db.folder.Create(storage.FileDesc{Type: storage.TypeTable, Num: 1 << 20}); err == nil {
			t.Error("the database that was given up makes a file")
		}
		if err := db.Sync(); !errors.Is(err, ErrFailed) {
			t.Errorf("then: %v", err)
		}
		must(t, db.Close())
		db, rebuilt := l.open(t)
		if rebuilt {
			t.Fatal("the database was damaged")
		}
		l.checkBlocks(t, db, l.order)
		l.checkRest(t, db, l.height, l.acked)
		l.goesOn(t, db)
	}
}

// Outputs that are put may use the same memory again; empty outputs are kept, and none are removed.
func TestOutputsFromOneBuffer(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 2 * smallFlush} {
		db := open(t, testOptions(t.TempDir()))
		must(t, new(life).makeBuckets(db))
		store, err := db.CoinStore(FirstCoins)
		must(t, err)
		putCoins(t, store, 1, 0, "d")
		must(t, store.WriteCoins(&chainhash.Hash{2}, size, func(put func(key, value []byte) error) error {
			key, value := []byte{0}, []byte{0}
			for c := byte('a'); c < 'd'; c++ {
				key[0], value[0] = c, c
				if err := put(key, value); err != nil {
					return err
				}
			}
			return errors.Join(put([]byte("d"), nil), put([]byte("e"), []byte{}))
		}))
		for key, want := range map[string][]byte{"a": {'a'}, "b": {'b'}, "c": {'c'}, "d": nil, "e": {}} {
			got, err := store.Coin([]byte(key))
			if err != nil || string(got) != string(want) || (got == nil) != (want == nil) {
				t.Errorf("size %d: %s is %v, %v", size, key, got, err)
			}
		}
	}
}

// A file of which a part could not be removed is gone all the same when the database is opened again.
func TestPrunedFileThatStays(t *testing.T) {
	t.Parallel()
	for _, kind := range []blockfile.Kind{blockfile.Blocks, blockfile.Undo} {
		fs, l := faultfs.New(), newLife(t)
		db := open(t, l.options(fs))
		must(t, errors.Join(l.makeBuckets(db), l.commit(12)(db)))
		path := kind.Path(db.o.BlocksDir, 0)
		bad := error(syscall.EIO)
		failing(fs, faultfs.Remove, filepath.Base(path), &bad)
		files, used := db.Files()
		if err := db.Prune([]int{0}); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", kind, err)
		}
		now, usedNow := db.Files()
		if len(now) != len(files)-1 || now[0].Number != 1 ||
			usedNow != used-files[0].Size || len(db.held) != len(files) {
			t.Errorf("%d files of %d bytes are left, and blocks of %d", len(now), usedNow, len(db.held))
		}
		must(t, db.Close())
		if _, err := Open(l.options(fs)); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s, opened: %v", kind, err)
		}
		fs.Inject(nil)
		db = open(t, l.options(fs))
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is there: %v", path, err)
		}
		for _, hash := range files[0].Blocks {
			l.gone[hash] = true
		}
		l.checkBlocks(t, db, l.order)
		if !db.HasPruned() || slices.ContainsFunc(now, func(f BlockFile) bool { return f.Number == 0 }) {
			t.Error("the file is listed")
		}
		must(t, db.Close())
	}
}
