package chainstate_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/store/chaindb"
	"github.com/seed61375155/trawl/store/coinfile"
)

func optionsOn(disk vfs.FS, dir string, net *dialect.Network) chaindb.Options {
	return chaindb.Options{
		Dir: filepath.Join(dir, "chainstate"), BlocksDir: filepath.Join(dir, "blocks"), FS: disk,
		Magic: net.Magic, XOR: true, FastPrune: true, Log: slog.New(slog.DiscardHandler),
	}
}

// openOn opens an engine whose database and mark lie on a disk.
func openOn(disk vfs.FS, dir string, net *dialect.Network) (*bitcoin.Engine, error) {
	db, err := chaindb.Open(optionsOn(disk, dir, net))
	if err != nil {
		return nil, err
	}
	return bitcoin.Open(bitcoin.Config{
		Network: net, DB: db, Cache: 8 << 20, Clock: new(clock.Clock), Log: slog.New(slog.DiscardHandler),
		Mark: coinfile.Mark{FS: disk, Dir: filepath.Join(dir, "chainstate_snapshot")},
	})
}

// A beginning is a node that begins with the snapshot of a story, and what it has acknowledged.
type beginning struct {
	*story

	before  func() // the snapshot is loaded
	loading bool
	began   bool  // with the snapshot
	tip     int32 // at least
}

func (b *beginning) live(e *bitcoin.Engine) error {
	sync := func() error {
		err := e.Sync()
		if err == nil {
			b.tip = max(b.tip, e.Reader().Active().Height())
		}
		return err
	}
	if _, _, err := e.AcceptHeaders(rawHeaders(b.blocks)); err != nil {
		return err
	}
	if !b.began && e.Reader().Active().Height() < baseHeight {
		for _, block := range b.blocks[:30] {
			if err := e.Accept(block.raw); err != nil && err.Error() != "duplicate" {
				return err
			}
		}
		if err := sync(); err != nil {
			return err
		}
		b.before()
		b.loading = true
		if chainview.AssumedOf(e.Reader()) == nil {
			if _, err := load(e, b.story); err != nil {
				return err
			}
		}
		if err := sync(); err != nil {
			return err
		}
		b.loading, b.began = false, true
	}
	for i, block := range slices.Concat(b.blocks[baseHeight:], b.blocks[:baseHeight]) {
		if err := e.Accept(block.raw); err != nil && err.Error() != "duplicate" {
			return err
		}
		if _, err := e.Background(context.Background(), time.Microsecond); err != nil {
			return err
		}
		if i%40 == 39 {
			if err := sync(); err != nil {
				return err
			}
		}
	}
	if err := settleBackground(e); err != nil {
		return err
	}
	return sync()
}

// reopen opens an engine again. A database that a loss of power has damaged is built anew from the block
// files, without the snapshot. That may happen only while blocks are being stored.
func (b *beginning) reopen(tb testing.TB, dir string) (*bitcoin.Engine, error) {
	tb.Helper()
	e, err := openOn(vfs.OS, dir, b.network(tb))
	if !errors.Is(err, chaindb.ErrDamaged) {
		return e, err
	}
	if b.loading {
		tb.Fatalf("damaged while the snapshot is loaded: %v", err)
	}
	must(tb, chaindb.Rebuild(optionsOn(vfs.OS, dir, b.network(tb))))
	b.began, b.tip = false, 0
	if e, err = openOn(vfs.OS, dir, b.network(tb)); err != nil {
		return nil, err
	}
	blocks, done := e.Unread()
	if blocks == nil {
		return e, nil
	}
	for record, err := range blocks {
		must(tb, err)
		answer(tb, e.Accept(record.Block))
	}
	return e, done()
}

// Any call of the disk fails from the loading on, and then power is lost. All acknowledged changes are
// there, the snapshot too, and the chain comes to its end.
func TestSnapshotPowerLoss(t *testing.T) {
	faultfs.SkipUnderRace(t)
	t.Parallel()
	s := tell(t)
	random := rand.New(rand.NewPCG(6, 28))
	failed := true
	for n := 0; failed; n += 1 + n/soak(4) {
		dir, disk := t.TempDir(), faultfs.New()
		b := &beginning{story: s, before: func() { disk.Inject(faultfs.From(n, syscall.EIO)) }}
		e, err := openOn(disk, dir, s.network(t))
		if err == nil {
			err = b.live(e)
			if closed := e.Close(); err == nil {
				err = closed
			}
		}
		failed = err != nil
		must(t, disk.PowerLoss(random))
		b.before = func() {}
		again, err := b.reopen(t, dir)
		if err != nil {
			t.Fatalf("fault %d: %v", n, err)
		}
		if got := again.Reader().Active().Height(); got < b.tip || b.began && got < baseHeight {
			t.Fatalf("fault %d: at height %d after %d, began %v", n, got, b.tip, b.began)
		}
		if err := b.live(again); err != nil {
			t.Fatalf("fault %d: afterwards: %v", n, err)
		}
		checkWhole(t, again, s)
		must(t, again.Close())
		if t.Failed() {
			t.Fatalf("fault %d", n)
		}
	}
}

// A snapshot that was loaded is what the chain begins with, even if power is lost at once.
func TestLoadedSnapshotStays(t *testing.T) {
	s := tell(t)
	random := rand.New(rand.NewPCG(11, 30))
	for range 4 {
		dir, disk := t.TempDir(), faultfs.New()
		e, err := openOn(disk, dir, s.network(t))
		must(t, err)
		_, _, err = e.AcceptHeaders(rawHeaders(s.blocks))
		must(t, err)
		_, err = load(e, s)
		must(t, err)
		disk.Inject(faultfs.From(0, syscall.EIO))
		_ = e.Close() // writes nothing any more
		must(t, disk.PowerLoss(random))
		e = open(t, dir, s.network(t))
		wantTip(t, e, "after the loss of power", s.base())
		must(t, e.Close())
	}
}
