package walletdb_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// A copy of a wallet in use is restored as a process would find it that opens it in its
// place, wherever the journal or the log ends. The copy stays as it is.
func TestRestoreCrashed(t *testing.T) {
	content := wallet(t, "default")
	random := rand.New(rand.NewPCG(1, 2))
	for _, mode := range []string{"delete", "wal"} {
		whole := crash(t, content, mode)
		suffix := map[string]string{"delete": "-journal", "wal": "-wal"}[mode]
		for round := range 12 {
			left := maps.Clone(whole)
			if round%2 == 0 {
				left = crash(t, content, mode, firstPage)
			}
			delete(left, "-shm")
			if round > 1 {
				left[suffix] = left[suffix][:random.IntN(len(left[suffix]))]
			}
			if round == 1 {
				left[suffix] = append(make([]byte, 28), left[suffix][28:]...)
			}
			compareRestored(t, left, round == 0)
		}
	}
}

// compareRestored compares a restored copy with what opening it in its place comes to.
func compareRestored(t *testing.T, left folder, recovered bool) {
	t.Helper()
	source, inPlace := left.put(t), left.put(t)
	path := filepath.Join(t.TempDir(), walletdb.FileName)
	link := filepath.Join(t.TempDir(), "link.dat")
	if err := os.Symlink(source, link); err != nil {
		t.Fatal(err)
	}
	var got walletdb.Recovery
	err := walletdb.Restore(t.Context(), link, path, options, func(s *walletdb.Staged) error {
		got = s.Recovery
		if sum, err := walletdb.Fingerprint(source); err != nil || sum != s.Sum {
			t.Errorf("fingerprint %s, %v, and of the copy %s", sum, err, s.Sum)
		}
		if now := files(t, s.Path); len(now) != 1 {
			t.Errorf("beside the copy: %q", now)
		}
		wallet, _, err := verify(s.Path, options, loadOptions)
		if err == nil {
			wallet.Zero()
		}
		return err
	})
	if recovered && !got.Any() {
		t.Error("nothing was recovered")
	}
	if now := look(t, source); !maps.EqualFunc(now, left, bytes.Equal) {
		t.Error("the source has changed")
	}
	if got.Others || err != nil { // the records are checked, too
		return
	}
	if !sameRecords(contents(t, path), bySQLite(t, inPlace)) {
		t.Error("restored, there are other records than in its place")
	}
	if left := files(t, path); len(left) != 1 {
		t.Errorf("files %q", left)
	}
}

