package indexer_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/btcutil/gcs/builder"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

var errBroken = errors.New("disk is gone")

// rig is an indexer over a real store, which follows a chain.
type rig struct {
	*ask.Ref
	sys    *actortest.System
	view   *chainview.Current
	tip    *ask.Feed[messages.TipChanged]
	store  *segment.Store
	dir    string
	lines  segment.MakeLines // nil: none are kept
	ranges bool              // keep range filters
	audit  bool

	mu     sync.Mutex
	failed []error
}

// newRig opens a store in a new folder. Segments of it are small, so that a few
// hundred filters are in many.
func newRig(tb testing.TB, chain chainview.Reader) *rig {
	tb.Helper()
	r := &rig{
		sys: actortest.New(tb), view: new(chainview.Current), tip: new(ask.Feed[messages.TipChanged]),
		dir: tb.TempDir(),
	}
	if chain != nil {
		r.view.Set(chain)
	}
	r.openStore(tb)
	return r
}

func (r *rig) openStore(tb testing.TB) {
	tb.Helper()
	store, err := segment.Open(segment.Options{
		Dir: r.dir, SegmentSize: 512, MakeLines: r.lines, RangeFilters: r.ranges,
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close() })
	r.store = store
}

// spawn starts the actor.
func (r *rig) spawn() {
	r.Ref = r.sys.Spawn("indexer", indexer.New(indexer.Config{
		Store: r.store, Chain: r.view, Tip: r.tip, HeaderLen: func([]byte) int { return filters.HeaderLen },
		Workers: 3, Log: r.sys.Log, Audit: r.audit,
		OnFailed: func(err error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.failed = append(r.failed, err)
		},
	}), indexer.Requests...)
}

func (r *rig) failures() []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// announce publishes the tip of the chain and waits for the index to have it.
func (r *rig) announce(tb testing.TB) {
	tb.Helper()
	tip := r.view.Open().Active().Tip()
	r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
	do(tb, r.Ref, messages.WaitIndexed{Block: tip.Hash})
	for !do(tb, r.Ref, messages.GetIndexStatus{}).Synced {
		runtime.Gosched()
	}
	do(tb, r.Ref, messages.WaitIndexIdle{})
	if height, hash, ok := r.store.Tip(); !ok || hash != tip.Hash || height != tip.Height {
		tb.Errorf("index at height %d, the chain at %d", height, tip.Height)
	}
}

// do asks an actor, which must not fail.
func do[Q messages.Request[R], R any](tb testing.TB, ref *ask.Ref, q Q) R {
	tb.Helper()
	got, err := ask.Ask(tb.Context(), ref, q)
	if err != nil {
		tb.Fatalf("%T: %v", q, err)
	}
	return got
}

// newChain returns a chain in memory, of n blocks after the genesis block.
func newChain(n int) *chaintest.Chain {
	c := chaintest.New(&chaincfg.RegressionNetParams)
	for h := range n {
		c.Mine(chaintest.Template{Script: []byte{0x51, byte(h), byte(h >> 8)}})
	}
	return c
}

// recorded returns the recorded chain in memory.
func recorded(tb testing.TB, files ...string) *chaintest.Chain {
	tb.Helper()
	c := chaintest.New(&chaincfg.RegressionNetParams)
	for _, file := range files {
		addAll(tb, c, file)
	}
	return c
}

func addAll(tb testing.TB, c *chaintest.Chain, file string) {
	tb.Helper()
	for _, raw := range enginetest.Blocks(tb, file) {
		if hash := chainhash.DoubleHashH(raw[:filters.HeaderLen]); c.Lookup(&hash) != nil {
			continue
		}
		if _, err := c.Add(raw); err != nil {
			tb.Fatal(err)
		}
	}
}

// check compares everything stored, up to a block, with what btcutil builds.
func (r *rig) check(tb testing.TB, chain chainview.Reader, tip *chainview.Block) {
	tb.Helper()
	var prev chainhash.Hash
	for height := range tip.Height + 1 {
		at := tip.Ancestor(height)
		raw, err := chain.Raw(&at.Hash)
		if err != nil {
			tb.Fatal(err)
		}
		spent, err := chain.SpentScripts(&at.Hash)
		if err != nil {
			tb.Fatal(err)
		}
		var block wire.MsgBlock
		if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
			tb.Fatal(err)
		}
		filter, err := builder.BuildBasicFilter(&block, spent)
		if err != nil {
			tb.Fatal(err)
		}
		want, err := filter.NBytes()
		if err != nil {
			tb.Fatal(err)
		}
		header, err := builder.MakeHeaderForFilter(filter, prev)
		if err != nil {
			tb.Fatal(err)
		}
		got, err := r.store.ByHash(&at.Hash)
		if err != nil {
			tb.Fatalf("height %d: %v", height, err)
		}
		if !bytes.Equal(got.Filter, want) {
			tb.Fatalf("height %d: filter %x, want %x", height, got.Filter, want)
		}
		if got.Header != header || got.Height != height {
			tb.Fatalf("height %d: filter header %v at %d, want %v", height, got.Header, got.Height, header)
		}
		prev = header
	}
}

// cut makes a segment's file shorter than its filters.
func (r *rig) cut(tb testing.TB, segment int) {
	tb.Helper()
	if err := os.Truncate(r.store.Segments()[segment].Path, 80); err != nil {
		tb.Fatal(err)
	}
}

// flip changes the last byte of a segment's first filter, and returns the
// filter's block.
func (r *rig) flip(tb testing.TB, segment int) chainhash.Hash {
	tb.Helper()
	first := 0
	for _, info := range r.store.Segments()[:segment] {
		first += info.Filters
	}
	block, _ := r.store.BlockAt(int32(first))
	entry, err := r.store.ByHash(&block)
	if err != nil {
		tb.Fatal(err)
	}
	path := r.store.Segments()[segment].Path
	content, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		tb.Fatal(err)
	}
	at := bytes.Index(content, entry.Filter)
	if at < 0 {
		tb.Fatal("the filter is not in its segment")
	}
	f, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY, 0)
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	last := len(entry.Filter) - 1
	if _, err := f.WriteAt([]byte{entry.Filter[last] ^ 0x10}, int64(at+last)); err != nil {
		tb.Fatal(err)
	}
	if _, err := r.store.ByHash(&block); err == nil {
		tb.Fatal("the filter is not damaged")
	}
	return block
}

// hookedReader calls hook before a block is read; it may wait, panic, or fail
// in the block's place.
type hookedReader struct {
	chainview.Reader
	hook func(hash *chainhash.Hash) error
}

func (r hookedReader) Raw(hash *chainhash.Hash) ([]byte, error) {
	if err := r.hook(hash); err != nil {
		return nil, err
	}
	return r.Reader.Raw(hash)
}

// once returns a hook that does something for the first block that is read from
// a height on.
func once(chain chainview.Reader, height int32, then func() error) func(*chainhash.Hash) error {
	var first sync.Once
	return func(hash *chainhash.Hash) (err error) {
		if chain.Lookup(hash).Height >= height {
			first.Do(func() { err = then() })
		}
		return err
	}
}
