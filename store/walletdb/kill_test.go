package walletdb_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/store/walletdb"
)

// The environment of a child process of this test: what it does, and where.
const (
	childTask = "WALLETDB_TEST_TASK"
	childPath = "WALLETDB_TEST_PATH"
)

// tasks are what children do until they are killed. They print a number after
// each change that is acknowledged.
var tasks = map[string]func(path string) error{
	"write": writeForever, "restore": restoreForever, "aside": asideForever, "open": openForever, "hold": hold,
}

func TestMain(m *testing.M) {
	if task := tasks[os.Getenv(childTask)]; task != nil {
		fmt.Fprintln(os.Stderr, task(os.Getenv(childPath)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// kills is how often a child is killed: a sample, with TRAWL_SOAK=200 as often as
// the project promises.
func kills() int {
	const sample, promised, whole = 6, 500, 200
	n, _ := strconv.Atoi(os.Getenv("TRAWL_SOAK")) // no number is none
	return max(sample, promised*n/whole)
}

// pages is the number of records that a transaction of the writer changes. They
// do not fit on one page, so that half a transaction could show.
const pages = 12

// writeForever changes all records to the next number, again and again.
func writeForever(path string) error {
	db, err := walletdb.Open(path, options)
	if err != nil {
		return err
	}
	last, err := number(db, 0)
	if err != nil {
		return err
	}
	for n := last + 1; ; n++ {
		err := db.Update(func(b *walletdb.Batch) error {
			for i := range pages {
				value := make([]byte, 2000)
				binary.LittleEndian.PutUint64(value, n)
				if err := b.Put(walletfile.Record{Key: pageKey(i), Value: value}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func pageKey(i int) []byte { return fmt.Appendf(nil, "page %d", i) }

// number reads the number of a record.
func number(db *walletdb.DB, i int) (uint64, error) {
	value, found, err := db.Get(pageKey(i))
	if err != nil || !found {
		return 0, err
	}
	return binary.LittleEndian.Uint64(value), nil
}

// runUntilKilled kills a child while it works on what follows the given number
// of changes, and returns the last that it acknowledged.
func runUntilKilled(t *testing.T, task, path string, changes int) (last uint64) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), childTask+"="+task, childPath+"="+path)
	child.Stderr = os.Stderr
	output, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(output)
	for n := 0; lines.Scan(); n++ {
		if last, err = strconv.ParseUint(strings.TrimSpace(lines.Text()), 10, 64); err != nil {
			t.Fatal(err)
		}
		if n+1 == changes { // what it says until it is dead counts too
			_ = child.Process.Kill()
		}
	}
	if err := child.Wait(); err == nil || last == 0 {
		t.Fatalf("child ended on its own after %d", last)
	}
	return last
}

// TestKillWriter kills a process that writes, and looks for changes that it had
// acknowledged and for parts of transactions.
func TestKillWriter(t *testing.T) {
	for folder, name := range map[string]string{"backups": "blank", "damaged": "wal"} {
		t.Run(name, func(t *testing.T) {
			path := place(t, folder, name)
			for round := range kills() {
				acknowledged := runUntilKilled(t, "write", path, 1+round%5)
				checkPages(t, path, acknowledged)
			}
		})
	}
}

func checkPages(t *testing.T, path string, acknowledged uint64) {
	t.Helper()
	db, err := walletdb.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	first, err := number(db, 0)
	if err != nil || first < acknowledged {
		t.Fatalf("change %d was acknowledged, found %d (%v)", acknowledged, first, err)
	}
	for i := range pages {
		if n, err := number(db, i); err != nil || n != first {
			t.Fatalf("record %d is of change %d, others of %d (%v)", i, n, first, err)
		}
	}
}

// restoreForever restores the wallet at path under one name after the other,
// from 1 on, and makes an empty one beside each.
func restoreForever(path string) error {
	dir := filepath.Dir(path)
	for n := 1; ; n++ {
		restored, created := wallets(dir, n)
		check := func(staged string) error {
			_, _, err := verify(staged, options, loadOptions)
			return err
		}
		if err := restore(path, restored, check); err != nil {
			return err
		}
		db, err := walletdb.Create(created, options, descriptorsFlag)
		if err != nil {
			return err
		}
		if err := db.Close(); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// asideForever makes one wallet after the other, from 1 on, each beside the journal of the
// wallet at path, which is whole before it has its name.
func asideForever(path string) error {
	journal, err := os.ReadFile(path + "-journal")
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		_, created := wallets(filepath.Dir(path), n)
		if err := os.WriteFile(created+".part", journal, 0o600); err != nil {
			return err
		}
		if err := os.Rename(created+".part", created+"-journal"); err != nil {
			return err
		}
		db, err := walletdb.Create(created, options, descriptorsFlag)
		if err != nil {
			return err
		}
		if err := db.Close(); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// TestKillAside kills a process that makes wallets beside journals, and looks for wallets
// that are spoilt or lost, and for journals that are not kept.
func TestKillAside(t *testing.T) {
	left := crash(t, wallet(t, "default"), "delete")
	for round := range kills() {
		source := left.put(t)
		last := int(runUntilKilled(t, "aside", source, 1+round%5))
		for n := 1; n <= last+1; n++ {
			_, created := wallets(filepath.Dir(source), n)
			journal := created + "-journal"
			if _, err := os.Lstat(created); err == nil || n <= last {
				journal += ".stale-1"
				if _, _, err := verify(created, options, loadOptions); err != nil {
					t.Errorf("wallet %d of %d: %v", n, last, err)
				}
				if got := bySQLite(t, created); len(got) != 1 {
					t.Errorf("wallet %d of %d has %d records", n, last, len(got))
				}
			} else if _, err := os.Lstat(journal); err != nil {
				journal += ".stale-1"
			}
			kept, err := os.ReadFile(journal)
			if (err != nil || !bytes.Equal(kept, left["-journal"])) && n <= last {
				t.Errorf("journal %d of %d: %d bytes, %v", n, last, len(kept), err)
			}
		}
	}
}

// wallets returns the paths of the wallets number n of a child.
func wallets(dir string, n int) (restored, created string) {
	return filepath.Join(dir, fmt.Sprintf("restored%d.dat", n)), filepath.Join(dir, fmt.Sprintf("created%d.dat", n))
}

// TestKillRestore kills a process that makes wallet files, and looks for files
// that are there in part only, or not though it had acknowledged them.
func TestKillRestore(t *testing.T) {
	for round := range kills() {
		source := place(t, "backups", "base")
		dir := filepath.Dir(source)
		last := int(runUntilKilled(t, "restore", source, 1+round%5))
		for n := 1; n <= last+1; n++ {
			restored, created := wallets(dir, n)
			for _, path := range []string{restored, created} {
				if _, err := os.Lstat(path); err != nil && n > last {
					continue
				}
				if _, _, err := verify(path, options, loadOptions); err != nil {
					t.Errorf("wallet %d of %d: %v", n, last, err)
				}
			}
		}
	}
}
