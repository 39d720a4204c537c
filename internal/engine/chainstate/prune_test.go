package chainstate_test

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/engine/bitcoin"
	"github.com/seed61375155/trawl/internal/engine/pruning"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/chaindb"
)

// pruned is a chain in small files that is pruned.
type pruned struct {
	*bitcoin.Engine

	t   *testing.T
	dir string
	cfg *pruning.Config
}

func openPruned(t *testing.T, target int64) *pruned {
	t.Helper()
	p := &pruned{t: t, dir: t.TempDir(), cfg: &pruning.Config{Target: target, After: 100}}
	p.open()
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *pruned) open() {
	p.t.Helper()
	net := enginetest.Regtest(p.t)
	db, err := chaindb.Open(chaindb.Options{
		Dir: filepath.Join(p.dir, "chainstate"), BlocksDir: p.blocksDir(), Magic: net.Magic,
		XOR: true, FastPrune: true, Prunable: true, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.Engine, err = bitcoin.Open(bitcoin.Config{
		Network: net, DB: db, Cache: 8 << 20, Clock: new(clock.Clock), Prune: p.cfg, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *pruned) blocksDir() string { return filepath.Join(p.dir, "blocks") }

func (p *pruned) reopen() {
	p.t.Helper()
	if err := p.Close(); err != nil {
		p.t.Fatal(err)
	}
	p.open()
}

// gone returns the height of the last block that was pruned. It checks that
// exactly the blocks up to that height are pruned, and their files gone.
func (p *pruned) gone() int32 {
	p.t.Helper()
	r := p.Reader()
	last := int32(-1)
	for h := range r.Active().Height() + 1 {
		b := r.Active().At(h)
		_, rawErr := r.Raw(&b.Hash)
		_, spentErr := r.Spent(&b.Hash)
		_, txs, sizeErr := r.Size(&b.Hash)
		if sizeErr != nil || txs != 1 {
			p.t.Errorf("height %d: %d transactions, %v", h, txs, sizeErr)
		}
		isGone := b.Status()&chainview.Pruned != 0
		if isGone != errors.Is(rawErr, chainview.ErrPruned) ||
			h > 0 && isGone != errors.Is(spentErr, chainview.ErrPruned) ||
			!isGone && (rawErr != nil || spentErr != nil) {
			p.t.Errorf("height %d, pruned %v: %v, %v", h, isGone, rawErr, spentErr)
		}
		if !isGone {
			continue
		}
		if h != last+1 {
			p.t.Errorf("height %d is pruned, and %d is the last before", h, last)
		}
		last = h
	}
	return last
}

func (p *pruned) files() (n int) {
	p.t.Helper()
	for _, kind := range []blockfile.Kind{blockfile.Blocks, blockfile.Undo} {
		numbers, err := kind.Numbers(vfs.OS, p.blocksDir())
		if err != nil {
			p.t.Fatal(err)
		}
		n += len(numbers)
	}
	return n
}

func (p *pruned) prune(height int32) {
	p.t.Helper()
	if err := p.Prune(height); err != nil {
		p.t.Fatal(err)
	}
}

// Files go by request, whole ones only, none that a lock or the distance to the tip
// keeps, and they stay gone.
func TestPruneByRequest(t *testing.T) {
	p := openPruned(t, 0)
	mine(t, p.Engine, trueScript, 860)
	if err := p.StartPruning(); err != nil {
		t.Fatal(err)
	}
	files := p.files()
	p.prune(10) // nothing: the first file has more blocks
	if got := p.gone(); got != -1 || p.files() != files {
		t.Errorf("%d was pruned, %d files", got, p.files())
	}
	p.SetPruneLock("test", 400)
	p.prune(500)
	locked := p.gone()
	if locked < 200 || locked > 400-11 {
		t.Errorf("%d was pruned", locked)
	}
	p.reopen()
	if got := p.gone(); got != locked {
		t.Errorf("after opening again %d is pruned, it was %d", got, locked)
	}
	p.prune(5000)
	all := p.gone()
	if all <= locked || all > 860-288 {
		t.Errorf("%d was pruned", all)
	}
	if got := p.files(); got >= files {
		t.Errorf("%d files, of %d", got, files)
	}
	// The chain goes on, and may still be reorganised.
	tip := p.Reader().Active().Tip()
	if err := p.Invalidate(&tip.Ancestor(tip.Height - 20).Hash); err != nil {
		t.Error(err)
	}
	mine(t, p.Engine, []byte{0x52}, 25)
	first := p.Reader().Active().At(1).Hash
	if err := p.Invalidate(&first); !errors.Is(err, messages.ErrBlockPruned) {
		t.Errorf("a pruned block was invalidated: %v", err)
	}
	if got := p.Reader().Active().Height(); got != 864 {
		t.Errorf("height %d", got)
	}
	set, err := p.Coins()
	if err != nil {
		t.Fatal(err)
	}
	set.Release()
}

// Files go by themselves while they are over the target, from the moment that it is
// allowed.
func TestPruneByTarget(t *testing.T) {
	const room = 17 << 20 // that is kept free
	p := openPruned(t, room+100_000)
	mine(t, p.Engine, trueScript, 600)
	if got := p.gone(); got != -1 {
		t.Errorf("%d was pruned before the start", got)
	}
	if err := p.StartPruning(); err != nil {
		t.Fatal(err)
	}
	before := p.gone()
	if before < 0 {
		t.Error("nothing was pruned")
	}
	mine(t, p.Engine, trueScript, 280)
	if after := p.gone(); after <= before || after > 880-288 {
		t.Errorf("%d was pruned, %d before", after, before)
	}
}

// Files that a kill leaves between the note that they are gone and their
// removal are removed on opening.
func TestPruneEndsAfterKill(t *testing.T) {
	p := openPruned(t, 0)
	mine(t, p.Engine, trueScript, 560)
	left := map[string][]byte{}
	for n := range 1 {
		for _, kind := range []blockfile.Kind{blockfile.Blocks, blockfile.Undo} {
			path := kind.Path(p.blocksDir(), n)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			left[path] = content
		}
	}
	p.prune(900)
	gone, files := p.gone(), p.files()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	for path, content := range left {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p.open()
	if p.gone() != gone || p.files() != files {
		t.Errorf("%d pruned and %d files, want %d and %d", p.gone(), p.files(), gone, files)
	}
}

// A block on a branch whose blocks were pruned is stored and never connected; a pruned
// block is stored again.
func TestBranchOfPrunedBlocks(t *testing.T) {
	p := openPruned(t, 0)
	mine(t, p.Engine, trueScript, 20)
	tip := p.Reader().Active().Tip()
	known, err := p.Reader().Raw(&tip.Hash)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Invalidate(&tip.Ancestor(15).Hash); err != nil {
		t.Fatal(err)
	}
	mine(t, p.Engine, []byte{0x52}, 3)
	tries := uint64(1 << 20)
	next, err := p.Mine(t.Context(), []byte{0x52}, nil, 0, &tries)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Reconsider(&tip.Ancestor(15).Hash); err != nil {
		t.Fatal(err)
	}
	mine(t, p.Engine, trueScript, 560)
	p.prune(400)
	if p.gone() < 20 {
		t.Fatalf("%d was pruned", p.gone())
	}
	for _, test := range []struct {
		raw    []byte
		reason string
	}{{known, "inconclusive"}, {known, "duplicate"}, {next, "inconclusive"}} {
		var reject *messages.RejectError
		if err := p.Submit(test.raw); !errors.As(err, &reject) || reject.Reason != test.reason {
			t.Errorf("got %v, want %s", err, test.reason)
		}
	}
	mine(t, p.Engine, trueScript, 1)
}

// A pruned block can be stored again, stays over a restart and the next pruning, and
// must be the one of its header.
func TestStorePrunedBlockAgain(t *testing.T) {
	p := openPruned(t, 0)
	mine(t, p.Engine, trueScript, 700)
	if err := p.StartPruning(); err != nil {
		t.Fatal(err)
	}
	hash := p.Reader().Active().At(2).Hash
	raw, err := p.Reader().Raw(&hash)
	if err != nil {
		t.Fatal(err)
	}
	p.prune(5000)
	if _, err := p.Reader().Raw(&hash); !errors.Is(err, chainview.ErrPruned) {
		t.Fatalf("after pruning: %v", err)
	}
	other := bytes.Clone(raw)
	other[len(other)-1]++
	if err := p.Restore(other); err == nil {
		t.Error("another block is stored for the pruned one")
	}
	if err := p.Restore(raw); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := p.Reader().Raw(&hash); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("stored again: %d bytes, %v", len(got), err)
		}
		if _, err := p.Reader().Spent(&hash); err == nil {
			t.Error("what is lost of it can be read")
		}
		if p.Reader().Lookup(&hash).Status()&chainview.Pruned != 0 {
			t.Error("it still counts as pruned")
		}
		if p.Reader().Lookup(&hash).Status()&chainview.NoUndo == 0 {
			t.Error("its undo data counts as there")
		}
		p.reopen()
		p.prune(5000)
	}
}

// A miner's block that was pruned is stored again, which says nothing of its rules.
func TestSubmitPrunedBlock(t *testing.T) {
	p := openPruned(t, 0)
	mine(t, p.Engine, trueScript, 700)
	if err := p.StartPruning(); err != nil {
		t.Fatal(err)
	}
	hash := p.Reader().Active().At(2).Hash
	raw, err := p.Reader().Raw(&hash)
	if err != nil {
		t.Fatal(err)
	}
	p.prune(5000)
	for _, want := range []string{"inconclusive", "duplicate"} {
		var reject *messages.RejectError
		if err := p.Submit(raw); !errors.As(err, &reject) || reject.Reason != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if got, err := p.Reader().Raw(&hash); err != nil || !bytes.Equal(got, raw) {
		t.Errorf("stored again: %d bytes, %v", len(got), err)
	}
}
