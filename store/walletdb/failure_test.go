package walletdb_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// After the connection is lost, each call fails with an error of its kind, in Core's
// words where Core has some. Nothing counts as read, written or sound.
func TestLostConnection(t *testing.T) {
	const prefix = "SQLiteDatabase: "
	path := place(t, "backups", "base")
	db, err := walletdb.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Sever(); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		kind error
		text string
	}{
		{walletdb.ErrIntegrity, "Failed to fetch sqlite wallet schema version: unknown error"},
		{walletdb.ErrIntegrity, "Failed to fetch sqlite wallet schema version: unknown error"},
		{walletdb.ErrIntegrity, "Failed to execute statement to verify database: unknown error"},
		{walletdb.ErrSchema, "Failed to setup SQL statements: SQL logic error\n"},
	} {
		if err := db.Checks()[i](); !errors.Is(err, want.kind) || err.Error() != prefix+want.text {
			t.Errorf("check %d: %v, want %s%s", i, err, prefix, want.text)
		}
	}
	for text, err := range map[string]error{
		"Failed to create new database: unknown error\n":                       db.Initialize(),
		"Unable to change database locking mode to exclusive: unknown error\n": db.Lock(),
	} {
		if !errors.Is(err, walletdb.ErrIO) || err.Error() != prefix+text {
			t.Errorf("got %v, want %s", err, text)
		}
	}
	_, recordsErr := db.Records()
	_, found, getErr := db.Get([]byte("k"))
	called := false
	change := func(*walletdb.Batch) error { called = true; return nil }
	for name, err := range map[string]error{
		"Records": recordsErr, "Get": getErr, "Update": db.Update(change), "Rewrite": db.Rewrite(),
		"Replace": db.Replace(change),
	} {
		if !errors.Is(err, walletdb.ErrIO) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if found || called {
		t.Errorf("found %v, called %v", found, called)
	}
	if err := db.Backup(filepath.Join(t.TempDir(), "b.dat")); !errors.Is(err, walletdb.ErrBackup) {
		t.Error(err)
	}
	if err := db.Close(); err == nil || !strings.Contains(err.Error(), "close wallet "+path) {
		t.Errorf("closed: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("closed again: %v", err)
	}
}

// SQLite takes no paths of more than 512 bytes: what it refuses is told, where a file is
// opened, made and copied to.
func TestLongPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("d", 250), strings.Repeat("e", 250))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, walletdb.FileName)
	const want = "SQLiteDatabase: Failed to open database: unable to open database file\n"
	_, err := walletdb.Create(path, options, nil)
	if !errors.Is(err, walletdb.ErrIO) || !strings.Contains(err.Error(), want) {
		t.Errorf("made: %v", err)
	}
	if left := files(t, path); len(left) != 0 {
		t.Errorf("files left: %q", left)
	}
	if err := os.WriteFile(path, unzip(t, "testdata/backups/blank.dat.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := walletdb.Open(path, options); !errors.Is(err, walletdb.ErrIO) || err.Error() != want {
		t.Errorf("opened: %v", err)
	}
	db := open(t, place(t, "backups", "base"))
	if err := db.Backup(path); !errors.Is(err, walletdb.ErrBackup) {
		t.Errorf("copied: %v", err)
	}
	if got := records(t, db); len(got) == 0 {
		t.Error("no records afterwards")
	}
}

// Each function that opens a file refuses an unreadable file with its own error.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop.dat")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	db := open(t, place(t, "backups", "base"))
	accept := func(string) error { return nil }
	missing, inside := filepath.Join(dir, "none", "a.dat"), filepath.Join(dir, "none", walletdb.FileName)
	if err := db.Backup(loop); !errors.Is(err, walletdb.ErrBackup) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("copied over a loop: %v", err)
	}
	if err := restore(loop, filepath.Join(dir, "a.dat"), accept); err == nil {
		t.Error("a loop was restored")
	}
	if err := restore(missing, filepath.Join(dir, "a.dat"), accept); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing was restored: %v", err)
	}
	if err := restore(db.Path(), loop, accept); !errors.Is(err, walletdb.ErrExists) {
		t.Errorf("restored over a loop: %v", err)
	}
	if _, err := walletdb.Create(inside, options, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("made without a folder: %v", err)
	}
	if _, err := walletdb.Create(loop, options, nil); !errors.Is(err, walletdb.ErrExists) {
		t.Errorf("made over a loop: %v", err)
	}
	const want = "Failed to load database path '%s'. Data is not in recognized format."
	if _, err := walletdb.Open(loop, options); !errors.Is(err, walletdb.ErrFormat) ||
		err.Error() != strings.ReplaceAll(want, "%s", dir) {
		t.Errorf("opened a loop: %v", err)
	}
	if _, _, err := verify(missing, options, loadOptions); !errors.Is(err, walletdb.ErrNotFound) {
		t.Errorf("verified nothing: %v", err)
	}
	if err := os.Remove(loop); err != nil {
		t.Fatal(err)
	}
	if got := files(t, loop); len(got) != 0 {
		t.Errorf("files left: %q", got)
	}
}

