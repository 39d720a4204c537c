package chaindb

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/blockfile"
)

// blindFS is the system's file system, of which the n-th look at a name or a folder fails, counted from 0.
type blindFS struct {
	vfs.FS

	n     int
	where string // of the look that failed
}

func (b *blindFS) look(what, path string) error {
	if b.n--; b.n == -1 {
		b.where = what + " " + filepath.Base(path)
		return &os.PathError{Op: "stat", Path: path, Err: syscall.EIO}
	}
	return nil
}

// Stat implements vfs.FS.
func (b *blindFS) Stat(name string) (os.FileInfo, error) {
	if err := b.look("name", name); err != nil {
		return nil, err
	}
	return b.FS.Stat(name)
}

// ReadDir implements vfs.FS.
func (b *blindFS) ReadDir(dir string) ([]os.DirEntry, error) {
	if err := b.look("folder", dir); err != nil {
		return nil, err
	}
	return b.FS.ReadDir(dir)
}

// lookedAtAgain are names that are looked at again, or made.
var lookedAtAgain = regexp.MustCompile(`^name (chainstate|blocks|CURRENT|MANIFEST-\d+|blk\d+\.dat)$`)

// Where the disk does not tell what is there, nothing is taken for missing: to open, to look or to rebuild fails.
func TestEveryLookFails(t *testing.T) {
	t.Parallel()
	opened := func(o Options) error {
		db, err := Open(o)
		if err != nil {
			return err
		}
		return db.Close()
	}
	const coming, replaced = ".wpruned", ".wfull"
	for name, test := range map[string]struct {
		use     func(Options) error
		beside  string // of the stripped file
		suspect bool
	}{
		"open": {use: opened}, "suspect": {use: opened, suspect: true}, "complete": {use: opened, beside: replaced},
		"stale": {use: opened, beside: coming}, "rebuild": {use: Rebuild, beside: coming},
		"was stripped": {use: func(o Options) error { return of(WasStripped(o)) }},
	} {
		hit := true
		for n := 0; hit; n++ {
			db, l := withStripped(t)
			must(t, db.Close())
			path := blockfile.Blocks.Path(db.o.BlocksDir, 0)
			if test.beside != "" {
				whole, err := os.ReadFile(path)
				must(t, errors.Join(err, os.WriteFile(path+test.beside, whole, 0o600)))
			}
			if test.suspect {
				must(t, os.WriteFile(filepath.Join(db.o.Dir, suspectFile), nil, 0o600))
			}
			blind := &blindFS{FS: vfs.OS, n: n}
			err := test.use(l.options(blind))
			hit = blind.where != ""
			asked := name != "rebuild" && lookedAtAgain.MatchString(blind.where) && err == nil
			if errors.Is(err, syscall.EIO) != hit && !asked || errors.Is(err, ErrMissing) {
				t.Errorf("%s, look %d, of %s: %v", name, n, blind.where, err)
			}
			db, _ = l.open(t)
			l.checkBlocks(t, db, l.order)
			must(t, db.Close())
		}
	}
}

// A file that was replaced stays as long as the disk does not say whether the new one is there.
func TestReplacedFileStays(t *testing.T) {
	t.Parallel()
	db, _ := withStripped(t)
	path := blockfile.Blocks.Path(db.o.BlocksDir, 0)
	must(t, os.WriteFile(path+".wfull", []byte("full"), 0o600))
	left, err := blockfile.Blocks.Leftovers(vfs.OS, db.o.BlocksDir)
	must(t, err)
	db.o.FS = &blindFS{FS: vfs.OS}
	if err := (leftovers{db}).settle(left[0], &indexedBlocks{some: true}); !errors.Is(err, syscall.EIO) {
		t.Errorf("got %v", err)
	}
	if text, err := os.ReadFile(path + ".wfull"); string(text) != "full" {
		t.Errorf("%q, %v", text, err)
	}
}
