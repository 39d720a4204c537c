package walletdb_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// FuzzVerify verifies wallet files of which a part is overwritten. Only a file
// that is accepted is opened for writing too.
func FuzzVerify(f *testing.F) {
	content := unzip(f, "testdata/backups/base.dat.gz")
	f.Add(0, content[:100])
	f.Add(18, []byte("0")) // a form that SQLite reads but does not write
	f.Add(4096, make([]byte, 8))
	f.Add(8000, []byte{0xff})
	path := filepath.Join(f.TempDir(), walletdb.FileName)
	f.Fuzz(func(t *testing.T, at int, patch []byte) {
		damaged := append([]byte(nil), content...)
		copy(damaged[max(at, 0)%len(damaged):], patch)
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		wallet, severity, err := verify(path, options, loadOptions)
		if (wallet == nil) != (err != nil) || err == nil && severity > walletfile.NonCritical {
			t.Fatalf("wallet %v, severity %d, error %v", wallet, severity, err)
		}
		if err != nil {
			return
		}
		db, err := walletdb.Open(path, options)
		if err != nil {
			t.Fatalf("verified, but %v", err)
		}
		if err := db.Update(func(b *walletdb.Batch) error { return b.PutEntry(walletfile.Version(1)) }); err != nil {
			t.Error(err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}
