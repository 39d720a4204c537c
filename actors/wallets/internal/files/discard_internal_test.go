package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/store/walletdb"
)

// The file of a wallet that could not be loaded goes, but not while it is loaded by another name.
func TestDiscard(t *testing.T) {
	cfg := &Config{Dir: t.TempDir(), Network: enginetest.Regtest(t)}
	s, other := cfg.Spec("w"), cfg.Spec("w/")
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := walletdb.Create(other.file, cfg.options(), func(*walletdb.Batch) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := s.discard(); !errors.Is(err, ErrOtherName) {
		t.Error(err)
	}
	if err := db.Update(func(b *walletdb.Batch) error { return b.Delete([]byte("none")) }); err != nil {
		t.Errorf("the file is not what is loaded: %v", err)
	}
	if err := errors.Join(db.Close(), s.discard()); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "*")); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
}
