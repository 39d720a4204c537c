package chaindb

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"
)

// genesis is a block that the tests store.
func genesis() *btcutil.Block { return btcutil.NewBlock(chaincfg.RegressionNetParams.GenesisBlock) }

// begin starts a transaction that ends with the test.
func begin(t *testing.T, db database.DB, writable bool) database.Tx {
	t.Helper()
	tx, err := db.Begin(writable)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tx.Rollback() })
	return tx
}

// must fails the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantCode checks btcd's way of telling errors apart: a type assertion.
func wantCode(t *testing.T, name string, err error, code database.ErrorCode) {
	t.Helper()
	if dbErr, ok := err.(database.Error); !ok || dbErr.ErrorCode != code { //nolint:errorlint // as btcd does
		t.Errorf("%s: error %v, want %v", name, err, code)
	}
}

// prepare makes a database with a bucket "b" that holds a key "k" and a bucket
// "n", and with one block.
func prepare(t *testing.T) database.DB {
	t.Helper()
	db := open(t, testOptions(t.TempDir())).BTCD()
	must(t, db.Update(func(tx database.Tx) error {
		b, err := tx.Metadata().CreateBucket([]byte("b"))
		if err != nil {
			return err
		}
		_, err = b.CreateBucket([]byte("n"))
		return errors.Join(err, b.Put([]byte("k"), []byte("v")), tx.StoreBlock(genesis()))
	}))
	return db
}

// use calls one method of everything that a transaction hands out.
type use struct {
	name string
	do   func(tx database.Tx, b database.Bucket, c database.Cursor) error
}

// writes are the uses that need a writable transaction.
func writes() []use {
	return []use{
		{
			"StoreBlock",
			func(tx database.Tx, _ database.Bucket, _ database.Cursor) error { return tx.StoreBlock(genesis()) },
		},
		{"PruneBlocks", func(tx database.Tx, _ database.Bucket, _ database.Cursor) error {
			_, err := tx.PruneBlocks(0)
			return err
		}},
		{"CreateBucket", func(_ database.Tx, b database.Bucket, _ database.Cursor) error {
			_, err := b.CreateBucket([]byte("new"))
			return err
		}},
		{"CreateBucketIfNotExists", func(_ database.Tx, b database.Bucket, _ database.Cursor) error {
			_, err := b.CreateBucketIfNotExists([]byte("n"))
			return err
		}},
		{
			"DeleteBucket",
			func(_ database.Tx, b database.Bucket, _ database.Cursor) error { return b.DeleteBucket([]byte("n")) },
		},
		{"Put", func(_ database.Tx, b database.Bucket, _ database.Cursor) error { return b.Put([]byte("k"), nil) }},
		{"Delete", func(_ database.Tx, b database.Bucket, _ database.Cursor) error { return b.Delete([]byte("k")) }},
		{"Cursor.Delete", func(_ database.Tx, _ database.Bucket, c database.Cursor) error { return c.Delete() }},
	}
}

// reads are the uses that any open transaction allows.
func reads() []use {
	hash := genesis().Hash()
	return []use{
		{"HasBlock", func(tx database.Tx, _ database.Bucket, _ database.Cursor) error {
			_, err := tx.HasBlock(hash)
			return err
		}},
		{"HasBlocks", func(tx database.Tx, _ database.Bucket, _ database.Cursor) error {
			_, err := tx.HasBlocks([]chainhash.Hash{*hash})
			return err
		}},
		{"FetchBlock", func(tx database.Tx, _ database.Bucket, _ database.Cursor) error {
			_, err := tx.FetchBlock(hash)
			return err
		}},
		{"FetchBlocks", func(tx database.Tx, _ database.Bucket, _ database.Cursor) error {
			_, err := tx.FetchBlocks([]chainhash.Hash{*hash})
			return err
		}},
		{"FetchBlockHeader", func(tx database.Tx, _ database.Bucket, _ database.Cursor) error {
			_, err := tx.FetchBlockHeader(hash)
			return err
		}},
		{"FetchBlockHeaders", func(tx database.Tx, _ database.Bucket, _ database.Cursor) error {
			_, err := tx.FetchBlockHeaders([]chainhash.Hash{*hash})
			return err
		}},
		{"FetchBlockRegion", func(tx database.Tx, _ database.Bucket, _ database.Cursor) error {
			_, err := tx.FetchBlockRegion(&database.BlockRegion{Hash: hash, Len: 1})
			return err
		}},
		{"FetchBlockRegions", func(tx database.Tx, _ database.Bucket, _ database.Cursor) error {
			_, err := tx.FetchBlockRegions([]database.BlockRegion{{Hash: hash, Len: 1}})
			return err
		}},
		{"BeenPruned", func(tx database.Tx, _ database.Bucket, _ database.Cursor) error {
			_, err := tx.BeenPruned()
			return err
		}},
		{"ForEach", func(_ database.Tx, b database.Bucket, _ database.Cursor) error {
			return b.ForEach(func(_, _ []byte) error { return nil })
		}},
		{"ForEachBucket", func(_ database.Tx, b database.Bucket, _ database.Cursor) error {
			return b.ForEachBucket(func([]byte) error { return nil })
		}},
	}
}

