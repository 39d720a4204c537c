package searches

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// A job is a search.
type job struct {
	*searchdb.Search // Status is what will be on the disk

	shown    *searchdb.Status // what is on the disk; nil: nothing yet
	served   uint64           // number of its last round; 0: none
	awaits   bool             // the filters of its next blocks
	widening bool             // scripts of further indices are being derived
	alone    bool             // it has a round of its own, since one with others failed
	lacks    string           // a block that no peer gives: why it pauses by itself; empty: nothing

	began       time.Time // of its first round since it was started, or resumed
	beganHeight int32

	known *outputs // that it has found; nil: not read yet

	counted  heightSet // of the blocks that have entries; nil: not known
	counting bool      // that is being found out

	shownUsed searchdb.Used   // that is on the disk; nil: not known
	fresh     searchdb.Used   // found since the search was loaded, while Used is not known
	exhausted map[string]bool // descriptors that clients were notified of, as their range is used up

	pool      poolList
	poolKnown bool              // all in the memory pool has been looked at
	poolCut   bool              // and some of it was left out, as too much was found
	whenKnown []func()          // what waits for that
	finder    *search.ScriptSet // of all its scripts; nil: not made yet
}

// follows reports whether the search goes on with new blocks.
func (j *job) follows() bool { return j.Stop < 0 }

// table is all searches.
type table struct {
	jobs    map[searchdb.ID]*job
	names   map[string]*job
	numbers uint64 // of the last that was made
	scripts int
	found   uint64
}

func newTable() table { return table{jobs: map[searchdb.ID]*job{}, names: map[string]*job{}} }

func (t *table) reset(list []*searchdb.Search) {
	*t = newTable()
	for _, n := range list {
		shown := n.Status
		j := &job{Search: n, shown: &shown, shownUsed: maps.Clone(n.Used), fresh: searchdb.Used{}}
		j.exhausted = exhaustedOf(j.descriptors())
		t.add(j)
	}
}

func (t *table) add(j *job) {
	t.jobs[j.ID] = j
	t.names[j.Name] = j
	t.numbers = max(t.numbers, j.Number)
	t.scripts += len(j.Scripts)
	t.found += j.Status.Found
}

func (t *table) drop(j *job) {
	delete(t.jobs, j.ID)
	delete(t.names, j.Name)
	t.scripts -= len(j.Scripts)
	t.found -= j.Status.Found
}

// find returns a search that is on the disk by its id, else by its name, nil where there is none.
func (t *table) find(id string) *job {
	j := t.names[id]
	if n, err := strconv.ParseUint(id, 16, 64); err == nil && len(id) == 16 && t.jobs[searchdb.ID(n)] != nil {
		j = t.jobs[searchdb.ID(n)]
	}
	if j != nil && j.shown != nil {
		return j
	}
	return nil
}

