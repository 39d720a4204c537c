package scanner_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"path/filepath"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcutil/gcs"
	"github.com/btcsuite/btcd/btcutil/gcs/builder"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// rig is a chain in memory with a real filter store that a real indexer has
// filled.
type rig struct {
	chain   *chaintest.Chain
	current *chainview.Current
	store   *segment.Store
	indexer *ask.Ref
	sys     *actortest.System
	dir     string // of the store
}

// script returns the n-th of the scripts that the rig's blocks use.
func script(n int) []byte {
	return binary.BigEndian.AppendUint32([]byte{0x00, 0x14, 16: 0}, uint32(n))[:22]
}

// reused is how many blocks later a coinbase's script comes again.
const reused = 97

// newRig makes a chain of blocks up to height. Coinbases pay to script(height
// mod reused), and every fifth block spends the one three blocks before it to
// script(1000+height).
func newRig(tb testing.TB, height int) *rig {
	tb.Helper()
	return newRigWith(tb, height, nil, false)
}

// newRigWith makes a rig whose store keeps probe lines, or range filters.
func newRigWith(tb testing.TB, height int, lines segment.MakeLines, ranges bool) *rig {
	tb.Helper()
	r := &rig{
		chain: chaintest.New(&chaincfg.RegressionNetParams), current: new(chainview.Current), sys: actortest.New(tb),
	}
	for h := 1; h <= height; h++ {
		template := chaintest.Template{Script: script(h % reused)}
		if h%5 == 0 {
			tx := wire.NewMsgTx(2)
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: r.block(tb, h-3).Transactions[0].TxHash()}})
			tx.AddTxOut(wire.NewTxOut(1, script(1000+h)))
			template.Txs = []*wire.MsgTx{tx}
		}
		r.chain.Mine(template)
	}
	r.current.Set(r.chain)
	r.dir = filepath.Join(tb.TempDir(), "filters")
	store, err := segment.Open(segment.Options{Dir: r.dir, SegmentSize: 512, MakeLines: lines, RangeFilters: ranges})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close() })
	r.store = store
	r.indexer = r.sys.Spawn("indexer", indexer.New(indexer.Config{
		Store: store, Chain: r.current, Tip: new(ask.Feed[messages.TipChanged]),
		HeaderLen: func([]byte) int { return filters.HeaderLen }, Workers: 2, Log: r.sys.Log,
		OnFailed: func(err error) { tb.Error(err) },
	}), indexer.Requests...)
	if _, err := ask.Ask(
		tb.Context(), r.indexer, messages.WaitIndexed{Block: r.chain.Active().Tip().Hash},
	); err != nil {
		tb.Fatal(err)
	}
	// The check after the start must not mend what a test is about to damage.
	if _, err := ask.Ask(tb.Context(), r.indexer, messages.VerifyIndex{}); err != nil {
		tb.Fatal(err)
	}
	return r
}

func (r *rig) block(tb rapid.TB, height int) *wire.MsgBlock {
	tb.Helper()
	raw, err := r.chain.Raw(&r.chain.Active().At(int32(height)).Hash)
	if err != nil {
		tb.Fatal(err)
	}
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		tb.Fatal(err)
	}
	return &block
}

// options are what a test changes of a scanner.
type options struct {
	workers int                  // default 2
	source  match.Source         // default the rig's store
	indexer *ask.Ref             // default the rig's; another has no active chain yet
	indexed bool                 // but has it
	hook    func(at heights)     // called before filters are read
	fault   func(at heights) any // see hookedSource
	reader  chainview.Reader     // default the rig's chain
	news    *ask.Feed[messages.ScanChanged]
	name    string
	method  filters.Method
	way     match.Way
}

// spawn starts a scanner.
func (r *rig) spawn(o options) *ask.Ref {
	if o.workers == 0 {
		o.workers = 2
	}
	if o.source == nil {
		o.source = filter.NewSource(r.store)
	}
	if o.hook != nil || o.fault != nil {
		o.source = hookedSource{o.source, o.hook, o.fault}
	}
	if o.indexer == nil {
		o.indexer = r.indexer
	} else if !o.indexed {
		o.source = laggingSource{o.source}
	}
	current := r.current
	if o.reader != nil {
		current = new(chainview.Current)
		current.Set(o.reader)
	}
	return r.sys.Spawn("scanner"+o.name, scanner.New(scanner.Config{
		Scheduler: match.NewScheduler(match.SchedulerConfig{
			Source: o.source, Method: o.method, Way: o.way, Workers: o.workers,
			Repair: filter.RepairBy(o.indexer), Log: r.sys.Log,
		}),
		Chain: current, Indexer: o.indexer, News: o.news,
		HeaderLen: func([]byte) int { return filters.HeaderLen }, Log: r.sys.Log,
	}), scanner.Requests...)
}

