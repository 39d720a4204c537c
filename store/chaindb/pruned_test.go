package chaindb

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs"
)

// pruned returns a database of which a file was pruned, and which blocks were in it.
func pruned(t *testing.T) (*DB, *life) {
	t.Helper()
	l := newLife(t)
	o := l.options(vfs.OS)
	o.writeBuffer = 0
	db := open(t, o)
	if err := errors.Join(l.makeBuckets(db), l.commit(40)(db), l.prune(true)(db)); err != nil {
		t.Fatal(err)
	}
	return db, l
}

// The blocks of files that were removed are listed, each once, and no others; what cannot be
// one of them is damage.
func TestPrunedBlocks(t *testing.T) {
	t.Parallel()
	db, l := pruned(t)
	seen := map[chainhash.Hash]int{}
	if err := db.Pruned(func(hash *chainhash.Hash) { seen[*hash]++ }); err != nil || len(seen) != len(l.gone) {
		t.Errorf("%d blocks, want %d: %v", len(seen), len(l.gone), err)
	}
	for hash := range l.gone {
		if seen[hash] != 1 {
			t.Errorf("block %v is listed %d times", hash, seen[hash])
		}
	}
	for _, hash := range l.order {
		if gone, err := db.IsPruned(&hash); gone != l.gone[hash] || err != nil {
			t.Errorf("block %v: %v, %v", hash, gone, err)
		}
		if n, err := db.TxCount(&hash); n != 3 || err != nil {
			t.Errorf("block %v: %d transactions, %v", hash, n, err)
		}
	}
	var one chainhash.Hash
	for one = range l.gone {
		break
	}
	for _, record := range [][]byte{nil, {1, 2, 3}, {1, 2, 3, 4, 5}} {
		if err := db.ldb.Put(hashKey(prefixPruned, &one), record, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := db.TxCount(&one); !errors.Is(err, ErrCorrupt) {
			t.Errorf("a record of %d bytes: %v", len(record), err)
		}
	}
	if err := db.ldb.Put([]byte{prefixPruned, 1}, nil, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Pruned(func(*chainhash.Hash) {}); !errors.Is(err, ErrCorrupt) {
		t.Errorf("a short key: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Pruned(func(*chainhash.Hash) { t.Error("a closed database lists") }); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}

// The file that is being filled cannot be pruned, and neither can a missing file. A pruned file is listed no more.
func TestPruneRefuses(t *testing.T) {
	t.Parallel()
	db, _ := pruned(t)
	files, used := db.Files()
	numbers := []int{db.current, db.current + 1, files[0].Number - 1, -1}
	for _, n := range numbers {
		if err := db.Prune([]int{files[0].Number, n}); !errors.Is(err, ErrNotFound) {
			t.Errorf("file %d: %v", n, err)
		}
		if slices.ContainsFunc(files, func(f BlockFile) bool { return f.Number == n }) {
			t.Errorf("file %d is listed", n)
		}
	}
	if now, size := db.Files(); len(now) != len(files) || size != used || size != db.Used() {
		t.Errorf("%d files of %d bytes, want %d of %d", len(now), size, len(files), used)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// Damage that is met in the list of pruned blocks is noted for the next start.
func TestDamagedListOfPruned(t *testing.T) {
	t.Parallel()
	db, _ := pruned(t)
	o := db.o
	more, middle := new(leveldb.Batch), chainhash.Hash{}
	for i := range 500 {
		hash := chainhash.DoubleHashH([]byte{byte(i), byte(i >> 8)})
		more.Put(hashKey(prefixPruned, &hash), make([]byte, 4))
		if i == 250 {
			middle = hash
		}
	}
	if err := errors.Join(db.ldb.Write(more, nil), db.ldb.CompactRange(util.Range{}), db.Close()); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(o.Dir, "*.ldb"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(content, middle[6:26]); at >= 0 {
			corrupt(t, path, int64(at), 1, 2, 3)
		}
	}
	db = open(t, o)
	if err := db.Pruned(func(*chainhash.Hash) {}); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, suspectFile)); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o); !errors.Is(err, ErrDamaged) {
		t.Errorf("the next start: %v", err)
	}
}
