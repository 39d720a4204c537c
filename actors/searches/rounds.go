package searches

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

const (
	// catchUp is how many rounds in a row may be of the lowest searches, so that they come
	// up with the others and share their rounds. Then the search that has waited longest
	// has its turn.
	catchUp = 3

	// lookAgain is when to look again at what could not be done.
	lookAgain = time.Second
)

// rounds is which round runs.
type rounds struct {
	running       *round
	number        uint64        // of the last
	lowest        int           // rounds in a row that were of the lowest
	budget        budget        // of the next
	batchSize     int           // members of it at most, where a block has much for each; 0: any number
	mergedQueries mergedQueries // of the last rounds
	looking       bool          // the actor will look again
	asking        bool          // the actor will ask again for what searches lack
	ended         time.Time

	// indexed is the last block up to which the indexer reported filters. Filters of a branch
	// that has left the chain are there as well, but a view does not report them.
	indexed chainhash.Hash

	pacing bool // the actor will begin a round that has waited for the store

	batching batching
	timer    bool // the actor will ask again whether it has to wait
}

// leave has the running round end where no search wants it any more. The other searches keep
// its results: a client that changes searches again and again does not hold them up.
func (s *Searches) leave() {
	r := s.rounds.running
	if r == nil || slices.ContainsFunc(r.members, func(m *member) bool { return planner{s}.wants(r, m) }) {
		return
	}
	r.cancel()
}

// wants reports whether a search still runs from the block before the round, with the same
// scripts.
func (s planner) wants(r *round, m *member) bool {
	j := m.job
	return s.jobs[j.ID] == j && j.Status.Mode == searchdb.Running && j.Status.Done == r.base &&
		len(j.Scripts) == len(m.scripts)
}

// round is one pass over a range of blocks.
type round struct {
	number  uint64
	base    search.Block     // before the first
	stop    *chainview.Block // last
	members []*member
	cancel  context.CancelFunc
}

// small reports whether a round cannot be made smaller.
func (r *round) small() bool { return r.stop.Height == r.base.Height+1 && len(r.members) == 1 }

// member is a search in a round, as it was when that began.
type member struct {
	*job
	objects []searchdb.Object
	scripts []searchdb.Script
	from    int32       // from which on blocks were looked at for all scripts
	ranges  [][2]uint32 // of the scripts that are looked for
	to      int32       // height up to which these ranges are looked for
	last    *chainview.Block
	known   *outputs       // of the search, while the round goes on; nil: not read yet
	found   []search.Entry // with its own numbers of scripts
	used    searchdb.Used  // what was found for
	err     error
}

// count returns how many scripts are looked for.
func (m *member) count() (n int) {
	for _, r := range m.ranges {
		n += int(r[1] - r[0])
	}
	return n
}

// scripts returns how many scripts a round looks for.
func (r *round) scripts() (n int) {
	for _, m := range r.members {
		n += m.count()
	}
	return n
}

// planner is what the actor does for rounds.
type planner struct{ *Searches }

func (s *Searches) plan() { planner{s}.plan() }

// plan starts the next round, if there is something to do.
func (s planner) plan() {
	if !s.loaded || s.rounds.running != nil || s.down || len(s.writer.change.Entries) > maxPending {
		return
	}
	if s.cfg.Fetch != nil && (s.writer.running || len(s.writer.change.Entries) > 0) {
		return // what was found is read, where a pruned block spends it
	}
	batches := s.batches()
	if s.paces(s.cfg.Store.Lag()) {
		return
	}
	reader := s.cfg.Chain.Open()
	if reader == nil {
		s.lookLater()
		return
	}
	active := reader.Active()
	var ready []*member
	for _, j := range s.jobs {
		if m := s.next(reader, active, j); m != nil && (j.served == 0 || !batches) {
			ready = append(ready, m)
		}
	}
	s.flush()
	if len(ready) == 0 || s.pausesAll() {
		return
	}
	s.start(reader, s.together(s.choose(ready), ready))
}

// next returns what a search needs next, nil where that is nothing now. It takes back blocks
// that have left the chain of a search that follows.
func (s planner) next(reader chainview.Reader, active *chainview.Chain, j *job) *member {
	if j.Status.Mode != searchdb.Running || j.awaits || j.counting {
		return nil
	}
	usage(s).widen(j)
	last := active.Tip()
	if j.follows() {
		if !s.disconnect(reader, active, j) {
			return nil
		}
	} else if last = reader.Lookup(&j.StopBlock); last == nil {
		s.end(j, searchdb.Failed, fmt.Sprintf("Block %v is not known any more", j.StopBlock))
		return nil
	}
	if j.Status.Next() > last.Height {
		if !j.follows() && len(j.lacking()) == 0 {
			s.end(j, searchdb.Done, "")
		}
		return nil
	}
	if s.recounts(j) {
		return nil
	}
	ranges, to := j.Status.Wanted(uint32(len(j.Scripts)))
	return &member{
		job: j, objects: j.Objects, scripts: j.Scripts, from: j.Status.From, ranges: ranges, to: to, last: last,
		known: j.known, used: searchdb.Used{},
	}
}

