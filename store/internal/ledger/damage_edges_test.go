package ledger

import (
	"errors"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// A ledger that has gone back to the last sync has no later commit left, and goes on from
// there.
func TestAfterAHole(t *testing.T) {
	for _, synced := range []uint64{0, 3} {
		o := options(t, t.TempDir())
		l, _ := mustOpen(t, o)
		for n := uint64(1); n <= 9; n++ {
			if err := commit(l, n); err != nil {
				t.Fatal(err)
			}
			if n == synced {
				if err := l.Sync(); err != nil {
					t.Fatal(err)
				}
			}
		}
		hole := new(Batch)
		hole.Delete(numberKey(commitPrefix, 6))
		if err := errors.Join(l.db.Write(hole, nil), l.shut(), l.disk.Close()); err != nil {
			t.Fatal(err)
		}
		l, at := mustOpen(t, o)
		if left := keys(t, l, commitPrefix); at != synced || len(left) != 0 {
			t.Errorf("at %d, want %d; commits %v are left", at, synced, left)
		}
		if _, err := l.Get(positionKey); errors.Is(err, ErrNotFound) != (synced == 0) {
			t.Errorf("the position: %v", err)
		}
		for n := at + 1; n <= at+3; n++ {
			if err := commit(l, n); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(l.shut(), l.disk.Close()); err != nil {
			t.Fatal(err)
		}
		l, again := mustOpen(t, o)
		if again != at+3 {
			t.Errorf("at %d, want %d", again, at+3)
		}
		check(t, l, again)
		mustClose(t, l)
	}
}

// A record of the ledger's own that cannot be is damage: it begins empty.
func TestOddRecords(t *testing.T) {
	for name, harm := range map[string]func(*Batch){
		"no number of the last sync": func(b *Batch) { b.Delete(syncedKey) },
		"a short number":             func(b *Batch) { b.Put(syncedKey, []byte{1}) },
		"a mark of no number":        func(b *Batch) { b.Put([]byte("M1"), nil) },
		"a commit of no number":      func(b *Batch) { b.Put([]byte("C1"), nil) },
		"a long format":              func(b *Batch) { b.Put(formatKey, make([]byte, 6)) },
		"an older format":            func(b *Batch) { b.Put(formatKey, []byte{1, 1, 2, 3, 4}) },
		"no mark to go back to": func(b *Batch) {
			b.Delete(numberKey(markPrefix, 5))
			b.Put(numberKey(commitPrefix, 9), nil)
		},
		"another mark than what is sure": func(b *Batch) {
			b.Put(syncedKey, position(4))
			b.Put(numberKey(commitPrefix, 9), nil)
		},
	} {
		o := options(t, t.TempDir())
		l, _ := mustOpen(t, o)
		for n := uint64(1); n <= 5; n++ {
			if err := commit(l, n); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		b := new(Batch)
		harm(b)
		if err := errors.Join(l.db.Write(b, nil), l.shut(), l.disk.Close()); err != nil {
			t.Fatal(err)
		}
		l, at := mustOpen(t, o)
		if _, err := l.Get([]byte(rows(1)[0])); at != 0 || !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: at %d, %v", name, at, err)
		}
		mustClose(t, l)
	}
}

// Last is the last key of a prefix, and after the end nothing is read.
func TestLast(t *testing.T) {
	l, _ := mustOpen(t, options(t, t.TempDir()))
	b := new(Batch)
	for _, key := range []string{"a1", "a3", "a2", "b0"} {
		b.Put([]byte(key), nil)
	}
	if err := l.Commit(b, position(1)); err != nil {
		t.Fatal(err)
	}
	for prefix, want := range map[string]string{"a": "a3", "a1": "a1", "b": "b0", "c": ""} {
		got, err := l.Last([]byte(prefix))
		if string(got) != want || errors.Is(err, ErrNotFound) != (want == "") || err != nil && want != "" {
			t.Errorf("%s: %q, %v", prefix, got, err)
		}
	}
	n := 0
	for range l.Range([]byte("a")) {
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d pairs after a break", n)
	}
	mustClose(t, l)
	if _, err := l.Last([]byte("a")); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	for _, err := range l.Range(nil) {
		if n++; !errors.Is(err, ErrClosed) {
			t.Errorf("closed: %v", err)
		}
	}
	if n != 2 {
		t.Error("a closed ledger says nothing")
	}
}

// Reads keep no table on the disk.
func TestReadsKeepNothing(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // goleveldb releases tables when garbage is collected
	o := options(t, t.TempDir())
	l, _ := mustOpen(t, o)
	tables := func() int {
		paths, err := filepath.Glob(filepath.Join(o.Dir, "*.ldb"))
		if err != nil {
			t.Fatal(err)
		}
		return len(paths)
	}
	round := func(from uint64) {
		for n := from; n < from+60; n++ {
			if err := commit(l, n); err != nil {
				t.Fatal(err)
			}
		}
		for range l.Range([]byte("k")) {
			break
		}
		if _, err := l.Last([]byte("k")); err != nil {
			t.Fatal(err)
		}
		if err := l.db.CompactRange(util.Range{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range uint64(4) {
		round(1 + 60*i)
	}
	for end := time.Now().Add(10 * time.Second); tables() > 3; runtime.Gosched() { // removed in the background
		if time.Now().After(end) {
			t.Fatalf("%d tables", tables())
		}
	}
	mustClose(t, l)
}

// After a wipe the ledger is empty, and an earlier failure is forgotten. A wipe that
// fails returns an error.
func TestWipeAfterFailure(t *testing.T) {
	disk := faultfs.New()
	o := options(t, t.TempDir())
	o.FS = disk
	l, _ := mustOpen(t, o)
	if err := commit(l, 1); err != nil {
		t.Fatal(err)
	}
	disk.Inject(faultfs.From(0, syscall.EIO))
	if err := commit(l, 2); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if err := l.Wipe(); err == nil {
		t.Error("wiped though nothing can be written")
	}
	if _, err := l.Get([]byte(rows(1)[0])); !errors.Is(err, ErrClosed) {
		t.Errorf("after a wipe that failed: %v", err)
	}
	if err := commit(l, 2); !errors.Is(err, ErrClosed) {
		t.Errorf("after a wipe that failed: %v", err)
	}
	disk.Inject(nil)
	if err := l.Wipe(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Get([]byte(rows(1)[0])); !errors.Is(err, ErrNotFound) {
		t.Errorf("after a wipe: %v", err)
	}
	if err := commit(l, 1); err != nil {
		t.Error(err)
	}
	mustClose(t, l)
}
