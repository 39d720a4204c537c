package chaindb

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// A database whose block files are elsewhere, since their disk is not mounted, is not
// rebuilt from nothing: with the files it is as before.
func TestMissingFiles(t *testing.T) {
	t.Parallel()
	o := settled(t)
	numbers, err := blockfile.Blocks.Numbers(vfs.OS, o.BlocksDir)
	if err != nil || len(numbers) < 3 {
		t.Fatalf("%d files: %v", len(numbers), err)
	}
	away := o.BlocksDir + ".away"
	one := blockfile.Blocks.Path(o.BlocksDir, numbers[1])
	for name, take := range map[string]struct{ from, to string }{
		"all":      {o.BlocksDir, away},
		"a middle": {one, one + ".away"},
	} {
		if err := os.Rename(take.from, take.to); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(o); !errors.Is(err, ErrMissing) || errors.Is(err, ErrDamaged) ||
			!strings.Contains(err.Error(), "-reindex") {
			t.Errorf("%s: %v", name, err)
		}
		if err := errors.Join(os.RemoveAll(take.from), os.Rename(take.to, take.from)); err != nil {
			t.Fatal(err)
		}
	}
	db := open(t, o)
	if err := errors.Join(readAll(t, db), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// After a loss of power files may be missing of which nothing was durable.
func TestMissingUnsyncedFile(t *testing.T) {
	t.Parallel()
	db, _ := loaded(t, 300)
	o := image(t, db)
	path, number := lastOf(t, o, blockfile.Blocks)
	if number < 2 {
		t.Fatal("all blocks are in one file")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(o); !errors.Is(err, ErrDamaged) || errors.Is(err, ErrMissing) {
		t.Errorf("Open: %v", err)
	}
}

// A block that was durable before its undo data came is missing without its file. A block of which nothing was durable
// is not.
func TestMissingByWhatWasSynced(t *testing.T) {
	t.Parallel()
	for name, synced := range map[string]bool{"block synced": true, "nothing synced": false} {
		db := open(t, testOptions(t.TempDir()))
		hash, raw, undo := faultBlock(0)
		must(t, db.Commit(&Change{Blocks: []NewBlock{{hash, raw}}}))
		if synced {
			must(t, db.Sync())
			must(t, db.Commit(&Change{Undo: []BlockUndo{{hash, undo}}}))
		}
		o := image(t, db)
		path, _ := lastOf(t, o, blockfile.Blocks)
		must(t, os.Remove(path))
		if _, err := Open(o); errors.Is(err, ErrMissing) != synced || errors.Is(err, ErrDamaged) == synced {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// If the list of blocks cannot be read to its end, the error says so, since it is unknown
// which blocks are missing.
func TestMissingByAListThatIsDamaged(t *testing.T) {
	t.Parallel()
	l := newLife(t)
	o := l.options(vfs.OS)
	o.writeBuffer = 0 // all goes into one table
	db := open(t, o)
	if err := l.makeBuckets(db); err != nil {
		t.Fatal(err)
	}
	// The last file has one block, with enough of others before it in the list to be read up to
	// there.
	for before := 0; before < 35; {
		last := db.current
		before = 0
		if err := l.commit(1)(db); err != nil {
			t.Fatal(err)
		}
		newest := l.order[len(l.order)-1]
		for _, hash := range l.order {
			if db.current != last && bytes.Compare(hash[:], newest[:]) < 0 {
				before++
			}
		}
	}
	if err := errors.Join(db.Sync(), db.ldb.CompactRange(util.Range{})); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob(filepath.Join(o.Dir, "*.ldb"))
	if err != nil {
		t.Fatal(err)
	}
	harmed := 0
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if at := bytes.Index(content, l.order[len(l.order)-1][6:26]); at >= 0 {
			corrupt(t, path, int64(at), 1, 2, 3)
			harmed++
		}
	}
	if harmed == 0 {
		t.Fatal("no table has the block")
	}
	path, _ := lastOf(t, o, blockfile.Blocks)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	var table *tableError
	if _, err = Open(o); !errors.Is(err, ErrDamaged) || !errors.As(err, &table) {
		t.Errorf("Open: %v", err)
	}
}