// disconnect takes back the blocks of a search that have left the active chain. It is false
// where it fails.
func (s planner) disconnect(reader chainview.Reader, active *chainview.Chain, j *job) bool {
	top := j.Status.Top
	if top.Height < 0 {
		return true
	}
	if b := active.At(top.Height); b != nil && b.Hash == top.Hash {
		return true
	}
	at := reader.Lookup(&top.Hash)
	if at == nil {
		s.end(j, searchdb.Failed, fmt.Sprintf("Block %v is not known any more", top.Hash))
		return false
	}
	fork := active.ForkHeight(at)
	var left []search.Block
	times := map[int32]uint32{}
	for b := range at.Above(fork) {
		left = append(left, blockOf(b))
		times[b.Height] = uint32(b.Time().Unix())
	}
	found := j.Status.Disconnect(blockOf(active.At(fork)), left)
	for i := range found {
		found[i].Time = times[found[i].Height]
		s.writer.change.Entries = append(s.writer.change.Entries, searchdb.Entry{
			ID: j.ID, Place: searchdb.Place{Epoch: j.Status.Epoch, Height: uint32(i)}, Entry: found[i],
		})
	}
	s.found += uint64(len(found))
	j.known = nil
	j.counted.cut(fork)
	s.dirty(j)
	return true
}

func blockOf(b *chainview.Block) search.Block { return search.Block{Height: b.Height, Hash: b.Hash} }

// choose returns the member whose turn it is: mostly the lowest, so that searches at
// different heights come together, but now and then the member that has waited longest.
func (s planner) choose(ready []*member) *member {
	lowest, longest := ready[0], ready[0]
	for _, m := range ready[1:] {
		if m.Status.Next() < lowest.Status.Next() {
			lowest = m
		}
		if m.served < longest.served {
			longest = m
		}
	}
	if longest.served > 0 && s.rounds.lowest < catchUp {
		s.rounds.lowest++
		return lowest
	}
	s.rounds.lowest = 0
	return longest
}

// together returns the round of a member: with all members that need its first block next,
// up to a height at which no other would join.
func (s planner) together(first *member, ready []*member) *round {
	next := first.Status.Next()
	r := &round{base: first.Status.Done}
	if first.alone {
		end := min(next+s.rounds.budget.blocks(first.count())-1, first.last.Height, first.to)
		r.stop, r.members = first.last.Ancestor(end), []*member{first}
		return r
	}
	scripts := 0
	for _, m := range ready {
		if !m.alone && m.Status.Done == r.base {
			scripts += m.count()
		}
	}
	end := min(s.endOf(next, scripts, first.last.Height), first.to)
	for _, m := range ready {
		at := m.Status.Next()
		switch {
		case m.alone:
		case at > next && at <= end:
			end = at - 1
		case at == next && m.to < end:
			end = m.to
		}
	}
	r.stop = first.last.Ancestor(end)
	for _, m := range ready {
		if m.alone || m.Status.Done != r.base {
			continue
		}
		// A search that ends earlier joins if its last block is on the round's branch.
		if at := min(end, m.last.Height); m.last.Ancestor(at).Is(r.stop.Ancestor(at)) {
			r.members = append(r.members, m)
		}
	}
	if n := s.rounds.batchSize; n > 0 && len(r.members) > n {
		at := slices.Index(r.members, first)
		r.members[0], r.members[at] = r.members[at], r.members[0]
		r.members = r.members[:n]
	}
	return r
}

// endOf returns the last height of a round from next on, for so many scripts. It is at most
// last, and last itself if too little would be left for another round.
func (s planner) endOf(next int32, scripts int, last int32) int32 {
	n := s.rounds.budget.blocks(scripts)
	if s.rounds.batching.now {
		n = min(n, batchBlocks)
	}
	if int64(last)-int64(next)+1 <= int64(n)+int64(n)/4 {
		return last
	}
	return next + n - 1
}

// start begins a round, or waits for the filters of its blocks.
func (s planner) start(reader chainview.Reader, r *round) {
	if r.stop.Hash != s.rounds.indexed && !s.indexedAlready(r.stop) {
		for _, m := range r.members {
			m.awaits = true
		}
		stop := r.stop
		ask.Then(s.ctx, s.c, s.cfg.Indexer, messages.WaitIndexed{Block: stop.Hash},
			func(_ messages.Done, err error) any { return indexed{stop, err} })
		s.plan()
		return
	}
	s.rounds.number++
	r.number = s.rounds.number
	ctx, cancel := context.WithCancel(s.ctx)
	r.cancel = cancel
	s.rounds.running = r
	now := s.cfg.Now()
	for _, m := range r.members {
		if m.served == 0 || m.began.IsZero() {
			m.began, m.beganHeight = now, m.Status.Done.Height
		}
		m.served = r.number
	}
	p := &pass{cfg: &s.cfg, reader: reader, round: r, mergedQuery: s.rounds.mergedQueries.of(r.members)}
	s.tasks.Go(s.c, func() func() {
		began := time.Now()
		err := p.run(ctx)
		took := time.Since(began)
		return func() { s.ended(p, took, err) } //nolint:contextcheck // in the actor
	})
}

// indexedAlready reports whether a block and all before it have their filters.
func (s planner) indexedAlready(stop *chainview.Block) bool {
	view := s.cfg.Scheduler.View()
	defer view.Release()
	return view.Active(stop.Height, &stop.Hash)
}

// indexed goes on with those who have waited for filters.
func (s planner) indexed(m indexed) {
	if m.err != nil {
		s.lookLater()
		s.cfg.Log.Debug("searches wait for filters", "err", m.err)
	}
	for _, j := range s.jobs {
		j.awaits = false
	}
	if m.err == nil {
		if m.stop != nil {
			s.rounds.indexed = m.stop.Hash
		}
		s.plan()
	}
}

// lookLater has the actor look again in a while.
func (s *Searches) lookLater() {
	if !s.rounds.looking {
		s.rounds.looking = true
		s.after(lookAgain, look{})
	}
}
