package chaindb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	ldberrors "github.com/syndtr/goleveldb/leveldb/errors"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// nothingKept asserts that no snapshot and no iterator of a database is held any more.
func nothingKept(t *testing.T, when string, db *DB) {
	t.Helper()
	for _, what := range []string{"alivesnaps", "aliveiters"} {
		if n, err := db.ldb.GetProperty("leveldb." + what); n != "0" || err != nil {
			t.Errorf("%s: %s is %s, %v", when, what, n, err)
		}
	}
}

// After any use of a database no snapshot and no iterator is held: they would keep deleted rows on the disk.
func TestNothingIsKept(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	if l.use(t, db, true); l.failed {
		t.Fatal("the database fails")
	}
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		rows := tx.Metadata().Bucket([]byte("rows"))
		for c := rows.Cursor(); c.Next(); {
			t.Error("a cursor is somewhere")
		}
		return errors.Join(
			rows.ForEach(func(_, _ []byte) error { return nil }), rows.Put([]byte("k"), nil),
			tx.Metadata().ForEachBucket(func([]byte) error { return nil }),
		)
	}))
	for range 2 {
		coins, err := db.Coins(FirstCoins)
		must(t, err)
		none := func(_, _ []byte) error { return nil }
		must(t, errors.Join(
			coins.Visit(t.Context(), 0, 0xffff, none), coins.Beside(t.Context(), "rows", 0, 0xffff, none),
			coins.Beside(t.Context(), "no bucket", 0, 0xffff, none),
		))
		coins.Release()
		coins.Release()
		store, err := db.CoinStore(FirstCoins)
		must(t, err)
		_, err = store.Erase(1)
		must(t, errors.Join(err, db.Pruned(func(*chainhash.Hash) {}), db.Stripped(func(*chainhash.Hash) {})))
		nothingKept(t, "used", db)
		opts := image(t, db)
		opts.Prunable, opts.Strips = true, true
		killed := open(t, opts)
		nothingKept(t, "opened after a kill", killed)
		must(t, killed.Close())
		putCoins(t, store, 9, 0, "z")
	}
	must(t, db.Close())
}

// All that a database makes is its owner's alone to read, the note of damage too.
func TestNobodyElseReads(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	if l.use(t, db, true); l.failed {
		t.Fatal("the database fails")
	}
	damage := &ldberrors.ErrCorrupted{Err: errors.New("no table")}
	if err := db.seen(damage); !errors.Is(err, damage) {
		t.Error(err)
	}
	names := map[string]bool{}
	must(t, filepath.WalkDir(l.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		names[entry.Name()] = true
		return err
	}))
	for _, name := range []string{suspectFile, "xor.dat", "blk00002.dat"} {
		if !names[name] {
			t.Errorf("%s is not there", name)
		}
	}
	must(t, db.Close())
}

// A visit ends with its context: before the first coin, or some coins later.
func TestVisitEnds(t *testing.T) {
	t.Parallel()
	db := open(t, testOptions(t.TempDir()))
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		_, err := tx.Metadata().CreateBucket([]byte(coinSets[FirstCoins].bucket))
		return err
	}))
	store, err := db.CoinStore(FirstCoins)
	must(t, err)
	var keys []string
	for n := range 5000 {
		keys = append(keys, fmt.Sprintf("%05d", n))
	}
	putCoins(t, store, 1, 0, keys...)
	coins, err := db.Coins(FirstCoins)
	must(t, err)
	defer coins.Release()
	why := errors.New("nobody waits")
	for _, early := range []bool{true, false} {
		ctx, cancel := context.WithCancelCause(t.Context())
		if early {
			cancel(why)
		}
		visited := 0
		err := coins.Visit(ctx, 0, 0xffff, func(_, _ []byte) error {
			cancel(why)
			visited++
			return nil
		})
		if !errors.Is(err, why) || (visited == 0) != early || visited > 1024 {
			t.Errorf("early %v: %d visited, %v", early, visited, err)
		}
	}
	visited := 0
	err = coins.Visit(t.Context(), 0, 0xffff, func(_, _ []byte) error {
		if visited++; visited == 3 {
			return why
		}
		return nil
	})
	if !errors.Is(err, why) || visited != 3 {
		t.Errorf("%d visited, %v", visited, err)
	}
}

