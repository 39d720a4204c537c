package chaindb

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// calls is how many calls of the file system something makes that can fail.
func calls(t *testing.T, do func(fs vfs.FS) (failed bool)) (n int) {
	t.Helper()
	fs := faultfs.New()
	fs.Inject(func(faultfs.Op) error { n++; return nil })
	if do(fs) {
		t.Fatal("the database fails without a fault")
	}
	return n
}

// syncs fails those of the calls that make something durable.
func syncs(inject func(faultfs.Op) error) func(faultfs.Op) error {
	return func(op faultfs.Op) error {
		err := inject(op)
		if op.Kind != faultfs.Sync && op.Kind != faultfs.SyncDir {
			return nil
		}
		return err
	}
}

// every is the number of cases to go on by: 1 under TRAWL_SOAK.
func every(n int) int {
	if os.Getenv("TRAWL_SOAK") != "" {
		return 1
	}
	return n
}

// Whichever call fails, once or from then on, or all syncs from then on, nothing acknowledged is lost and
// nothing wrong is read. The database goes on when the disk is well again.
func TestEveryCallFails(t *testing.T) {
	faultfs.SkipUnderRace(t)
	t.Parallel()
	all := calls(t, func(fs vfs.FS) bool { l := newLife(t); l.live(t, fs, true); return l.failed })
	for n := 0; n < all; n += every(23) {
		for _, inject := range []func(faultfs.Op) error{
			faultfs.Nth(n, syscall.EIO), faultfs.From(n, syscall.ENOSPC), syncs(faultfs.From(n, syscall.EIO)),
		} {
			fs, l, hit := faultfs.New(), newLife(t), false
			fs.Inject(func(op faultfs.Op) error {
				err := inject(op)
				hit = hit || err != nil && op.Kind == faultfs.Sync && slices.Contains(
					[]string{".dat", ".log"}, filepath.Ext(op.Path),
				)
				return err
			})
			if l.live(t, fs, true); hit && !l.failed {
				t.Errorf("call %d: nobody was told that a sync failed", n)
			}
			db, rebuilt := l.open(t)
			if rebuilt && len(l.order) > 0 {
				t.Fatalf("call %d: the database was damaged", n)
			}
			l.checkBlocks(t, db, l.order)
			l.checkRest(t, db, l.height, l.acked)
			l.goesOn(t, db)
		}
	}
}

// Whenever the power is lost: what was synced is there, be it that it has to be read
// from the block files again, and nothing wrong is read.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	all := calls(t, func(fs vfs.FS) bool { l := newLife(t); l.live(t, fs, true); return l.failed })
	whole := 0
	for seed := uint64(0); seed < 600; seed += uint64(every(15)) {
		r := rand.New(rand.NewPCG(seed, 13))
		fs, l := faultfs.New(), newLife(t)
		end, noTables := faultfs.From(r.IntN(all), syscall.EIO), r.IntN(2) == 0
		fs.Inject(func(op faultfs.Op) error {
			if noTables && op.Kind == faultfs.Create && filepath.Ext(op.Path) == ".ldb" {
				return syscall.EIO // what is in an old journal stays there
			}
			return end(op)
		})
		l.live(t, fs, seed%2 == 0)
		if err := fs.PowerLoss(r); err != nil {
			t.Fatal(err)
		}
		db, rebuilt := l.open(t)
		switch {
		case !rebuilt:
			whole++
			l.checkBlocks(t, db, l.order[:l.durable.blocks])
			l.checkRest(t, db, l.durable.height, l.durable.coins)
		case len(l.gone) == 0: // else blocks behind a gap come from the network again
			l.checkBlocks(t, db, l.order[:l.durable.blocks])
		}
		l.goesOn(t, db)
	}
	if whole == 0 {
		t.Error("the database was damaged each time: the test shows nothing")
	}
}

// A file is removed when it is known for good that it is: after a loss of power the
// database is whole.
func TestPowerLossAfterPruning(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		fs, l := faultfs.New(), newLife(t)
		db, err := Open(l.options(fs))
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range []func(*DB) error{l.makeBuckets, l.commit(6 + int(seed%5)), l.prune(true)} {
			if err := step(db); err != nil {
				t.Fatal(err)
			}
		}
		if err := fs.PowerLoss(rand.New(rand.NewPCG(seed, 19))); err != nil {
			t.Fatal(err)
		}
		_ = db.Close()
		db, rebuilt := l.open(t)
		if rebuilt {
			t.Fatalf("seed %d: the database was damaged", seed)
		}
		l.checkBlocks(t, db, l.order)
		l.goesOn(t, db)
	}
}

// However a rebuild is interrupted: it begins again, and no block is lost.
func TestRebuildFails(t *testing.T) {
	faultfs.SkipUnderRace(t)
	t.Parallel()
	rebuild := func(l *life, fs vfs.FS) bool {
		o := l.options(fs)
		if Rebuild(o) != nil {
			return true
		}
		db, err := Open(o)
		if err != nil {
			return true
		}
		return errors.Join(reloadAll(db), db.Close()) != nil
	}
	lived := func() *life {
		l := newLife(t)
		if l.live(t, faultfs.New(), false); l.failed {
			t.Fatal("the database fails without a fault")
		}
		return l
	}
	l := lived()
	all := calls(t, func(fs vfs.FS) bool { return rebuild(l, fs) })
	for n := 0; n < all; n += every(11) {
		l, fs := lived(), faultfs.New()
		fs.Inject(faultfs.From(n, syscall.ENOSPC))
		rebuild(l, fs)
		l.rebuilt = true
		if n%2 == 0 {
			if err := fs.PowerLoss(rand.New(rand.NewPCG(uint64(n), 17))); err != nil {
				t.Fatal(err)
			}
		}
		db, _ := l.open(t)
		l.checkBlocks(t, db, l.order)
		l.goesOn(t, db)
	}
}
