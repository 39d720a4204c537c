package match

import (
	"slices"
	"time"
)

// A Way is how a pass that may look into blocks finds its hits.
type Way int

// The ways.
const (
	WayAuto    Way = iota // whichever takes less time
	WayFilters            // a block is looked into where its filter matches
	WayBlocks             // blocks are looked into without their filters
)

const (
	// minDirect is from how many scripts on time is measured for the choice. Fewer have so few
	// filters match by chance that looking into blocks saves nothing.
	minDirect = 10_000

	// probeShare is how many times as long the faster way is used as the slower way, which is probed
	// to know its present pace. Paces change along the chain: blocks grow, and filters match more or
	// less often.
	probeShare = 16
)

const (
	// lately is how many measurements a pace is of, and enough of how many it is known.
	lately = 8
	enough = 3
)

// A pace is how long something has taken lately: the least of some measurements, since a worker whose core others had
// meanwhile measures more, and never less.
type pace struct {
	ns    [lately]float64 // each
	count int             // of all measurements
}

func (p *pace) add(n int64, took time.Duration) {
	p.ns[p.count%lately] = float64(took) / float64(max(n, 1))
	p.count++
}

// least returns the pace, 0 where nothing was measured.
func (p *pace) least() float64 {
	if p.count == 0 {
		return 0
	}
	return slices.Min(p.ns[:min(p.count, lately)])
}

// paces are how long the ways have taken, and so which is to be taken.
type paces struct {
	filters pace // a filter, without looks
	looks   pace // a look into a block

	blocks, matched float64 // whose filters were matched, and did; old ones count less and less

	probe time.Duration // that the last blocks took whose filters were matched, about
	since time.Duration // what was spent on blocks alone since then
}

// fade is what is left of old counts with each measurement.
const fade = 0.9

// byFilters notes what matching filters took; keeping is the part for looks into some of the blocks.
func (p *paces) byFilters(blocks int64, took time.Duration, looks int64, keeping time.Duration) {
	p.filters.add(blocks, took-keeping)
	if looks > 0 {
		p.looks.add(looks, keeping)
	}
	p.blocks, p.matched = p.blocks*fade+float64(blocks), p.matched*fade+float64(looks)
	p.probe, p.since = time.Duration(float64(blocks)*p.perBlock()), 0
}

// byBlocks notes what looking into blocks without their filters took.
func (p *paces) byBlocks(blocks int64, took time.Duration) {
	p.looks.add(blocks, took)
	p.since += took
}

// perBlock returns what a block takes whose filter is matched, with a look where it matches, nanoseconds.
func (p *paces) perBlock() float64 {
	return p.filters.least() + p.looks.least()*p.matched/max(p.blocks, 1)
}

// prefersBlocks reports whether looking into blocks takes less time. Until a filter has matched
// nothing is known of that, and filters that do not match are the better way.
func (p *paces) prefersBlocks() bool {
	return p.filters.count >= enough && p.looks.count > 0 && p.looks.least() < p.perBlock()
}

// next reports whether to look into the next blocks without their filters.
func (p *paces) next() bool {
	if !p.prefersBlocks() {
		return false
	}
	if p.since > probeShare*p.probe {
		p.since = 0 // of all workers one is enough
		return false
	}
	return true
}

// choose reports whether to look into the next blocks without their filters.
func (p *Pass) choose() bool {
	switch {
	case p.Blocks == nil || p.Way == WayFilters:
		return false
	case p.Way == WayBlocks:
		return true
	case !p.measures():
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	direct := p.paces.next()
	if direct && p.prefetch.on { // nobody waits for filters
		p.prefetch.change()
		p.prefetch.on = false
	}
	return direct
}

// measures reports whether what the ways take decides between them.
func (p *Pass) measures() bool {
	return p.Blocks != nil && p.Way == WayAuto && p.Query.Len() >= minDirect
}

// prefersBlocks is [paces.prefersBlocks] of the pass.
func (p *Pass) prefersBlocks() bool {
	if !p.measures() {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paces.prefersBlocks()
}

// notePace notes what something took.
func (p *Pass) notePace(note func(p *paces)) {
	if !p.measures() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	note(&p.paces)
}

// Follow has a pass begin with the paces that an earlier pass has measured, in the same chain
// with the same scripts. It is called before the pass has workers.
func (p *Pass) Follow(before *Pass) {
	before.mu.Lock()
	learnt := before.paces
	before.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paces = learnt
}
