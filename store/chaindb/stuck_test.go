package chaindb

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// A database that goleveldb can neither write nor close is given up when it is closed: from then on nothing of it
// changes its folder, which the next one opens.
func TestStuckDatabase(t *testing.T) {
	t.Parallel()
	fs := faultfs.New()
	o := testOptions(t.TempDir())
	o.FS = fs
	db := open(t, o)
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		_, err := tx.Metadata().CreateBucket([]byte(coinSets[FirstCoins].bucket))
		return err
	}))
	store, err := db.CoinStore(FirstCoins)
	must(t, err)
	putCoins(t, store, 1, 0, "a")
	fs.Inject(func(op faultfs.Op) error {
		if _, err := os.Stat(op.Path); err != nil && filepath.Ext(op.Path) == ".log" { // a new journal
			return syscall.EIO
		}
		return nil
	})
	err = store.WriteCoins(&chainhash.Hash{2}, smallFlush+1, func(func(key, value []byte) error) error { return nil })
	if !errors.Is(err, syscall.EIO) || !db.stuck {
		t.Errorf("stuck %v, %v", db.stuck, err)
	}
	must(t, db.Close())
	fs.Inject(nil)
	if _, err := db.folder.Create(storage.FileDesc{Type: storage.TypeTable, Num: 1 << 20}); err == nil {
		t.Error("the database that was given up makes a file")
	}
	again := open(t, o)
	if store, err = again.CoinStore(FirstCoins); err != nil {
		t.Fatal(err)
	}
	if got, err := store.Coin([]byte("a")); err != nil || string(got) != "a" {
		t.Errorf("got %q, %v", got, err)
	}
	must(t, again.Close())
}

// Buckets of short and long names are there when the database is opened again.
func TestBucketsStay(t *testing.T) {
	t.Parallel()
	o := testOptions(t.TempDir())
	db := open(t, o)
	names := []string{"a", "bc", "a bucket with a long name"}
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		for _, name := range names {
			if _, err := tx.Metadata().CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return nil
	}))
	must(t, db.Close())
	db = open(t, o)
	must(t, db.BTCD().View(func(tx database.Tx) error {
		for _, name := range names {
			if tx.Metadata().Bucket([]byte(name)) == nil {
				t.Errorf("%s is not there", name)
			}
		}
		return nil
	}))
	must(t, db.Close())
}

// A closed database answers all with that, and counts no user.
func TestClosedDatabase(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	must(t, errors.Join(l.makeBuckets(db), l.commit(8)(db), l.writeCoins(0)(db)))
	store, err := db.CoinStore(FirstCoins)
	must(t, err)
	coins, err := db.Coins(FirstCoins)
	must(t, err)
	defer coins.Release()
	must(t, db.Close())
	hash, none := &l.order[0], func(*chainhash.Hash) { t.Error("a closed database lists") }
	row := func(_, _ []byte) error { t.Error("a closed database is visited"); return nil }
	put := func(func(key, value []byte) error) error { t.Error("a closed database is changed"); return nil }
	before := func([]chainhash.Hash) { t.Error("a closed database is stripped") }
	failed := func(_ any, err error) error { return err }
	for name, err := range map[string]error{
		"Coins": failed(db.Coins(FirstCoins)), "DiskSize": failed(coins.DiskSize()),
		"Visit": coins.Visit(t.Context(), 0, 0xffff, row), "Beside": coins.Beside(t.Context(), "rows", 0, 0xffff, row),
		"Coin": failed(store.Coin([]byte("01"))), "Erase": failed(store.Erase(1)),
		"WriteCoins": store.WriteCoins(hash, 0, put), "WriteCoins of many": store.WriteCoins(hash, 2*smallFlush, put),
		"Prune": db.Prune([]int{0}), "Strip": db.Strip(0, Stripper{stripHalf, before}), "Sync": db.Sync(),
		"Pruned": db.Pruned(none), "Stripped": db.Stripped(none), "ReloadDone": db.ReloadDone(), "Close": db.Close(),
		"HasBlock": failed(db.HasBlock(hash)), "Block": failed(db.Block(hash)), "TxCount": failed(db.TxCount(hash)),
		"BlockPart": failed(db.BlockPart(hash, 0, 1)), "Undo": failed(db.Undo(hash)),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if db.gate.inside != 0 {
		t.Errorf("%d users of a closed database", db.gate.inside)
	}
}

// The second set is not written where the format cannot be noted.
func TestFormatCannotBeNoted(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 2 * smallFlush} {
		fs := faultfs.New()
		o := testOptions(t.TempDir())
		o.FS = fs
		db := open(t, o)
		must(t, db.BTCD().Update(func(tx database.Tx) error {
			_, err := tx.Metadata().CreateBucket([]byte(coinSets[SecondCoins].bucket))
			return err
		}))
		must(t, db.Sync())
		store, err := db.CoinStore(SecondCoins)
		must(t, err)
		first := true
		fs.Inject(func(op faultfs.Op) error {
			if fails := first && op.Kind == faultfs.Write; fails {
				first = false
				return syscall.EIO
			}
			return nil
		})
		err = store.WriteCoins(&chainhash.Hash{1}, size, func(put func(key, value []byte) error) error {
			return put([]byte("a"), []byte("a"))
		})
		if !errors.Is(err, syscall.EIO) || errors.Is(err, ErrFailed) {
			t.Errorf("size %d: %v", size, err)
		}
		if got, err := store.Coin([]byte("a")); got != nil || err != nil {
			t.Errorf("size %d: got %q, %v", size, got, err)
		}
		must(t, db.Close())
	}
}
