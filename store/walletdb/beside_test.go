package walletdb_test

import (
	"bytes"
	"database/sql"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// A folder is the files of a directory that begin with a name, by what follows it.
type folder map[string][]byte

// put writes the files for a wallet into a directory of its own.
func (f folder) put(tb testing.TB) (path string) {
	tb.Helper()
	path = filepath.Join(tb.TempDir(), walletdb.FileName)
	for suffix, content := range f {
		if err := os.WriteFile(path+suffix, content, 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return path
}

// firstPage is a change of the first page, as there is one at the end of each change.
const firstPage = "PRAGMA user_version = 0"

// look reads the files of a wallet.
func look(tb testing.TB, path string) folder {
	tb.Helper()
	found := folder{}
	for _, name := range files(tb, path) {
		if suffix, ok := strings.CutPrefix(name, filepath.Base(path)); ok {
			content, err := os.ReadFile(filepath.Join(filepath.Dir(path), name))
			if err != nil {
				tb.Fatal(err)
			}
			found[suffix] = content
		}
	}
	return found
}

// crash returns the files of a process that dies in the middle of a change of all
// records, which is written through to the file, in a mode of the journal. The statements
// before are executed first.
func crash(tb testing.TB, content []byte, mode string, before ...string) folder {
	tb.Helper()
	path := folder{"": content}.put(tb)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close()
	statements := append([]string{
		"PRAGMA journal_mode=" + mode, "PRAGMA wal_autocheckpoint=0", "PRAGMA cache_size=1", "PRAGMA cache_spill=1", "BEGIN",
	}, append(before, "UPDATE main SET value = zeroblob(length(value))")...)
	if mode == "wal" {
		statements = append(statements, "COMMIT")
	}
	for _, statement := range statements {
		if _, err := conn.ExecContext(tb.Context(), statement); err != nil {
			tb.Fatal(statement, err)
		}
	}
	left := look(tb, path)
	if mode == "delete" && bytes.Equal(left[""], content) || len(left) == 1 {
		tb.Fatal("nothing of the change is on the disk")
	}
	return left
}

func wallet(tb testing.TB, name string) []byte {
	tb.Helper()
	return unzip(tb, filepath.Join("testdata", "backups", name+".dat.gz"))
}

// contents returns the records of a wallet file.
func contents(tb testing.TB, path string) []walletfile.Record {
	tb.Helper()
	db, err := walletdb.Open(path, options)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	return records(tb, db)
}

// When a wallet file gets its name, no journal, log or index that lies there is played into
// the file, and each is kept under another name.
func TestLeftovers(t *testing.T) {
	other := wallet(t, "default")
	hot, log := crash(t, other, "delete")["-journal"], crash(t, other, "wal")
	leftovers := map[string]folder{
		"hot journal": {"-journal": hot}, "log": {"-wal": log["-wal"]}, "log and index": {"-wal": log["-wal"], "-shm": log["-shm"]},
		"ended journal": {"-journal": append(make([]byte, 28), hot[28:]...)}, "empty": {"-journal": nil, "-wal": nil, "-shm": nil},
		"garbage": {"-journal": bytes.Repeat([]byte("no journal"), 500)},
	}
	source := folder{"": wallet(t, "base")}.put(t)
	want := contents(t, source)
	fill := func(b *walletdb.Batch) error {
		for _, r := range want {
			if err := b.Put(r); err != nil {
				return err
			}
		}
		return nil
	}
	callers := map[string]func(path string, opts walletdb.Options) error{
		"Create": func(path string, opts walletdb.Options) error {
			db, err := walletdb.Create(path, opts, fill)
			if err == nil {
				err = db.Close()
			}
			return err
		},
		"Restore": func(path string, opts walletdb.Options) error {
			return walletdb.Restore(t.Context(), source, path, opts, func(*walletdb.Staged) error { return nil })
		},
		"Replace": func(path string, opts walletdb.Options) error { return walletdb.Replace(path, opts, fill) },
		"Copy": func(path string, opts walletdb.Options) error {
			return walletdb.Copy(source, path, false, opts.SetAside)
		},
		"Copy over": func(path string, opts walletdb.Options) error {
			return walletdb.Copy(source, path, true, opts.SetAside)
		},
		"Backup": func(path string, opts walletdb.Options) error {
			db, err := walletdb.Open(source, opts)
			if err != nil {
				return err
			}
			return errors.Join(db.Backup(path), db.Close())
		},
	}
	for what, left := range leftovers {
		for name, call := range callers {
			t.Run(name+"/"+what, func(t *testing.T) {
				path := left.put(t)
				reported, opts := map[string]string{}, options
				opts.SetAside = func(from, to string) { reported[from] = to }
				if err := call(path, opts); err != nil {
					t.Fatal(err)
				}
				if !sameRecords(contents(t, path), want) {
					t.Error("the file has other records")
				}
				found := look(t, path)
				if len(reported) != len(left) || len(found) != len(left)+1 {
					t.Errorf("reported %v, found %q", reported, slices.Sorted(maps.Keys(found)))
				}
				for suffix, content := range left {
					if kept, ok := found[suffix+".stale-1"]; !ok || !bytes.Equal(kept, content) {
						t.Errorf("%s is kept with %d bytes", suffix, len(kept))
					}
					if to := reported[path+suffix]; to != path+suffix+".stale-1" {
						t.Errorf("%s has the name %q", suffix, to)
					}
				}
			})
		}
	}
}

// Folders, links and files that were set aside before are in nobody's way.
func TestOddLeftovers(t *testing.T) {
	path := folder{"-journal.stale-1": []byte("older")}.put(t)
	precious := filepath.Join(t.TempDir(), "precious")
	if err := errors.Join(
		os.Mkdir(path+"-journal", 0o700), os.WriteFile(path+"-journal/kept", nil, 0o600),
		os.WriteFile(precious, []byte("precious"), 0o600), os.Symlink(precious, path+"-wal"),
		os.Symlink("nowhere", path+"-shm"),
	); err != nil {
		t.Fatal(err)
	}
	db, err := walletdb.Create(path, options, descriptorsFlag)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		walletdb.FileName, "wallet.dat-journal.stale-1", "wallet.dat-journal.stale-2", "wallet.dat-shm.stale-1",
		"wallet.dat-wal.stale-1",
	}
	if got := files(t, path); !slices.Equal(got, want) {
		t.Errorf("files %q", got)
	}
	for name, content := range map[string]string{precious: "precious", path + "-journal.stale-1": "older"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != content {
			t.Errorf("%s has %q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(path + "-journal.stale-2/kept"); err != nil {
		t.Error(err)
	}
}

// A backup that fails its check leaves what lies in its place as it is.
func TestLeftoversStay(t *testing.T) {
	left := folder{"-journal": []byte("whatever")}
	path := left.put(t)
	failure := errors.New("no")
	source := folder{"": wallet(t, "base")}.put(t)
	if err := restore(source, path, func(string) error { return failure }); !errors.Is(err, failure) {
		t.Error(err)
	}
	if got := look(t, path); !maps.EqualFunc(got, left, bytes.Equal) {
		t.Errorf("files %q", slices.Sorted(maps.Keys(got)))
	}
}

// A crash or a loss of power between any two steps leaves the old files or the new one,
// and never the new one with the old ones beside it.
func TestLeftoversPowerLoss(t *testing.T) {
	const fresh, stale = "the complete file", "the journal of another"
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		path := folder{".tmp": []byte(fresh), "-journal": []byte(stale), "-wal": []byte(stale)}.put(t)
		disk := faultfs.New()
		fails := int(seed % 8) // of seven steps; then none
		disk.Inject(faultfs.From(fails, io.ErrUnexpectedEOF))
		err := walletdb.Place(disk, path+".tmp", path, nil)
		if (err == nil) != (fails >= 5) {
			t.Fatalf("step %d fails: %v", fails, err)
		}
		crashed := look(t, path) // as after a kill
		if err := disk.PowerLoss(random); err != nil {
			t.Fatal(err)
		}
		for what, got := range map[string]folder{"kill": crashed, "power loss": look(t, path)} {
			named := string(got[""]) == fresh
			if _, there := got["-journal"]; named && there {
				t.Errorf("%s: step %d: a journal is beside the file", what, fails)
			}
			if _, there := got["-wal"]; named && there {
				t.Errorf("%s: step %d: a log is beside the file", what, fails)
			}
			if err == nil && !named {
				t.Errorf("%s: the file has no name though that was acknowledged", what)
			}
			kept := 0
			for _, content := range got {
				if string(content) == stale {
					kept++
				}
			}
			if kept != 2 {
				t.Errorf("%s: step %d: %d of two old files are there", what, fails, kept)
			}
		}
	}
}

// No error names the temporary file, and names of any length that the file system takes
// can be those of new files.
func TestNoTemporaryNames(t *testing.T) {
	db := open(t, place(t, "backups", "base"))
	missing := filepath.Join(t.TempDir(), "none", walletdb.FileName)
	_, created := walletdb.Create(missing, options, nil)
	for what, err := range map[string]error{
		"created": created, "copied": db.Backup(missing),
		"restored": restore(db.Path(), missing, func(staged string) error { return errors.New(staged + " is wrong") }),
		"refused": restore(db.Path(), filepath.Join(t.TempDir(), "w.dat"), func(staged string) error {
			return &os.PathError{Op: "read", Path: staged, Err: syscall.EIO}
		}),
	} {
		if err == nil || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: %v", what, err)
		}
	}
	dir := t.TempDir()
	for _, n := range []int{190, 230, 247} {
		path := filepath.Join(dir, strings.Repeat("n", n))
		if err := db.Backup(path); err != nil {
			t.Errorf("name of %d bytes: %v", n, err)
		}
	}
	if err := db.Backup(filepath.Join(dir, strings.Repeat("n", 256))); !errors.Is(err, syscall.ENAMETOOLONG) {
		t.Error(err)
	}
	if got := files(t, filepath.Join(dir, "any")); len(got) != 3 {
		t.Errorf("files %q", got)
	}
}
