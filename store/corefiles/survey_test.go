package corefiles

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Look counts the existing files and reports unreadable files.
func TestLook(t *testing.T) {
	t.Parallel()
	c := newCore(t)
	c.chain(chainhash.Hash{}, 5)
	c.finish()
	netDir := t.TempDir()
	writeFilters(t, netDir, 0, make([]byte, 100))
	writeFilters(t, netDir, 1, make([]byte, 11))
	err := errors.Join(
		os.WriteFile(filepath.Join(netDir, filterDir, "fltr.dat"), []byte("x"), 0o600),
		os.Symlink("fltr00000.dat", filepath.Join(netDir, filterDir, "fltr00002.dat")),
	)
	if err != nil {
		t.Fatal(err)
	}
	s := Look(c.dir, netDir)
	if s.Blocks.Count != 2 || s.Blocks.Bytes < 4096 || s.Undo.Count != 1 || s.Filters != (Files{Count: 2, Bytes: 111}) {
		t.Errorf("%+v", s)
	}
	if s := Look(c.dir, c.dir); s.Filters != (Files{}) {
		t.Errorf("no index: %+v", s.Filters)
	}
	s = Look(filepath.Join(c.dir, "none"), netDir)
	if !errors.Is(s.Blocks.Err, fs.ErrNotExist) || s.Filters.Err != nil {
		t.Errorf("no directory: %+v", s)
	}
	if os.Getuid() == 0 {
		return // root may read everything
	}
	if err := os.Chmod(filepath.Join(netDir, filterDir), 0); err != nil {
		t.Fatal(err)
	}
	if s := Look(c.dir, netDir); !errors.Is(s.Filters.Err, fs.ErrPermission) {
		t.Errorf("a closed directory: %+v", s.Filters)
	}
}
