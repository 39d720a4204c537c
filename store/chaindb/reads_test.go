package chaindb

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// stocked returns the life of a closed database that has of everything: pruned, stripped and whole blocks, commits
// after the last sync, outputs and rows. All of its metadata is in tables.
func stocked(t *testing.T) *life {
	t.Helper()
	l := newLife(t)
	o := l.options(vfs.OS)
	o.writeBuffer = 0
	db := open(t, o)
	must(t, errors.Join(
		l.makeBuckets(db), l.commit(10)(db), l.writeCoins(0)(db), l.strip(db), l.prune(true)(db), l.strip(db),
		l.commit(10)(db),
	))
	for _, dir := range []string{o.Dir, o.BlocksDir} { // as a kill leaves it, with its commits
		must(t, os.CopyFS(dir+".kept", os.DirFS(dir)))
	}
	must(t, db.Close())
	for _, dir := range []string{o.Dir, o.BlocksDir} {
		must(t, errors.Join(os.RemoveAll(dir), os.Rename(dir+".kept", dir)))
	}
	ldb, folder, err := openLevelDB(&o)
	must(t, err)
	must(t, errors.Join(ldb.CompactRange(util.Range{}), ldb.Close(), folder.Close()))
	return l
}

// copyOf returns the options of a copy of a closed database, on a disk whose reads can fail.
func (l *life) copyOf(t *testing.T) (Options, *faultfs.FS) {
	t.Helper()
	fs, of := faultfs.New(), l.options(nil)
	copied := *l
	copied.dir = filepath.Join(t.TempDir(), "copy")
	o := copied.options(fs)
	o.writeBuffer = 0
	must(t, errors.Join(os.CopyFS(o.Dir, os.DirFS(of.Dir)), os.CopyFS(o.BlocksDir, os.DirFS(of.BlocksDir))))
	return o, fs
}

// cause is the error in one of btcd's, which does not unwrap.
func cause(err error) error {
	if dbErr := (database.Error{}); errors.As(err, &dbErr) && dbErr.Err != nil {
		return dbErr.Err
	}
	return err
}

// of drops what comes beside an error.
func of[T any](_ T, err error) error { return err }

// view runs f in a transaction that reads, and update in a transaction that writes.
func view(f func(database.Tx) error) func(*DB) error {
	return func(db *DB) error { return db.BTCD().View(f) }
}

func update(f func(database.Tx) error) func(*DB) error {
	return func(db *DB) error { return db.BTCD().Update(f) }
}

// headOf is a block that has the hash of another, without transactions.
func headOf(t *testing.T, raw []byte) *btcutil.Block {
	t.Helper()
	var header wire.BlockHeader
	must(t, header.Deserialize(bytes.NewReader(raw)))
	return btcutil.NewBlock(&wire.MsgBlock{Header: header})
}

// Whichever read of the metadata fails, each use of a database says so, with the error of the disk.
func TestEveryReadOfMetadataFails(t *testing.T) {
	t.Parallel()
	l := stocked(t)
	whole := l.order[len(l.order)-1]
	var gone, short chainhash.Hash
	for hash := range l.gone {
		gone = hash
	}
	for hash := range l.short {
		if !l.gone[hash] {
			short = hash
		}
	}
	if gone == (chainhash.Hash{}) || short == (chainhash.Hash{}) {
		t.Fatal("nothing was pruned, or stripped")
	}
	none, row := func(*chainhash.Hash) {}, func(_, _ []byte) error { return nil }
	goneBlock := headOf(t, l.blocks[gone])
	coins := func(f func(*Coins) error) func(*DB) error {
		return func(db *DB) error {
			c, err := db.Coins(FirstCoins)
			if err != nil {
				return err
			}
			defer c.Release()
			return f(c)
		}
	}
	store := func(f func(*CoinStore) error) func(*DB) error {
		return func(db *DB) error {
			s, err := db.CoinStore(FirstCoins)
			return errors.Join(err, f(s))
		}
	}
	region := &database.BlockRegion{Hash: &whole, Len: 9}
	uses := map[string]func(*DB) error{
		"HasBlock":      func(db *DB) error { return of(db.HasBlock(&whole)) },
		"IsPruned":      func(db *DB) error { return of(db.IsPruned(&gone)) },
		"TxCount":       func(db *DB) error { return of(db.TxCount(&whole)) },
		"TxCount, gone": func(db *DB) error { return of(db.TxCount(&gone)) },
		"Block":         func(db *DB) error { return of(db.Block(&whole)) },
		"BlockHeader":   func(db *DB) error { return of(db.BlockHeader(&whole)) },
		"BlockPart":     func(db *DB) error { return of(db.BlockPart(&whole, 1, 2)) },
		"BlockSize":     func(db *DB) error { return of(db.BlockSize(&whole)) },
		"findUndo":      func(db *DB) error { return of(db.findUndo(&short)) },
		"Pruned":        func(db *DB) error { return db.Pruned(none) },
		"Stripped":      func(db *DB) error { return db.Stripped(none) },
		"Coins":         coins(func(*Coins) error { return nil }),
		"Visit":         coins(func(c *Coins) error { return c.Visit(t.Context(), 0, 0xffff, row) }),
		"Beside":        coins(func(c *Coins) error { return c.Beside(t.Context(), "rows", 0, 0xffff, row) }),
		"Coin":          store(func(s *CoinStore) error { return of(s.Coin([]byte("08"))) }),
		"Erase":         store(func(s *CoinStore) error { return of(s.Erase(10)) }),
		"Prune":         func(db *DB) error { return l.pruneFirst(db) },
		"Strip": func(db *DB) error {
			return db.Strip(db.current-1, Stripper{stripHalf, func([]chainhash.Hash) {}})
		},
		"Commit of a block": func(db *DB) error {
			return db.Commit(&Change{Blocks: []NewBlock{{whole, l.blocks[whole]}}})
		},
		"Commit of one again": func(db *DB) error {
			return db.Commit(&Change{Blocks: []NewBlock{{gone, l.blocks[gone]}}})
		},
		"StoreBlock":       update(func(tx database.Tx) error { return tx.StoreBlock(goneBlock) }),
		"Tx.HasBlock":      view(func(tx database.Tx) error { return of(tx.HasBlock(&whole)) }),
		"FetchBlock":       view(func(tx database.Tx) error { return of(tx.FetchBlock(&whole)) }),
		"FetchBlockHeader": view(func(tx database.Tx) error { return of(tx.FetchBlockHeader(&whole)) }),
		"FetchBlockRegion": view(func(tx database.Tx) error { return of(tx.FetchBlockRegion(region)) }),
		"Get": view(func(tx database.Tx) error {
			tx.Metadata().Bucket([]byte("rows")).Get([]byte("height"))
			return nil
		}),
		"Cursor": view(func(tx database.Tx) error {
			c := tx.Metadata().Bucket([]byte("rows")).Cursor()
			for ok := c.First(); ok; ok = c.Next() {
			}
			for ok := c.Last(); ok; ok = c.Prev() {
			}
			return nil
		}),
		"Reload": func(db *DB) (err error) {
			var last error
			for _, last = range db.Reload() {
				if err != nil {
					return fmt.Errorf("it goes on after %w", err)
				}
				err = last
			}
			return err
		},
		"loadDirectory": (*DB).loadDirectory, "loadFiles": (*DB).loadFiles, "loadPruned": (*DB).loadPruned,
		"checkKey": (*DB).checkKey, "verifyCommits": (*DB).verifyCommits, "loadHeld": (*DB).loadHeld,
		"unsynced": func(db *DB) error { return of(db.unsynced()) },
		"indexedBlocks": func(db *DB) error {
			var all []*blockfile.Leftover
			for n := range db.current + 1 {
				all = append(all, &blockfile.Leftover{Number: n})
			}
			return of(leftovers{db}.indexedBlocks(all))
		},
	}
	for name, use := range uses {
		for n, hit := 0, true; hit; n++ {
			hit = l.failRead(t, name, n, use)
			if !hit && n == 0 {
				t.Errorf("%s reads nothing", name)
			}
		}
	}
}

