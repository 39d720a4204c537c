package searches

import (
	"math/bits"

	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/store/searchdb"
)

// A search counts the blocks that have entries. Where it looks at blocks again, for scripts that have joined, it has to
// know which of them were counted before: the list of entries tells.

// A heightSet is a set of heights: by thousands, a bit for each.
type heightSet map[int32]*[heightsWords]uint64

const (
	heightsWords = 16
	heightsChunk = heightsWords * 64
)

func (h heightSet) add(height int32) {
	words := h[height/heightsChunk]
	if words == nil {
		words = new([heightsWords]uint64)
		h[height/heightsChunk] = words
	}
	at := height % heightsChunk
	words[at/64] |= 1 << (at % 64)
}

func (h heightSet) has(height int32) bool {
	words := h[height/heightsChunk]
	at := height % heightsChunk
	return words != nil && words[at/64]&(1<<(at%64)) != 0
}

// cut removes all heights above one.
func (h heightSet) cut(height int32) {
	for chunk, words := range h {
		switch first := chunk * heightsChunk; {
		case first > height:
			delete(h, chunk)
		case first+heightsChunk-1 > height:
			for i := range words {
				keep := min(max(int(height-first)+1-64*i, 0), 64)
				words[i] &= 1<<keep - 1
			}
		}
	}
}

// len returns how many heights there are.
func (h heightSet) len() (n int) {
	for _, words := range h {
		for _, w := range words {
			n += bits.OnesCount64(w)
		}
	}
	return n
}

// note adds the block of an entry, and reports whether it was not there. A block that has left the chain is removed.
func (h heightSet) note(e *search.Entry) bool {
	if e.Kind == search.Disconnect {
		h.cut(e.Height - 1)
		return false
	}
	if h.has(e.Height) {
		return false
	}
	h.add(e.Height)
	return true
}

// recounts reports whether the blocks that a search looks at next may have been counted, and it is not known which
// were. Then that is found out first.
func (s planner) recounts(j *job) bool {
	if j.counting {
		return true
	}
	if j.counted != nil || j.Status.Next() > j.Status.Top.Height {
		return false
	}
	if j.Status.Found == 0 {
		j.counted = heightSet{}
		return false
	}
	j.counting = true
	s.writer.urgent = true // all that was found is read from the disk
	s.writer.then = append(s.writer.then, func(err error) {
		if j.counting = err == nil; j.counting {
			s.recount(j)
		}
	})
	return true
}

// recount reads which blocks have entries.
func (s planner) recount(j *job) {
	to := lastPlace(j.shown)
	s.tasks.Go(s.c, func() func() {
		counted, blocks := heightSet{}, uint64(0)
		err := s.cfg.Lists.Entries(j.ID, searchdb.Place{}, to, func(_ searchdb.Place, e *search.Entry) bool {
			if counted.note(e) {
				blocks++
			}
			return s.ctx.Err() == nil
		})
		return func() {
			j.counting = false
			if s.ctx.Err() != nil || s.jobs[j.ID] != j {
				return
			}
			if err != nil {
				s.cfg.Log.Warn("entries of a search cannot be read", "search", j.ID.String(), "err", err)
				s.end(j, searchdb.Failed, "Its entries cannot be read")
				s.flush()
			} else {
				j.counted, j.Status.Blocks = counted, blocks
			}
			s.plan()
		}
	})
}

// count adds the blocks that a round has found something in.
func (planner) count(j *job, found []search.Entry) {
	if j.counted == nil {
		return
	}
	for i := range found {
		j.counted.add(found[i].Height)
	}
	if len(j.Gaps) == 0 && j.Status.Next() > j.Status.Top.Height {
		j.counted = nil // only a search that widens is likely to look at blocks again
	}
}