// Each erasure deletes as much as it may, and the last one what is left.
func TestEraseLimit(t *testing.T) {
	t.Parallel()
	told := 0
	o := testOptions(t.TempDir())
	o.WroteCoins = func(bytes int) { told += bytes }
	db := open(t, o)
	must(t, db.BTCD().Update(func(tx database.Tx) error {
		_, err := tx.Metadata().CreateBucket([]byte(coinSets[FirstCoins].bucket))
		return err
	}))
	store, err := db.CoinStore(FirstCoins)
	must(t, err)
	putCoins(t, store, 1, 2<<20, "a", "b", "c", "d", "e", "f", "g", "h", "i", "jk")
	if want := 9*(itemPrefixSize+2) + itemPrefixSize + 4; told != want {
		t.Errorf("told of %d bytes, want %d", told, want)
	}
	for _, test := range []struct {
		limit, left int
		more        bool
	}{{3, 8, true}, {3, 5, true}, {4, 1, true}, {4, 0, false}, {4, 0, false}} {
		more, err := store.Erase(test.limit)
		left := 0
		for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "jk"} {
			value, err := store.Coin([]byte(key))
			must(t, err)
			if value != nil {
				left++
			}
		}
		if more != test.more || left != test.left || err != nil {
			t.Errorf("limit %d: %d are left, want %d; more %v, %v", test.limit, left, test.left, more, err)
		}
	}
}

// A record that does not have the form of its kind is damage when the database is opened.
func TestRecordsOfWrongForm(t *testing.T) {
	t.Parallel()
	db, _ := loaded(t, 300)
	must(t, db.Sync())
	hash, odd := chainhash.Hash{1}, chainhash.DoubleHashH(make([]byte, 80))
	short := (&location{file: 0, length: 79}).encode()
	least := &location{file: 0, length: 80}
	for name, test := range map[string]struct{ key, value []byte }{
		"a directory without a name": {directoryKey(0, ""), []byte{0, 0, 0, 9}},
		"a number of three bytes":    {directoryKey(0, "x"), []byte{0, 0, 9}},
		"a short number of a file":   {[]byte{prefixFile, 1}, fileEnds{}.encode()},
		"short ends of a file":       {numberKey(prefixFile, 99), fileEnds{}.encode()[1:]},
		"long ends of a file":        {numberKey(prefixFile, 99), append(fileEnds{}.encode(), 0)},
		"a short number of no file":  {[]byte{prefixGone, 1}, nil},
		"a short location":           {hashKey(prefixBlock, &hash), short[1:]},
		"a block without a header":   {hashKey(prefixBlock, &hash), short},
		"a sync of seven bytes":      {syncedKey, make([]byte, 7)},
		"a sync of nine bytes":       {syncedKey, make([]byte, 9)},
		"a short number of a commit": {[]byte{prefixCommit, 1}, nil},
		"half a list of a commit":    {numberKey(prefixCommit, db.seq+1), make([]byte, writtenSize+1)},
		"a commit of what is not":    {numberKey(prefixCommit, db.seq+1), appendWritten(nil, wroteBlock, &hash)},
		"undo data that is not":      {numberKey(prefixCommit, db.seq+1), appendWritten(nil, wroteUndo, &odd)},
		"a commit out of order":      {numberKey(prefixCommit, db.seq+2), nil},
		"a format of four bytes":     {formatKey, db.format(formatVersion)[:4]},
		"a format of six bytes":      {formatKey, append(db.format(formatVersion), 0)},
		"a format of before":         {formatKey, db.format(formatVersion - 1)},
		"a short location, the last": {
			hashKey(prefixBlock, (*chainhash.Hash)(bytes.Repeat([]byte{0xff}, 32))), short[1:],
		},
	} {
		o := image(t, db)
		o.FS, o.Prunable = vfs.OS, true
		ldb, folder, err := openLevelDB(&o)
		must(t, err)
		must(t, errors.Join(ldb.Put(test.key, test.value, nil), ldb.Close(), folder.Close()))
		if got, err := Open(o); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				_ = got.Close()
			}
		}
	}
	if _, err := decodeLocation(least.encode()); err != nil {
		t.Errorf("the shortest block: %v", err)
	}
	for n := range 20 {
		_, undoErr := decodeUndoLocation(make([]byte, n))
		if (undoErr == nil) != (n == 8) || undoErr != nil && !errors.Is(undoErr, ErrCorrupt) {
			t.Errorf("undo data by %d bytes: %v", n, undoErr)
		}
	}
}

// A part of a block ends where the block does, whatever is asked for.
func TestBlockPart(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	must(t, errors.Join(l.makeBuckets(db), l.commit(2)(db)))
	hash, raw, _ := faultBlock(1)
	for _, test := range []struct{ offset, n, from, to int }{
		{0, 1, 0, 1},
		{0, blockSize, 0, blockSize},
		{0, blockSize + 1, 0, blockSize},
		{7, 9, 7, 16},
		{-3, 5, 0, 5},
		{blockSize - 1, 5, blockSize - 1, blockSize},
		{blockSize, 5, 0, 0},
		{blockSize + 9, 5, 0, 0},
		{5, 0, 0, 0},
		{5, -1, 0, 0},
	} {
		got, err := db.BlockPart(&hash, test.offset, test.n)
		if err != nil || !bytes.Equal(got, raw[test.from:test.to]) {
			t.Errorf("%d bytes from %d: %d, %v", test.n, test.offset, len(got), err)
		}
	}
	must(t, db.Close())
}

