package chainrpc_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/chainrpc"
)

// A rig is the methods over a chain in memory, with probes for the actors.
type rig struct {
	t     *testing.T
	sys   *actortest.System
	net   *dialect.Network
	chain *chaintest.Chain
	deps  chainrpc.Deps
	now   time.Time
	table *command.Table

	actor, indexer, scanner *actortest.Probe
	filters                 *filterIndex
}

func newRig(t *testing.T, network string) *rig {
	t.Helper()
	net, err := dialect.Bitcoin(network)
	if err != nil {
		t.Fatal(err)
	}
	sys := actortest.New(t)
	r := &rig{
		t: t, sys: sys, net: net, chain: chaintest.New(net.Params),
		actor: sys.Probe("chain"), indexer: sys.Probe("indexer"), scanner: sys.Probe("scanner"),
	}
	r.now = r.chain.Active().Tip().Time().AddDate(10, 0, 0) // in initial download
	r.filters = &filterIndex{chain: r.chain, headerLen: net.HeaderLen, made: map[chainhash.Hash]madeFilter{}}
	current := new(chainview.Current)
	current.Set(r.chain)
	r.deps = chainrpc.Deps{
		Network: net, Chain: current, Actor: r.actor.Ref,
		Index: &chainrpc.Index{Filters: r.filters, Indexer: r.indexer.Ref, Scanner: r.scanner.Ref},
		Now:   func() time.Time { return r.now },
		Initial: chainview.NewInitialDownload(
			current, net.MinimumChainWork, 0, func() time.Time { return r.now }, func() {},
		),
	}
	r.build()
	return r
}

// build makes the table anew, after a change of deps.
func (r *rig) build() {
	r.t.Helper()
	table, err := command.NewTable(chainrpc.Commands(r.deps))
	if err != nil {
		r.t.Fatal(err)
	}
	r.table = table.Speak(r.net.Reference)
}

// call returns the text of a result, or "code message" of an error.
func (r *rig) call(method, params string) string {
	r.t.Helper()
	v, err := jsontree.Parse([]byte(params))
	if err != nil {
		r.t.Fatalf("%s: %v", params, err)
	}
	return r.run(r.t.Context(), method, v)
}

func (r *rig) run(ctx context.Context, method string, params *jsontree.Value) string {
	var result any
	call, err := r.table.Prepare(command.Caller{}, method, params)
	if err == nil {
		result, err = call.Run(ctx)
	}
	if err != nil {
		e, known := r.table.Reveal(err)
		if !known {
			r.t.Errorf("%s %v: error without words: %v", method, params, err)
		}
		return fmt.Sprintf("%d %s", e.Code, e.Message)
	}
	text, err := jsontree.Append(nil, result)
	if err != nil {
		r.t.Errorf("%s %v: %v", method, params, err)
	}
	return string(text)
}

// start makes a call in the background, for a test that plays an actor.
func (r *rig) start(method, params string) <-chan string {
	done := make(chan string, 1)
	v, err := jsontree.Parse([]byte(params))
	if err != nil {
		r.t.Fatalf("%s: %v", params, err)
	}
	go func() { done <- r.run(r.t.Context(), method, v) }()
	return done
}

// filterIndex makes each filter when it is first asked for. One goroutine uses
// it at a time.
type filterIndex struct {
	chain     *chaintest.Chain
	headerLen func([]byte) int
	builder   filters.Builder
	made      map[chainhash.Hash]madeFilter
	err       error // if set, what every read fails with
}

type madeFilter struct {
	filter []byte
	header chainhash.Hash
}

func (x *filterIndex) Filter(_ context.Context, hash *chainhash.Hash) ([]byte, chainhash.Hash, error) {
	if x.err != nil {
		return nil, chainhash.Hash{}, x.err
	}
	made, err := x.make(x.chain.Lookup(hash))
	return made.filter, made.header, err
}

func (x *filterIndex) Headers(blocks []chainhash.Hash) (headers []chainhash.Hash, err error) {
	for i := range blocks {
		if x.err != nil {
			return nil, x.err
		}
		made, err := x.make(x.chain.Lookup(&blocks[i]))
		if err != nil {
			return nil, err
		}
		headers = append(headers, made.header)
	}
	return headers, nil
}

