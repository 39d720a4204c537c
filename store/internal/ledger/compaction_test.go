package ledger

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// If the disk takes no tables any more, only journals, a commit soon fails with the
// disk's error. Meanwhile goleveldb's retries cost next to nothing, and the ledger
// closes at once. After that everything acknowledged is there.
func TestTablesCannotBeWritten(t *testing.T) {
	faultfs.SkipUnderRace(t)
	for _, kind := range []faultfs.Kind{faultfs.Create, faultfs.Write, faultfs.Sync} {
		t.Run(fmt.Sprint("kind ", kind), func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) { failTables(t, dir, kind) })
		})
	}
}

func failTables(t *testing.T, dir string, kind faultfs.Kind) {
	t.Helper()
	fs := faultfs.New()
	o := options(t, dir)
	o.FS = fs
	l, _ := mustOpen(t, o)
	for n := uint64(1); n <= 30; n++ {
		if err := commit(l, n); err != nil {
			t.Fatal(err)
		}
	}
	var tries atomic.Int64
	fs.Inject(func(op faultfs.Op) error {
		if op.Kind == kind && strings.HasSuffix(op.Path, ".ldb") {
			tries.Add(1)
			return syscall.EIO
		}
		return nil
	})
	acked := uint64(30)
	for {
		if err := commit(l, acked+1); err != nil {
			if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "input/output error") {
				t.Errorf("commit %d: %v", acked+1, err)
			}
			break
		}
		if acked++; acked == 1_000 {
			t.Fatal("commits go on though no table can be written")
		}
		time.Sleep(time.Millisecond)
	}
	before := tries.Load()
	time.Sleep(time.Hour)
	if got := tries.Load() - before; got > 3600/8+10 {
		t.Errorf("%d tries in an hour", got)
	}
	began := time.Now()
	_ = l.Close() // it cannot write
	if took := time.Since(began); took > time.Second {
		t.Errorf("closed after %v", took)
	}
	fs.Inject(nil)
	l, at := mustOpen(t, o)
	if at < acked || at > acked+1 {
		t.Fatalf("at %d, want %d", at, acked)
	}
	check(t, l, at)
	mustClose(t, l)
	time.Sleep(time.Minute) // goleveldb drains its buffers in goroutines of their own
}
