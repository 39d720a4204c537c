package walletdb_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/store/walletdb"
)

// raw runs statements on a file, past this package.
func raw(t *testing.T, path string, statements ...string) {
	t.Helper()
	pool, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := pool.Exec(statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	statements := func(s ...string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			raw(t, path, s...)
		}
	}
	tests := []struct {
		name   string
		damage func(t *testing.T, path string)
		want   error
	}{
		{"no file", func(t *testing.T, path string) { t.Helper(); _ = os.Remove(path) }, walletdb.ErrNotFound},
		{"another version", statements("PRAGMA user_version = 1"), walletdb.ErrVersion},
		{"another network", statements("PRAGMA application_id = 1"), walletdb.ErrFormat},
		{"a second table", statements("CREATE TABLE other(a)"), walletdb.ErrSchema},
		{"a view", statements("CREATE VIEW other AS SELECT * FROM main"), walletdb.ErrSchema},
		{"a trigger", statements("CREATE TRIGGER evil AFTER INSERT ON main BEGIN DELETE FROM main; END"), walletdb.ErrSchema},
		{"no table", statements("DROP TABLE main"), walletdb.ErrSchema},
		{"another column", statements("ALTER TABLE main ADD COLUMN more"), walletdb.ErrSchema},
		{"statistics are allowed", statements("ANALYZE"), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := place(t, "backups", "base")
			test.damage(t, path)
			db, err := walletdb.Open(path, options)
			if !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if err == nil {
				_ = db.Close()
			}
		})
	}
}

// TestOpenLocks opens a file twice; Core's text names the program.
func TestOpenLocks(t *testing.T) {
	path := place(t, "backups", "base")
	first := open(t, path)
	_, err := walletdb.Open(path, walletdb.Options{Magic: regtestMagic, Client: "Trawl"})
	const want = "SQLiteDatabase: Unable to obtain an exclusive lock on the database, is it being used by another instance of Trawl?\n"
	if !errors.Is(err, walletdb.ErrLocked) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

func TestClosed(t *testing.T) {
	db := open(t, place(t, "backups", "base"))
	if err := errors.Join(db.Close(), db.Close()); err != nil {
		t.Fatal(err)
	}
	_, recordsErr := db.Records()
	_, _, getErr := db.Get(nil)
	for _, err := range []error{recordsErr, getErr, db.Update(nil), db.Backup(filepath.Join(t.TempDir(), "b"))} {
		if !errors.Is(err, walletdb.ErrClosed) {
			t.Errorf("got %v, want %v", err, walletdb.ErrClosed)
		}
	}
}

// TestReadOnly writes nothing to a file and nothing beside it.
func TestReadOnly(t *testing.T) {
	for name, folder := range map[string]string{"base": "backups", "wal": "damaged"} {
		path := place(t, folder, name)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		db, err := walletdb.Open(path, walletdb.Options{Magic: regtestMagic, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(records(t, db)) == 0 {
			t.Error("no records")
		}
		err = db.Update(func(b *walletdb.Batch) error { return b.Delete([]byte{1}) })
		if !errors.Is(err, walletdb.ErrIO) {
			t.Errorf("update: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		after, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(before, after) {
			t.Error("the file has changed")
		}
		if got := files(t, path); !slices.Equal(got, []string{walletdb.FileName}) {
			t.Errorf("files left: %q", got)
		}
	}
}

// TestOddPaths opens files whose names mean something in an URI.
func TestOddPaths(t *testing.T) {
	content := unzip(t, "testdata/backups/blank.dat.gz")
	for _, name := range []string{"a?mode=memory", "b#c", "d%20e", "f g", "h:i", "ü", "\xff"} {
		dir := filepath.Join(t.TempDir(), name)
		path := filepath.Join(dir, walletdb.FileName)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := walletdb.Open(path, options)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if len(records(t, db)) == 0 {
			t.Errorf("%q: no records", name)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Reading a file ends with the context and at the limits, and the bytes read until then are not
// kept.
func TestVerifyEnds(t *testing.T) {
	path := place(t, "backups", "base")
	gone, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("nobody waits")
	cancel(reason)
	if _, _, err := walletdb.Verify(gone, path, options, loadOptions, walletdb.Limits{}); !errors.Is(err, reason) {
		t.Error(err)
	}
	for _, limits := range []walletdb.Limits{{Records: 5}, {Bytes: 500}} {
		_, _, err := walletdb.Verify(t.Context(), path, options, loadOptions, limits)
		if !errors.Is(err, walletdb.ErrTooLarge) {
			t.Errorf("%+v: %v", limits, err)
		}
	}
	limits := walletdb.Limits{Records: 1e6, Bytes: 1e9}
	content, _, err := walletdb.Verify(t.Context(), path, options, loadOptions, limits)
	if err != nil || len(content.Descriptors) == 0 || len(content.Descriptors[0].Keys) == 0 {
		t.Fatal(content, err)
	}
	for _, d := range content.Descriptors { // they share nothing with the records that were overwritten
		for _, key := range d.Keys {
			if bytes.Equal(key.Secret.Bytes(), make([]byte, 32)) {
				t.Error("a key was overwritten")
			}
		}
	}
}