// pruneFirst prunes the lowest file that is there.
func (*life) pruneFirst(db *DB) error {
	files, _ := db.Files()
	return db.Prune([]int{files[0].Number})
}

// failRead has the n-th read of tables fail while a database is used, and reports whether there were so many.
func (l *life) failRead(t *testing.T, name string, n int, use func(*DB) error) (hit bool) {
	t.Helper()
	o, fs := l.copyOf(t)
	db := open(t, o)
	fails := faultfs.Nth(n, syscall.EIO)
	fs.InjectReads(func(op faultfs.Op) error {
		if filepath.Ext(op.Path) != ".ldb" {
			return nil
		}
		err := fails(op)
		hit = hit || err != nil
		return err
	})
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = p.(error)
			}
		}()
		return use(db)
	}()
	fs.InjectReads(nil)
	if told := errors.Is(cause(err), syscall.EIO); told != hit || !hit && err != nil {
		t.Errorf("%s, read %d: failed %v, %v", name, n, hit, err)
	}
	if held, err := db.ldb.GetProperty("leveldb.aliveiters"); held != "0" || err != nil {
		t.Errorf("%s, read %d: %s iterators are held, %v", name, n, held, err)
	}
	must(t, db.Close())
	return hit
}

// A list of missing files that cannot be made is told of as that, and not taken for one of files that were durable.
func TestMissingFilesThatCannotBeListed(t *testing.T) {
	t.Parallel()
	l := stocked(t)
	for n, hit := 0, true; hit; n++ {
		hit = l.failRead(t, "refuseMissing", n, func(db *DB) error {
			err := db.refuseMissing(map[int]bool{db.current: true})
			if errors.Is(err, ErrMissing) || errors.Is(err, ErrCorrupt) {
				return nil
			}
			return err
		})
	}
}

// Undo data is written anew where it cannot be found out whether it is there, or the commit fails.
func TestUndoDataThatCannotBeRead(t *testing.T) {
	t.Parallel()
	l := stocked(t)
	whole, data := l.order[len(l.order)-1], []byte("other undo data")
	for n, hit := 0, true; hit; n++ {
		o, fs := l.copyOf(t)
		db := open(t, o)
		hit = false
		fails := faultfs.Nth(n, syscall.EIO)
		fs.InjectReads(func(op faultfs.Op) error {
			err := fails(op)
			hit = hit || err != nil
			return err
		})
		err := db.Commit(&Change{Undo: []BlockUndo{{whole, data}}})
		fs.InjectReads(nil)
		if got, readErr := db.findUndo(&whole); err == nil && !bytes.Equal(got, data) || readErr != nil ||
			err != nil && !errors.Is(cause(err), syscall.EIO) {
			t.Errorf("read %d: %q, %v, %v", n, got, err, readErr)
		}
		must(t, db.Close())
	}
}