// TestReadOnly has every use of a read-only transaction.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	tx := begin(t, prepare(t), false)
	b := tx.Metadata().Bucket([]byte("b"))
	c := b.Cursor()
	c.First()
	for _, u := range writes() {
		wantCode(t, u.name, u.do(tx, b, c), database.ErrTxNotWritable)
	}
	for _, u := range reads() {
		if err := u.do(tx, b, c); err != nil {
			t.Errorf("%s: %v", u.name, err)
		}
	}
	if b.Writable() {
		t.Error("bucket of a read-only transaction is writable")
	}
	wantCode(t, "Commit", tx.Commit(), database.ErrTxNotWritable)
	wantCode(t, "second Commit", tx.Commit(), database.ErrTxClosed)
}

// TestClosed has every use of a transaction that is over.
func TestClosed(t *testing.T) {
	t.Parallel()
	db := prepare(t)
	for _, writable := range []bool{false, true} {
		tx := begin(t, db, writable)
		b := tx.Metadata().Bucket([]byte("b"))
		c := b.Cursor()
		c.First()
		must(t, tx.Rollback())
		for _, u := range append(reads(), writes()...) {
			wantCode(t, u.name, u.do(tx, b, c), database.ErrTxClosed)
		}
		wantCode(t, "Rollback", tx.Rollback(), database.ErrTxClosed)
		if b.Get([]byte("k")) != nil || b.Bucket([]byte("n")) != nil {
			t.Error("a closed transaction reads")
		}
		if c.First() || c.Last() || c.Next() || c.Prev() || c.Seek(nil) || c.Key() != nil || c.Value() != nil ||
			c.Bucket() != nil {
			t.Error("a cursor of a closed transaction moves")
		}
		if b.Cursor().First() {
			t.Error("a cursor made of a closed transaction moves")
		}
	}
}

// TestBucketErrors has what a bucket refuses.
func TestBucketErrors(t *testing.T) {
	t.Parallel()
	db := prepare(t)
	must(t, db.Update(func(tx database.Tx) error {
		b := tx.Metadata().Bucket([]byte("b"))
		_, err := b.CreateBucket([]byte("n"))
		wantCode(t, "CreateBucket of a bucket", err, database.ErrBucketExists)
		_, err = b.CreateBucket(nil)
		wantCode(t, "CreateBucket without a name", err, database.ErrBucketNameRequired)
		_, err = b.CreateBucketIfNotExists(nil)
		wantCode(t, "CreateBucketIfNotExists without a name", err, database.ErrBucketNameRequired)
		_, err = b.CreateBucket([]byte("k"))
		wantCode(t, "CreateBucket of a key", err, database.ErrIncompatibleValue)
		wantCode(t, "DeleteBucket of nothing", b.DeleteBucket([]byte("x")), database.ErrBucketNotFound)
		wantCode(t, "DeleteBucket of a key", b.DeleteBucket([]byte("k")), database.ErrBucketNotFound)
		wantCode(t, "Put without a key", b.Put(nil, nil), database.ErrKeyRequired)
		wantCode(t, "Put over a bucket", b.Put([]byte("n"), nil), database.ErrIncompatibleValue)
		wantCode(t, "Delete without a key", b.Delete(nil), database.ErrKeyRequired)
		wantCode(t, "Delete of a bucket", b.Delete([]byte("n")), database.ErrIncompatibleValue)
		must(t, b.Delete([]byte("x")))
		if b.Get(nil) != nil || b.Bucket(nil) != nil {
			t.Error("something has no name")
		}
		c := b.Cursor()
		if c.Next() || c.Prev() || c.Key() != nil || c.Value() != nil {
			t.Error("a cursor that was not positioned is somewhere")
		}
		wantCode(t, "Cursor.Delete nowhere", c.Delete(), database.ErrIncompatibleValue)
		if !c.Seek([]byte("n")) || c.Value() != nil {
			t.Error("no cursor at the bucket")
		}
		wantCode(t, "Cursor.Delete of a bucket", c.Delete(), database.ErrIncompatibleValue)
		return nil
	}))
}

