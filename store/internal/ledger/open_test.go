package ledger

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// panicky is a disk whose n-th opening of a manifest panics, as goleveldb does over some
// files that are damaged.
type panicky struct {
	vfs.FS

	at, calls atomic.Int32
}

func (p *panicky) OpenFile(name string, flag int, mode os.FileMode) (vfs.File, error) {
	if strings.Contains(name, "MANIFEST-") && p.calls.Add(1) == p.at.Load() {
		panic("out of range")
	}
	return p.FS.OpenFile(name, flag, mode)
}

// A panic over the files of the database is damage.
func TestPanicIsDamage(t *testing.T) {
	for at := range int32(3) {
		disk := &panicky{FS: vfs.OS}
		o := options(t, t.TempDir())
		o.FS = disk
		l, _ := mustOpen(t, o)
		if err := commit(l, 1); err != nil {
			t.Fatal(err)
		}
		mustClose(t, l)
		disk.calls.Store(0)
		disk.at.Store(at)
		l, found := mustOpen(t, o)
		if want := uint64(1); at == 0 && found != want || at > 0 && found != 0 {
			t.Errorf("panic %d: at %d", at, found)
		}
		if _, err := l.Get([]byte(rows(1)[0])); errors.Is(err, ErrNotFound) != (at > 0) {
			t.Errorf("panic %d: %v", at, err)
		}
		mustClose(t, l)
	}
}

// Whichever call fails when a ledger is opened: that is told, or nothing has come of it, and
// nothing is lost.
func TestEveryCallOfOpenFails(t *testing.T) {
	for n := 0; ; n++ {
		o := options(t, t.TempDir())
		o.WriteBuffer = 4 << 20
		l, _ := mustOpen(t, o)
		for n := uint64(1); n <= 3; n++ {
			if err := errors.Join(l.Sync(), commit(l, n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(l.shut(), l.disk.Close()); err != nil {
			t.Fatal(err)
		}
		disk, calls := faultfs.New(), 0
		nth := faultfs.Nth(n, syscall.EIO)
		disk.Inject(func(op faultfs.Op) error { calls++; return nth(op) })
		o.FS = disk
		l, at, err := Open(o)
		switch {
		case err == nil:
			if number(at) != 3 {
				t.Errorf("call %d: at %d", n, number(at))
			}
			_ = l.Close()
		case !errors.Is(err, syscall.EIO):
			t.Errorf("call %d: %v", n, err)
		}
		o.FS = nil
		l, found := mustOpen(t, o)
		if check(t, l, 3); found != 3 {
			t.Errorf("call %d: then at %d", n, found)
		}
		mustClose(t, l)
		if calls <= n {
			return
		}
	}
}

// A wipe closes the old database.
func TestWipeCloses(t *testing.T) {
	l, _ := mustOpen(t, options(t, t.TempDir()))
	old := l.db
	if err := l.Wipe(); err != nil {
		t.Fatal(err)
	}
	if _, err := old.Get(formatKey, nil); !errors.Is(err, leveldb.ErrClosed) {
		t.Errorf("got %v", err)
	}
	mustClose(t, l)
}

// A store of an older version is taken over unchanged if its version is Oldest or later; an
// older store is emptied. A store of a later version, or of another network, is left
// unchanged.
func TestVersions(t *testing.T) {
	for name, tc := range map[string]struct {
		written, oldest byte
		network         byte
		want            error
		at              uint64
	}{
		"the same":                        {written: 4, oldest: 2, at: 3},
		"the same, none older":            {written: 4, at: 3},
		"older":                           {written: 3, oldest: 2, at: 3},
		"the oldest":                      {written: 2, oldest: 2, at: 3},
		"too old":                         {written: 1, oldest: 2},
		"older, none is read":             {written: 3},
		"newer":                           {written: 5, oldest: 2, want: ErrNewer},
		"another network's":               {written: 4, oldest: 2, network: 9, want: ErrForeign},
		"another network's, older":        {written: 3, oldest: 2, network: 9, want: ErrForeign},
		"another network's, too old":      {written: 1, oldest: 2, network: 9, want: ErrForeign},
		"another network's, none is read": {written: 3, network: 9, want: ErrForeign},
	} {
		o := options(t, t.TempDir())
		o.Version = tc.written
		o.Network[3] += tc.network
		l, _ := mustOpen(t, o)
		if err := errors.Join(commit(l, 1), commit(l, 2), commit(l, 3), l.Close()); err != nil {
			t.Fatal(err)
		}
		before := contents(t, o.Dir)
		now := options(t, o.Dir)
		now.Version, now.Oldest = 4, tc.oldest
		l, position, err := Open(now)
		if !errors.Is(err, tc.want) || err == nil && number(position) != tc.at {
			t.Errorf("%s: at %d, %v", name, number(position), err)
		}
		if err != nil {
			if contents(t, o.Dir) != before {
				t.Errorf("%s: the folder has changed", name)
			}
			continue
		}
		check(t, l, tc.at)
		if format, err := l.Get(formatKey); err != nil || string(format) != string(now.format()) {
			t.Errorf("%s: format %x, %v", name, format, err)
		}
		// It goes on with the numbers of its commits: the newest mark is the last.
		if err := errors.Join(commit(l, tc.at+1), l.Close()); err != nil {
			t.Fatal(err)
		}
		l, _ = mustOpen(t, now)
		if back, err := l.Rewind(func([]byte) bool { return true }); err != nil || number(back) != tc.at+1 {
			t.Errorf("%s: goes back to %d, %v", name, number(back), err)
		}
		mustClose(t, l)
	}
}

// Before its first sync, a ledger goes back to the store that it took over.
func TestHoleAfterAdoption(t *testing.T) {
	o := options(t, t.TempDir())
	db, err := leveldb.OpenFile(o.Dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Put([]byte("old"), []byte("row"), nil), db.Close()); err != nil {
		t.Fatal(err)
	}
	o.Adopt = func(Reader, *Batch) ([]byte, error) { return position(7), nil }
	l, at := mustOpen(t, o)
	if at != 7 {
		t.Errorf("at %d", at)
	}
	if err := errors.Join(commit(l, 8), commit(l, 9)); err != nil {
		t.Fatal(err)
	}
	hole := new(Batch)
	hole.Delete(numberKey(commitPrefix, 1))
	if err := errors.Join(l.db.Write(hole, nil), l.shut(), l.disk.Close()); err != nil {
		t.Fatal(err)
	}
	l, at = mustOpen(t, o)
	if row, err := l.Get([]byte("old")); at != 7 || string(row) != "row" {
		t.Errorf("at %d, %q, %v", at, row, err)
	}
	mustClose(t, l)
}
