package chaindb

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// blockSize makes some four blocks a file.
const blockSize = 14 << 10

// A life is what a database was told, and what of it was acknowledged.
type life struct {
	dir     string
	blocks  map[chainhash.Hash][]byte // that were given to Commit
	order   []chainhash.Hash          // of those that were acknowledged
	height  byte                      // the row that was acknowledged last; each commit raises it
	tried   byte                      // the row that was written last
	coins   []map[string]string       // the sets that were written, the last ones without answer
	acked   int                       // of coins
	gone    map[chainhash.Hash]bool   // blocks of files that were pruned; false: without answer
	short   map[chainhash.Hash]bool   // blocks of files that were stripped; false: without answer
	torn    bool                      // a file could not be replaced: it is brought in order on opening
	rebuilt bool                      // the metadata was rebuilt: what was stripped comes from elsewhere again
	failed  bool

	durable struct { // what survives a loss of power
		blocks, coins int
		height        byte
	}
}

func newLife(t *testing.T) *life {
	t.Helper()
	return &life{
		dir: filepath.Join(t.TempDir(), "node"), blocks: map[chainhash.Hash][]byte{},
		coins: []map[string]string{nil}, gone: map[chainhash.Hash]bool{}, short: map[chainhash.Hash]bool{},
	}
}

// options are those of a database whose metadata becomes tables often.
func (l *life) options(fs vfs.FS) Options {
	o := testOptions(l.dir)
	o.FS, o.Prunable, o.Strips, o.writeBuffer = fs, true, true, 2<<10
	return o
}

// live uses a database in every way that writes, up to the first error, and closes
// it. All acknowledged data can be read to the end.
func (l *life) live(t *testing.T, fs vfs.FS, prune bool) {
	t.Helper()
	for range 2 {
		db, err := Open(l.options(fs))
		if err != nil {
			l.failed = true
			return
		}
		l.use(t, db, prune)
		if !l.torn {
			l.checkBlocks(t, db, l.order)
		}
		if err := db.Close(); err != nil || l.failed {
			l.failed = true
			return
		}
		l.markDurable()
	}
}

func (l *life) use(t *testing.T, db *DB, prune bool) {
	t.Helper()
	for i, step := range []func(*DB) error{
		l.makeBuckets, l.commit(2), l.sync, l.commit(3), l.writeCoins(0), l.commit(4), l.sync,
		l.commit(1), l.writeCoins(2 * smallFlush), l.commit(4), l.strip, l.prune(prune), l.commit(1),
	} {
		if l.failed = step(db) != nil; !l.failed {
			continue
		}
		// A failure of a block file concerns no other commit.
		if err := db.Sync(); err != nil && !errors.Is(err, ErrFailed) && db.failed == nil {
			t.Errorf("step %d: a sync failed and can be tried again: %v", i, err)
		}
		return
	}
}

func (*life) makeBuckets(db *DB) error {
	return db.BTCD().Update(func(tx database.Tx) error {
		for _, name := range []string{coinSets[FirstCoins].bucket, "rows"} {
			if _, err := tx.Metadata().CreateBucketIfNotExists([]byte(name)); err != nil {
				return err
			}
		}
		return nil
	})
}

// faultBlocks are blocks with random transactions, three each.
var faultBlocks = sync.OnceValue(func() (blocks [][]byte) {
	r := rand.NewChaCha8([32]byte{1})
	for range 60 {
		raw := make([]byte, blockSize)
		_, _ = r.Read(raw)
		raw[80] = 3
		blocks = append(blocks, raw)
	}
	return blocks
})

// faultBlock is the n-th block, with its hash and its undo data.
func faultBlock(n int) (chainhash.Hash, []byte, []byte) {
	raw := faultBlocks()[n]
	return chainhash.DoubleHashH(raw[:80]), raw, bytes.Repeat([]byte{byte(n)}, 100+n)
}