// TestBlockErrors has what is refused about blocks, stored and pending.
func TestBlockErrors(t *testing.T) {
	t.Parallel()
	db := prepare(t)
	pending := btcutil.NewBlock(&wire.MsgBlock{Header: wire.BlockHeader{Nonce: 1}})
	must(t, db.Update(func(tx database.Tx) error {
		must(t, tx.StoreBlock(pending))
		for _, block := range []*btcutil.Block{genesis(), pending} {
			wantCode(t, "StoreBlock twice", tx.StoreBlock(block), database.ErrBlockExists)
			raw, err := block.Bytes()
			must(t, err)
			size := uint32(len(raw))
			got, err := tx.FetchBlock(block.Hash())
			if err != nil || !bytes.Equal(got, raw) {
				t.Errorf("FetchBlock: %x, %v", got, err)
			}
			header, err := tx.FetchBlockHeader(block.Hash())
			if err != nil || !bytes.Equal(header, raw[:80]) {
				t.Errorf("FetchBlockHeader: %x, %v", header, err)
			}
			part, err := tx.FetchBlockRegion(&database.BlockRegion{Hash: block.Hash(), Offset: 4, Len: size - 4})
			if err != nil || !bytes.Equal(part, raw[4:]) {
				t.Errorf("FetchBlockRegion: %x, %v", part, err)
			}
			for _, region := range []database.BlockRegion{
				{Offset: 0, Len: size + 1}, {Offset: size, Len: 1}, {Offset: 1<<32 - 1, Len: 1<<32 - 1},
			} {
				region.Hash = block.Hash()
				_, err := tx.FetchBlockRegion(&region)
				wantCode(t, "FetchBlockRegion beyond", err, database.ErrBlockRegionInvalid)
			}
		}
		unknown := chainhash.Hash{1}
		if has, err := tx.HasBlocks([]chainhash.Hash{*pending.Hash(), unknown, *genesis().Hash()}); err != nil ||
			!has[0] || has[1] || !has[2] {
			t.Errorf("HasBlocks: %v, %v", has, err)
		}
		_, err := tx.FetchBlock(&unknown)
		wantCode(t, "FetchBlock", err, database.ErrBlockNotFound)
		_, err = tx.FetchBlockHeaders([]chainhash.Hash{*pending.Hash(), unknown})
		wantCode(t, "FetchBlockHeaders", err, database.ErrBlockNotFound)
		_, err = tx.FetchBlockRegion(&database.BlockRegion{Hash: &unknown})
		wantCode(t, "FetchBlockRegion", err, database.ErrBlockNotFound)
		_, err = tx.PruneBlocks(0)
		wantCode(t, "PruneBlocks", err, database.ErrDriverSpecific)
		return nil
	}))
}

// TestJournalErrors has what the spend journal refuses.
func TestJournalErrors(t *testing.T) {
	t.Parallel()
	db := prepare(t)
	must(t, db.Update(func(tx database.Tx) error {
		journal, err := tx.Metadata().CreateBucket([]byte(journalName))
		must(t, err)
		unknown := chainhash.Hash{1}
		wantCode(t, "no hash", journal.Put([]byte("k"), nil), database.ErrIncompatibleValue)
		wantCode(t, "unknown block", journal.Put(unknown[:], nil), database.ErrBlockNotFound)
		wantCode(t, "too many coins", journal.Put(genesis().Hash()[:], []byte{2, 0, 0, 6}), database.ErrCorruption)
		wantCode(t, "no coin", journal.Put(genesis().Hash()[:], []byte{0x80}), database.ErrCorruption)
		return nil
	}))
}

