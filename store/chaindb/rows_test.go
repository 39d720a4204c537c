package chaindb

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"
)

// An entry of the spend journal is there for its writer, and for all others after the commit, by key and by
// cursor. Its bytes are in the rev files alone. When it is deleted btcd finds it no more, and the undo data stays.
func TestJournalEntries(t *testing.T) {
	t.Parallel()
	db := open(t, testOptions(t.TempDir()))
	block := &wire.MsgBlock{}
	for range 2 {
		block.AddTransaction(&wire.MsgTx{TxIn: []*wire.TxIn{{}}, TxOut: []*wire.TxOut{{}}})
	}
	hash, run := block.BlockHash(), "\x02\x00\x00\x06"
	check := func(when, want string) {
		t.Helper()
		must(t, db.BTCD().View(func(tx database.Tx) error {
			journal := tx.Metadata().Bucket([]byte(journalName))
			if got := journal.Get(hash[:]); string(got) != want || (got == nil) != (want == "") {
				t.Errorf("%s: %x", when, got)
			}
			c := journal.Cursor()
			if c.Seek(hash[:]) != (want != "") || string(c.Value()) != want {
				t.Errorf("%s, by cursor: %x", when, c.Value())
			}
			if journal.Get(make([]byte, 32)) != nil {
				t.Errorf("%s: an entry of another block", when)
			}
			return nil
		}))
	}
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		journal, err := tx.Metadata().CreateBucket([]byte(journalName))
		must(t, errors.Join(err, tx.StoreBlock(btcutil.NewBlock(block)), journal.Put(hash[:], []byte(run))))
		if got := journal.Get(hash[:]); string(got) != run {
			t.Errorf("written: %x", got)
		}
		_, err = journal.CreateBucket([]byte("\x00inside")) // before all hashes
		return err
	}))
	check("committed", run)
	id, _ := db.dir.child(0, []byte(journalName))
	if value, err := db.ldb.Get(id.item(hash[:]), nil); len(value) > 0 || err != nil {
		t.Errorf("the metadata has %x, %v", value, err)
	}
	db = reopen(t, db, nil)
	check("opened again", run)
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		journal := tx.Metadata().Bucket([]byte(journalName))
		must(t, journal.Delete(hash[:]))
		if got := journal.Get(hash[:]); got != nil {
			t.Errorf("deleted just now: %x", got)
		}
		return nil
	}))
	check("deleted", "")
	if coins, err := db.Undo(&hash); err != nil || len(coins) != 1 || len(coins[0]) != 1 {
		t.Errorf("undo data: %v, %v", coins, err)
	}
}

// A row without a value is a row with an empty one.
func TestRowWithoutValue(t *testing.T) {
	t.Parallel()
	db := open(t, testOptions(t.TempDir()))
	has := func(tx database.Tx) error {
		if got := tx.Metadata().Get([]byte("k")); got == nil || len(got) > 0 {
			t.Errorf("got %v", got)
		}
		return nil
	}
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		return errors.Join(tx.Metadata().Put([]byte("k"), nil), has(tx))
	}))
	db = reopen(t, db, nil)
	must(t, db.BTCD().View(has))
}

// A walk over the rows of a bucket passes over the buckets in it, wherever they come.
func TestRowsBesideBuckets(t *testing.T) {
	t.Parallel()
	db := open(t, testOptions(t.TempDir()))
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		for _, name := range []string{"a", "c", "e"} {
			if _, err := tx.Metadata().CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return errors.Join(tx.Metadata().Put([]byte("b"), []byte("1")), tx.Metadata().Put([]byte("d"), []byte("2")))
	}))
	var rows, buckets []string
	must(t, db.BTCD().View(func(tx database.Tx) error {
		return errors.Join(
			tx.Metadata().ForEach(func(k, v []byte) error { rows = append(rows, string(k)+string(v)); return nil }),
			tx.Metadata().ForEachBucket(func(k []byte) error { buckets = append(buckets, string(k)); return nil }),
		)
	}))
	if fmt.Sprint(rows, buckets) != "[b1 d2] [a c e]" {
		t.Errorf("rows %v, buckets %v", rows, buckets)
	}
}

