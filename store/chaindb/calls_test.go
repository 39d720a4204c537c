package chaindb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// failing fails the calls of a kind on files of a name, while there is an error.
func failing(fs *faultfs.FS, kind faultfs.Kind, name string, err *error) {
	fs.Inject(func(op faultfs.Op) error {
		if op.Kind == kind && filepath.Base(op.Path) == name {
			return *err
		}
		return nil
	})
}

// A block is stored if its file and its undo file can be made and written. Otherwise the commit fails, and succeeds
// once the disk works again.
func TestFilesThatCannotBeMade(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]faultfs.Kind{"blk00001.dat": faultfs.Create, "rev00001.dat": faultfs.Create} {
		fs, l := faultfs.New(), newLife(t)
		db := open(t, l.options(fs))
		err := error(syscall.EIO)
		failing(fs, kind, name, &err)
		told := false
		for n := range 12 {
			hash, raw, _ := faultBlock(n)
			commit := func() error { return db.Commit(&Change{Blocks: []NewBlock{{hash, raw}}}) }
			if got := commit(); got != nil {
				if told = true; !strings.Contains(got.Error(), syscall.EIO.Error()) {
					t.Errorf("%s: %v", name, got)
				}
				if _, got := db.Block(&hash); !errors.Is(got, ErrNotFound) {
					t.Errorf("%s: block %d is there: %v", name, n, got)
				}
				err = nil
				if got := commit(); got != nil {
					t.Fatal(name, got)
				}
			}
			if _, got := db.Block(&hash); got != nil {
				t.Errorf("%s: block %d: %v", name, n, got)
			}
		}
		for _, pair := range []string{"blk00001.dat", "rev00001.dat"} {
			if _, err := os.Stat(filepath.Join(db.o.BlocksDir, pair)); err != nil {
				t.Error(err)
			}
		}
		if err := db.Close(); err != nil || !told {
			t.Errorf("%s: told %v, %v", name, told, err)
		}
	}
}

