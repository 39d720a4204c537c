package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// options are those of a small ledger, whose journals become tables often.
func options(t *testing.T, dir string) Options {
	t.Helper()
	return Options{
		Dir: dir, Name: "test", Version: 2, Network: [4]byte{1, 2, 3, 4}, Marks: 8, WriteBuffer: 8 << 10,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
}

func mustOpen(t *testing.T, o Options) (*Ledger, uint64) {
	t.Helper()
	l, position, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return l, number(position)
}

// number is what the tests have for a position: how many commits were made.
func number(position []byte) uint64 {
	if position == nil {
		return 0
	}
	return binary.BigEndian.Uint64(position)
}

func position(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// rows are what commit n writes: several, so that it does not fit a journal's block.
func rows(n uint64) (keys []string) {
	for i := range 1 + n%7 {
		keys = append(keys, fmt.Sprintf("k%05d-%d", n, i))
	}
	return keys
}

func value(n uint64) []byte { return []byte(strings.Repeat(fmt.Sprint(n, " "), 40)) }

func commit(l *Ledger, n uint64) error {
	b := new(Batch)
	for _, key := range rows(n) {
		b.Put([]byte(key), value(n))
	}
	return l.Commit(b, position(n))
}

// check asserts that all rows up to a position are there.
func check(t *testing.T, l *Ledger, upTo uint64) {
	t.Helper()
	for n := uint64(1); n <= upTo; n++ {
		for _, key := range rows(n) {
			if got, err := l.Get([]byte(key)); err != nil || string(got) != string(value(n)) {
				t.Fatalf("row %s of %d commits: %q, %v", key, upTo, got, err)
			}
		}
	}
}

func mustClose(t *testing.T, l *Ledger) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// All commits are there again after a clean end, and after a kill.
func TestReopen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var want uint64
	for round := range 6 {
		o := options(t, dir)
		o.WriteBuffer = 4 << 20 // no table is made while the files are copied
		l, at := mustOpen(t, o)
		if at != want {
			t.Fatalf("round %d: at %d, want %d", round, at, want)
		}
		check(t, l, want)
		for range 40 {
			want++
			if err := commit(l, want); err != nil {
				t.Fatal(err)
			}
		}
		if round%2 == 0 {
			mustClose(t, l)
			continue
		}
		killed := filepath.Join(t.TempDir(), "killed") // the files as a kill leaves them
		if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		mustClose(t, l)
		dir = killed
	}
}

// After any loss of power all synced commits are there, and an unbroken run of the
// commits after them, maybe none: never a commit behind a hole.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	rewound := 0
	for seed := range uint64(24) {
		r := rand.New(rand.NewPCG(seed, 7))
		dir := t.TempDir()
		var at uint64
		for range 3 { // losses one after the other
			fs := faultfs.New()
			o := options(t, dir)
			o.FS = fs
			l, found := mustOpen(t, o)
			check(t, l, found)
			at = found
			synced := found
			for range 5 + r.IntN(60) {
				at++
				if err := commit(l, at); err != nil {
					t.Fatal(err)
				}
				if r.IntN(20) == 0 {
					if err := l.Sync(); err != nil {
						t.Fatal(err)
					}
					synced = at
				}
			}
			if err := fs.PowerLoss(r); err != nil {
				t.Fatal(err)
			}
			_ = l.Close()
			l, found = mustOpen(t, options(t, dir))
			if found < synced || found > at {
				t.Fatalf("seed %d: at %d after a loss, synced at %d of %d", seed, found, synced, at)
			}
			if found < at {
				rewound++
			}
			check(t, l, found)
			mustClose(t, l)
		}
	}
	if rewound == 0 {
		t.Error("nothing was ever lost: the test shows nothing")
	}
}