// bySQLite returns the records of a file as SQLite finds them that opens it.
func bySQLite(tb testing.TB, path string) []walletfile.Record {
	tb.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(tb.Context(), "SELECT CAST(key AS BLOB), CAST(value AS BLOB) FROM main ORDER BY key")
	if err != nil {
		tb.Fatal(err)
	}
	defer rows.Close()
	var found []walletfile.Record
	for rows.Next() {
		var r walletfile.Record
		if err := rows.Scan(&r.Key, &r.Value); err != nil {
			tb.Fatal(err)
		}
		found = append(found, r)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return found
}

// A journal or a log that is certainly another file's is not played into a wallet: not where
// it is opened or written over, and not into its copy.
func TestOthersJournal(t *testing.T) {
	content, other := wallet(t, "base"), wallet(t, "default")
	hot, log := crash(t, other, "delete")["-journal"], crash(t, other, "wal")["-wal"]
	late := crash(t, later(t, other), "delete", firstPage)["-journal"]
	want := contents(t, folder{"": content}.put(t))
	for what, left := range map[string]folder{
		"journal of another": {"": content, "-journal": hot}, "log of another": {"": content, "-wal": log},
		"later journal": {"": other, "-journal": late},
	} {
		t.Run(what, func(t *testing.T) {
			want := want
			if what == "later journal" {
				want = contents(t, folder{"": other}.put(t))
			}
			source, path := left.put(t), filepath.Join(t.TempDir(), walletdb.FileName)
			var recovery walletdb.Recovery
			err := walletdb.Restore(t.Context(), source, path, options, func(s *walletdb.Staged) error {
				recovery = s.Recovery
				return nil
			})
			if err != nil || recovery != (walletdb.Recovery{Others: true}) {
				t.Fatalf("%+v, %v", recovery, err)
			}
			if now := look(t, source); !maps.EqualFunc(now, left, bytes.Equal) {
				t.Error("the source has changed")
			}
			if !sameRecords(contents(t, path), want) {
				t.Error("the copy has other records")
			}
			if !sameRecords(contents(t, source), want) {
				t.Error("opened, it has other records")
			}
			kept := look(t, source)
			for suffix, content := range left {
				if suffix != "" && !bytes.Equal(kept[suffix+".stale-1"], content) {
					t.Errorf("%s is not kept", suffix)
				}
			}
			over := left.put(t)
			db := open(t, place(t, "backups", "blank"))
			if err := db.Backup(over); err != nil {
				t.Fatal(err)
			}
			if !sameRecords(contents(t, over), records(t, db)) {
				t.Error("written over, it has other records")
			}
		})
	}
}

// Where another file's journal cannot be set aside for good, nothing is opened or written beside it.
func TestOthersJournalCannotBeSetAside(t *testing.T) {
	left := folder{"": wallet(t, "base"), "-journal": crash(t, wallet(t, "default"), "delete")["-journal"]}
	opts, told := options, 0
	opts.SetAside = func(from, _ string) { // after that the folder cannot be synced
		told++
		if err := os.Rename(filepath.Dir(from), filepath.Dir(from)+".moved"); err != nil {
			t.Error(err)
		}
	}
	if _, err := walletdb.Open(left.put(t), opts); !errors.Is(err, walletdb.ErrIO) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("opened: %v", err)
	}
	db, err := walletdb.Open(place(t, "backups", "blank"), opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(left.put(t)); !errors.Is(err, walletdb.ErrBackup) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("written over: %v", err)
	}
	if err := db.Close(); err != nil || told != 2 {
		t.Errorf("%d files were set aside, %v", told, err)
	}
}

