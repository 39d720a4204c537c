package chainstate_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/chainstate"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
	"github.com/seed61375155/trawl/store/coinfile"
)

// After a write that failed an engine answers each request with that failure, whatever else is wrong with the
// request, and writes nothing any more, although the disk is well again.
func TestBrokenEngine(t *testing.T) {
	dir := t.TempDir()
	e := open(t, dir, quick(t))
	fails, writes := false, 0
	must(t, chainstate.FailWrites(e, 8<<20, func() error {
		if writes++; fails {
			return syscall.ENOSPC
		}
		return nil
	}))
	chain := genesis(t).chainOn(4)
	for _, b := range chain[:3] {
		must(t, e.Accept(b.raw))
	}
	chainstate.Stale(e)
	fails = true
	if err := e.Accept(chain[3].raw); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	fails, writes = false, 0
	bad, unknown := unsolved(chain[3].on(nil).raw), chainhash.Hash{1}
	for name, err := range map[string]error{
		"Accept":        e.Accept(bad),
		"Submit":        e.Submit(bad),
		"AcceptHeaders": errorOf(e.AcceptHeaders([][]byte{bad[:79]})),
		"Invalidate":    e.Invalidate(&unknown),
		"Reconsider":    e.Reconsider(&unknown),
		"Precious":      e.Precious(&unknown),
		"Restore":       e.Restore(nil),
		"Recover":       e.Recover(nil),
		"Propose":       e.Propose(nil),
		"Verify":        e.Verify(t.Context(), 3, 0),
		"Coins":         second(e.Coins()),
		"CoinsAt":       second(e.CoinsAt(&unknown)),
		"LoadSnapshot":  second(e.LoadSnapshot(messages.LoadSnapshot{Path: dir})),
		"Background":    second(e.Background(t.Context(), time.Second)),
		"Sync":          e.Sync(),
		"Rest":          chainstate.Rest(e),
	} {
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if more, _ := e.Background(t.Context(), time.Second); more {
		t.Error("there is more to be done in the background")
	}
	must(t, e.Close())
	if writes > 0 {
		t.Errorf("%d writes after the failed write", writes)
	}
	again := open(t, dir, quick(t))
	wantTip(t, again, "opened again", chain[2])
	wantSums(t, again, chain[:3]...)
	must(t, again.Close())
}

func second[T any](_ T, err error) error { return err }

func errorOf[T, U any](_ T, _ U, err error) error { return err }

// Whichever call of the file system fails while a chain is opened, it is not opened, for that reason. The next start
// finds all.
func TestFaultsWhileOpening(t *testing.T) {
	t.Parallel()
	chain := genesis(t).chainOn(3)
	for what, made := range map[string]int{"a new chain": 0, "a chain": len(chain)} {
		for n := 0; ; n++ {
			dir, hit := t.TempDir(), false
			e := open(t, dir, quick(t))
			for _, b := range chain[:made] {
				must(t, e.Accept(b.raw))
			}
			must(t, e.Close())
			if made == 0 {
				dir = t.TempDir()
			}
			disk, nth := faultfs.New(), faultfs.Nth(n, syscall.EIO)
			o := options(t, dir)
			o.FS = disk
			db, err := chaindb.Open(o)
			must(t, err)
			fault := func(op faultfs.Op) error {
				err := nth(op)
				hit = hit || err != nil
				return err
			}
			disk.Inject(fault)
			disk.InjectReads(fault)
			var failed any
			func() {
				defer func() { // a read that cannot return an error panics
					if p := recover(); p != nil {
						failed = p
					}
				}()
				e, err = bitcoin.Open(bitcoin.Config{
					Network: quick(t), DB: db, Cache: 8 << 20, Clock: new(clock.Clock),
					Log: slog.New(slog.DiscardHandler), FS: disk, Mark: coinfile.Mark{FS: disk, Dir: markIn(dir).Dir},
				})
				if err != nil {
					failed = err
				}
			}()
			disk.Inject(nil)
			disk.InjectReads(nil)
			if text := fmt.Sprint(failed); hit != strings.Contains(text, syscall.EIO.Error()) || !hit && failed != nil {
				t.Errorf("%s, fault %d hit %v: %v", what, n, hit, failed)
			}
			if failed == nil {
				must(t, e.Close())
			}
			e = open(t, dir, quick(t))
			if got := e.Reader().Active().Height(); got != int32(made) {
				t.Errorf("%s, fault %d: opened again at height %d", what, n, got)
			}
			must(t, e.Close())
			if !hit {
				t.Logf("%s: %d faults", what, n)
				break
			}
		}
	}
}
