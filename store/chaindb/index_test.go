package chaindb

import (
	"crypto/sha256"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/database"
	"github.com/syndtr/goleveldb/leveldb"
	ldberrors "github.com/syndtr/goleveldb/leveldb/errors"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// content returns the hashes of the files below some folders, but for locks.
func content(t *testing.T, dirs ...string) map[string][32]byte {
	t.Helper()
	all := map[string][32]byte{}
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || entry.Name() == "LOCK" {
				return err
			}
			b, err := os.ReadFile(path)
			all[path] = sha256.Sum256(b)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return all
}

// unchanged asserts that a use of a database's options changes no file.
func unchanged(t *testing.T, name string, o Options, use func(Options)) {
	t.Helper()
	before := content(t, o.Dir, o.BlocksDir)
	use(o)
	after := content(t, o.Dir, o.BlocksDir)
	if len(before) != len(after) {
		t.Errorf("%s: there are %d files, and were %d", name, len(after), len(before))
	}
	for path, sum := range before {
		if after[path] != sum {
			t.Errorf("%s: %s has changed", name, path)
		}
	}
}

// The metadata of a database can be read without opening it: outputs as they were written last. Nothing is changed,
// and nothing can be.
func TestOpenIndex(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	o := l.options(nil)
	db := open(t, o)
	if _, err := OpenIndex(o); err == nil {
		t.Error("an open database is opened")
	}
	must(t, errors.Join(l.makeBuckets(db), l.commit(6)(db), l.writeCoins(0)(db), db.Close()))
	o.Log = nil
	unchanged(t, "read", o, func(o Options) {
		db, err := OpenIndex(o)
		must(t, err)
		l.checkCoins(t, db, l.acked)
		if n, err := db.BlockSize(&l.order[0]); n != blockSize || err != nil {
			t.Errorf("a block of %d bytes, %v", n, err)
		}
		if err := db.Commit(&Change{Rows: []Row{{"rows", []byte("k"), []byte("v")}}}); err == nil {
			t.Error("a row was written")
		}
		must(t, db.Close())
	})
	o.Magic[0]++
	if _, err := OpenIndex(o); !errors.Is(err, ErrWrongNetwork) {
		t.Errorf("another network: %v", err)
	}
}

// createSecond makes the bucket of the second set, if it is not there.
func createSecond(tx database.Tx) error {
	_, err := tx.Metadata().CreateBucketIfNotExists([]byte(coinSets[SecondCoins].bucket))
	return err
}

// Whether witnesses were removed is known of a database that is not open, and of none that was never written.
func TestWasStripped(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	o := l.options(nil)
	want := func(name string, want bool, wantErr error) {
		t.Helper()
		unchanged(t, name, o, func(o Options) {
			if got, err := WasStripped(o); got != want || !errors.Is(err, wantErr) {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		})
	}
	want("no folder", false, nil)
	if _, err := OpenIndex(o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder was made: %v", err)
	}
	made := o
	made.FS = vfs.OS
	must(t, os.MkdirAll(o.Dir, 0o700))
	ldb, folder, err := openLevelDB(&made)
	must(t, errors.Join(err, ldb.Close(), folder.Close()))
	want("no record", false, nil)

	db := open(t, o)
	must(t, errors.Join(l.makeBuckets(db), l.commit(9)(db), db.Close()))
	want("whole blocks", false, nil)
	db = open(t, o)
	must(t, errors.Join(l.strip(db), db.Close()))
	want("stripped", true, nil)
	for range 2 { // a second set is written without a word of that
		db = open(t, o)
		must(t, db.BTCD().Update(createSecond))
		second, err := db.CoinStore(SecondCoins)
		must(t, err)
		putCoins(t, second, 1, 0, "a")
		must(t, db.Close())
		want("stripped, with a second set", true, nil)
	}
	other := o
	other.Magic[1]++
	if _, err := Open(other); !errors.Is(err, ErrWrongNetwork) {
		t.Errorf("another network: %v", err)
	}
	manifests, err := filepath.Glob(filepath.Join(o.Dir, "MANIFEST-*"))
	must(t, err)
	must(t, os.WriteFile(manifests[0], make([]byte, 100), 0o600))
	want("damaged", false, ErrDamaged)
}

// The folder of another program is refused, and nothing in it is changed.
func TestForeignFolder(t *testing.T) {
	t.Parallel()
	o := testOptions(t.TempDir())
	must(t, os.MkdirAll(o.Dir, 0o700))
	ldb, err := leveldb.OpenFile(o.Dir, nil)
	must(t, err)
	for n := range 50 {
		must(t, ldb.Put([]byte{'c', byte(n), 7}, []byte("a coin of another program"), nil))
	}
	must(t, ldb.Close())
	must(t, os.MkdirAll(o.BlocksDir, 0o700))
	must(t, os.WriteFile(blockfile.Undo.Path(o.BlocksDir, 0), []byte("undo"), 0o600))
	for name, use := range map[string]func(Options) error{
		"Open":        func(o Options) error { return of(Open(o)) },
		"OpenIndex":   func(o Options) error { return of(OpenIndex(o)) },
		"WasStripped": func(o Options) error { return of(WasStripped(o)) },
		"Rebuild":     Rebuild,
	} {
		unchanged(t, name, o, func(o Options) {
			if err := use(o); !errors.Is(err, ErrForeign) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// A database without a log and a file system of its own takes those of the program.
func TestDefaultLog(t *testing.T) {
	t.Parallel()
	db, _ := loaded(t, 300)
	o := image(t, db)
	o.Log = nil
	killed := open(t, o) // says that it was not closed
	if killed.o.Log != slog.Default() {
		t.Error("it has another log")
	}
	must(t, killed.Close())
	index, err := OpenIndex(o)
	must(t, err)
	damage := &ldberrors.ErrCorrupted{Err: errors.New("no table")}
	if err := index.seen(damage); !errors.Is(err, damage) || index.o.Log != slog.Default() {
		t.Error(err)
	}
	must(t, index.Close())
	o.Log = slog.New(slog.DiscardHandler)
	if index, err = OpenIndex(o); err != nil || index.o.Log != o.Log {
		t.Fatalf("it has another log, %v", err)
	}
	must(t, index.Close())
}

// Damage of the database's own files is both kinds of damage, and no other error.
func TestTableError(t *testing.T) {
	t.Parallel()
	err := fromLevelDB(&ldberrors.ErrCorrupted{Err: errors.New("no table")})
	for want, is := range map[error]bool{
		ErrCorrupt: true, ErrDamaged: true, ErrNotFound: false, ErrPruned: false, ErrMissing: false, ErrClosed: false,
	} {
		if errors.Is(err, want) != is {
			t.Errorf("%v is %v: %v", err, want, !is)
		}
	}
}