// All block files behind a gap are removed before the metadata is rebuilt; a failure is reported.
func TestLooseFiles(t *testing.T) {
	t.Parallel()
	for name, numbers := range map[string][]int{
		"none": {}, "no gap": {0, 1, 2}, "gaps": {0, 1, 3, 4, 7}, "no first": {1, 2}, "one": {5},
	} {
		dir, fs := t.TempDir(), faultfs.New()
		loose := 0
		for i, n := range numbers {
			if err := os.WriteFile(blockfile.Blocks.Path(dir, n), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if n != i {
				loose++
			}
		}
		fs.Inject(func(op faultfs.Op) error {
			if op.Kind == faultfs.Remove {
				return syscall.EIO
			}
			return nil
		})
		if err := dropLoose(fs, dir); errors.Is(err, syscall.EIO) != (loose > 0) {
			t.Errorf("%s, on a bad disk: %v", name, err)
		}
		if err := dropLoose(vfs.OS, dir); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		left, err := blockfile.Blocks.Numbers(vfs.OS, dir)
		if err != nil || len(left) != len(numbers)-loose {
			t.Errorf("%s: %v are left of %v, %v", name, left, numbers, err)
		}
	}
}

// Changes of the unspent outputs whose source fails are not made, whether they are few or many.
func TestChangesThatEndEarly(t *testing.T) {
	t.Parallel()
	o := testOptions(t.TempDir())
	db := open(t, o)
	if err := db.BTCD().Update(func(tx database.Tx) error {
		_, err := tx.Metadata().CreateBucket([]byte(coinSets[FirstCoins].bucket))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	store, err := db.CoinStore(FirstCoins)
	if err != nil {
		t.Fatal(err)
	}
	putCoins(t, store, 1, 0, "a", "b")
	ended := errors.New("the end")
	for _, size := range []int{0, smallFlush, smallFlush + 1} {
		err := store.WriteCoins(&chainhash.Hash{2}, size, func(put func(key, value []byte) error) error {
			return errors.Join(put([]byte("a"), nil), put([]byte("c"), []byte("c")), ended)
		})
		if !errors.Is(err, ended) {
			t.Errorf("size %d: %v", size, err)
		}
		for key, want := range map[string]string{"a": "a", "b": "b", "c": ""} {
			if got, err := store.Coin([]byte(key)); err != nil || string(got) != want {
				t.Errorf("size %d: %s is %q, %v", size, key, got, err)
			}
		}
		coins, err := db.Coins(FirstCoins)
		if err != nil || coins.Tip != (chainhash.Hash{1}) {
			t.Fatal(size, err)
		}
		coins.Release()
	}
	putCoins(t, store, 3, 0, "c") // it goes on
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// Changes of more than a small flush become tables at once, and smaller ones an ordinary commit.
func TestSmallFlush(t *testing.T) {
	t.Parallel()
	told := 0
	o := testOptions(t.TempDir())
	o.WroteCoins = func(int) { told++ }
	db := open(t, o)
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		_, err := tx.Metadata().CreateBucket([]byte(coinSets[FirstCoins].bucket))
		return err
	}))
	store, err := db.CoinStore(FirstCoins)
	must(t, err)
	for _, size := range []int{0, smallFlush, smallFlush + 1} {
		told = 0
		putCoins(t, store, 1, size, "a")
		if (told == 1) != (size > smallFlush) {
			t.Errorf("size %d: %d changes of tables", size, told)
		}
	}
}

// The error of who visits rows or buckets ends the visit and is the visit's.
func TestVisitorsOfBucketsFail(t *testing.T) {
	t.Parallel()
	failure := errors.New("enough")
	must(t, prepare(t).View(func(tx database.Tx) error {
		b, visited := tx.Metadata().Bucket([]byte("b")), 0
		for name, err := range map[string]error{
			"rows":    b.ForEach(func(_, _ []byte) error { visited++; return failure }),
			"buckets": b.ForEachBucket(func([]byte) error { visited++; return failure }),
		} {
			if !errors.Is(err, failure) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if visited != 2 {
			t.Errorf("%d were visited", visited)
		}
		return nil
	}))
}

// After a failed write nothing is removed or noted any more, and what is there can be read.
func TestNothingIsWrittenAfterAFailure(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	must(t, errors.Join(l.makeBuckets(db), l.commit(10)(db), l.sync(db)))
	db.failed = syscall.EIO
	before := func([]chainhash.Hash) { t.Error("a file was to be stripped") }
	for name, err := range map[string]error{
		"sync": db.Sync(), "strip": db.Strip(0, Stripper{stripHalf, before}), "prune": db.Prune([]int{0}),
		"end of a reload": db.ReloadDone(),
	} {
		if !errors.Is(err, ErrFailed) || !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", name, err)
		}
	}
	l.checkBlocks(t, db, l.order)
}

// A set that cannot be erased is told of, and is there as before.
func TestEraseFails(t *testing.T) {
	t.Parallel()
	fs := faultfs.New()
	o := testOptions(t.TempDir())
	o.FS = fs
	db := open(t, o)
	if err := db.BTCD().Update(func(tx database.Tx) error {
		_, err := tx.Metadata().CreateBucket([]byte(coinSets[FirstCoins].bucket))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	store, err := db.CoinStore(FirstCoins)
	if err != nil {
		t.Fatal(err)
	}
	putCoins(t, store, 1, 0, "a", "b")
	fs.Inject(func(op faultfs.Op) error {
		if op.Kind == faultfs.Write {
			return syscall.ENOSPC
		}
		return nil
	})
	if more, err := store.Erase(10); !errors.Is(err, syscall.ENOSPC) || more {
		t.Errorf("erased: %v, %v", more, err)
	}
	fs.Inject(nil)
	if _, err := store.Erase(10); !errors.Is(err, ErrFailed) {
		t.Errorf("then: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	o.FS = nil
	db = open(t, o)
	if store, err = db.CoinStore(FirstCoins); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b"} {
		if got, err := store.Coin([]byte(key)); err != nil || string(got) != key {
			t.Errorf("%s is %q, %v", key, got, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// A pair is a chain database's own by its first byte and its length.
func TestOwns(t *testing.T) {
	t.Parallel()
	lengths := map[byte][]int{}
	for _, prefix := range []byte{prefixFormat, prefixSynced, prefixReload} {
		lengths[prefix] = []int{1}
	}
	for _, prefix := range []byte{prefixCommit, prefixFile, prefixGone} {
		lengths[prefix] = []int{9}
	}
	for _, prefix := range []byte{prefixBlock, prefixUndo, prefixPruned, prefixStripped} {
		lengths[prefix] = []int{33}
	}
	for _, prefix := range []byte{prefixDirectory, prefixItem} {
		for n := 5; n <= 40; n++ {
			lengths[prefix] = append(lengths[prefix], n)
		}
	}
	if owns(nil, nil) {
		t.Error("an empty key is its own")
	}
	for prefix := range 256 {
		for n := 1; n <= 40; n++ {
			key := make([]byte, n)
			key[0] = byte(prefix)
			want := false
			for _, length := range lengths[byte(prefix)] {
				want = want || length == n
			}
			if got := owns(key, nil); got != want {
				t.Errorf("a key of %d bytes that begins with %02x: %v", n, prefix, got)
			}
		}
	}
}

// A file is damaged if it has fewer bytes than were written.
func TestCheckSize(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(blockfile.Blocks.Path(dir, 3), make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	files := blockfile.NewFiles(vfs.OS, dir, blockfile.Blocks, [4]byte{}, blockfile.Key{})
	for least, want := range map[int64]error{0: nil, 99: nil, 100: nil, 101: ErrCorrupt, 1 << 40: ErrCorrupt} {
		if err := checkSize(files, 3, least); !errors.Is(err, want) {
			t.Errorf("at least %d: %v", least, err)
		}
	}
	if err := checkSize(files, 4, 1); !errors.Is(err, ErrCorrupt) {
		t.Errorf("no file: %v", err)
	}
}

// The number of transactions is found behind a header of any length.
func TestTxCountBehindLongHeaders(t *testing.T) {
	t.Parallel()
	for _, long := range []int{81, blockStart - 1, blockStart, blockStart + 1, 9000} {
		o := testOptions(t.TempDir())
		o.HeaderLen = func(raw []byte) int {
			if len(raw) < long {
				return -1
			}
			return long
		}
		db := open(t, o)
		_, raw, _ := faultBlock(7)
		raw = append([]byte(nil), raw...)
		raw[long] = 200
		hash := chainhash.DoubleHashH(raw[:80])
		if err := db.Commit(&Change{Blocks: []NewBlock{{hash, raw}}}); err != nil {
			t.Fatal(err)
		}
		if n, err := db.TxCount(&hash); n != 200 || err != nil {
			t.Errorf("a header of %d bytes: %d transactions, %v", long, n, err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