func (x *filterIndex) make(b *chainview.Block) (made madeFilter, err error) {
	if made, ok := x.made[b.Hash]; ok {
		return made, nil
	}
	if b.Parent != nil {
		below, err := x.make(b.Parent)
		if err != nil {
			return made, err
		}
		made.header = below.header
	}
	raw, err := x.chain.Raw(&b.Hash)
	if err != nil {
		return made, index.ErrNoFilter
	}
	spent, err := x.chain.SpentScripts(&b.Hash)
	if err != nil {
		return made, err
	}
	if made.filter, err = x.builder.BuildBlock(&b.Hash, raw, x.headerLen(raw), spent); err != nil {
		return made, err
	}
	hash := filters.Hash(made.filter)
	made.header = filters.Header(&hash, &made.header)
	x.made[b.Hash] = made
	return made, nil
}

// simulate puts actors that serve everything at once in the place of the
// probes: an index in step with the chain, a scanner without workers.
func (r *rig) simulate() {
	r.t.Helper()
	r.deps.Index.Indexer = r.sys.Spawn("index", func() actor.Actor { return actor.ReceiveFunc(r.index) })
	r.deps.Index.Scanner = r.sys.Spawn("scan", func() actor.Actor { return actor.ReceiveFunc(r.scan) })
	r.deps.Actor = r.sys.Spawn("owner", func() actor.Actor { return actor.ReceiveFunc(own) })
	r.build()
}

func own(c actor.Context) {
	if m, ok := c.Message().(*ask.Call[messages.GetImportStatus, messages.ImportStatus]); ok {
		m.Answer(messages.ImportStatus{}, nil)
	}
}

func (r *rig) index(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.GetIndexStatus, messages.IndexStatus]:
		tip := r.chain.Active().Tip()
		m.Answer(messages.IndexStatus{Synced: true, Height: tip.Height, Hash: tip.Hash}, nil)
	case *ask.Call[messages.WaitIndexIdle, messages.Done]:
		m.Answer(messages.Done{}, nil)
	}
}

func (r *rig) scan(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.ReserveScan, messages.ScanSlot]:
		m.Answer(messages.ScanSlot{ID: 1}, nil)
	case *ask.Call[messages.ReleaseScan, messages.Done]:
		m.Answer(messages.Done{}, nil)
	case *ask.Call[messages.ReportScan, messages.Done]:
		m.Answer(messages.Done{}, nil)
	case *ask.Call[messages.GetScanStatus, messages.ScanStatus]:
		m.Answer(messages.ScanStatus{}, nil)
	case *ask.Call[messages.AbortScan, bool]:
		m.Answer(false, nil)
	case *ask.Call[messages.RunScan, messages.ScanResult]:
		m.Answer(r.match(&m.Req))
	}
}

// match carries out a whole scan.
func (r *rig) match(q *messages.RunScan) (messages.ScanResult, error) {
	stop := r.chain.Lookup(&q.Stop)
	result := messages.ScanResult{From: q.Start, To: stop.Height, Completed: true}
	query := q.Set.(*filters.Query)
	var batch []filters.Filter
	for height := q.Start; height <= stop.Height; height++ {
		b := stop.Ancestor(height)
		made, err := r.filters.make(b)
		if err != nil {
			return result, err
		}
		batch = append(batch, filters.Filter{Block: b.Hash, Data: made.filter})
	}
	hits := make([]bool, len(batch))
	if err := filters.NewMatcher(query).Match(batch, hits); err != nil {
		return result, err
	}
	for i, hit := range hits {
		hash := &batch[i].Block
		if hit && q.CheckBlocks {
			raw, _ := r.chain.Raw(hash)
			spent, _ := r.chain.SpentScripts(hash)
			var err error
			if hit, err = query.InBlock(raw, r.net.HeaderLen(raw), spent); err != nil {
				return result, err
			}
		}
		if hit {
			result.Blocks = append(result.Blocks, *hash)
		}
	}
	return result, nil
}