// later returns a wallet file after two more changes.
func later(tb testing.TB, content []byte) []byte {
	tb.Helper()
	path := folder{"": content}.put(tb)
	db, err := walletdb.Open(path, options)
	if err != nil {
		tb.Fatal(err)
	}
	for n := range 2 {
		if err := db.Update(func(b *walletdb.Batch) error { return b.PutEntry(walletfile.Version(n)) }); err != nil {
			tb.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
	return look(tb, path)[""]
}

// super is a hot journal that names a file.
func super(journal []byte, name string) []byte {
	sum := uint32(0)
	for _, b := range []byte(name) {
		sum += uint32(int32(int8(b)))
	}
	out := binary.BigEndian.AppendUint32(bytes.Clone(journal), 0x40000000/4096+1)
	out = append(out, name...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(name)))
	out = binary.BigEndian.AppendUint32(out, sum)
	return append(out, journal[:8]...)
}

// A journal that names another has SQLite delete the file of that name: a wallet with such
// a journal is not opened, restored or written over.
func TestForeignJournal(t *testing.T) {
	victim := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(victim, []byte("precious\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	left := crash(t, wallet(t, "default"), "delete")
	left["-journal"] = super(left["-journal"], victim)
	source := left.put(t)
	_, opened := walletdb.Open(source, options)
	restored := restore(source, filepath.Join(t.TempDir(), "w.dat"), func(string) error { return nil })
	accept := func(string) error { return nil }
	_, inspected := walletdb.Inspect(t.Context(), source, t.TempDir(), 1<<30, options, accept)
	db := open(t, place(t, "backups", "default"))
	copied := db.Backup(source)
	for what, err := range map[string]error{
		"opened": opened, "restored": restored, "inspected": inspected, "copied": copied,
	} {
		text := source + "-journal' names another journal"
		if !errors.Is(err, walletdb.ErrJournal) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := os.Stat(victim); err != nil {
		t.Error(err)
	}
	if now := look(t, source); !maps.EqualFunc(now, left, bytes.Equal) {
		t.Error("the files have changed")
	}
}

// Restoring waits for no pipe or device, reads no unbounded amount, and takes no wallet
// that is being written for a copy.
func TestOddSources(t *testing.T) {
	content := wallet(t, "default")
	accept := func(string) error { return nil }
	target := func() string { return filepath.Join(t.TempDir(), walletdb.FileName) }
	for _, suffix := range []string{"-journal", "-wal"} {
		path := folder{"": content}.put(t)
		if err := syscall.Mkfifo(path+suffix, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := walletdb.Open(path, options); !errors.Is(err, walletdb.ErrJournal) {
			t.Errorf("opened beside a pipe: %v", err)
		}
		if err := restore(path, target(), accept); err != nil {
			t.Errorf("restored beside a pipe: %v", err)
		}
		path = crash(t, content, map[string]string{"-journal": "delete", "-wal": "wal"}[suffix]).put(t)
		if err := os.Truncate(path+suffix, 100<<30); err != nil {
			t.Fatal(err)
		}
		if err := restore(path, target(), accept); !errors.Is(err, walletdb.ErrJournal) {
			t.Errorf("restored with a huge %s: %v", suffix, err)
		}
	}
	left := crash(t, content, "delete", firstPage)
	binary.BigEndian.PutUint32(left["-journal"][16:], 1<<31) // pages
	if err := restore(left.put(t), target(), accept); !errors.Is(err, walletdb.ErrJournal) {
		t.Errorf("restored with a journal of a huge file: %v", err)
	}
	left = crash(t, content, "delete")
	path := left.put(t)
	_, err := walletdb.Inspect(t.Context(), path, t.TempDir(), 1000, options, accept)
	if !errors.Is(err, walletdb.ErrTooLarge) {
		t.Errorf("inspected beyond the limit: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	dir := t.TempDir()
	if _, err := walletdb.Inspect(gone, path, dir, 1<<30, options, accept); !errors.Is(err, context.Canceled) {
		t.Errorf("inspected for nobody: %v", err)
	}
	failure := errors.New("no")
	var recovery walletdb.Recovery
	recovery, err = walletdb.Inspect(t.Context(), path, dir, 1<<30, options, func(string) error { return failure })
	if !errors.Is(err, failure) || !recovery.Journal {
		t.Errorf("inspected: %+v, %v", recovery, err)
	}
	if got := files(t, filepath.Join(dir, "any")); len(got) != 0 {
		t.Errorf("left: %q", got)
	}
}

// FuzzRestoreBeside holds restored copies against the same files opened in their place.
func FuzzRestoreBeside(f *testing.F) {
	content := wallet(f, "default")
	rollback, wal := crash(f, content, "delete"), crash(f, content, "wal")
	delete(wal, "-shm")
	f.Add(false, 0, 1<<20, []byte{})
	f.Add(true, 0, 1<<20, []byte{})
	f.Add(false, 8, 1<<20, []byte{0xff, 0xff, 0xff, 0xff})
	f.Add(false, 24, 600, []byte{0, 0, 2, 0})
	f.Add(true, 12, 5000, []byte{1})
	f.Fuzz(func(t *testing.T, inLog bool, at, size int, patch []byte) {
		left, suffix := rollback, "-journal"
		if inLog {
			left, suffix = wal, "-wal"
		}
		left = maps.Clone(left)
		changed := bytes.Clone(left[suffix])
		copy(changed[max(at, 0)%len(changed):], patch)
		left[suffix] = changed[:min(max(size, 0), len(changed))]
		compareRestored(t, left, false)
	})
}