// A bucket goes with all that is in it, however deep, and a new bucket of its name is empty, also when the database
// is opened again.
func TestBucketsGo(t *testing.T) {
	t.Parallel()
	db := open(t, testOptions(t.TempDir()))
	make3 := func(tx database.Tx) error {
		b := tx.Metadata()
		for _, name := range []string{"a", "b", "c"} {
			next, err := b.CreateBucket([]byte(name))
			if err != nil {
				return err
			}
			must(t, errors.Join(next.Put([]byte("k"), []byte(name)), next.Put([]byte("l"), nil)))
			b = next
		}
		return nil
	}
	must(t, db.BTCD().Update(make3))
	must(t, db.BTCD().Update(func(tx database.Tx) error { return tx.Metadata().DeleteBucket([]byte("a")) }))
	db = reopen(t, db, nil)
	keys := db.ldb.NewIterator(nil, nil)
	for keys.Next() {
		if key := keys.Key(); key[0] == prefixItem || key[0] == prefixDirectory {
			t.Errorf("%q is there", key)
		}
	}
	keys.Release()
	must(t, db.BTCD().Update(make3))
	must(t, db.BTCD().View(func(tx database.Tx) error {
		b := tx.Metadata().Bucket([]byte("a")).Bucket([]byte("b")).Bucket([]byte("c"))
		if got := b.Get([]byte("k")); string(got) != "c" {
			t.Errorf("got %q", got)
		}
		return nil
	}))
}

// A visit has the rows of its bucket whose keys begin with two bytes of its range, and of no other bucket.
func TestVisitRange(t *testing.T) {
	t.Parallel()
	db := open(t, testOptions(t.TempDir()))
	must(t, new(life).makeBuckets(db))
	store, err := db.CoinStore(FirstCoins)
	must(t, err)
	keys := []string{"\x00\x00a", "\x00\x01b", "\x01\x00c", "\xff\xfed", "\xff\xff"}
	putCoins(t, store, 1, 0, keys...)
	var rows []Row
	for _, key := range keys {
		rows = append(rows, Row{"rows", []byte(key), []byte("row")}, Row{"", []byte(key), []byte("root")})
	}
	must(t, db.Commit(&Change{Rows: rows}))
	coins, err := db.Coins(FirstCoins)
	must(t, err)
	defer coins.Release()
	for _, test := range []struct {
		first, last uint16
		want        []string
	}{
		{0, 0xffff, keys}, {0, 0, keys[:1]}, {1, 1, keys[1:2]}, {1, 0x100, keys[1:3]}, {0x101, 0xfffd, nil},
		{0xfffe, 0xfffe, keys[3:4]}, {0xffff, 0xffff, keys[4:]},
	} {
		var got, beside []string
		must(t, coins.Visit(t.Context(), test.first, test.last, func(key, value []byte) error {
			if string(value) != string(key) {
				t.Errorf("%x has %x", key, value)
			}
			got = append(got, string(key))
			return nil
		}))
		must(t, coins.Beside(t.Context(), "rows", test.first, test.last, func(key, value []byte) error {
			if string(value) != "row" {
				t.Errorf("%x has %s", key, value)
			}
			beside = append(beside, string(key))
			return nil
		}))
		if !slices.Equal(got, test.want) || !slices.Equal(beside, test.want) {
			t.Errorf("from %x to %x: %x and %x", test.first, test.last, got, beside)
		}
	}
	none := func(_, _ []byte) error { t.Error("a bucket that is not there has a row"); return nil }
	must(t, coins.Beside(t.Context(), "no bucket", 0, 0xffff, none))
	if size, err := coins.DiskSize(); size < 0 || err != nil {
		t.Errorf("%d bytes, %v", size, err)
	}
}

// There are no outputs where there is no bucket for them, or no block up to which they are written.
func TestNoCoins(t *testing.T) {
	t.Parallel()
	db := open(t, testOptions(t.TempDir()))
	for _, bucket := range []bool{false, true} {
		if bucket {
			must(t, new(life).makeBuckets(db))
		}
		for _, size := range []int{0, 31, 32, 33} {
			if bucket && size == 32 {
				continue
			}
			tip := Row{"", []byte(coinSets[FirstCoins].tip), nil}
			if size > 0 {
				tip.Value = make([]byte, size)
			}
			must(t, db.Commit(&Change{Rows: []Row{tip}}))
			if _, err := db.Coins(FirstCoins); !errors.Is(err, ErrNotFound) {
				t.Errorf("bucket %v, a block's hash of %d bytes: %v", bucket, size, err)
			}
			nothingKept(t, "no set", db)
		}
	}
	if _, err := db.CoinStore(SecondCoins); !errors.Is(err, errNoBucket) {
		t.Errorf("no bucket: %v", err)
	}
}

