package ledger

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
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
