package scanner

import (
	"context"
	"slices"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// A scan is one run over a pinned range of blocks. The actor starts and ends
// it; workers share what mu guards.
type scan struct {
	cfg     *Config
	ctx     context.Context //nolint:containedctx // ends the workers; a caller that leaves ends nothing
	cancel  context.CancelFunc
	reader  chainview.Reader
	first   int32            // height
	stop    *chainview.Block // last block
	scripts [][]byte
	check   bool           // look into the blocks that match
	query   *filters.Query // set by prepare

	// Used by the actor alone.
	running  int // workers that have not reported their end
	workers  []*ask.Worker
	repaired map[chainhash.Hash]bool

	mu   sync.Mutex
	next int32     // first height that was given to no worker
	busy []heights // given to a worker, and not done
	hits []matched // in the order they were found
}

// heights is a range of heights, from included, to not.
type heights struct{ from, to int32 }

func (h heights) empty() bool { return h.from >= h.to }

type matched struct {
	height int32
	block  chainhash.Hash
}

func newScan(cfg *Config, reader chainview.Reader, req *messages.RunScan, stop *chainview.Block) *scan {
	s := &scan{
		cfg: cfg, reader: reader, first: req.Start, stop: stop, next: req.Start,
		scripts: req.Scripts, check: req.CheckBlocks, repaired: make(map[chainhash.Hash]bool),
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// prepare makes the query, which takes a while for many scripts.
func (s *scan) prepare(c actor.Context) {
	s.spawn(c, func() any {
		s.query = filters.NewQuery(s.scripts)
		s.scripts = nil
		return prepared{s}
	})
}

// startWorker starts a worker, which matches the blocks of unit, if there are
// any, before it takes others.
func (s *scan) startWorker(c actor.Context, unit heights) {
	s.spawn(c, func() any {
		left, err := s.work(unit)
		return workerDone{s, left, err}
	})
}

func (s *scan) spawn(c actor.Context, work func() any) {
	s.running++
	s.workers = append(s.workers, ask.Go(c, work))
}

// drop waits for all workers, whose reports are lost.
func (s *scan) drop() {
	for _, w := range s.workers {
		w.Drop()
	}
}

// mayRepair reports whether a damaged filter has not been re-made before.
func (s *scan) mayRepair(damage *DamagedError) bool {
	if s.repaired[damage.Block] {
		return false
	}
	s.repaired[damage.Block] = true
	return true
}

// take gives a worker up to n blocks to match, none when nothing is left.
func (s *scan) take(n int32) heights {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := heights{s.next, min(s.next+n, s.stop.Height+1)}
	if r.empty() {
		return heights{}
	}
	s.next = r.to
	s.busy = append(s.busy, r)
	return r
}

// done notes that a range was matched.
func (s *scan) done(r heights, hits []matched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.busy, r)
	s.busy = slices.Delete(s.busy, at, at+1)
	s.hits = append(s.hits, hits...)
}

// frontier returns the first height that has not been matched; all before it
// have. The caller holds mu.
func (s *scan) frontier() int32 {
	f := s.next
	for _, r := range s.busy {
		f = min(f, r.from)
	}
	return f
}

// complete reports whether everything was matched.
func (s *scan) complete() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.frontier() > s.stop.Height
}

func (s *scan) status() messages.ScanStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	height := max(s.frontier()-1, s.first)
	progress := 100
	if total := s.stop.Height - s.first; total > 0 {
		progress = int(100 / float64(total) * float64(height-s.first))
	}
	return messages.ScanStatus{Running: true, Height: height, Progress: progress}
}

// result returns what was found below the frontier.
func (s *scan) result() messages.ScanResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	frontier := s.frontier()
	res := messages.ScanResult{
		From: s.first, To: max(frontier-1, s.first), Completed: frontier > s.stop.Height,
	}
	slices.SortFunc(s.hits, func(a, b matched) int { return int(a.height - b.height) })
	for _, hit := range s.hits {
		if hit.height < frontier {
			res.Blocks = append(res.Blocks, hit.block)
		}
	}
	return res
}