// laggingSource has filters, but no active chain yet.
type laggingSource struct{ match.Source }

func (s laggingSource) View() match.View { return laggingView{s.Source.View()} }

type laggingView struct{ match.View }

func (laggingView) Active(int32, *chainhash.Hash) bool { return false }

// heights is a range that a worker reads: from included, to not.
type heights struct{ from, to int32 }

// hookedSource calls hook before each unit of a worker. Its fault injects a
// failure into a unit. An error fails the reading of its filters, a function
// changes the filters read, and a guardFault fails the matching.
type hookedSource struct {
	match.Source
	hook  func(heights)
	fault func(heights) any
}

func (s hookedSource) View() match.View { return &hookedView{View: s.Source.View(), source: s} }

type hookedView struct {
	match.View
	source hookedSource
	broken error // what Guard returns once
}

func (v *hookedView) Filters(from int32, active bool, dst []filters.Filter) error {
	at := heights{from, from + int32(len(dst))}
	if v.source.hook != nil {
		v.source.hook(at)
	}
	if err := v.View.Filters(from, active, dst); err != nil || v.source.fault == nil {
		return err
	}
	switch fault := v.source.fault(at).(type) {
	case error:
		return fault
	case func([]filters.Filter):
		fault(dst)
	case guardFault:
		v.broken = fault.err
	}
	return nil
}

// guardFault makes the next Guard of a view fail.
type guardFault struct{ err error }

func (v *hookedView) Guard(read func()) error {
	if err := v.broken; err != nil {
		v.broken = nil
		return err
	}
	return v.View.Guard(read)
}

// order is what a scan is asked for: the active chain's blocks by their heights.
type order struct {
	scripts     [][]byte
	from, to    int32
	checkBlocks bool
}

func (r *rig) request(slot messages.ScanSlot, o order) messages.RunScan {
	return messages.RunScan{
		Slot: slot.ID, Scripts: o.scripts, Start: o.from,
		Stop: r.chain.Active().At(o.to).Hash, CheckBlocks: o.checkBlocks,
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

// run reserves a slot and runs a scan.
func (r *rig) run(ctx context.Context, ref *ask.Ref, o order) (messages.ScanResult, error) {
	slot, err := ask.Ask(ctx, ref, messages.ReserveScan{})
	if err != nil {
		return messages.ScanResult{}, err
	}
	return ask.Ask(ctx, ref, r.request(slot, o))
}

type answer struct {
	result messages.ScanResult
	err    error
}

// begin runs a scan in the background, for a client that leaves with ctx.
func (r *rig) begin(ctx context.Context, tb testing.TB, ref *ask.Ref, o order) <-chan answer {
	tb.Helper()
	slot, err := ask.Ask(ctx, ref, messages.ReserveScan{})
	if err != nil {
		tb.Fatal(err)
	}
	q := r.request(slot, o)
	answers := make(chan answer, 1)
	go func() {
		result, err := ask.Ask(ctx, ref, q)
		answers <- answer{result, err}
	}()
	return answers
}

// expected returns the blocks that a scan has to find: those whose filter, as
// btcutil builds and matches it, has one of the scripts.
func (r *rig) expected(tb rapid.TB, o order) []chainhash.Hash {
	tb.Helper()
	var found []chainhash.Hash
	for h := o.from; h <= o.to && len(o.scripts) > 0; h++ {
		hash := r.chain.Active().At(h).Hash
		spent, err := r.chain.SpentScripts(&hash)
		if err != nil {
			tb.Fatal(err)
		}
		filter, err := builder.BuildBasicFilter(r.block(tb, int(h)), spent)
		if err != nil {
			tb.Fatal(err)
		}
		if matches(tb, filter, &hash, o.scripts) {
			found = append(found, hash)
		}
	}
	return found
}

func matches(tb rapid.TB, filter *gcs.Filter, block *chainhash.Hash, scripts [][]byte) bool {
	tb.Helper()
	hit, err := filter.ZipMatchAny(builder.DeriveKey(block), slices.Clone(scripts))
	if err != nil {
		tb.Fatal(err)
	}
	return hit
}

// check compares a result with what had to be found.
func (r *rig) check(tb rapid.TB, got answer, o order) {
	tb.Helper()
	want := r.expected(tb, o)
	if got.err != nil {
		tb.Errorf("scan failed: %v", got.err)
		return
	}
	if got.result.From != o.from || got.result.To != o.to || !got.result.Completed {
		tb.Errorf("scanned %d..%d, completed %v; want %d..%d", got.result.From, got.result.To, got.result.Completed, o.from, o.to)
	}
	if !slices.Equal(got.result.Blocks, want) {
		tb.Errorf("found %d blocks, want %d, or another order", len(got.result.Blocks), len(want))
	}
}