// A block of the journal that never reached the disk, with others behind it that did,
// takes the ledger back to the last sync.
func TestHole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := options(t, dir)
	o.WriteBuffer = 4 << 20
	l, _ := mustOpen(t, o)
	const synced, all = 20, 900
	for n := uint64(1); n <= all; n++ {
		if err := commit(l, n); err != nil {
			t.Fatal(err)
		}
		if n == synced {
			if err := l.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
	torn := t.TempDir()
	if err := os.CopyFS(torn, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	mustClose(t, l)
	journals, err := filepath.Glob(filepath.Join(torn, "*.log"))
	if err != nil || len(journals) != 1 {
		t.Fatal(journals, err)
	}
	raw, err := os.ReadFile(journals[0])
	if err != nil || len(raw) < 6*32768 {
		t.Fatal(len(raw), err)
	}
	clear(raw[4*32768 : 5*32768])
	if err := os.WriteFile(journals[0], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	o.Dir = torn
	for range 2 {
		l, at := mustOpen(t, o)
		if at != synced {
			t.Errorf("at %d, want %d", at, synced)
		}
		check(t, l, synced)
		mustClose(t, l)
	}
}

// A write or a sync that fails is told, nothing is acknowledged after it, and nothing
// that was acknowledged is lost.
func TestFailures(t *testing.T) {
	faultfs.SkipUnderRace(t)
	t.Parallel()
	for _, cause := range []error{syscall.ENOSPC, syscall.EIO} {
		for n := 0; n < 260; n += 26 {
			dir := t.TempDir()
			mustClose(t, first(mustOpen(t, options(t, dir))))
			fs := faultfs.New()
			o := options(t, dir)
			o.FS = fs
			fs.Inject(faultfs.From(n, cause))
			acked, synced := uint64(0), uint64(0)
			if l, _, err := Open(o); err == nil {
				acked, synced = writeUntilFailure(t, l, cause)
				_ = l.Close()
			} else if !errors.Is(err, cause) {
				t.Fatalf("call %d: %v", n, err)
			}
			if n%2 == 0 {
				if err := fs.PowerLoss(rand.New(rand.NewPCG(uint64(n), 1))); err != nil {
					t.Fatal(err)
				}
				acked = synced
			}
			l, at := mustOpen(t, options(t, dir))
			if at < acked {
				t.Fatalf("call %d, %v: at %d, acknowledged were %d", n, cause, at, acked)
			}
			check(t, l, at)
			if err := commit(l, at+1); err != nil {
				t.Fatal(err)
			}
			mustClose(t, l)
		}
	}
}

func first(l *Ledger, _ uint64) *Ledger { return l }

func writeUntilFailure(t *testing.T, l *Ledger, cause error) (acked, synced uint64) {
	t.Helper()
	for acked < 400 {
		err := commit(l, acked+1)
		if err == nil {
			if acked++; acked%10 == 0 {
				if err = l.Sync(); err == nil {
					synced = acked
				}
			}
		}
		if err == nil {
			continue
		}
		if !errors.Is(err, cause) {
			t.Fatal(err)
		}
		if err := commit(l, 5000); !errors.Is(err, ErrFailed) {
			t.Errorf("after a failure: %v", err)
		}
		if err := l.Sync(); !errors.Is(err, ErrFailed) {
			t.Errorf("after a failure: %v", err)
		}
		return acked, synced
	}
	t.Error("nothing failed")
	return acked, synced
}

// Damage is told wherever it is met, and ends with a Wipe.
func TestDamageFoundLater(t *testing.T) {
	t.Parallel()
	for _, harm := range []struct {
		name string
		do   func(path string) error
	}{
		{"bits", func(path string) error {
			raw, err := os.ReadFile(path)
			if err == nil {
				for i := len(raw) / 4; i < len(raw)/4+64; i++ {
					raw[i] ^= 0xff
				}
				err = os.WriteFile(path, raw, 0o600)
			}
			return err
		}},
		{"missing", os.Remove},
	} {
		t.Run(harm.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o := options(t, dir)
			o.Cache = -1 // goleveldb: none
			l, _ := mustOpen(t, o)
			for n := uint64(1); n <= 400; n++ {
				if err := commit(l, n); err != nil {
					t.Fatal(err)
				}
			}
			mustClose(t, l)
			tables, _ := filepath.Glob(filepath.Join(dir, "*.ldb"))
			for _, path := range tables {
				if err := harm.do(path); err != nil {
					t.Fatal(err)
				}
			}
			l, at := mustOpen(t, o)
			if at == 0 && harm.name == "bits" {
				t.Log("found when it was opened")
			}
			if at > 0 {
				found := 0
				for n := uint64(1); n <= 400; n++ {
					_, err := l.Get([]byte(rows(n)[0]))
					if errors.Is(err, ErrDamaged) {
						found++
					} else if err != nil {
						t.Fatalf("a row of damage is %v", err)
					}
				}
				if found == 0 {
					t.Error("no damage was found")
				}
				if err := l.Wipe(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := l.Get([]byte(rows(1)[0])); !errors.Is(err, ErrNotFound) {
				t.Errorf("after a wipe: %v", err)
			}
			for n := uint64(1); n <= 100; n++ {
				if err := commit(l, n); err != nil {
					t.Fatal(err)
				}
			}
			mustClose(t, l)
			l, at = mustOpen(t, o)
			if at != 100 {
				t.Errorf("at %d", at)
			}
			check(t, l, 100)
			mustClose(t, l)
		})
	}
}

// Files that are no database are no obstacle: the ledger begins empty.
func TestUnreadable(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"CURRENT", "MANIFEST-*", "*.ldb"} {
		for _, content := range []string{"", "nonsense", "MANIFEST-000099\n"} {
			dir := t.TempDir()
			l, _ := mustOpen(t, options(t, dir))
			for n := uint64(1); n < 100; n++ {
				if err := commit(l, n); err != nil {
					t.Fatal(err)
				}
			}
			mustClose(t, l)
			paths, _ := filepath.Glob(filepath.Join(dir, name))
			for _, path := range paths {
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			l, at := mustOpen(t, options(t, dir))
			if at > 0 { // a table that is not needed yet
				if _, err := l.Get([]byte(rows(1)[0])); !errors.Is(err, ErrDamaged) {
					t.Errorf("%s %q: %v", name, content, err)
				}
				if err := l.Wipe(); err != nil {
					t.Fatal(err)
				}
			}
			if err := commit(l, 1); err != nil {
				t.Errorf("%s %q: %v", name, content, err)
			}
			mustClose(t, l)
		}
	}
}

// A folder of another program, another network or a newer version is refused, and
// none of its bytes is changed.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		change func(*Options)
		want   error
	}{
		{"newer", func(o *Options) { o.Version = 1 }, ErrNewer},
		{"network", func(o *Options) { o.Network[0]++ }, ErrForeign},
	} {
		dir := t.TempDir()
		l, _ := mustOpen(t, options(t, dir))
		if err := commit(l, 1); err != nil {
			t.Fatal(err)
		}
		mustClose(t, l)
		refused(t, test.name, dir, test.change, test.want)
	}
	// Keys without a record of their format.
	dir := t.TempDir()
	disk, err := dbfiles.Open(vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	db, err := openDB(disk, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Put([]byte("B"), []byte("theirs"), nil), db.Close(), disk.Close()); err != nil {
		t.Fatal(err)
	}
	refused(t, "foreign", dir, func(*Options) {}, ErrForeign)
	refused(t, "not adopted", dir, func(o *Options) {
		o.Adopt = func(Reader, *Batch) ([]byte, error) { return nil, ErrForeign }
	}, ErrForeign)
	o := options(t, dir)
	o.Adopt = func(old Reader, change *Batch) ([]byte, error) {
		content, err := old.Get([]byte("B"))
		change.Put([]byte("new"), content)
		return position(3), err
	}
	for range 2 {
		l, at := mustOpen(t, o)
		if got, err := l.Get([]byte("new")); at != 3 || string(got) != "theirs" || err != nil {
			t.Errorf("adopted at %d: %q, %v", at, got, err)
		}
		mustClose(t, l)
	}
}

func refused(t *testing.T, name, dir string, change func(*Options), want error) {
	t.Helper()
	before := contents(t, dir)
	o := options(t, dir)
	change(&o)
	if _, _, err := Open(o); !errors.Is(err, want) {
		t.Errorf("%s: %v, want %v", name, err, want)
	}
	if after := contents(t, dir); after != before {
		t.Errorf("%s: the folder has changed from %s to %s", name, before, after)
	}
}

func contents(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		raw, readErr := os.ReadFile(filepath.Join(dir, e.Name()))
		err = errors.Join(err, readErr)
		fmt.Fprintf(&all, "%s %x\n", e.Name(), raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func TestLocked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, _ := mustOpen(t, options(t, dir))
	if _, _, err := Open(options(t, dir)); !errors.Is(err, ErrLocked) {
		t.Errorf("got %v", err)
	}
	mustClose(t, l)
	l, _ = mustOpen(t, options(t, dir))
	mustClose(t, l)
	mustClose(t, l)
	for _, err := range []error{l.Sync(), l.Wipe(), commit(l, 1)} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
	if _, err := l.Get([]byte("k")); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// One may go back to any of the last marks, and to nothing when all are refused.
func TestRewind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o := options(t, dir)
	o.Marks = 4
	l, _ := mustOpen(t, o)
	for n := uint64(1); n <= 60; n++ {
		if err := commit(l, n); err != nil {
			t.Fatal(err)
		}
		if n%10 == 0 {
			if err := l.Sync(); err != nil {
				t.Fatal(err)
			}
		}
	}
	mustClose(t, l)
	l, _ = mustOpen(t, o)
	var offered []uint64
	got, err := l.Rewind(func(p []byte) bool { offered = append(offered, number(p)); return number(p) < 50 })
	if err != nil || number(got) != 40 || fmt.Sprint(offered) != "[60 50 40]" {
		t.Errorf("back at %d, offered were %v, %v", number(got), offered, err)
	}
	mustClose(t, l)
	l, at := mustOpen(t, o)
	if at != 40 {
		t.Errorf("at %d", at)
	}
	if got, err := l.Rewind(func([]byte) bool { return false }); err != nil || got != nil {
		t.Errorf("back at %x, %v", got, err)
	}
	if _, err := l.Get([]byte(rows(1)[0])); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	mustClose(t, l)
}

// The mark is written when what it vouches for is durable, names of files included,
// and is made durable itself.
func TestOrderOfSync(t *testing.T) {
	t.Parallel()
	fs := faultfs.New()
	o := options(t, t.TempDir())
	o.FS, o.WriteBuffer = fs, 4<<20
	l, _ := mustOpen(t, o)
	if err := commit(l, 1); err != nil {
		t.Fatal(err)
	}
	var calls []faultfs.Kind
	fs.Inject(func(op faultfs.Op) error {
		if op.Kind != faultfs.Create {
			calls = append(calls, op.Kind)
		}
		return nil
	})
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
	fs.Inject(nil)
	want := []faultfs.Kind{faultfs.Sync, faultfs.SyncDir, faultfs.Write, faultfs.Sync, faultfs.SyncDir}
	if !slices.Equal(calls, want) {
		t.Errorf("calls %v, want %v", calls, want)
	}
	mustClose(t, l)
}

// A durable commit is one write and one sync, with a sync of the names if a journal is new.
// Whichever of these calls fails, the commit is there whole or not at all, and no earlier commit
// is lost.
func TestCommitDurably(t *testing.T) {
	t.Parallel()
	durable := func(l *Ledger, n uint64) error {
		b := new(Batch)
		for _, key := range rows(n) {
			b.Put([]byte(key), value(n))
		}
		return l.CommitDurably(b, position(n))
	}
	for n := range 3 {
		fs := faultfs.New()
		o := options(t, t.TempDir())
		o.FS, o.WriteBuffer = fs, 4<<20
		l, _ := mustOpen(t, o)
		if err := errors.Join(commit(l, 1), durable(l, 2)); err != nil { // the first becomes durable, too
			t.Fatal(err)
		}
		var calls []faultfs.Kind
		fs.Inject(func(op faultfs.Op) error {
			calls = append(calls, op.Kind)
			return nil
		})
		if err := durable(l, 3); err != nil {
			t.Fatal(err)
		}
		if want := []faultfs.Kind{faultfs.Write, faultfs.Sync}; !slices.Equal(calls, want) {
			t.Errorf("calls %v, want %v", calls, want)
		}
		fs.Inject(faultfs.Nth(n, syscall.EIO))
		err := durable(l, 4)
		if n < 2 && !errors.Is(err, syscall.EIO) || n == 2 && err != nil {
			t.Errorf("call %d: %v", n, err)
		}
		if err != nil && !errors.Is(durable(l, 5), ErrFailed) {
			t.Error("taken after a commit that failed")
		}
		fs.Inject(nil)
		if err := fs.PowerLoss(rand.New(rand.NewPCG(uint64(n), 3))); err != nil {
			t.Fatal(err)
		}
		_ = l.Close()
		o.FS = nil
		l, at := mustOpen(t, o)
		if check(t, l, at); at < 3 || at > 4 || err == nil && at != 4 {
			t.Errorf("call %d: at %d after %v", n, at, err)
		}
		mustClose(t, l)
	}
}
