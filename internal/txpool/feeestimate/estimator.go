// Package feeestimate estimates which fee rate has a transaction confirmed within so many blocks.
// It learns from the time that transactions of the memory pool took to be confirmed. It is
// Bitcoin Core's estimator, to the bits of its numbers, with Core's file fee_estimates.dat.
//
// Rates are put into buckets, each 5 % above the one before. For each bucket it is counted how many
// transactions were confirmed within so many blocks, over three horizons; what was long ago counts
// less. An estimate is the mean rate of the lowest buckets whose transactions were mostly in time.
//
// Where the buckets begin, and how the file begins, is a [Form]: that of Core 30.2 or that of later versions.
//
// An Estimator is not safe for concurrent use. It knows no disk and no clock.
package feeestimate

import (
	"math"
	"sort"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// MaxTarget is the largest number of blocks that an estimate can be asked for.
const MaxTarget = 1008

const (
	highestBound = 1e7 // satoshis per 1,000 virtual bytes
	spacing      = 1.05
	noBound      = 1e99 // of the last bucket

	// oldest is for how many blocks a file's history counts, after the last block that the file
	// knows.
	oldest = 6 * 1008
)

// Shares of transactions that have to be confirmed within half the target, the target, and its
// double.
const (
	halfShare   = .6
	fullShare   = .85
	doubleShare = .95
)

// An Estimator learns from the transactions that come to the memory pool and that blocks
// confirm. Make an Estimator with [Form.New] or [Form.Decode].
type Estimator struct {
	form    Form
	bounds  []float64 // the highest rate of each bucket
	history [horizons]*history
	tracked map[chainhash.Hash]tracked

	best      uint32 // height of the last block
	first     uint32 // of the first that confirmed what was tracked; 0: none has
	fromFile  [2]uint32
	knowsNone bool // nothing was ever tracked
}

// tracked is a transaction in the pool whose confirmation is waited for.
type tracked struct {
	height uint32 // at which it came
	bucket int
	rate   float64
}

// New returns an estimator that knows nothing.
func (f Form) New() *Estimator {
	e := &Estimator{form: f, tracked: map[chainhash.Hash]tracked{}, knowsNone: true}
	for bound := f.Lowest; bound <= highestBound; bound *= spacing {
		e.bounds = append(e.bounds, bound)
	}
	e.bounds = append(e.bounds, noBound)
	for h := range horizons {
		e.history[h] = newHistory(h, len(e.bounds))
	}
	return e
}

// bucketOf is the bucket of a rate: the first whose bound is not below.
func (e *Estimator) bucketOf(rate float64) int {
	return min(sort.SearchFloat64s(e.bounds, rate), len(e.bounds)-1)
}

// Add notes a transaction that has come to the pool at the height of the tip. The chain is up to
// date; the transaction came by itself, and spends nothing of the pool. It pays rate, in satoshis
// per 1,000 virtual bytes. If height is not that of the last block, the transaction is passed over.
func (e *Estimator) Add(id chainhash.Hash, height int32, rate int64) {
	if _, there := e.tracked[id]; there || uint32(height) != e.best {
		return
	}
	e.knowsNone = false
	t := tracked{e.best, e.bucketOf(float64(rate)), float64(rate)}
	e.tracked[id] = t
	for _, s := range e.history {
		s.at(t.height)[t.bucket]++
	}
}

// Remove notes that a transaction has left the pool and is in no block.
func (e *Estimator) Remove(id chainhash.Hash) { e.remove(id, false) }

func (e *Estimator) remove(id chainhash.Hash, confirmed bool) (t tracked, there bool) {
	if t, there = e.tracked[id]; !there {
		return t, false
	}
	delete(e.tracked, id)
	for _, s := range e.history {
		s.remove(t.height, int(e.best-t.height), t.bucket, confirmed)
	}
	return t, true
}

// Connect notes a block, with those of its transactions that were in the pool. A block that is
// not above all blocks before is passed over: reorganisations teach nothing.
func (e *Estimator) Connect(height int32, confirmed []chainhash.Hash) {
	if uint32(height) <= e.best {
		return
	}
	e.best = uint32(height)
	if e.knowsNone {
		return
	}
	for _, s := range e.history {
		s.next(e.best)
	}
	counted := false
	for _, id := range confirmed {
		t, there := e.remove(id, true)
		if !there {
			continue
		}
		counted = true
		for _, s := range e.history {
			s.record(int(e.best-t.height), t.bucket, t.rate)
		}
	}
	if counted && e.first == 0 {
		e.first = e.best
	}
}

// Forget takes all transactions that wait for those that were never confirmed, as at the end of a
// program.
func (e *Estimator) Forget() {
	for id := range e.tracked {
		e.Remove(id)
	}
}

// span is over how many blocks was learned since the start, and fileSpan over how many by who wrote
// the file, unless that is long ago.
func (e *Estimator) span() uint32 {
	if e.first == 0 {
		return 0
	}
	return e.best - e.first
}

func (e *Estimator) fileSpan() uint32 {
	first, best := e.fromFile[0], e.fromFile[1]
	if first == 0 || e.best-best > oldest {
		return 0
	}
	return best - first
}

// usable is the largest target that there is data for: half of the span, so that there were
// transactions which could fail.
func (e *Estimator) usable() int {
	return min(e.history[Long].reach(), int(max(e.span(), e.fileSpan())/2))
}

// Reach is the largest target of a horizon.
func (e *Estimator) Reach(h Horizon) int { return e.history[h].reach() }

func (e *Estimator) estimate(h Horizon, target int, share float64) (float64, Finding) {
	return e.history[h].estimate(e.bounds, target, kinds[h].sufficient, share, e.best)
}

// Raw returns the rate that has the given share of transactions confirmed within target
// blocks, by one horizon's history. It is in satoshis per 1,000 virtual bytes, and 0 if the
// horizon knows too little.
func (e *Estimator) Raw(h Horizon, target int, share float64) (rate int64, f Finding) {
	if target <= 0 || target > e.Reach(h) || share > 1 {
		return 0, Finding{Pass: none, Fail: none}
	}
	median, f := e.estimate(h, target, share)
	return rounded(median), f
}

// rounded returns a rate as a whole number, halves away from zero; 0 for none.
func rounded(rate float64) int64 {
	if rate < 0 {
		return 0
	}
	return int64(math.Round(rate))
}

// An Estimate is a fee rate for a target.
type Estimate struct {
	Rate   int64  // satoshis per 1,000 virtual bytes; 0: too little is known
	Blocks int    // the target of Rate: fewer or more blocks than were asked for, as the history allows
	Reason string // what it rests on, in Bitcoin Core's words
}

// The reasons of estimates.
const (
	reasonNone         = "None"
	reasonHalf         = "Half Target 60% Threshold"
	reasonFull         = "Target 85% Threshold"
	reasonDouble       = "Double Target 95% Threshold"
	reasonConservative = "Conservative Double Target longer horizon"
)

// Smart returns the rate that is thought enough for target blocks, 1 to [MaxTarget]. A conservative
// estimate also asks the longer horizons and falls slower.
func (e *Estimator) Smart(target int, conservative bool) Estimate {
	if target <= 0 || target > e.Reach(Long) {
		return Estimate{Blocks: target, Reason: reasonNone}
	}
	target = min(max(target, 2), e.usable())
	if target <= 1 {
		return Estimate{Blocks: target, Reason: reasonNone}
	}
	median, reason := e.shortest(target/2, halfShare, true), reasonHalf
	raise := func(rate float64, by string) {
		if rate > median {
			median, reason = rate, by
		}
	}
	raise(e.shortest(target, fullShare, true), reasonFull)
	raise(e.shortest(2*target, doubleShare, !conservative), reasonDouble)
	if conservative || median == -1 {
		raise(e.longer(2*target), reasonConservative)
	}
	return Estimate{rounded(median), target, reason}
}

// shortest estimates by the shortest horizon that reaches the target. With others, a lower rate
// counts too that a shorter one has for its largest target, so that more patience never costs more.
func (e *Estimator) shortest(target int, share float64, others bool) float64 {
	if target < 1 || target > e.Reach(Long) {
		return -1
	}
	h := Short
	for target > e.Reach(h) {
		h++
	}
	best, _ := e.estimate(h, target, share)
	for h--; others && h >= Short; h-- {
		if rate, _ := e.estimate(h, e.Reach(h), share); rate > 0 && (best == -1 || rate < best) {
			best = rate
		}
	}
	return best
}

// longer estimates by the horizons beyond the shortest horizon that reaches the target.
func (e *Estimator) longer(target int) float64 {
	best := -1.0
	for h := range Long {
		if target <= e.Reach(h) {
			rate, _ := e.estimate(h+1, target, doubleShare)
			best = max(best, rate)
		}
	}
	return best
}