// TestManaged has what happens around the function of View and Update.
func TestManaged(t *testing.T) {
	t.Parallel()
	db := prepare(t)
	failure := errors.New("failure")
	put := func(tx database.Tx) { must(t, tx.Metadata().Put([]byte("x"), nil)) }
	if err := db.Update(func(tx database.Tx) error { put(tx); return failure }); !errors.Is(err, failure) {
		t.Errorf("Update: %v", err)
	}
	panics := func(name string, fn func(database.Tx) error) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s did not panic", name)
			}
		}()
		db.Update(fn)
	}
	panics("Update", func(tx database.Tx) error { put(tx); panic(failure) })
	panics("Commit", func(tx database.Tx) error { put(tx); return tx.Commit() })
	panics("Rollback", func(tx database.Tx) error { put(tx); return tx.Rollback() })
	must(t, db.View(func(tx database.Tx) error {
		if tx.Metadata().Get([]byte("x")) != nil {
			t.Error("a write outlived its failed transaction")
		}
		return nil
	}))
}

// TestIsolation reads while a writer changes metadata, buckets and blocks.
func TestIsolation(t *testing.T) {
	t.Parallel()
	db := prepare(t)
	before := begin(t, db, false)
	writer := begin(t, db, true)
	must(t, writer.Metadata().Bucket([]byte("b")).Put([]byte("k"), []byte("new")))
	_, err := writer.Metadata().CreateBucket([]byte("c"))
	must(t, err)
	block := btcutil.NewBlock(&wire.MsgBlock{Header: wire.BlockHeader{Nonce: 2}})
	must(t, writer.StoreBlock(block))

	old := func(name string, tx database.Tx) {
		if got := tx.Metadata().Bucket([]byte("b")).Get([]byte("k")); string(got) != "v" {
			t.Errorf("%s sees %q", name, got)
		}
		if tx.Metadata().Bucket([]byte("c")) != nil {
			t.Errorf("%s sees the bucket", name)
		}
		if has, err := tx.HasBlock(block.Hash()); has || err != nil {
			t.Errorf("%s sees the block: %v", name, err)
		}
	}
	old("an older reader", before)
	old("a reader meanwhile", begin(t, db, false))
	must(t, writer.Commit())
	old("an older reader after the commit", before)

	after := begin(t, db, false)
	if got := after.Metadata().Bucket([]byte("b")).Get([]byte("k")); string(got) != "new" {
		t.Errorf("a later reader sees %q", got)
	}
	if after.Metadata().Bucket([]byte("c")) == nil {
		t.Error("a later reader does not see the bucket")
	}
	if has, err := after.HasBlock(block.Hash()); !has || err != nil {
		t.Errorf("a later reader does not see the block: %v", err)
	}
}

// TestClose waits for transactions and refuses what comes later.
func TestClose(t *testing.T) {
	t.Parallel()
	db := open(t, testOptions(t.TempDir()))
	reader := begin(t, db.BTCD(), false)
	closed := make(chan error)
	go func() { closed <- db.BTCD().Close() }()
	for db.gate.enter() == nil { // until Close has shut the gate
		db.gate.leave()
	}
	select {
	case err := <-closed:
		t.Fatalf("Close did not wait: %v", err)
	default:
	}
	must(t, reader.Rollback())
	must(t, <-closed)

	wantCode(t, "Close", db.BTCD().Close(), database.ErrDbNotOpen)
	wantCode(t, "View", db.BTCD().View(nil), database.ErrDbNotOpen)
	wantCode(t, "Update", db.BTCD().Update(nil), database.ErrDbNotOpen)
	wantCode(t, "Commit", db.Commit(new(Change)), database.ErrDbNotOpen)
	for name, err := range map[string]error{
		"Sync": db.Sync(), "Close": db.Close(), "ReloadDone": db.ReloadDone(),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := db.Block(&chainhash.Hash{}); !errors.Is(err, ErrClosed) {
		t.Errorf("Block: %v", err)
	}
	if got := db.BTCD().Type(); got != driverName {
		t.Errorf("Type: %s", got)
	}
}
