package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	ldberrors "github.com/syndtr/goleveldb/leveldb/errors"
	"github.com/syndtr/goleveldb/leveldb/storage"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// A pair is a ledger's own by its key and what that may have for a value.
func TestOwns(t *testing.T) {
	number := "12345678"
	for _, test := range []struct {
		key, value string
		deleted    bool
		want       bool
	}{
		{key: "V", value: "12345", want: true},
		{key: "V", deleted: true, want: true},
		{key: "V", value: "1234"},
		{key: "V", value: ""},
		{key: "V1", value: "12345"},
		{key: "S", value: number, want: true},
		{key: "S", deleted: true, want: true},
		{key: "S", value: number + "9"},
		{key: "S", value: ""},
		{key: "S1", value: number},
		{key: "P", value: "anything", want: true},
		{key: "P", value: "", want: true},
		{key: "P", deleted: true, want: true},
		{key: "P1", value: "anything"},
		{key: "C" + number, value: "", want: true},
		{key: "C" + number, deleted: true, want: true},
		{key: "C" + number, value: "x"},
		{key: "C", value: ""},
		{key: "C" + number + "9", value: ""},
		{key: "M" + number, value: "anything", want: true},
		{key: "M" + number, deleted: true, want: true},
		{key: "M", value: "anything"},
		{key: "M" + number + "9", value: "anything"},
		{key: "", value: ""},
		{key: "X" + number, value: ""},
	} {
		value := []byte(test.value)
		if test.deleted {
			value = nil
		}
		if got := Owns([]byte(test.key), value); got != test.want {
			t.Errorf("%q: %q (deleted: %v): %v", test.key, test.value, test.deleted, got)
		}
	}
}

// Each key of a ledger is its own, at any time.
func TestOwnsItsKeys(t *testing.T) {
	o := options(t, t.TempDir())
	l, _ := mustOpen(t, o)
	for n := uint64(1); n <= 30; n++ {
		if err := commit(l, n); err != nil {
			t.Fatal(err)
		}
		if n%7 == 0 {
			if err := l.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		for pair, err := range l.Range(nil) {
			if ours := Owns(pair.Key, pair.Value); err != nil || ours == (pair.Key[0] == 'k') {
				t.Fatalf("after %d commits: %q is its own: %v (%v)", n, pair.Key, ours, err)
			}
		}
	}
	mustClose(t, l)
}

// Errors of goleveldb are damage, a missing file, or an error of the disk.
func TestErrors(t *testing.T) {
	missing := &fs.PathError{Op: "open", Path: "000001.ldb", Err: syscall.ENOENT}
	full := &fs.PathError{Op: "write", Path: "000001.ldb", Err: syscall.ENOSPC}
	unreadable := &fs.PathError{Op: "read", Path: "000001.ldb", Err: syscall.EIO}
	corrupted := ldberrors.NewErrCorrupted(storage.FileDesc{}, errors.New("bits"))
	corruptedMissing := ldberrors.NewErrCorrupted(storage.FileDesc{}, os.ErrNotExist)
	for _, test := range []struct {
		err, want, read error
	}{
		{nil, nil, nil},
		{missing, ErrDamaged, ErrDamaged},
		{fmt.Errorf("open: %w", missing), ErrDamaged, ErrDamaged},
		{corrupted, ErrDamaged, ErrDamaged},
		{corruptedMissing, ErrDamaged, ErrDamaged},
		{os.ErrNotExist, errMissing, errMissing},
		{leveldb.ErrNotFound, ErrNotFound, ErrNotFound},
		{leveldb.ErrClosed, ErrClosed, ErrClosed},
		{full, full, full},
		{unreadable, unreadable, ErrDamaged},
		{syscall.EINVAL, syscall.EINVAL, syscall.EINVAL},
	} {
		sentinels := []error{ErrDamaged, errMissing, ErrNotFound, ErrClosed}
		for i, got := range []error{
			fromLevelDB(test.err), fromRead(test.err, false), fromRead(test.err, true),
		} {
			want := []error{test.want, test.read, test.want}[i]
			if !errors.Is(got, want) {
				t.Errorf("%v (read: %d): %v, want %v", test.err, i, got, want)
			}
			for _, other := range sentinels {
				if other != want && errors.Is(got, other) { //nolint:errorlint // the sentinel itself
					t.Errorf("%v (read: %d): is %v too", test.err, i, other)
				}
			}
		}
	}
}

// Only the owner has access to the folder, and failing to make the folder is an error.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	o := options(t, filepath.Join(dir, "a", "b"))
	l, _ := mustOpen(t, o)
	if info, err := os.Stat(o.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	mustClose(t, l)
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(options(t, filepath.Join(file, "b"))); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("below a file: %v", err)
	}
}

