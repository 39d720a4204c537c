package walletdb_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// twin returns the file of a wallet that has as many pages and changes as each of its twins.
func twin(tb testing.TB, name string) []byte {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), walletdb.FileName)
	db, err := walletdb.Create(path, options, func(b *walletdb.Batch) error {
		for n := range 60 {
			r := walletfile.Record{Key: fmt.Appendf(nil, "%s %d", name, n), Value: bytes.Repeat([]byte(name), 500)}
			if err := b.Put(r); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		tb.Fatal(err)
	}
	return look(tb, path)[""]
}

// mixed is a wallet with the journal or log of its twin beside it, which fits by its size and its age.
func mixed(tb testing.TB, mode string) (left folder, suffix string) {
	tb.Helper()
	own, other := twin(tb, "w"), crash(tb, twin(tb, "v"), mode)
	if suffix = "-journal"; mode == "wal" {
		suffix, own = "-wal", crash(tb, own, mode)[""]
	}
	if len(own) != len(other[""]) {
		tb.Fatalf("%d and %d bytes", len(own), len(other[""]))
	}
	return folder{"": own, suffix: other[suffix]}, suffix
}

// A journal or log of a file of equal size would have SQLite damage the wallet. It is renamed at opening, and left
// out at restoring and inspecting.
func TestTwinsJournal(t *testing.T) {
	for _, mode := range []string{"delete", "wal"} {
		t.Run(mode, func(t *testing.T) {
			left, suffix := mixed(t, mode)
			want := contents(t, folder{"": left[""]}.put(t))
			source, path, dir := left.put(t), filepath.Join(t.TempDir(), walletdb.FileName), t.TempDir()
			var restored walletdb.Recovery
			err := walletdb.Restore(t.Context(), source, path, options, func(s *walletdb.Staged) error {
				restored = s.Recovery
				if sum, err := walletdb.Fingerprint(source); err != nil || sum != s.Sum {
					t.Errorf("fingerprint %s, %v, and of the copy %s", sum, err, s.Sum)
				}
				return nil
			})
			if err != nil || restored != (walletdb.Recovery{Others: true}) || !sameRecords(contents(t, path), want) {
				t.Errorf("restored: %+v, %v", restored, err)
			}
			inspected, err := walletdb.Inspect(t.Context(), source, dir, 1<<30, options, func(path string) error {
				if !sameRecords(contents(t, path), want) {
					t.Error("inspected, it has other records")
				}
				return nil
			})
			if err != nil || inspected != restored || len(files(t, filepath.Join(dir, "any"))) != 0 {
				t.Errorf("inspected: %+v, %v", inspected, err)
			}
			if now := look(t, source); !maps.EqualFunc(now, left, bytes.Equal) {
				t.Error("the source has changed")
			}
			opts, told := options, ""
			opts.SetAside = func(from, to string) { told += from + to }
			db, err := walletdb.Open(source, opts)
			if err != nil {
				t.Fatal(err)
			}
			got := records(t, db)
			if err := db.Close(); err != nil || !sameRecords(got, want) {
				t.Errorf("opened, it has %d other records, %v", len(got), err)
			}
			aside := suffix + ".stale-1"
			if kept := look(t, source); !bytes.Equal(kept[aside], left[suffix]) || told != source+suffix+source+aside {
				t.Errorf("%d bytes are kept, told %q", len(kept[aside]), told)
			}
			if left := files(t, source); len(left) != 2 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// Of a journal and a log beside a wallet only the other file's is left out.
func TestTwinsJournalAndOwnLog(t *testing.T) {
	left := crash(t, twin(t, "w"), "wal")
	want := bySQLite(t, left.put(t))
	delete(left, "-shm")
	left["-journal"] = crash(t, twin(t, "v"), "delete", "DELETE FROM main WHERE rowid % 3 > 0")["-journal"]
	source := left.put(t)
	if !sameRecords(contents(t, source), want) {
		t.Error("opened, it has other records")
	}
	if kept := look(t, source); !bytes.Equal(kept["-journal.stale-1"], left["-journal"]) {
		t.Error("the journal is not kept")
	}
}

// The file's own journal and log are played, though the file is whole without them.
func TestOwnJournalOfWholeFile(t *testing.T) {
	for _, mode := range []string{"delete", "wal"} {
		left := crash(t, twin(t, "w"), mode)
		delete(left, "-shm")
		want := bySQLite(t, left.put(t))
		if alone := contents(t, folder{"": left[""]}.put(t)); sameRecords(alone, want) {
			t.Fatal("there is nothing to play")
		}
		source := left.put(t)
		recovery, err := walletdb.Inspect(t.Context(), source, t.TempDir(), 1<<30, options, func(path string) error {
			if !sameRecords(contents(t, path), want) {
				t.Errorf("%s: inspected, there are other records", mode)
			}
			return nil
		})
		if err != nil || recovery.Others || !recovery.Any() {
			t.Errorf("%s: %+v, %v", mode, recovery, err)
		}
		if !sameRecords(contents(t, source), want) {
			t.Errorf("%s: opened, there are other records", mode)
		}
		if now := look(t, source); len(now) != 1 {
			t.Errorf("%s: files %q", mode, slices.Sorted(maps.Keys(now)))
		}
	}
}

// Where neither the file alone nor what its journal makes of it is whole, the file is refused as damaged, and
// nothing is renamed.
func TestTornJournalOfHalfAChange(t *testing.T) {
	left := crash(t, twin(t, "w"), "delete", "DELETE FROM main WHERE rowid % 3 > 0")
	left["-journal"] = left["-journal"][:len(left["-journal"])/3]
	if _, err := walletdb.Open(folder{"": left[""]}.put(t), options); !errors.Is(err, walletdb.ErrIntegrity) {
		t.Fatalf("the file alone: %v", err)
	}
	source := left.put(t)
	path := filepath.Join(t.TempDir(), walletdb.FileName)
	err := restore(source, path, func(staged string) error {
		_, _, err := verify(staged, options, loadOptions)
		return err
	})
	if !errors.Is(err, walletdb.ErrIntegrity) {
		t.Errorf("restored: %v", err)
	}
	if _, err := walletdb.Open(source, options); !errors.Is(err, walletdb.ErrIntegrity) {
		t.Errorf("opened: %v", err)
	}
	for suffix := range look(t, source) {
		if strings.Contains(suffix, ".stale-") {
			t.Errorf("%s was renamed", suffix)
		}
	}
}

// A journal beside a wallet that another process has open is not judged.
func TestJournalOfWhatIsInUse(t *testing.T) {
	left, suffix := mixed(t, "delete")
	path := folder{"": left[""]}.put(t)
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childTask+"=hold", childPath+"="+path)
	input, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := output.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+suffix, left[suffix], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := walletdb.Open(path, options); !errors.Is(err, walletdb.ErrLocked) {
		t.Error(err)
	}
	if now := look(t, path); !maps.EqualFunc(now, left, bytes.Equal) {
		t.Errorf("files %q", slices.Sorted(maps.Keys(now)))
	}
	_ = input.Close()
	_ = child.Wait()
}

// hold has a wallet open until its input ends.
func hold(path string) error {
	db, err := walletdb.Open(path, options)
	if err != nil {
		return err
	}
	fmt.Println(1)
	_, _ = os.Stdin.Read(make([]byte, 1)) // it ends with the parent
	return db.Close()
}

// openForever opens copies of the wallet at path, one after the other, from 1 on, each with the journal that is
// beside that wallet.
func openForever(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	journal, err := os.ReadFile(path + "-journal")
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		_, copied := wallets(filepath.Dir(path), n)
		if err := errors.Join(
			os.WriteFile(copied+".part", content, 0o600), os.WriteFile(copied+"-journal", journal, 0o600),
			os.Rename(copied+".part", copied),
		); err != nil {
			return err
		}
		db, err := walletdb.Open(copied, options)
		if err != nil {
			return err
		}
		if err := db.Close(); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// TestKillTrial kills a process that opens wallets with the journal of a twin beside them. It looks for spoilt
// wallets, lost journals and copies that stay.
func TestKillTrial(t *testing.T) {
	left, _ := mixed(t, "delete")
	want := contents(t, folder{"": left[""]}.put(t))
	for round := range kills() {
		source := left.put(t)
		last := int(runUntilKilled(t, "open", source, 1+round%5))
		for n := 1; n <= last+1; n++ {
			_, copied := wallets(filepath.Dir(source), n)
			if _, err := os.Lstat(copied); err != nil && n > last {
				continue
			}
			if !sameRecords(contents(t, copied), want) {
				t.Errorf("wallet %d of %d has other records", n, last)
			}
			kept, err := os.ReadFile(copied + "-journal.stale-1")
			if err != nil || !bytes.Equal(kept, left["-journal"]) {
				t.Errorf("journal %d of %d: %d bytes, %v", n, last, len(kept), err)
			}
		}
		walletdb.RemoveStale(filepath.Dir(source))
		for _, name := range files(t, source) {
			if strings.Contains(name, ".tmp") {
				t.Errorf("left: %s", name)
			}
		}
	}
}
