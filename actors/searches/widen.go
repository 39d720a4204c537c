package searches

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/internal/search/widen"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// The range of a scan object with a gap is widened until so many unused indices follow the highest used index. The
// search takes in the scripts of further indices as [messages.ExtendSearch] does, and looks for them in all blocks from
// its first one on. Meanwhile the search does not end, nor does it say that it waits for blocks.

// lacking returns the indices that a search has to look for as well.
func (j *job) lacking() (ranges []searchdb.Range) {
	if len(j.Gaps) == 0 {
		return nil
	}
	for _, r := range j.Ranges {
		gap, highest := j.Gaps[r.Object], int32(-1)
		if gap == 0 {
			continue
		}
		if used, ok := j.Used[r.Object]; ok {
			highest = used
		}
		if last := widen.Last(r.First, r.Last, highest, gap); last > r.Last {
			ranges = append(ranges, searchdb.Range{Object: r.Object, First: r.Last + 1, Last: last})
		}
	}
	return ranges
}

// wide reports whether nothing is to be widened, and all that was is on the disk: a widening begins a new epoch.
func (j *job) wide() bool {
	return len(j.Gaps) == 0 || j.shown.Epoch == j.Status.Epoch && len(j.lacking()) == 0
}

// widen has the ranges of a search widened, if that is necessary.
func (s usage) widen(j *job) {
	if j.widening || j.Status.Mode != searchdb.Running || len(j.lacking()) == 0 {
		return
	}
	j.widening = true
	s.prepare(func() func() {
		return func() { s.widenNow(j) }
	})
}

// widenNow derives the scripts of further indices in a worker: nothing else extends the search meanwhile.
func (s usage) widenNow(j *job) {
	lacking := j.lacking()
	if s.jobs[j.ID] != j || len(lacking) == 0 {
		j.widening = false
		return
	}
	objects, there, room := j.Objects, j.Scripts, math.MaxInt
	if l := s.cfg.Limits.Scripts; l > 0 {
		room = l - s.scripts
	}
	s.prep.queue = slices.Insert(s.prep.queue, 0, func() func() {
		scripts, err := s.derive(objects, lacking, there, room)
		return func() { s.widened(j, lacking, scripts, err) }
	})
}

// derive returns the scripts of some ranges, none of which is there yet.
func (s usage) derive(
	objects []searchdb.Object, ranges []searchdb.Range, there []searchdb.Script, room int,
) (scripts []searchdb.Script, err error) {
	set := search.NewScriptSet(len(there))
	for i := range there {
		set.Add(there[i].Script)
	}
	for _, r := range ranges {
		text := string(objects[r.Object])
		branches, err := descriptor.Parse(text, s.cfg.Network, descriptor.Options{})
		if err == nil && len(branches) != 1 {
			err = fmt.Errorf("%d descriptors", len(branches))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		err = branches[0].ExpandRange(s.ctx, uint32(r.First), uint32(r.Last), cores.Count(),
			func(index uint32, found [][]byte) error {
				for _, script := range found {
					if !set.Add(script) {
						return &messages.SharedScriptsError{Desc: text}
					}
					if len(scripts) >= room {
						return &messages.SearchLimitError{Option: "-searchscripts"}
					}
					scripts = append(scripts, searchdb.Script{Script: script, Object: r.Object, Index: int32(index)})
				}
				return nil
			})
		if err != nil {
			return nil, err
		}
	}
	return scripts, nil
}

// widened has further scripts join a search.
func (s usage) widened(j *job, ranges []searchdb.Range, scripts []searchdb.Script, err error) {
	j.widening = false
	if s.ctx.Err() != nil || s.jobs[j.ID] != j || j.Status.Mode != searchdb.Running {
		return // a search that is resumed comes here again
	}
	if limit, ok := errors.AsType[*messages.SearchLimitError](err); ok {
		s.end(j, searchdb.Paused, limit.Error())
	} else if err != nil {
		s.cfg.Log.Warn("a search has failed", "search", j.ID.String(), "err", err)
		s.end(j, searchdb.Failed, err.Error())
	} else {
		j.Ranges = slices.Clone(j.Ranges)
		for _, r := range ranges {
			at := slices.IndexFunc(j.Ranges, func(o searchdb.Range) bool { return o.Object == r.Object })
			j.Ranges[at].Last = r.Last
		}
		s.join(j, prepared{scripts: scripts}, j.Status.Start)
		s.writer.then = append(s.writer.then, func(err error) {
			if err == nil && s.jobs[j.ID] == j {
				mempool(s).look(j)
			}
		})
	}
	s.writer.urgent = true
	s.flush()
	s.plan()
}

// join adds what is new to a search, for which blocks from a height on are to be looked at.
func (s usage) join(j *job, p prepared, from int32) {
	if len(p.gaps) > 0 {
		j.Gaps = maps.Clone(j.Gaps)
		if j.Gaps == nil {
			j.Gaps = searchdb.Gaps{}
		}
		maps.Copy(j.Gaps, p.gaps)
	}
	s.writer.change.Extend = append(s.writer.change.Extend, searchdb.Extension{
		ID: j.ID, FirstObject: uint32(len(j.Objects)), FirstScript: uint32(len(j.Scripts)),
		Objects: p.objects, Scripts: p.scripts, Gaps: j.Gaps,
	})
	j.Status.Extend(uint32(len(j.Scripts)), from)
	j.Objects = append(slices.Clip(j.Objects), p.objects...)
	j.Scripts = append(slices.Clip(j.Scripts), p.scripts...)
	j.Ranges = append(slices.Clip(j.Ranges), p.ranges...)
	s.scripts += len(p.scripts)
	s.rewind(j)
	j.known, j.began = nil, time.Time{}
	s.leave()
	s.dirty(j)
}

// gapsOf returns the gaps of new objects, of which p has the scripts that are new. A descriptor with a gap is one
// object: no other object adds further indices.
func gapsOf(
	o *messages.SearchObjects, objects []searchdb.Object, gaps searchdb.Gaps, p *prepared,
) (searchdb.Gaps, error) {
	if len(gaps) == 0 && o.Gaps == nil {
		return nil, nil
	}
	bodies := map[string]int32{} // their gaps
	for i, object := range objects {
		body := bodyOf(string(object))
		bodies[body] = max(bodies[body], gaps[uint32(i)])
	}
	adds := map[uint32]bool{}
	for i := range p.scripts {
		adds[p.scripts[i].Object] = true
	}
	added := searchdb.Gaps{}
	for i, text := range o.Texts {
		number, gap := uint32(len(objects)+i), int32(0)
		if !adds[number] {
			continue
		}
		if o.Gaps != nil {
			gap = o.Gaps[i]
		}
		if before, there := bodies[bodyOf(text)]; there && max(before, gap) > 0 {
			return nil, &messages.SharedScriptsError{Desc: text}
		}
		bodies[bodyOf(text)] = gap
		if gap > 0 {
			added[number] = gap
		}
	}
	return added, nil
}

// bodyOf returns a descriptor without its checksum, which may have been left away.
func bodyOf(text string) string {
	body, _, _ := strings.Cut(text, "#")
	return body
}
