package chainstate_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
)

// reads counts the reads of files of blocks and undo data, and has them fail when told to.
type reads struct {
	n     atomic.Int32
	fails atomic.Bool
}

func (r *reads) check(op faultfs.Op) error {
	name := filepath.Base(op.Path)
	if !strings.HasPrefix(name, "blk") && !strings.HasPrefix(name, "rev") {
		return nil
	}
	r.n.Add(1)
	if r.fails.Load() {
		return syscall.EIO
	}
	return nil
}

// readAll reads a block in all ways, and holds that against what it is.
func readAll(t *testing.T, r chainview.Reader, b *made, spent int) (err error) {
	t.Helper()
	raw, rawErr := r.Raw(&b.hash)
	into, intoErr := chainview.RawInto(r, new([]byte), &b.hash)
	block, blockErr := r.Block(&b.hash)
	coins, coinsErr := r.Spent(&b.hash)
	scripts, scriptsErr := r.SpentScripts(&b.hash)
	if err = errors.Join(rawErr, intoErr, blockErr, coinsErr, scriptsErr); err != nil {
		return err
	}
	if !bytes.Equal(raw, b.raw) || !bytes.Equal(into, b.raw) || block.BlockHash() != b.hash ||
		len(block.Transactions) != len(b.txs) || len(coins) != spent || len(scripts) != spent {
		t.Errorf("height %d: %d and %d bytes, %d transactions, %d and %d spent", b.height, len(raw), len(into),
			len(block.Transactions), len(coins), len(scripts))
	}
	return nil
}

// Blocks at the tip are not read again after they were connected, and once after a start, however many ask for them at
// a time; others are read each time. A failed read is tried again.
func TestRecentBlocks(t *testing.T) {
	disk, dir, net, files := faultfs.New(), t.TempDir(), quick(t), new(reads)
	e, err := openOn(disk, dir, net)
	must(t, err)
	chain := genesis(t).chainOn(10)
	tip := chain[9].on([]*wire.MsgTx{spending(chain[0].txs[0], trueScript, 1)})
	for _, b := range append(chain, tip) {
		must(t, e.Accept(b.raw))
	}
	disk.InjectReads(files.check)
	must(t, readAll(t, e.Reader(), tip, 1))
	must(t, readAll(t, e.Reader(), chain[8], 0))
	if n := files.n.Load(); n > 0 {
		t.Errorf("%d reads of blocks that were just connected", n)
	}
	files.fails.Store(true) // clients are told of lost files
	stored := chainview.Stored(e.Reader())
	err = readAll(t, stored, tip, 1)
	if !errors.Is(err, chainview.ErrUnreadable) || !errors.Is(err, chainview.ErrUndo) {
		t.Errorf("a block that cannot be read: %v", err)
	}
	files.fails.Store(false)
	must(t, readAll(t, stored, tip, 1))
	files.n.Store(0)
	must(t, readAll(t, e.Reader(), chain[7], 0))
	if files.n.Load() == 0 {
		t.Error("an old block is kept")
	}
	disk.InjectReads(nil)
	must(t, e.Close())

	e, err = openOn(disk, dir, net)
	must(t, err)
	disk.InjectReads(files.check)
	files.fails.Store(true)
	if err := readAll(t, e.Reader(), tip, 1); !errors.Is(err, chainview.ErrUnreadable) {
		t.Errorf("a block that cannot be read: %v", err)
	}
	files.fails.Store(false)
	must(t, readAll(t, e.Reader(), tip, 1))
	once := files.n.Load()
	must(t, readAll(t, e.Reader(), chain[9], 0))
	once = files.n.Load() - once // for a block that nobody has asked for
	before := files.n.Load()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := readAll(t, e.Reader(), tip, 1); err != nil {
				t.Error(err)
			}
			if err := readAll(t, e.Reader(), chain[8], 0); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := files.n.Load() - before; n != once {
		t.Errorf("%d reads, want %d", n, once)
	}

	// The blocks of a branch that is left and of the new branch are both at hand.
	other := chain[8].on(nil)
	better := other.on(nil)
	for _, b := range []*made{other, better, better.on(nil)} {
		must(t, e.Accept(b.raw))
	}
	before = files.n.Load()
	for _, b := range []*made{tip, other, better} {
		must(t, readAll(t, e.Reader(), b, len(b.txs)-1))
	}
	if n := files.n.Load() - before; n > 0 {
		t.Errorf("%d reads of two branches", n)
	}
	disk.InjectReads(nil)
	must(t, e.Close())
	if err := readAll(t, e.Reader(), tip, 1); !errors.Is(err, chainview.ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}
