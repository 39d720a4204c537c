package searches

import (
	"fmt"
	"slices"
	"time"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

const (
	// writeEvery is how often it is written how far searches are that find nothing.
	writeEvery = 200 * time.Millisecond

	// maxPending is how many entries may wait for the disk before rounds do. A write of so many and of
	// those of another round takes some 25 ms: who stops a search waits for two of them at most.
	maxPending = 5_000

	// retryAfter is when a store that could not be written is opened again.
	retryAfter = 5 * time.Second
)

// writer collects what is to be written next, while a write goes on.
type writer struct {
	change   searchdb.Change
	changed  map[searchdb.ID]*job // whose status is to be written
	used     map[searchdb.ID]*job // whose used indices are to be written
	then     []func(error)        // what to do when it is on the disk
	urgent   bool
	running  bool
	timer    bool
	last     time.Time
	creating bool      // the write that goes on makes searches
	created  time.Time // when the last write has ended that did

	sweepTimer           bool // it will be swept
	sweeping, sweepAgain bool
}

// flushNow has the actor write what is collected.
type flushNow struct{}

// dirty notes that a search's status is to be written.
func (s *Searches) dirty(j *job) {
	if s.writer.changed == nil {
		s.writer.changed = map[searchdb.ID]*job{}
	}
	j.Status.Updated = s.cfg.Now()
	s.writer.changed[j.ID] = j
}

// remove forgets what is to be written of a search, but that it is removed.
func (w *writer) remove(j *job) {
	delete(w.changed, j.ID)
	delete(w.used, j.ID)
	kept := w.change.Entries[:0]
	for _, e := range w.change.Entries {
		if e.ID != j.ID {
			kept = append(kept, e)
		}
	}
	w.change.Entries = kept
	w.change.Remove = append(w.change.Remove, j.ID)
}

// flush writes what is collected, unless a write goes on, or there is time.
func (s *Searches) flush() {
	w := &s.writer
	if w.running || w.change.Empty() && len(w.changed)+len(w.used)+len(w.then) == 0 {
		return
	}
	if wait := writeEvery - time.Since(w.last); !w.urgent && len(w.change.Entries) == 0 && wait > 0 {
		if !w.timer {
			w.timer = true
			s.after(wait, flushNow{})
		}
		return
	}
	change, then, changed := w.change, w.then, w.changed
	change.Used = w.usedNow()
	w.change, w.then, w.changed, w.used = searchdb.Change{}, nil, nil, nil
	w.urgent, w.running, w.creating = false, true, len(change.Create) > 0
	change.Status = make(map[searchdb.ID]searchdb.Status, len(changed))
	for id, j := range changed {
		change.Status[id] = j.Status
	}
	followed := s.followed(&change, changed)
	var news map[searchdb.ID]*messages.SearchFound
	s.write(then, func() error {
		err := s.cfg.Store.Commit(&change)
		news = newsOf(change.Entries, followed) // there may be thousands
		return err
	}, func() { s.written(&change, changed, news, then) })
}

// write writes to the store in a worker, and has the actor do what follows. Where the store has failed meanwhile all
// is read from it again.
func (s *Searches) write(then []func(error), work func() error, follows func()) {
	s.writes++
	opening := s.opening
	s.tasks.Go(s.c, func() func() {
		err := work()
		return func() {
			s.writes--
			switch {
			case opening != s.opening:
				callAll(then, err)
			case err != nil:
				s.broken(then, err)
			default:
				follows()
			}
		}
	})
}

// written shows what is on the disk.
func (s *Searches) written(
	change *searchdb.Change, changed map[searchdb.ID]*job, news map[searchdb.ID]*messages.SearchFound,
	then []func(error),
) {
	w := &s.writer
	w.last = time.Now()
	if w.creating {
		w.created = w.last
	}
	w.running, w.creating = false, false
	for id, status := range change.Status {
		j := changed[id]
		if s.jobs[id] != j {
			continue // removed meanwhile
		}
		j.shown = newest(&status, j.shown)
		if used := change.Used[id]; used != nil {
			j.shownUsed = used
		}
		s.announce(j, news[id])
		reading{s}.wake(j)
	}
	callAll(then, nil)
	s.flush()
	s.plan()
}

// maxNews is up to how many new blocks the entries are announced.
const maxNews = 100

// followed returns those searches of a change whose entries are announced, with what these name.
func (s *Searches) followed(change *searchdb.Change, changed map[searchdb.ID]*job) map[searchdb.ID]texts {
	if s.cfg.News == nil || len(change.Entries) == 0 {
		return nil
	}
	of := map[searchdb.ID]texts{}
	for id, j := range changed {
		if j.shown != nil && j.follows() && j.shown.Done.Height+maxNews >= change.Status[id].Done.Height {
			of[id] = j.texts()
		}
	}
	return of
}

// newsOf returns what is announced of entries.
func newsOf(entries []searchdb.Entry, followed map[searchdb.ID]texts) map[searchdb.ID]*messages.SearchFound {
	if len(followed) == 0 {
		return nil
	}
	news, last := map[searchdb.ID]*messages.SearchFound{}, map[searchdb.ID]searchdb.Place{}
	for i := range entries {
		e := &entries[i]
		names, notified := followed[e.ID]
		if !notified {
			continue
		}
		if news[e.ID] == nil {
			news[e.ID] = &messages.SearchFound{ID: e.ID.String()}
		}
		n := news[e.ID]
		n.Entries, last[e.ID] = append(n.Entries, entryOf(names, &e.Entry)), e.Place
	}
	for id, n := range news {
		n.Cursor = cursorText(id, last[id])
	}
	return news
}

// announce publishes a search's status, and the entries that were found.
func (s *Searches) announce(j *job, found *messages.SearchFound) {
	if s.cfg.News == nil {
		return
	}
	s.notify(messages.SearchChanged{SearchStatus: reading{s}.status(j)})
	if found != nil {
		found.Name = j.Name
		s.notify(*found)
	}
	usage{s}.notifyExhausted(j)
}

// broken opens the store again a while after a failed write: it takes nothing more until then. Searches
// look again for entries that were not written.
func (s *Searches) broken(then []func(error), err error) {
	s.cfg.Log.Error("searches cannot be written", "err", err)
	waiting := slices.Concat(then, s.writer.then, s.modes.then)
	s.writer = writer{running: true, sweeping: s.writer.sweeping, sweepTimer: s.writer.sweepTimer}
	s.modes = modeWriter{running: true}
	s.opening++
	s.down, s.full = true, "The store of searches cannot be written"
	if s.rounds.running != nil {
		s.rounds.running.cancel()
	}
	callAll(waiting, fmt.Errorf("%w: %w", messages.ErrSearchStore, err))
	s.reopen()
}

// reopen opens the store again in a while, when no write goes on, and tries that until it succeeds.
func (s *Searches) reopen() {
	s.tasks.Go(s.c, func() func() {
		select {
		case <-s.ctx.Done():
			return nil
		case <-time.After(retryAfter):
		}
		return s.reopenNow
	})
}

func (s *Searches) reopenNow() {
	if s.writes > 0 {
		s.reopen()
		return
	}
	s.tasks.Go(s.c, func() func() {
		err := s.cfg.Store.Reopen()
		return func() {
			if err != nil {
				s.cfg.Log.Error("searches cannot be opened", "err", err)
				s.reopen()
				return
			}
			s.writer.running, s.modes.running, s.down, s.full = false, false, false, ""
			s.load()
		}
	})
}
