package cluster

import (
	"slices"
	"time"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/internal/match"
)

// fillAll has all members work.
func (f *front) fillAll() {
	for _, p := range f.sorted() {
		f.fill(p)
	}
}

// fill lends to a member until it has lentAtOnce units: one to work on, the next waiting. Passes
// take turns.
func (f *front) fill(p *peer) {
	for len(p.out) < lentAtOnce && !p.late {
		lent := false
		for i, j := range f.jobs {
			if !p.works(j) || j.checks >= mostChecks || !f.lendTo(p, j) {
				continue
			}
			f.jobs = append(slices.Delete(slices.Clone(f.jobs), i, i+1), j)
			lent = true
			break
		}
		if !lent {
			return
		}
	}
}

// lendTo lends a member the next heights, or heights that another member has had for long.
func (f *front) lendTo(p *peer, j *job) bool {
	heights, ok := j.pass.Lend(func(from int32) int32 { return f.unitEnd(p, j, from) })
	if !ok {
		if heights, ok = j.straggling(p); !ok {
			return false
		}
		p.counts.Twice++
	}
	scan := p.scans[j]
	f.issued++
	l := &loan{unit: f.issued, job: j, peer: p, heights: heights, at: time.Now()}
	if scan.rate > 0 {
		l.takes = time.Duration(float64(heights.To-heights.From) / scan.rate * float64(time.Second))
	}
	l.expected = l.takes
	for _, before := range p.out {
		l.expected += before.takes
	}
	p.out[l.unit] = l
	j.loans[heights] = append(j.loans[heights], l)
	f.say(p, &wire.Message{Kind: wire.Unit, Scan: j.id, Unit: l.unit, From: heights.From, To: heights.To})
	return true
}

const (
	unitTime  = 50 * time.Millisecond // that a unit aims at
	leastTime = unitTime / 10         // and at the end, where all are to end at the same time
	mostTime  = 4 * unitTime          // and where it takes long until then:
	longPart  = 1. / 8                // that part of it
	longTime  = time.Second           // and where more passes wait than there are members
	firstUnit = 4                     // heights for each core, before the speed is known
	manyMore  = 300_000               // scripts, from which on one is enough: it takes milliseconds
	fewest    = 16                    // scripts from which on whole ranges are passed over
)

// crowded reports whether more passes are lent from than there are members. Then units are
// larger: each member has a pass, or a second's work of it, to itself.
func (f *front) crowded() bool {
	lent, members := 0, 0
	for _, j := range f.jobs {
		if j.set != nil {
			lent++
		}
	}
	for _, p := range f.peers {
		if p.up && !p.excluded {
			members++
		}
	}
	return lent > members
}

// unitEnd is up to where a member gets heights.
func (f *front) unitEnd(p *peer, j *job, from int32) int32 {
	end := int64(from) + int64(min(max(f.unitSize(p, j, from), 1), wire.MaxHits))
	if j.pass.Exact && j.pass.Query.Len() >= fewest {
		view := j.pass.Source.View()
		known := view.RangeEnd(from)
		view.Release()
		end = max(end, int64(min(known, from+wire.MaxHits)))
	}
	return int32(min(end, int64(j.pass.Stop.Height)+1))
}

// unitSize is how many heights a member gets at a time.
func (f *front) unitSize(p *peer, j *job, from int32) float64 {
	workers := float64(max(p.workers, 1))
	rate := p.scans[j].rate
	switch {
	case rate == 0 && j.pass.Query.Len() >= manyMore:
		return workers
	case rate == 0:
		return firstUnit * workers
	case f.crowded():
		return rate * longTime.Seconds()
	}
	working, together := 0, 0.0
	for _, other := range f.peers {
		if other.works(j) {
			working++
			together += other.scans[j].rate
		}
	}
	if j.local {
		together += together / float64(max(working, 1)) // as far as is known
	}
	left := float64(j.pass.Stop.Height + 1 - from)
	takes := min(max(left/together*longPart, unitTime.Seconds()), mostTime.Seconds())
	most := max(rate*takes, workers)
	if working <= 1 && !j.local {
		return most // nobody waits for it at the end
	}
	return min(most, max(left/float64(3*max(working, 1)), rate*leastTime.Seconds()))
}

// straggling returns heights that a single other member has had for longer than expected.
func (j *job) straggling(p *peer) (match.Heights, bool) {
	if len(p.out) > 0 {
		return match.Heights{}, false
	}
	now := time.Now()
	var oldest *loan
	for _, list := range j.loans {
		l := list[0]
		late := l.peer.out[l.unit] == l && now.Sub(l.at) > max(3*l.expected, 200*time.Millisecond)
		if len(list) == 1 && l.peer != p && late && (oldest == nil || l.at.Before(oldest.at)) {
			oldest = l
		}
	}
	if oldest == nil {
		return match.Heights{}, false
	}
	return oldest.heights, true
}