// ordered returns all searches in the order in which they were made.
func (t *table) ordered() []*job {
	all := make([]*job, 0, len(t.jobs))
	for _, j := range t.jobs {
		all = append(all, j)
	}
	slices.SortFunc(all, func(a, b *job) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

func (s reading) list(m *ask.Call[messages.ListSearches, []messages.SearchStatus]) {
	all := []messages.SearchStatus{}
	for _, j := range s.ordered() {
		if j.shown != nil {
			all = append(all, s.status(j))
		}
	}
	m.Answer(all, nil)
}

// status is what is known of a search.
func (s reading) status(j *job) messages.SearchStatus {
	at := j.shown
	st := messages.SearchStatus{
		ID: j.ID.String(), Name: j.Name, Error: at.Reason, Start: j.Start, Stop: j.Stop, Follow: j.follows(),
		BlocksOnly: j.BlocksOnly, Mempool: j.Mempool, Scripts: len(j.Scripts), Height: at.Done.Height,
		Block: at.Done.Hash, Found: at.Found, Blocks: at.Blocks, Created: j.Created, Updated: at.Updated,
		Cursor: cursorText(j.ID, lastPlace(at)),
	}
	stop := j.Stop
	if j.follows() {
		stop = s.tipHeight()
	}
	st.State = s.state(j, stop)
	if st.State == messages.SearchPaused && st.Error == "" {
		st.Error = cmp.Or(s.full, j.lacks)
	}
	st.Progress = 100
	first := min(j.Start, at.Start) // objects that joined may be looked for below
	if total := int64(stop) - int64(first) + 1; total > 0 {
		st.Progress = min(100, 100*float64(max(0, at.Done.Height-first+1))/float64(total))
	}
	if at.Mode == searchdb.Done {
		st.Progress = 100
	}
	s.speed(j, stop, &st)
	return st
}

// speed sets in st how fast a search is.
func (s reading) speed(j *job, stop int32, st *messages.SearchStatus) {
	passed := s.cfg.Now().Sub(j.began).Seconds()
	done := j.shown.Done.Height - j.beganHeight
	if st.State != messages.SearchRunning || j.began.IsZero() || passed <= 0 || done <= 0 {
		return
	}
	st.Rate = float64(done) / passed
	st.Left = time.Duration(float64(stop-j.shown.Done.Height) / st.Rate * float64(time.Second))
}

func (s reading) state(j *job, stop int32) messages.SearchState {
	switch j.shown.Mode {
	case searchdb.Paused:
		return messages.SearchPaused
	case searchdb.Done:
		return messages.SearchDone
	case searchdb.Aborted:
		return messages.SearchAborted
	case searchdb.Failed:
		return messages.SearchFailed
	case searchdb.Running:
	}
	switch {
	case j.follows() && j.shown.Done.Height >= stop && j.wide():
		return messages.SearchFollowing
	case s.full != "", j.lacks != "":
		return messages.SearchPaused
	case j.served == 0 && j.shown.Done.Height < j.Start:
		return messages.SearchQueued
	}
	return messages.SearchRunning
}

func (s *Searches) tipHeight() int32 {
	if r := s.cfg.Chain.Open(); r != nil {
		return r.Active().Height()
	}
	return -1
}

// remove removes a search, and answers when that is on the disk.
func (s *Searches) remove(m *ask.Call[messages.RemoveSearch, bool]) {
	j := s.find(m.Req.ID)
	if j == nil {
		m.Answer(false, messages.ErrSearchNotFound)
		return
	}
	s.drop(j)
	s.rounds.mergedQueries.drop(j.ID)
	mempool{s}.removed(j)
	j.release()
	s.writer.remove(j)
	s.leave()
	s.writer.urgent = true
	s.writer.then = append(s.writer.then, func(err error) {
		if err == nil {
			st := reading{s}.status(j)
			s.notify(messages.SearchChanged{SearchStatus: st, Removed: true})
			reading{s}.wakeGone(j)
			if !s.writer.sweepTimer {
				s.writer.sweepTimer = true
				s.after(sweepAfter, sweepNow{})
			}
		}
		m.Answer(err == nil, err)
	})
	s.flush()
	s.plan()
}

// end gives a search that runs another mode.
func (s *Searches) end(j *job, to searchdb.Mode, reason string) {
	if j.Status.Mode == searchdb.Running {
		s.setMode(j, to, reason)
		s.writer.urgent = true
	}
}

// sweepAfter is how long the data of a removed search stays: a client that removes several searches, one after
// the other, would wait for the deletion of the earlier ones.
const sweepAfter = 2 * time.Second

// sweepNow has the actor delete what removed searches have left.
type sweepNow struct{}

// sweep deletes what removed searches have left.
func (s *Searches) sweep() {
	if s.writer.sweeping {
		s.writer.sweepAgain = true
		return
	}
	s.writer.sweeping, s.writer.sweepAgain = true, false
	s.tasks.Go(s.c, func() func() {
		more, err := s.cfg.Store.Sweep(s.ctx)
		return func() {
			s.writer.sweeping = false
			if err == nil && (more || s.writer.sweepAgain) {
				s.sweep()
			}
		}
	})
}

func (s *Searches) notify(news messages.News) {
	if s.cfg.News != nil {
		s.cfg.News.Publish(news)
	}
}
