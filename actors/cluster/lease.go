package cluster

import (
	"slices"
	"time"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/internal/match"
)

// fillAll has all worker nodes work.
func (co *coordinator) fillAll() {
	for _, p := range co.sorted() {
		co.fill(p)
	}
}

// fill leases to a worker node until it has leasesAtOnce units: one to work on, the next waiting. Passes
// take turns.
func (co *coordinator) fill(p *peer) {
	for len(p.out) < leasesAtOnce && !p.late {
		leased := false
		for i, j := range co.jobs {
			if !p.works(j) || j.checks >= mostChecks || !co.leaseTo(p, j) {
				continue
			}
			co.jobs = append(slices.Delete(slices.Clone(co.jobs), i, i+1), j)
			leased = true
			break
		}
		if !leased {
			return
		}
	}
}

// leaseTo leases a worker node the next heights, or heights that another worker node has had for long.
func (co *coordinator) leaseTo(p *peer, j *job) bool {
	heights, ok := j.pass.Lease(func(from int32) int32 { return co.unitEnd(p, j, from) })
	if !ok {
		if heights, ok = j.straggling(p); !ok {
			return false
		}
		p.counts.Twice++
	}
	scan := p.scans[j]
	co.issued++
	l := &lease{unit: co.issued, job: j, peer: p, heights: heights, at: time.Now()}
	if scan.rate > 0 {
		l.takes = time.Duration(float64(heights.To-heights.From) / scan.rate * float64(time.Second))
	}
	l.expected = l.takes
	for _, before := range p.out {
		l.expected += before.takes
	}
	p.out[l.unit] = l
	j.leases[heights] = append(j.leases[heights], l)
	co.say(p, &wire.Message{Kind: wire.Unit, Scan: j.id, Unit: l.unit, From: heights.From, To: heights.To})
	return true
}

const (
	unitTime  = 50 * time.Millisecond // that a unit aims at
	leastTime = unitTime / 10         // and at the end, where all are to end at the same time
	mostTime  = 4 * unitTime          // and where it takes long until then:
	longPart  = 1. / 8                // that part of it
	longTime  = time.Second           // and where more passes wait than there are worker nodes
	firstUnit = 4                     // heights for each core, before the speed is known
	manyMore  = 300_000               // scripts, from which on one is enough: it takes milliseconds
	fewest    = 16                    // scripts from which on whole ranges are passed over
)

// oversubscribed reports whether there are more passes with leases than worker nodes. Then units are
// larger: each worker node has a pass, or a second's work of it, to itself.
func (co *coordinator) oversubscribed() bool {
	leased, workerNodes := 0, 0
	for _, j := range co.jobs {
		if j.set != nil {
			leased++
		}
	}
	for _, p := range co.peers {
		if p.up && !p.excluded {
			workerNodes++
		}
	}
	return leased > workerNodes
}

// unitEnd is up to where a worker node gets heights.
func (co *coordinator) unitEnd(p *peer, j *job, from int32) int32 {
	end := int64(from) + int64(min(max(co.unitSize(p, j, from), 1), wire.MaxHits))
	if j.pass.Exact && j.pass.Query.Len() >= fewest {
		view := j.pass.Source.View()
		known := view.RangeEnd(from)
		view.Release()
		end = max(end, int64(min(known, from+wire.MaxHits)))
	}
	return int32(min(end, int64(j.pass.Stop.Height)+1))
}

// unitSize is how many heights a worker node gets at a time.
func (co *coordinator) unitSize(p *peer, j *job, from int32) float64 {
	workers := float64(max(p.workers, 1))
	rate := p.scans[j].rate
	switch {
	case rate == 0 && j.pass.Query.Len() >= manyMore:
		return workers
	case rate == 0:
		return firstUnit * workers
	case co.oversubscribed():
		return rate * longTime.Seconds()
	}
	working, together := 0, 0.0
	for _, other := range co.peers {
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

// straggling returns heights that a single other worker node has had for longer than expected.
func (j *job) straggling(p *peer) (match.Heights, bool) {
	if len(p.out) > 0 {
		return match.Heights{}, false
	}
	now := time.Now()
	var oldest *lease
	for _, list := range j.leases {
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
