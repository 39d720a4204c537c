package walletdb_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// TestBackup compares copies with their originals: a file of Core's, one in WAL
// mode, and one on top of an older backup.
func TestBackup(t *testing.T) {
	tests := []struct{ name, folder, wallet, over string }{
		{"new file", "backups", "default", ""},
		{"journal in WAL mode", "damaged", "wal", ""},
		{"over an older backup", "backups", "base", "default"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			db := open(t, place(t, test.folder, test.wallet))
			if err := db.Update(func(
				b *walletdb.Batch,
			) error {
				return b.PutEntry(walletfile.Version(1))
			}); err != nil {
				t.Fatal(err)
			}
			target := filepath.Join(t.TempDir(), walletdb.FileName)
			if test.over != "" {
				target = place(t, "backups", test.over)
			}
			if err := db.Backup(target); err != nil {
				t.Fatal(err)
			}
			if got := files(t, target); !slices.Equal(got, []string{walletdb.FileName}) {
				t.Errorf("files left: %q", got)
			}
			if !sameRecords(records(t, db), records(t, open(t, target))) {
				t.Error("records differ")
			}
		})
	}
}

func TestBackupRefuses(t *testing.T) {
	path := place(t, "backups", "base")
	db := open(t, path)
	used := place(t, "backups", "default")
	open(t, used)
	text := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(text, []byte("a line of text, longer than a magic"), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, target string }{
		{"the wallet itself", path},
		{"the wallet itself by another name", link},
		{"a wallet in use", used},
		{"another kind of file", text},
		{"a directory", t.TempDir()},
		{"no directory", filepath.Join(t.TempDir(), "none", "b.dat")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if err := db.Backup(test.target); !errors.Is(err, walletdb.ErrBackup) {
				t.Errorf("got %v", err)
			}
		})
	}
	if content, err := os.ReadFile(text); err != nil || len(content) != 35 {
		t.Errorf("text is now %q (%v)", content, err)
	}
	if got := files(t, text); len(got) != 1 {
		t.Errorf("files left: %q", got)
	}
}

func TestRestore(t *testing.T) {
	source := place(t, "backups", "default")
	check := func(staged string) error {
		wallet, _, err := verify(staged, options, loadOptions)
		if err == nil {
			wallet.Zero()
		}
		return err
	}
	target := filepath.Join(t.TempDir(), walletdb.FileName)
	if err := restore(place(t, "damaged", "key-hash"), target, check); !errors.Is(err, walletfile.ErrCorrupt) {
		t.Errorf("damaged file: %v", err)
	}
	if err := restore(filepath.Dir(source), target, check); err == nil {
		t.Error("a directory was restored")
	}
	if got := files(t, target); len(got) != 0 {
		t.Errorf("files left: %q", got)
	}
	if err := restore(source, target, check); err != nil {
		t.Fatal(err)
	}
	if got := files(t, target); !slices.Equal(got, []string{walletdb.FileName}) {
		t.Errorf("files left: %q", got)
	}
	before, _ := os.ReadFile(source)
	after, _ := os.ReadFile(target)
	if !slices.Equal(before, after) {
		t.Error("the copy differs")
	}
	if err := restore(source, target, check); !errors.Is(err, walletdb.ErrExists) {
		t.Errorf("again: %v", err)
	}
}
