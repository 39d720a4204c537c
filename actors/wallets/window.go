package wallets

import (
	"context"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// nextWindow pins the next window, or ends the rescan.
func (s *rescans) nextWindow(c actor.Context) {
	r := s.now
	r.reader = s.cfg.Chain.Open()
	tip := s.of.at(r.reader)
	if r.end != nil {
		r.next = max(min(r.next, tip.ForkHeight(r.end)+1), r.from)
	}
	r.last = tip.Height
	if r.stop != nil {
		r.last = min(r.last, *r.stop)
	}
	s.noteScripts()
	for r.next > r.pass.last(r.last) || r.ctx.Err() != nil {
		if r.ctx.Err() != nil || !s.nextPass() {
			s.end(c)
			return
		}
	}
	r.end = tip.Ancestor(min(r.next+s.cfg.window-1, r.pass.last(r.last)))
	r.active = r.reader.Active()
	r.candidates, r.withoutFilters = nil, false
	s.report(c)
	s.fillWindow(c)
}

// noteScripts notes that the wallet has got scripts since a window was matched, by news
// of the tip or the pool. The blocks below the next height were not tested with these
// scripts.
func (s *rescans) noteScripts() {
	r := s.now
	if n := len(s.of.scripts()); n > r.scripts {
		r.pass.grown(r.next)
		r.scripts = n
	}
}

// nextPass begins the next pass, if there has to be one.
func (s *rescans) nextPass() bool {
	r := s.now
	if !r.pass.next(r.from, r.next, r.scripts) {
		return false
	}
	r.next, r.end = r.from, nil
	return true
}

// fillWindow finds the blocks of a window that are to be read.
func (s *rescans) fillWindow(c actor.Context) {
	r := s.now
	if s.cfg.Scheduler == nil {
		s.readAll(c)
		return
	}
	ctx, cancel := context.WithTimeout(r.ctx, indexWait)
	ask.Then(ctx, c, s.cfg.Indexer, messages.WaitIndexed{Block: r.end.Hash},
		func(_ messages.Done, err error) any {
			cancel()
			return windowReady{r, err}
		})
}

func (s *rescans) windowReady(c actor.Context, err error) {
	if err != nil {
		s.withoutFilters(c, err)
		return
	}
	s.noteScripts()
	r := s.now
	s.startMatch(c, r.next, s.of.scripts()[r.pass.known:])
}

// withoutFilters reads what is left of a window block by block.
func (s *rescans) withoutFilters(c actor.Context, err error) {
	s.cfg.Log.Info("block filters missing, rescan reads the blocks", "wallet", s.label(), "err", err)
	s.now.matching = nil
	s.readAll(c)
}

// readAll has all blocks of a window read, from the next on.
func (s *rescans) readAll(c actor.Context) {
	r := s.now
	r.withoutFilters = true
	r.candidates = make([]*chainview.Block, max(r.end.Height-r.next+1, 0))
	for b, i := r.end, len(r.candidates)-1; i >= 0; b, i = b.Parent, i-1 {
		r.candidates[i] = b
	}
	s.read(c)
}

// startMatch matches the filters of the window from a height on.
func (s *rescans) startMatch(c actor.Context, from int32, scripts [][]byte) {
	r := s.now
	end, scheduler := r.end, s.cfg.Scheduler
	r.spawn(c, func() any {
		pass := scheduler.NewPass(match.Config{
			Query: filters.NewQuery(scripts), First: from, Stop: end, Exact: true,
		})
		return passReady{r, pass}
	})
}

func (r *rescan) spawn(c actor.Context, work func() any) {
	if r.running == 0 {
		r.workers = r.workers[:0]
	}
	r.running++
	r.workers = append(r.workers, ask.Go(c, work))
}

func (s *rescans) passReady(c actor.Context, pass *match.Pass) {
	r, scheduler := s.now, s.cfg.Scheduler
	r.matching = pass
	r.spawn(c, func() any { return passDone{pass, r, scheduler.Run(r.ctx, pass)} })
}

func (s *rescans) passDone(c actor.Context, m passDone) {
	r := s.now
	switch {
	case m.pass != r.matching || r.ctx.Err() != nil: // an abort has a message of its own
		return
	case m.err != nil:
		s.withoutFilters(c, m.err)
		return
	}
	r.matching = nil
	hits, _ := m.pass.Hits()
	for _, hit := range hits {
		r.candidates = append(r.candidates, r.end.Ancestor(hit.Height))
	}
	slices.SortFunc(r.candidates, func(a, b *chainview.Block) int { return int(a.Height - b.Height) })
	r.candidates = slices.CompactFunc(r.candidates, (*chainview.Block).Is)
	s.read(c)
}
