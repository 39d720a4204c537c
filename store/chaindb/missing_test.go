package chaindb

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// A database whose block files are elsewhere, since their disk is not mounted, is not
// built anew from nothing: with the files it is as before.
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