// commit makes n commits of a block, its undo data and a row that all overwrite.
func (l *life) commit(n int) func(*DB) error {
	return func(db *DB) error {
		for range n {
			hash, raw, undo := faultBlock(len(l.blocks))
			l.blocks[hash] = raw
			l.tried++
			err := db.Commit(&Change{
				Blocks: []NewBlock{{hash, raw}}, Undo: []BlockUndo{{hash, undo}},
				Rows: []Row{{"rows", []byte("height"), []byte{l.tried}}},
			})
			if err != nil {
				return err
			}
			l.order, l.height = append(l.order, hash), l.tried
		}
		return nil
	}
}

func (l *life) sync(db *DB) error {
	err := db.Sync()
	if err == nil {
		l.markDurable()
	}
	return err
}

func (l *life) markDurable() {
	l.durable.blocks, l.durable.coins, l.durable.height = len(l.order), l.acked, l.height
}

// writeCoins changes some of the unspent outputs. The tip of the set is the number
// of the change, so that tests can tell which set is there.
func (l *life) writeCoins(size int) func(*DB) error {
	return func(db *DB) error {
		store, err := db.CoinStore(FirstCoins)
		if err != nil {
			return err
		}
		set := maps.Clone(l.coins[l.acked])
		if set == nil {
			set = map[string]string{}
		}
		l.coins = append(l.coins, set)
		n := len(l.coins) - 1
		err = store.WriteCoins(&chainhash.Hash{byte(n)}, size, func(put func(key, value []byte) error) error {
			for i := range 40 {
				key, value := fmt.Sprintf("%02d", (n*7+i)%60), fmt.Sprintf("coin %d of %d", i, n)
				if i%3 == 0 {
					delete(set, key)
					if err := put([]byte(key), nil); err != nil {
						return err
					}
					continue
				}
				set[key] = value
				if err := put([]byte(key), []byte(value)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		l.acked = n
		if size > smallFlush { // tables are durable, and what they rest on is
			l.markDurable()
		}
		return nil
	}
}

func (l *life) prune(prune bool) func(*DB) error {
	return func(db *DB) error {
		if !prune {
			return nil
		}
		files, _ := db.Files()
		for _, hash := range files[0].Blocks {
			l.gone[hash] = false
		}
		if err := db.Prune([]int{files[0].Number}); err != nil {
			return err
		}
		for _, hash := range files[0].Blocks {
			l.gone[hash] = true
		}
		l.markDurable()
		return nil
	}
}

// strip has the lowest file that has whole blocks lose their witnesses.
func (l *life) strip(db *DB) error {
	var file BlockFile
	db.FilesAbove(-1, func(f BlockFile) bool {
		file = BlockFile{f.Number, f.Size, slices.Clone(f.Blocks)}
		return l.short[f.Blocks[0]]
	})
	for _, hash := range file.Blocks {
		l.short[hash] = false
	}
	err := db.Strip(file.Number, Stripper{Strip: stripHalf, Before: func([]chainhash.Hash) {}})
	if l.torn = errors.Is(err, ErrHandOver); err != nil {
		return err
	}
	for _, hash := range file.Blocks {
		l.short[hash] = true
	}
	l.markDurable()
	return nil
}

// stripHalf takes the second half of a block for its witnesses.
func stripHalf(dst, raw []byte) ([]byte, error) { return append(dst, raw[:blockSize/2]...), nil }

// checkBlocks asserts that blocks can be read with their undo data, unless they were
// pruned, and that no other is read wrongly.
func (l *life) checkBlocks(t *testing.T, db *DB, blocks []chainhash.Hash) {
	t.Helper()
	known := map[chainhash.Hash]bool{}
	if err := db.Stripped(func(hash *chainhash.Hash) { known[*hash] = true }); err != nil {
		t.Fatal(err)
	}
	if len(known) > 0 && !db.HasStripped() {
		t.Fatal("the format does not say that blocks were stripped")
	}
	for n := range len(l.blocks) {
		hash, raw, undo := faultBlock(n)
		got, err := db.Block(&hash)
		stripped, mayBe := l.short[hash]
		isShort := mayBe && bytes.Equal(got, raw[:blockSize/2])
		if err == nil && !bytes.Equal(got, raw) && !isShort {
			t.Fatalf("block %d is read wrongly", n)
		}
		pruned, asked := l.gone[hash]
		switch {
		case n >= len(blocks) && errors.Is(err, ErrNotFound), asked && errors.Is(err, ErrPruned),
			l.rebuilt && mayBe && errors.Is(err, ErrNotFound):
			continue
		case err != nil:
			t.Fatalf("block %d of %d: %v", n, len(blocks), err)
		case pruned:
			t.Fatalf("block %d is there although it was pruned", n)
		case isShort != known[hash], stripped && !isShort && !l.rebuilt:
			t.Fatalf("block %d is short: %v, known to be so: %v, stripped: %v", n, isShort, known[hash], stripped)
		}
		gotUndo, err := db.findUndo(&hash)
		if err != nil || !bytes.Equal(gotUndo, undo) {
			t.Fatalf("undo data of block %d: %v", n, err)
		}
	}
}

// checkRest asserts which row and which set of unspent outputs are there.
func (l *life) checkRest(t *testing.T, db *DB, height byte, coins int) {
	t.Helper()
	var found []byte
	if err := db.BTCD().View(func(tx database.Tx) error {
		if rows := tx.Metadata().Bucket([]byte("rows")); rows != nil {
			found = bytes.Clone(rows.Get([]byte("height")))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := append(found, 0)[0]; got < height || got > l.tried {
		t.Fatalf("the row is %d, %d was acknowledged and %d written", got, height, l.tried)
	}
	l.checkCoins(t, db, coins)
}

func (l *life) checkCoins(t *testing.T, db *DB, least int) {
	t.Helper()
	n, got := 0, map[string]string{}
	switch set, err := db.Coins(FirstCoins); {
	case err == nil:
		defer set.Release()
		n = int(set.Tip[0])
		if err := set.items(t.Context(), set.prefix, 0, 0xffff, func(key, value []byte) error {
			got[string(key)] = string(value)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	case !errors.Is(err, ErrNotFound):
		t.Fatal(err)
	}
	if n < least || n >= len(l.coins) || !maps.Equal(got, l.coins[n]) {
		t.Fatalf("the set is number %d of %d, %d was acknowledged; it has %d coins: %v", n, len(l.coins)-1, least, len(got), got)
	}
}

// open opens the database on a disk that never fails and is not waited for. It
// rebuilds damaged metadata, as a node does.
func (l *life) open(t *testing.T) (db *DB, rebuilt bool) {
	t.Helper()
	o := l.options(faultfs.New())
	db, err := Open(o)
	if rebuilt = errors.Is(err, ErrDamaged); rebuilt {
		if err = Rebuild(o); err == nil {
			db, err = Open(o)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if !db.Reloading() {
		return db, rebuilt
	}
	l.rebuilt = true
	if err := reloadAll(db); err != nil {
		t.Fatal(err)
	}
	return db, true
}

// reloadAll feeds what is in the files.
func reloadAll(db *DB) error {
	for record, err := range db.Reload() {
		if err == nil {
			hash := chainhash.DoubleHashH(record.Block[:80])
			n := slices.IndexFunc(faultBlocks(), func(b []byte) bool { return bytes.Equal(b, record.Block) })
			if n < 0 {
				continue // torn: whoever checks blocks refuses it
			}
			_, _, undo := faultBlock(n)
			err = db.Commit(&Change{Blocks: []NewBlock{{hash, record.Block}}, Undo: []BlockUndo{{hash, undo}}})
		}
		if err != nil {
			return err
		}
	}
	return db.ReloadDone()
}

// goesOn asserts that the database takes more, for good.
func (l *life) goesOn(t *testing.T, db *DB) {
	t.Helper()
	hash, raw, undo := faultBlock(59)
	err := db.Commit(&Change{Blocks: []NewBlock{{hash, raw}}, Undo: []BlockUndo{{hash, undo}}})
	if err := errors.Join(err, db.Sync(), db.Close()); err != nil {
		t.Fatal(err)
	}
	db, _ = l.open(t)
	if got, err := db.Block(&hash); err != nil || !bytes.Equal(got, raw) {
		t.Fatal("a block that came later: ", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
