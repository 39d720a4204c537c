//go:build unix

package walletdb_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/store/walletdb"
)

// A file is claimed only once, by all its names together. A claim is refused after another file took the
// file's place.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "wallet.dat"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(path, []byte("a wallet"), 0o600), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	release, err := walletdb.Claim(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, link, dir + "//wallet.dat"} {
		if _, err := walletdb.Claim(name); !errors.Is(err, walletdb.ErrLocked) {
			t.Errorf("%s: %v", name, err)
		}
	}
	release()
	release()
	again, err := walletdb.Claim(link)
	if err != nil {
		t.Fatal(err)
	}
	release() // of the first: it takes nothing from the second
	if _, err := walletdb.Claim(path); !errors.Is(err, walletdb.ErrLocked) {
		t.Error(err)
	}
	again()
	if _, err := walletdb.Claim(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}
