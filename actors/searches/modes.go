package searches

import (
	"slices"
	"time"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// modeWriter writes the modes that clients order, apart from the entries that searches find: pausing, resuming or
// ending a search waits for no entries.
type modeWriter struct {
	next    map[searchdb.ID]order // to be written
	writing map[searchdb.ID]order
	then    []func(error) // what to do when next is on the disk
	running bool
}

// order is the mode that a search was ordered to have.
type order struct {
	job *job
	searchdb.ModeChange
}

// reported returns the mode of a search that clients may know: a mode that the search reached by itself counts once
// it is on the disk.
func (w *modeWriter) reported(j *job) (mode searchdb.Mode, pending bool) {
	if o, ok := w.next[j.ID]; ok {
		return o.Mode, true
	}
	if o, ok := w.writing[j.ID]; ok {
		return o.Mode, true
	}
	return j.shown.Mode, false
}

// order has a search in one of some modes change to another, and answers when that is on the disk.
func (s *Searches) order(id string, to searchdb.Mode, answer func(bool, error) bool, from ...searchdb.Mode) {
	j := s.find(id)
	if j == nil {
		answer(false, messages.ErrSearchNotFound)
		return
	}
	w := &s.modes
	mode, pending := w.reported(j)
	changes := slices.Contains(from, mode)
	if !changes && !pending {
		answer(false, nil)
		return
	}
	if changes {
		if to == searchdb.Running {
			j.began, j.alone = time.Time{}, false
		}
		j.awaits, j.lacks = j.awaits && j.lacks == "", ""
		s.setMode(j, to, "")
		if w.next == nil {
			w.next = map[searchdb.ID]order{}
		}
		w.next[j.ID] = order{j, searchdb.ModeChange{Mode: to, Updated: j.Status.Updated, Changes: j.Status.Changes}}
	}
	w.then = append(w.then, func(err error) { answer(changes && err == nil, err) })
	s.flushModes()
	s.flush()
	s.plan()
}

// setMode gives a search another mode, which its next status has.
func (s *Searches) setMode(j *job, to searchdb.Mode, reason string) {
	j.Status.Mode, j.Status.Reason = to, reason
	j.Status.Changes++
	s.leave()
	s.dirty(j)
}

// flushModes writes what is collected, unless a write goes on.
func (s *Searches) flushModes() {
	w := &s.modes
	if w.running || len(w.then) == 0 {
		return
	}
	then := w.then
	w.writing, w.next, w.then = w.next, nil, nil
	if len(w.writing) == 0 {
		callAll(then, nil)
		return
	}
	w.running = true
	changes := make(map[searchdb.ID]searchdb.ModeChange, len(w.writing))
	for id, o := range w.writing {
		changes[id] = o.ModeChange
	}
	s.write(then, func() error { return s.cfg.Store.SetModes(changes) }, func() { s.modesWritten(then) })
}

// modesWritten shows what is on the disk.
func (s *Searches) modesWritten(then []func(error)) {
	w := &s.modes
	written := w.writing
	w.running, w.writing = false, nil
	for id, o := range written {
		j := o.job
		if s.jobs[id] != j || j.shown.Changes >= o.Changes {
			continue // removed meanwhile, or shown with its entries
		}
		shown := *j.shown
		shown.Mode, shown.Reason, shown.Updated, shown.Changes = o.Mode, "", o.Updated, o.Changes
		j.shown = &shown
		s.announce(j, nil)
		reading{s}.wake(j)
	}
	callAll(then, nil)
	s.flushModes()
}

// newest returns a written status, with the mode of the shown status if that is newer, as modes are written apart.
func newest(status, shown *searchdb.Status) *searchdb.Status {
	if shown != nil && shown.Changes > status.Changes {
		status.Mode, status.Reason, status.Changes = shown.Mode, shown.Reason, shown.Changes
	}
	return status
}

func callAll(then []func(error), err error) {
	for _, f := range then {
		f(err)
	}
}
