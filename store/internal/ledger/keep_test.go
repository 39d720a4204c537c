package ledger

import (
	"errors"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// A read that fails with EIO is damage of a cache, which is emptied when it is opened and can be rebuilt. With
// Keep, the ledger is not opened in that case, and is complete the next time.
func TestUnreadableAtOpen(t *testing.T) {
	for _, keep := range []bool{false, true} {
		emptied := 0
		for n, failed := 0, true; failed; n++ {
			disk := faultfs.New()
			o := options(t, t.TempDir())
			o.FS, o.Keep = disk, keep
			l, _ := mustOpen(t, o)
			between := new(Batch) // the keys of the ledger, which have blocks of their own so
			between.Put([]byte("T"), make([]byte, 10_000))
			if err := errors.Join(l.Commit(between, position(1)), commit(l, 2), l.Close()); err != nil {
				t.Fatal(err)
			}
			failed = false
			nth := faultfs.Nth(n, syscall.EIO)
			disk.InjectReads(func(op faultfs.Op) error {
				err := nth(op)
				failed = failed || err != nil
				return err
			})
			l, at, err := Open(o)
			disk.InjectReads(nil)
			if err == nil && at == nil {
				emptied++
			}
			if err != nil {
				if !errors.Is(err, syscall.EIO) || keep && errors.Is(err, ErrDamaged) {
					t.Errorf("read %d fails: %v", n, err)
				}
				l, _ = mustOpen(t, o)
			}
			if keep {
				for _, key := range append(rows(2), "T") {
					if _, err := l.Get([]byte(key)); err != nil {
						t.Errorf("read %d fails: %s: %v", n, key, err)
					}
				}
			}
			mustClose(t, l)
		}
		if (emptied > 0) == keep {
			t.Errorf("to be kept: %v; emptied after %d failed reads", keep, emptied)
		}
	}
}
