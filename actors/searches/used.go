package searches

import (
	"maps"
	"math"

	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// Without a gap a search looks for the indices that it was given, and for no others. Where an index near the end of a
// range is used, indices behind the range may be used as well. The status of the search shows that.

const (
	// gap is how many unused indices after the highest used one say that no higher one is used. Wallets look so far
	// ahead as a rule (BIP44).
	gap = 20

	// maxDescriptors bounds the descriptors of a status.
	maxDescriptors = 10_000
)

// usage is what the actor does about indices that are used.
type usage struct{ *Searches }

// noteUsed notes for which indices something was found.
func (s usage) noteUsed(j *job, used searchdb.Used) {
	if j.Used == nil {
		j.fresh.Merge(used) // until what was found before is known
		return
	}
	if j.Used.Merge(used) {
		s.usedChanged(j)
	}
}

// usedChanged has the used indices of a search written.
func (s usage) usedChanged(j *job) {
	if s.writer.used == nil {
		s.writer.used = map[searchdb.ID]*job{}
	}
	s.writer.used[j.ID] = j
	s.dirty(j)
}

// usedNow returns the used indices that are to be written.
func (w *writer) usedNow() map[searchdb.ID]searchdb.Used {
	used := make(map[searchdb.ID]searchdb.Used, len(w.used))
	for id, j := range w.used {
		used[id] = maps.Clone(j.Used)
	}
	return used
}

// findUsed reads the entries of searches that an earlier version has kept, one search after the other, for the indices
// that are used.
func (s usage) findUsed() {
	for _, j := range s.ordered() {
		if j.Used != nil || j.BlocksOnly || len(j.Ranges) == 0 {
			continue
		}
		scripts, to := j.Scripts, lastPlace(j.shown)
		s.tasks.Go(s.c, func() func() {
			used := searchdb.Used{}
			err := s.cfg.Lists.Entries(j.ID, searchdb.Place{}, to, func(_ searchdb.Place, e *search.Entry) bool {
				if (e.Kind == search.Receive || e.Kind == search.Spend) && int(e.Script) < len(scripts) {
					used.Add(&scripts[e.Script])
				}
				return s.ctx.Err() == nil
			})
			return func() { s.haveUsed(j, used, err) }
		})
		return
	}
}

// haveUsed takes what the entries of a search say.
func (s usage) haveUsed(j *job, used searchdb.Used, err error) {
	if s.ctx.Err() != nil || s.jobs[j.ID] != j {
		s.findUsed() // it was removed, or read again
		return
	}
	if err != nil {
		s.cfg.Log.Warn("entries of a search cannot be read", "search", j.ID.String(), "err", err)
		return
	}
	used.Merge(j.fresh)
	j.Used = used
	s.usedChanged(j)
	s.flush()
	s.findUsed()
}

// fullStatus is the status with the descriptors of the search.
func (s reading) fullStatus(j *job) messages.SearchStatus {
	st := s.status(j)
	st.Descriptors = j.descriptors()
	if len(st.Descriptors) > maxDescriptors {
		st.Descriptors, st.DescriptorsMore = st.Descriptors[:maxDescriptors], true
	}
	return st
}

// descriptors returns the descriptors that have a range, in their order, each once even if it was given with several
// ranges. At most the first maxDescriptors+1 are returned.
func (j *job) descriptors() []messages.SearchDescriptor {
	var all []messages.SearchDescriptor
	places := map[string]int{}
	for _, r := range j.Ranges {
		text := string(j.Objects[r.Object])
		body := bodyOf(text)
		at, seen := places[body]
		if !seen {
			if len(all) > maxDescriptors {
				break
			}
			at = len(all)
			places[body] = at
			all = append(all, messages.SearchDescriptor{
				Desc: text, First: r.First, Last: r.Last, HighestUsed: -1, Known: j.shownUsed != nil,
			})
		}
		d := &all[at]
		d.Gap = max(d.Gap, j.Gaps[r.Object])
		d.First, d.Last = min(d.First, r.First), max(d.Last, r.Last)
		if highest, used := j.shownUsed[r.Object]; used {
			d.HighestUsed = max(d.HighestUsed, highest)
		}
	}
	for i := range all {
		d := &all[i]
		if d.Gap > 0 {
			d.Exhausted = int64(d.Last) < max(int64(d.HighestUsed), int64(d.First)-1)+int64(d.Gap)
			continue
		}
		d.Exhausted = d.HighestUsed >= 0 && d.Last-d.HighestUsed < gap && d.Last < math.MaxInt32
	}
	return all
}

// exhaustedOf returns the descriptors whose range is used up.
func exhaustedOf(all []messages.SearchDescriptor) map[string]bool {
	exhausted := map[string]bool{}
	for i := range all {
		if all[i].Exhausted {
			exhausted[all[i].Desc] = true
		}
	}
	return exhausted
}

// notifyExhausted notifies of descriptors whose range is used up since the search was announced last.
func (s usage) notifyExhausted(j *job) {
	if len(j.Ranges) == 0 || len(j.shownUsed) == 0 {
		return
	}
	all := j.descriptors()
	for i := range all {
		if all[i].Gap > 0 && all[i].Last < math.MaxInt32 && j.Status.Mode == searchdb.Running {
			all[i].Exhausted = false // it is about to be widened
		}
		if all[i].Exhausted && !j.exhausted[all[i].Desc] {
			s.notify(messages.SearchExhausted{ID: j.ID.String(), Name: j.Name, Descriptor: all[i]})
		}
	}
	j.exhausted = exhaustedOf(all)
}
