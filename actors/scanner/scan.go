package scanner

import (
	"context"
	"errors"
	"sync"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// A scan is one run over a pinned range of blocks. The actor starts and ends
// it.
type scan struct {
	cfg         *Config
	ctx         context.Context //nolint:containedctx // ends the workers; a caller that leaves ends nothing
	cancel      context.CancelFunc
	reader      chainview.Reader
	first       int32              // height
	stop        *chainview.Block   // last block
	scripts     [][]byte           // nil once the query is made
	set         messages.ScriptSet // instead of scripts; nil: none
	check       bool               // look into the blocks that match
	uses        *uses              // takes notes of scripts in blocks; nil: none are wanted
	number      int                // see [messages.RunScan.Pass]
	part        messages.ScanPart
	pass        *match.Pass // set by makePass
	buffers     sync.Pool   // of memory that blocks are read into
	undisclosed undisclosed

	// Used by the actor alone.
	asked   int  // how often the indexer was asked for the filters
	ready   bool // the pass is prepared
	workers ask.Tasks
}

func newScan(cfg *Config, reader chainview.Reader, req *messages.RunScan, stop *chainview.Block) *scan {
	s := &scan{
		cfg: cfg, reader: reader, first: req.Start, stop: stop,
		scripts: req.Scripts, set: req.Set, check: req.CheckBlocks, number: req.Pass, part: req.Part,
		buffers: sync.Pool{New: func() any { return new([]byte) }},
	}
	if req.Uses {
		s.uses = new(uses)
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// fewScripts is up to how many scripts the actor itself makes the query: in less
// time than a worker takes to start.
const fewScripts = 64

// prepare makes the pass in a worker, for many scripts, and calls back.
func (s *scan) prepare(c actor.Context, then func()) {
	s.workers.Go(c, func() func() {
		s.makePass()
		return then
	})
}

// isLarge reports whether it takes a worker to make the query.
func (s *scan) isLarge() bool {
	if s.set == nil {
		return len(s.scripts) > fewScripts
	}
	_, ready := s.set.(*filters.Query)
	return !ready && s.set.Len() > fewScripts
}

// makeQuery returns the query, and releases the scripts that it is made of.
func (s *scan) makeQuery() *filters.Query {
	defer func() { s.scripts, s.set = nil, nil }()
	switch set := s.set.(type) {
	case nil:
		return filters.NewQuery(s.scripts)
	case *filters.Query:
		return set
	default:
		b := filters.NewQueryBuilder(set.Len())
		for script := range set.Scripts() {
			b.Add(script)
		}
		return b.Query()
	}
}

// makePass makes the query and the pass.
func (s *scan) makePass() {
	query := s.makeQuery()
	cfg := match.Config{Query: query, First: s.first, Stop: s.stop}
	if s.check {
		cfg.Exact, cfg.Blocks = true, &match.Blocks{Reader: s.reader, HeaderLen: s.cfg.HeaderLen}
		cfg.Keep = func(ctx context.Context, block *chainhash.Hash) (bool, error) {
			return s.inBlock(ctx, query, block)
		}
		cfg.KeepAll = s.uses != nil
	}
	s.pass = s.cfg.Scheduler.NewPass(cfg)
}

// inBlock tells a true match from a false match.
func (s *scan) inBlock(ctx context.Context, q *filters.Query, block *chainhash.Hash) (bool, error) {
	buf := s.buffers.Get().(*[]byte)
	defer s.buffers.Put(buf)
	raw, err := chainview.RawInto(s.reader, buf, block)
	var spent [][]byte
	if err == nil {
		spent, err = s.reader.SpentScripts(block)
	}
	if errors.Is(err, chainview.ErrPruned) && s.cfg.Fetch != nil {
		return s.inPruned(ctx, q, block)
	}
	if err != nil {
		return false, err
	}
	if s.uses != nil {
		return s.uses.note(q, block, raw, s.cfg.HeaderLen(raw), spent)
	}
	return q.InBlock(raw, s.cfg.HeaderLen(raw), spent)
}

// match matches the filters in a worker, which the scheduler gives company. It calls back with the reason why some
// were not matched, nil: there is none.
func (s *scan) match(c actor.Context, then func(error)) {
	s.workers.Go(c, func() func() {
		err := s.cfg.Scheduler.Run(s.ctx, s.pass)
		return func() { then(err) }
	})
}

// frontier returns the first height that has not been matched.
func (s *scan) frontier() int32 {
	if !s.ready {
		return s.first
	}
	return s.pass.Frontier()
}

func (s *scan) status() messages.ScanStatus {
	height := max(s.frontier()-1, s.first)
	done := 100.0
	if total := s.stop.Height - s.first; total > 0 {
		done = 100 / float64(total) * float64(height-s.first)
	}
	return messages.ScanStatus{Running: true, Height: height, Progress: s.part.Percent(done), Pass: s.number}
}

// result returns what was found below the frontier.
func (s *scan) result() messages.ScanResult {
	if !s.ready {
		return messages.ScanResult{From: s.first, To: s.first}
	}
	hits, frontier := s.pass.Hits()
	res := messages.ScanResult{
		From: s.first, To: max(frontier-1, s.first), Completed: frontier > s.stop.Height,
	}
	for _, hit := range hits {
		res.Blocks = append(res.Blocks, hit.Block)
		if s.uses != nil {
			res.Uses = append(res.Uses, s.uses.of(&hit.Block))
		}
	}
	return res
}
