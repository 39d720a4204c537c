package searches

import (
	"context"
	"errors"
	"time"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// ended takes what a round has found.
func (s planner) ended(p *pass, took time.Duration, err error) {
	r := p.round
	s.rounds.running, s.rounds.ended = nil, time.Now()
	s.rounds.mergedQueries.used(p.mergedQuery)
	r.cancel()
	switch {
	case err == nil:
		s.resize(r, took-p.built)
		for _, m := range r.members {
			m.alone = false
			s.advance(r, m)
		}
	case errors.Is(err, errHeavy):
		s.lighten(p)
	case !errors.Is(err, context.Canceled):
		s.failed(r, err)
	}
	s.flush()
	s.plan()
}

// resize sets the size of the next rounds by the time that a round took and the entries that it found.
func (s planner) resize(r *round, took time.Duration) {
	found := 0
	for _, m := range r.members {
		found += len(m.found)
	}
	if s.rounds.batchSize > 0 && found < maxWeight/2 {
		if s.rounds.batchSize *= 2; s.rounds.batchSize > len(s.jobs) {
			s.rounds.batchSize = 0
		}
	}
	s.rounds.budget.note(r.stop.Height-r.base.Height, r.scripts(), took, found)
}

// lighten makes the next rounds smaller, in proportion to how much a round had found before it was ended. They are of
// fewer blocks, or for fewer searches at a time if that round had a single block.
func (s planner) lighten(p *pass) {
	r := p.round
	n := r.stop.Height - r.base.Height
	if n == 1 {
		s.rounds.batchSize = max(len(r.members)*maxWeight/p.weight, 1)
		return
	}
	s.rounds.budget.lower(min(int32(p.blocks*maxWeight/2/p.weight), n-1), r.scripts())
}

// advance takes what a round has found for a search, if that is where it was.
func (s planner) advance(r *round, m *member) {
	j := m.job
	if !s.wants(r, m) {
		return
	}
	j.known, j.lacks = m.known, ""
	if m.err != nil {
		s.failOf(j, m.err)
		return
	}
	at := r.stop
	if m.last.Height < at.Height {
		at = m.last
	}
	if !s.hasRoom(j, m.found) {
		return
	}
	var sequence uint32
	for i := range m.found {
		if sequence++; i == 0 || m.found[i].Height != m.found[i-1].Height {
			sequence = 0
		}
		s.writer.change.Entries = append(s.writer.change.Entries, searchdb.Entry{
			ID: j.ID, Entry: m.found[i],
			Place: searchdb.Place{
				Epoch: j.Status.Epoch, Block: true, Height: uint32(m.found[i].Height), Sequence: sequence,
			},
		})
	}
	usage(s).noteUsed(j, m.used)
	j.Status.Advance(blockOf(at), m.found, j.counted.has)
	s.count(j, m.found)
	s.found += uint64(len(m.found))
	switch {
	case j.follows():
		s.writer.urgent = s.writer.urgent || at.Height == s.tipHeight()
	case j.Status.Next() > m.last.Height && len(j.lacking()) == 0:
		s.end(j, searchdb.Done, "")
	}
	s.dirty(j)
}

// hasRoom pauses a search that would find more entries than all may have.
func (s planner) hasRoom(j *job, found []search.Entry) bool {
	if limit := s.cfg.Limits.Entries; limit > 0 && len(found) > 0 && s.found+uint64(len(found)) > limit {
		err := messages.SearchLimitError{Option: "-searchentries"}
		s.end(j, searchdb.Paused, err.Error())
		return false
	}
	return true
}

// failed deals with a round that could not be ended.
func (s planner) failed(r *round, err error) {
	if errors.Is(err, chainview.ErrClosed) || errors.Is(err, chainview.ErrNotReady) || errors.Is(
		err, chainview.ErrNotYet,
	) {
		for _, m := range r.members {
			m.awaits = true
		}
		s.after(lookAgain, indexed{})
		return
	}
	if len(r.members) == 1 {
		if s.cfg.Fetch != nil && errors.Is(err, chainview.ErrPruned) {
			s.lack(r.members[0].job, err)
			return
		}
		s.failOf(r.members[0].job, err)
		return
	}
	for _, m := range r.members { // only those fail that need what failed
		m.alone = true
	}
}

// fetchAgain is when a block that no peer has given is asked for again.
const fetchAgain = 10 * time.Second

// askAgain has the actor ask again for what searches lack.
type askAgain struct{}

// lack has a search pause until a peer gives a block that was pruned: at a start there are none yet, and at a stop none
// any more.
func (s planner) lack(j *job, err error) {
	if j.lacks == "" {
		s.cfg.Log.Warn("a search waits for a pruned block", "search", j.ID.String(), "err", err)
		j.lacks = reasonOf(err) + ": no peer has given it"
		s.dirty(j)
		s.writer.urgent = true
	}
	j.awaits = true
	if !s.rounds.asking {
		s.rounds.asking = true
		s.after(fetchAgain, askAgain{})
	}
}

// askAgain has those go on that have waited for a block.
func (s planner) askAgain() {
	s.rounds.asking = false
	for _, j := range s.jobs {
		if j.lacks != "" {
			j.awaits = false
		}
	}
	s.plan()
}

func (s planner) failOf(j *job, err error) {
	s.cfg.Log.Warn("a search has failed", "search", j.ID.String(), "err", err)
	s.end(j, searchdb.Failed, reasonOf(err))
}

// reasonOf returns the words for an error that clients of the search are shown.
func reasonOf(err error) string {
	if lost, ok := errors.AsType[*match.LostError](err); ok {
		return (&messages.FilterError{Block: lost.Block, Err: lost.Err}).Error()
	}
	kind := "Block"
	if errors.Is(err, chainview.ErrUndo) {
		kind = "Undo data"
	}
	if errors.Is(err, chainview.ErrPruned) {
		return kind + " not available (pruned data)"
	}
	if kind == "Block" {
		return "Block not found on disk"
	}
	return "Undo data can't be read from disk"
}