// A file that gets its name meanwhile is not replaced, and is reported as already there.
func TestNameTakenMeanwhile(t *testing.T) {
	source, dir := place(t, "backups", "base"), t.TempDir()
	path := filepath.Join(dir, walletdb.FileName)
	take := func() error { return os.WriteFile(path, []byte("another's"), 0o600) }
	_, created := walletdb.Create(path, options, func(*walletdb.Batch) error { return take() })
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	restored := restore(source, path, func(string) error { return take() })
	for _, err := range []error{created, restored} {
		want := "Failed to create database path '" + dir + "'. Database already exists."
		if !errors.Is(err, walletdb.ErrExists) || err.Error() != want {
			t.Errorf("got %v", err)
		}
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "another's" {
		t.Errorf("the file is now %q (%v)", content, err)
	}
	if got := files(t, path); len(got) != 1 {
		t.Errorf("files left: %q", got)
	}
	if err := walletdb.GiveName(filepath.Join(dir, "none"), path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	// Where a name cannot be added to a file, it is moved.
	folder, moved := filepath.Join(dir, "folder"), filepath.Join(dir, "moved")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := walletdb.GiveName(folder, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if err := walletdb.GiveName(folder, moved); err != nil {
		t.Error(err)
	}
	if got := files(t, path); !slices.Equal(got, []string{"moved", walletdb.FileName}) {
		t.Errorf("files %q", got)
	}
}

// A file that a process is making is not taken for stale.
func TestNotStaleWhileMade(t *testing.T) {
	source, dir := place(t, "backups", "base"), t.TempDir()
	check := func(staged string) error {
		walletdb.RemoveStale(dir)
		_, err := os.Lstat(staged)
		return err
	}
	walletdb.RemoveStale(filepath.Join(dir, "none")) // does nothing
	stale := filepath.Join(dir, ".restored.dat.1.tmp")
	if err := os.WriteFile(stale, []byte("keys"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := restore(source, filepath.Join(dir, walletdb.FileName), check); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(stale); err != nil {
		t.Errorf("that of another name: %v", err)
	}
	if err := restore(source, filepath.Join(dir, "restored.dat"), check); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(stale); err == nil {
		t.Error("the stale file is there")
	}
}

// A journal that has ended is emptied when the wallet is opened, and no other file is.
func TestEndedJournal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "j")
	rest := bytes.Repeat([]byte("very private "), 100)
	for _, test := range []struct {
		content []byte
		emptied bool
	}{
		{append(make([]byte, 512), rest...), true},
		{make([]byte, 8), true},
		{append([]byte{0, 0, 0, 0, 0, 0, 0, 1}, rest...), false},
		{append([]byte{0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7}, rest...), false},
		{[]byte{1, 2, 3}, false},
		{nil, true},
	} {
		if err := os.WriteFile(path, test.content, 0o600); err != nil {
			t.Fatal(err)
		}
		walletdb.EmptyJournal(path)
		after, err := os.ReadFile(path)
		if err != nil || (len(after) == 0) != test.emptied || !test.emptied && !bytes.Equal(after, test.content) {
			t.Errorf("%d bytes: %d are left, %v", len(test.content), len(after), err)
		}
	}
	if err := os.WriteFile(path, append(make([]byte, 512), rest...), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	walletdb.EmptyJournal(link)
	walletdb.EmptyJournal(dir)
	walletdb.EmptyJournal(filepath.Join(dir, "none"))
	if content, err := os.ReadFile(path); err != nil || len(content) != 512+len(rest) {
		t.Errorf("through a link: %d bytes, %v", len(content), err)
	}
	if got := files(t, path); len(got) != 2 {
		t.Errorf("files %q", got)
	}
	wallet := place(t, "backups", "base")
	if err := os.WriteFile(wallet+"-journal", append(make([]byte, 512), rest...), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, wallet)
	if n := count(t, wallet); n != 0 {
		t.Errorf("%d times in %q", n, files(t, wallet))
	}
}

// Verify leaves all that opening would mend, and who replaces secrets says so in a file
// that others cannot read.
func TestMark(t *testing.T) {
	path := place(t, "backups", "base")
	mark := filepath.Join(filepath.Dir(path), ".wallet.dat.rewrite")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wallet, _, err := verify(path, options, loadOptions)
	if err != nil {
		t.Fatal(err)
	}
	wallet.Zero()
	if _, err := os.Lstat(mark); err != nil {
		t.Error(err)
	}
	db := open(t, path)
	if _, err := os.Lstat(mark); err == nil {
		t.Error("the mark is left")
	}
	err = db.Replace(func(b *walletdb.Batch) error {
		if info, err := os.Lstat(mark); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 0 {
			t.Errorf("the mark is %v, %v", info, err)
		}
		return b.PutEntry(walletfile.Version(1))
	})
	if err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(mark, 0o700); err != nil {
		t.Fatal(err)
	}
	err = db.Replace(func(*walletdb.Batch) error { t.Error("changed without a mark"); return nil })
	if !errors.Is(err, walletdb.ErrIO) {
		t.Errorf("without a mark: %v", err)
	}
}

// The words for errors are Core's: the name of SQLite's code, whatever its extension.
func TestWords(t *testing.T) {
	path := place(t, "backups", "base")
	open(t, path)
	_, err := walletdb.Open(path, walletdb.Options{Magic: regtestMagic})
	if want := "instance of Bitcoin Core?\n"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	if got := walletdb.Reason(err); got != "database is locked" {
		t.Errorf("locked: %q", got)
	}
	db, err := walletdb.Open(place(t, "backups", "base"), walletdb.Options{Magic: regtestMagic, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Update(func(b *walletdb.Batch) error { return b.Delete([]byte{1}) })
	if got := walletdb.Reason(err); got != "attempt to write a readonly database" || errors.Is(err, walletdb.ErrMoved) {
		t.Errorf("read only: %q, %v", got, err)
	}
	for _, err := range []error{nil, errors.New("no"), fs.ErrNotExist} {
		if got := walletdb.Reason(err); got != "unknown error" {
			t.Errorf("%v: %q", err, got)
		}
	}
}

// A change that can be neither made nor undone is told, and nothing is done with the
// connection afterwards.
func TestUndoFails(t *testing.T) {
	failure := errors.New("no")
	path := place(t, "backups", "base")
	db, err := walletdb.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(b *walletdb.Batch) error {
		return errors.Join(b.PutEntry(walletfile.Version(7)), db.Sever(), failure)
	})
	if !errors.Is(err, failure) || !errors.Is(err, walletdb.ErrIO) || !strings.Contains(err.Error(), "ROLLBACK") {
		t.Errorf("got %v", err)
	}
	_, recordsErr := db.Records()
	for _, err := range []error{recordsErr, db.Rewrite(), db.Update(func(*walletdb.Batch) error { return nil })} {
		if !errors.Is(err, walletdb.ErrIO) || !strings.Contains(err.Error(), "ROLLBACK") {
			t.Errorf("afterwards %v", err)
		}
	}
	_ = db.Close()
	want := records(t, open(t, place(t, "backups", "base")))
	if got := records(t, open(t, path)); !sameRecords(got, want) {
		t.Error("the records have changed")
	}
}

// One fault of the pages is enough.
func TestOneComplaint(t *testing.T) {
	path := place(t, "backups", "blank")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	content[39]++ // the number of free pages
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = walletdb.Open(path, options)
	const head = "Failed to verify database\n"
	if !errors.Is(err, walletdb.ErrIntegrity) || !strings.HasPrefix(err.Error(), head) ||
		!strings.HasSuffix(err.Error(), "Freelist: size is 0 but should be 1\n") {
		t.Errorf("got %v", err)
	}
}