// Metadata that is closed under a database: no transaction begins, which keeps nobody from closing the rest, and a
// transaction that runs finds nothing more.
func TestClosedUnderneath(t *testing.T) {
	t.Parallel()
	db, err := Open(testOptions(t.TempDir()))
	must(t, err)
	must(t, db.BTCD().Update(func(tx database.Tx) error { return tx.Metadata().Put([]byte("k"), []byte("v")) }))
	tx, err := db.BTCD().Begin(false)
	must(t, err)
	must(t, db.ldb.Close())
	if got := tx.Metadata().Get([]byte("k")); got != nil {
		t.Errorf("got %q", got)
	}
	if c := tx.Metadata().Cursor(); c.First() {
		t.Error("a cursor is somewhere")
	}
	must(t, tx.Rollback())
	for _, writable := range []bool{false, true, true} {
		if tx, err := db.BTCD().Begin(writable); err == nil || !errors.Is(cause(err), ErrClosed) || tx != nil {
			t.Errorf("writable %v: %v", writable, err)
		}
	}
	if db.gate.inside != 0 {
		t.Errorf("%d users", db.gate.inside)
	}
	if size, err := (&Coins{db: db}).DiskSize(); !errors.Is(err, ErrClosed) {
		t.Errorf("%d bytes, %v", size, err)
	}
	if err := db.Close(); err == nil {
		t.Error("nobody is told that the metadata was closed")
	}
}

// The error of a btcd database that cannot be closed is one of btcd's.
func TestCloseErrorOfBTCD(t *testing.T) {
	t.Parallel()
	db, err := Open(testOptions(t.TempDir()))
	must(t, err)
	must(t, db.ldb.Close())
	wantCode(t, "Close", db.BTCD().Close(), database.ErrDriverSpecific)
	wantCode(t, "second Close", db.BTCD().Close(), database.ErrDbNotOpen)
}

// Errors about a block have btcd's code, and our error in them.
func TestToBTCD(t *testing.T) {
	t.Parallel()
	hash := chainhash.Hash{1}
	for err, code := range map[error]database.ErrorCode{
		ErrNotFound: database.ErrBlockNotFound, ErrPruned: database.ErrBlockNotFound,
		ErrCorrupt: database.ErrCorruption, ErrFailed: database.ErrDriverSpecific,
	} {
		got := toBTCD(&hash, fmt.Errorf("read: %w", err))
		wantCode(t, err.Error(), got, code)
		if !errors.Is(cause(got), err) || !strings.Contains(got.Error(), hash.String()) {
			t.Errorf("%v: %v", err, got)
		}
	}
	if err := toBTCD(&hash, nil); err != nil {
		t.Error(err)
	}
}

// With either option it is known which blocks lie in which file, and with none it is not kept.
func TestBlocksOfFiles(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	o := l.options(nil)
	db := open(t, o)
	must(t, errors.Join(l.makeBuckets(db), l.commit(10)(db), db.Close()))
	for _, opts := range [][2]bool{{true, false}, {false, true}, {false, false}} {
		o.Prunable, o.Strips = opts[0], opts[1]
		db = open(t, o)
		held := map[chainhash.Hash]bool{}
		files, _ := db.Files()
		for _, f := range files {
			for _, hash := range f.Blocks {
				held[hash] = true
			}
		}
		want := map[chainhash.Hash]bool{}
		for _, hash := range l.order[:8] {
			want[hash] = opts[0] || opts[1]
		}
		maps.DeleteFunc(want, func(_ chainhash.Hash, is bool) bool { return !is })
		if len(files) != 2 || !maps.Equal(held, want) || (db.held == nil) != (len(want) == 0) {
			t.Errorf("prunable %v, strips %v: %d blocks of %d files", opts[0], opts[1], len(held), len(files))
		}
		must(t, db.Close())
	}
}
