package qbit

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
)

// unpackDir lays out a recorded folder.
func unpackDir(tb testing.TB, name string) (dir string) {
	tb.Helper()
	dir = tb.TempDir()
	r := tar.NewReader(bytes.NewReader(unzip(tb, name)))
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			tb.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if h.Typeflag == tar.TypeDir {
			err = os.MkdirAll(path, 0o700)
		} else {
			var content []byte
			if content, err = io.ReadAll(r); err == nil {
				err = os.WriteFile(path, content, 0o600)
			}
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
}

// A folder from before unspent outputs were collected in memory opens with nothing
// lost. It names its tip by the unspent outputs alone, and has a stale branch, a
// header, and a block that waits for the block of that header.
func TestFolderOfBefore(t *testing.T) {
	const tip, outputs = "4f5f68bc8cf721a74a2014117492f208ce1cb273f80072f48336210bbf07d605",
		"6ae45eb37c01ea881f3c53ac4b57d0cf7f19af3c239c70d03b27ffb50e66d0c9"
	dir := unpackDir(t, "before-cache.tar.gz")
	check := func(e *rig) {
		t.Helper()
		count, sum, hash := unspent(t, e)
		if e.tree.Active().Tip().Hash.String() != tip || count != 42 || sum != 861e9 || hash.String() != outputs {
			t.Errorf("tip %v, %d unspent outputs of %d, %v", e.tree.Active().Tip().Hash, count, sum, hash)
		}
		if got := len(e.tree.Tips()); got != 3 {
			t.Errorf("%d branches", got)
		}
	}
	for range 2 {
		e := openIn(t, dir, regtest(t, dialect.Choices{}))
		check(e)
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	missing, err := os.ReadFile(filepath.Join(dir, "missing"))
	if err != nil {
		t.Fatal(err)
	}
	e := openIn(t, dir, regtest(t, dialect.Choices{}))
	if err := e.Accept(missing); err != nil {
		t.Fatal(err)
	}
	if got := e.tree.Active().Height(); got != 44 {
		t.Errorf("at height %d with the missing block", got)
	}
	left := e.tree.Active().At(39)
	if err := e.Invalidate(&left.Hash); err != nil {
		t.Fatal(err)
	}
	if got := e.tree.Active().Height(); got != 40 { // the branch that was recorded first
		t.Errorf("at height %d without the branch", got)
	}
	if err := e.Reconsider(&left.Hash); err != nil {
		t.Fatal(err)
	}
	want := e.tree.Active().Tip().Hash
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openIn(t, dir, regtest(t, dialect.Choices{}))
	if now := e.tree.Active().Tip(); now.Hash != want || now.Height != 44 || now.Status()&chainview.Valid == 0 {
		t.Errorf("opened at height %d", now.Height)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}