// Block files are a database's own where more of its blocks lie in them than not, without the first of all chains.
func TestFits(t *testing.T) {
	t.Parallel()
	o := settled(t)
	whole, err := Look(o.Dir, true)
	must(t, err)
	var first *location
	var lie []*location
	for _, l := range whole.blocks {
		if l.prev() == (chainhash.Hash{}) {
			first = l
		} else {
			lie = append(lie, l)
		}
	}
	if first == nil || len(lie) < 3 {
		t.Fatal("too few blocks")
	}
	other, behind, gone := *lie[0], *lie[0], *lie[0]
	other.header[3] ^= 1
	behind.offset = 1 << 30
	gone.file = 77
	for name, test := range map[string]struct {
		blocks []*location
		want   bool
	}{
		"none":                       {nil, false},
		"the first":                  {[]*location{first}, true},
		"one":                        {lie[:1], true},
		"another":                    {[]*location{&other}, false},
		"behind the end":             {[]*location{&behind}, false},
		"of a file that was removed": {[]*location{&gone}, false},
		"one of two":                 {[]*location{lie[1], &other}, false},
		"two of three":               {[]*location{lie[1], lie[2], &other}, true},
		"one and one removed":        {[]*location{lie[1], &gone}, true},
		"the first and another":      {[]*location{first, &other}, false},
		"the first and one":          {[]*location{first, lie[1]}, true},
	} {
		f := Finding{blocks: map[chainhash.Hash]*location{}}
		for i, l := range test.blocks {
			f.blocks[chainhash.Hash{byte(i)}] = l
		}
		for range 20 { // in the orders of the map
			if got, err := f.Fits(o.BlocksDir); got != test.want || err != nil {
				t.Errorf("%s: %v, %v", name, got, err)
			}
		}
	}
	if got, err := whole.Fits(filepath.Join(t.TempDir(), "none")); got || err != nil {
		t.Errorf("no folder: %v, %v", got, err)
	}
}

// After a reload no place of a block is remembered: what was fed is stored, and the rest is not wanted any more.
func TestReloadForgets(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	o := l.options(vfs.OS)
	db := open(t, o)
	must(t, errors.Join(l.makeBuckets(db), l.commit(6)(db), db.Close(), Rebuild(o)))
	db = open(t, o)
	read := 0
	for _, err := range db.Reload() {
		must(t, err)
		read++
	}
	if len(db.found.at) != read || read != 6 {
		t.Errorf("%d of %d blocks are remembered", len(db.found.at), read)
	}
	must(t, reloadAll(db))
	if db.found.at != nil || db.Reloading() {
		t.Errorf("%d blocks are remembered", len(db.found.at))
	}
	l.checkBlocks(t, db, l.order)
	size, err := db.blocks.Size(0)
	must(t, err)
	if want := int64(4 * (blockSize + blockfile.HeaderSize)); size != want {
		t.Errorf("the first file has %d bytes, want %d", size, want)
	}
	must(t, db.Close())
}

// A row of a change is of the root or of one of its buckets; a change for another bucket is not made.
func TestRowsOfRoot(t *testing.T) {
	t.Parallel()
	db := open(t, testOptions(t.TempDir()))
	must(t, db.Commit(&Change{Rows: []Row{{"", []byte("k"), []byte("v")}, {"", []byte("l"), []byte("w")}}}))
	must(t, db.Commit(&Change{Rows: []Row{{"", []byte("l"), nil}}}))
	rows := []Row{{"", []byte("k"), []byte("x")}, {"none", []byte("k"), []byte("x")}}
	if err := db.Commit(&Change{Rows: rows}); !errors.Is(err, errNoBucket) {
		t.Errorf("a bucket that is not there: %v", err)
	}
	must(t, db.BTCD().View(func(tx database.Tx) error {
		if k, l := tx.Metadata().Get([]byte("k")), tx.Metadata().Get([]byte("l")); string(k) != "v" || l != nil {
			t.Errorf("got %q and %q", k, l)
		}
		return nil
	}))
	must(t, db.Close())
}

// A location under the hash of another block is damage, whatever is asked of the block.
func TestLocationOfAnother(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	db := open(t, l.options(vfs.OS))
	must(t, errors.Join(l.makeBuckets(db), l.commit(2)(db)))
	first, err := db.ldb.Get(hashKey(prefixBlock, &l.order[0]), nil)
	must(t, err)
	other := &l.order[1]
	must(t, db.ldb.Put(hashKey(prefixBlock, other), first, nil))
	_, block := db.Block(other)
	_, header := db.BlockHeader(other)
	_, size := db.BlockSize(other)
	_, part := db.BlockPart(other, 0, 9)
	_, txs := db.TxCount(other)
	_, undo := db.Undo(other)
	for name, err := range map[string]error{
		"Block": block, "BlockHeader": header, "BlockSize": size, "BlockPart": part, "TxCount": txs, "Undo": undo,
	} {
		if !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, db.Close())
}
