// Package match looks for scripts in the block filters of a range of blocks, on
// as many cores as there are workers.
//
// A [Pass] hands units to the callers of [Pass.Work]. A unit takes about a
// millisecond, or longer where nearly nothing is to be looked for. Thus a pass ends
// soon after it is told to, and others get to run. A pass does not know where filters
// are stored: a damaged filter ends a worker with a [*DamagedError].
//
// With very many scripts a pass may look into the blocks themselves instead of matching their
// filters, see [Blocks].
//
// A [Scheduler], of which a node has one, starts the workers of all passes, gives the
// passes their turns, and has damaged filters made again.
package match

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
)

// A Source gives the stored filters.
type Source interface {
	// View pins the filters that are stored now.
	View() View
}

// A View reads filters for one worker.
type View interface {
	// Active reports whether a block, and so its ancestors, are of the chain of
	// which Filters knows the blocks itself.
	Active(height int32, block *chainhash.Hash) bool

	// Filters sets filters of consecutive heights from the given one on, whatever
	// they were: those of the active chain's blocks, or else of the Blocks that
	// they have. An error is a [*DamagedError] where the filter can be re-made.
	Filters(from int32, active bool, dst []filters.Filter) error

	// Restrict returns the scripts of a query that may occur in the blocks of the active chain from
	// a height on, and the height up to which this holds, not included. Where nothing is known it
	// returns q itself and any height. Scripts that a filter matches but no block has may be
	// missing.
	Restrict(height int32, q *filters.Query) (sub *filters.Query, to int32)

	// RangeEnd returns the height up to which Restrict's answer at a height holds;
	// the height itself where nothing is known.
	RangeEnd(height int32) int32

	// Stale is notified of a block whose filter has probe lines that cannot be used.
	Stale(block *chainhash.Hash)

	// Guard runs read, which reads bytes that Filters returned, and turns a
	// fault of the memory behind them into an error.
	Guard(read func()) error

	// Release ends the validity of the bytes that Filters returned.
	Release()
}

// DamagedError is a stored filter that cannot be read, and may be re-made.
type DamagedError struct {
	Block chainhash.Hash
	Err   error
}

// Error implements error.
func (e *DamagedError) Error() string { return fmt.Sprintf("filter of block %v: %v", e.Block, e.Err) }

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// Heights is a range of heights, From included, To not.
type Heights struct{ From, To int32 }

// Empty reports whether no height is in the range.
func (h Heights) Empty() bool { return h.From >= h.To }

// A Hit is a block whose filter matches.
type Hit struct {
	Height int32
	Block  chainhash.Hash
}

// Config says what a [Pass] looks for, and where.
type Config struct {
	Source Source // this and Method are the scheduler's for a pass of [Scheduler.NewPass]
	Query  *filters.Query
	Method filters.Method   // by which filters are matched
	First  int32            // height
	Stop   *chainview.Block // last block; those before it are its ancestors

	// Keep, where there is one, decides whether a block whose filter matches
	// is a hit. It is called by the workers. It waits for nothing but within [Outside].
	Keep func(ctx context.Context, block *chainhash.Hash) (bool, error)

	// KeepAll has Keep called for every hit, also for a hit that the block
	// itself has shown: Keep takes notes of hits.
	KeepAll bool

	// Exact says that hits are looked into, by Keep or afterwards, so that
	// blocks that surely have none of the scripts need not be among them.
	Exact bool

	// Blocks, where there are some, may be looked into without their filters, where that takes less
	// time. It goes with Exact and Keep, and changes neither hits nor errors.
	Blocks *Blocks
	Way    Way // auto but in tests and measurements; the scheduler's for a pass of [Scheduler.NewPass]

	// Alone says that no heights are leased to others: the pass is for somebody else.
	Alone bool
}

// A Pass is one run over a range of blocks. It is safe for concurrent use.
type Pass struct {
	Config

	mu       sync.Mutex
	next     int32     // first height that was given to no worker
	inFlight []Heights // given to a worker, and not done
	hits     []Hit     // in the order they were found
	prefetch prefetch
	leases   leases
	paces    paces

	counted *atomic.Uint64 // counts filters, of all passes of a scheduler
}

// New returns a pass, of which nothing is done.
func New(cfg Config) *Pass { return &Pass{Config: cfg, next: cfg.First, counted: new(atomic.Uint64)} }

// Workers returns how many of n workers find something to do at first.
func (p *Pass) Workers(n int) int {
	units := (int(p.Stop.Height) - int(p.First) + firstUnit) / firstUnit
	return max(min(n, units), 1)
}

// Work matches the given unit, if it is not empty, and then others until nothing
// is left or ctx ends. On an error it returns the unit that it could not match.
// This unit counts as not done, and waits for a call whose view is younger than
// the repair.
func (p *Pass) Work(ctx context.Context, unit Heights) (left Heights, err error) {
	return newWorker(ctx, p).run(unit)
}

// takeUpTo gives a worker the next blocks to match, up to the height, not
// included, that end returns for the first of them, which is above it; none when
// nothing is left.
func (p *Pass) takeUpTo(end func(from int32) int32) Heights {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.leases.reserved {
		return Heights{}
	}
	r := p.take(end)
	if !r.Empty() {
		p.inFlight = append(p.inFlight, r)
	}
	return r
}

// done notes that a range was matched.
func (p *Pass) done(r Heights, hits []Hit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.Index(p.inFlight, r)
	p.inFlight = slices.Delete(p.inFlight, at, at+1)
	p.hits = append(p.hits, hits...)
}

// Frontier returns the first height that has not been matched; all before it
// have.
func (p *Pass) Frontier() int32 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frontier()
}

// frontier is Frontier for callers that hold mu.
func (p *Pass) frontier() int32 {
	f := p.next
	for _, list := range [][]Heights{p.inFlight, p.leases.leased, p.leases.back} {
		for _, r := range list {
			f = min(f, r.From)
		}
	}
	return f
}

// Complete reports whether everything was matched.
func (p *Pass) Complete() bool { return p.Frontier() > p.Stop.Height }

// Hits returns what was found below the frontier, in ascending height, and the
// frontier.
func (p *Pass) Hits() (hits []Hit, frontier int32) {
	p.mu.Lock()
	defer p.mu.Unlock()
	frontier = p.frontier()
	for _, hit := range p.hits {
		if hit.Height < frontier {
			hits = append(hits, hit)
		}
	}
	slices.SortFunc(hits, func(a, b Hit) int { return int(a.Height - b.Height) })
	return hits, frontier
}