// A folder that is looked at before is refused, and not changed, for what its pairs are
// and for what its format is.
func TestRefusedByItsPairs(t *testing.T) {
	dir := t.TempDir()
	o := options(t, dir)
	l, _ := mustOpen(t, o)
	for n := uint64(1); n <= 3; n++ {
		if err := commit(l, n); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, l)
	ours := func(key, value []byte) bool { return Owns(key, value) || strings.HasPrefix(string(key), "k") }
	refused(t, "newer", dir, func(o *Options) { o.Version, o.Owns = 1, ours }, ErrNewer)
	refused(t, "network", dir, func(o *Options) { o.Network[0]++; o.Owns = ours }, ErrForeign)
	refused(t, "pairs", dir, func(o *Options) { o.Owns = func(_, _ []byte) bool { return false } }, ErrForeign)
	o.Owns = ours
	l, at := mustOpen(t, o)
	if at != 3 {
		t.Errorf("at %d", at)
	}
	mustClose(t, l)
}

// Closing makes sure of all that was committed.
func TestCloseSyncs(t *testing.T) {
	dir, disk := t.TempDir(), faultfs.New()
	o := options(t, dir)
	o.FS, o.WriteBuffer = disk, 4<<20
	l, _ := mustOpen(t, o)
	for n := uint64(1); n <= 20; n++ {
		if err := commit(l, n); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, l)
	if err := disk.PowerLoss(rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	l, at := mustOpen(t, options(t, dir))
	if at != 20 {
		t.Errorf("at %d after the loss", at)
	}
	check(t, l, at)
	mustClose(t, l)
}

// keys are those of the ledger's own that begin with a prefix.
func keys(t *testing.T, l *Ledger, prefix []byte) (n []uint64) {
	t.Helper()
	for pair, err := range l.Range(prefix) {
		if err != nil {
			t.Fatal(err)
		}
		number, err := keyNumber(pair.Key)
		if err != nil {
			t.Fatal(err)
		}
		n = append(n, number)
	}
	return n
}

// As many marks are kept as wanted, and at least one; a commit is remembered until it is
// durable.
func TestMarksAreKept(t *testing.T) {
	for wanted, want := range [][]uint64{{12}, {12}, {10, 12}, {8, 10, 12}} {
		o := options(t, t.TempDir())
		o.Marks = wanted
		l, _ := mustOpen(t, o)
		for n := uint64(1); n <= 13; n++ {
			if err := commit(l, n); err != nil {
				t.Fatal(err)
			}
			if n%2 == 0 {
				if err := l.Sync(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := keys(t, l, markPrefix); !slices.Equal(got, want) {
			t.Errorf("%d marks wanted: %v, want %v", wanted, got, want)
		}
		if got := keys(t, l, commitPrefix); !slices.Equal(got, []uint64{13}) {
			t.Errorf("commits %v", got)
		}
		var offered []uint64
		if _, err := l.Rewind(func(p []byte) bool { offered = append(offered, number(p)); return false }); err != nil {
			t.Fatal(err)
		}
		if slices.Reverse(offered); !slices.Equal(offered, want) {
			t.Errorf("offered %v, want %v", offered, want)
		}
		mustClose(t, l)
	}
}

// The beginning of a ledger is durable, names of files included.
func TestOrderOfOpen(t *testing.T) {
	disk := faultfs.New()
	o := options(t, t.TempDir())
	o.FS = disk
	var calls []faultfs.Kind
	disk.Inject(func(op faultfs.Op) error { calls = append(calls, op.Kind); return nil })
	l, _ := mustOpen(t, o)
	want := []faultfs.Kind{faultfs.Write, faultfs.Sync, faultfs.SyncDir}
	if !slices.Equal(calls[len(calls)-3:], want) {
		t.Errorf("calls %v, want %v at the end", calls, want)
	}
	mustClose(t, l)
}

// Repairs are logged, if there is a log.
func TestLog(t *testing.T) {
	harm := map[string]func(*Batch){
		"going back": func(b *Batch) { b.Delete(numberKey(commitPrefix, 1)) },
		"damaged":    func(b *Batch) { b.Put(syncedKey, nil) },
	}
	for text, harm := range harm {
		for _, logs := range []bool{true, false} {
			o := options(t, t.TempDir())
			l, _ := mustOpen(t, o)
			if err := errors.Join(commit(l, 1), commit(l, 2)); err != nil {
				t.Fatal(err)
			}
			b := new(Batch)
			harm(b)
			if err := errors.Join(l.db.Write(b, nil), l.shut(), l.disk.Close()); err != nil {
				t.Fatal(err)
			}
			var lines bytes.Buffer
			if o.Log = nil; logs {
				o.Log = slog.New(slog.NewTextHandler(&lines, nil))
			}
			l, at := mustOpen(t, o)
			logged := strings.Contains(lines.String(), text) && strings.Contains(lines.String(), "index=test")
			if at != 0 || logged != logs || strings.Count(lines.String(), "level=WARN") > 1 {
				t.Errorf("at %d, the log says %q", at, &lines)
			}
			mustClose(t, l)
		}
	}
}

// Whichever call of a sync fails, the sync returns the error, later commits are
// refused, and no commit is lost.
func TestEveryCallOfSyncFails(t *testing.T) {
	for n, all := 0, 1; n < all; n++ {
		disk := faultfs.New()
		o := options(t, t.TempDir())
		o.FS, o.WriteBuffer = disk, 4<<20
		l, _ := mustOpen(t, o)
		if err := errors.Join(commit(l, 1), l.Sync(), commit(l, 2)); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			all = 0
			disk.Inject(func(faultfs.Op) error { all++; return nil })
			if err := errors.Join(l.Sync(), commit(l, 3)); err != nil || all < 5 {
				t.Fatal(all, err)
			}
			all-- // the commit's
		}
		disk.Inject(faultfs.Nth(n, syscall.EIO))
		if err := l.Sync(); !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "sync test") {
			t.Errorf("call %d: %v", n, err)
		}
		if err := errors.Join(commit(l, 9), l.Sync()); !errors.Is(err, ErrFailed) || !errors.Is(err, syscall.EIO) {
			t.Errorf("call %d: afterwards: %v", n, err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("call %d: close: %v", n, err)
		}
		l, at := mustOpen(t, o)
		if check(t, l, at); at < 2 || at > 3 {
			t.Errorf("call %d: at %d", n, at)
		}
		mustClose(t, l)
	}
}

// Keys that cannot be read are damage, not another program's, where the record of the
// format is gone as well.
func TestUnreadableWithoutFormat(t *testing.T) {
	o := options(t, t.TempDir())
	l, _ := mustOpen(t, o)
	b := new(Batch)
	for n := range 2000 { // before the ledger's own
		b.Put(fmt.Appendf(nil, "A%06d", n), value(uint64(n)))
	}
	b.Delete(formatKey)
	if err := errors.Join(l.db.Write(b, nil), l.db.CompactRange(util.Range{}), l.shut(), l.disk.Close()); err != nil {
		t.Fatal(err)
	}
	tables, err := filepath.Glob(filepath.Join(o.Dir, "*.ldb"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	for _, path := range tables {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		content[20] ^= 0xff
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, at := mustOpen(t, o)
	if _, err := l.Get([]byte("A001999")); at != 0 || !errors.Is(err, ErrNotFound) {
		t.Errorf("at %d, %v", at, err)
	}
	mustClose(t, l)
}
