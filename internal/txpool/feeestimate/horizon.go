package feeestimate

import "slices"

// A Horizon is a span of time whose confirmations are remembered.
type Horizon int

// The horizons; the first forgets fastest.
const (
	Short Horizon = iota
	Medium
	Long
	horizons
)

// String returns the name that replies have for a horizon.
func (h Horizon) String() string { return [...]string{"short", "medium", "long"}[h] }

// kinds are what horizons differ in.
var kinds = [horizons]struct {
	periods    int     // that are told apart
	scale      int     // blocks in a period
	decay      float64 // of the counts, each block
	sufficient float64 // transactions a block that a range of rates needs for an answer
}{
	{12, 1, .962, 0.5},    // half is forgotten in 18 blocks
	{24, 2, .9952, 0.1},   // in 144 blocks
	{42, 24, .99931, 0.1}, // in 1,008 blocks
}

// history is what a horizon knows, by bucket of rates. Counts decay with each block.
type history struct {
	decay float64
	scale int

	confirmed []float64   // transactions that were
	rates     []float64   // the sum of their rates
	within    [][]float64 // by period: those that were confirmed by its end
	failed    [][]float64 // by period: those that left the pool unconfirmed after it

	waiting [][]int32 // in the pool now, by the height at which they came, modulo its length
	older   []int32   // in the pool now, and came before those
}

func newHistory(h Horizon, buckets int) *history {
	kind := &kinds[h]
	s := &history{
		decay: kind.decay, scale: kind.scale,
		confirmed: make([]float64, buckets), rates: make([]float64, buckets),
		within: table[float64](kind.periods, buckets), failed: table[float64](kind.periods, buckets),
	}
	s.makeWaiting()
	return s
}

// table returns rows of zeros.
func table[T any](rows, columns int) [][]T {
	all := make([][]T, rows)
	for i := range all {
		all[i] = make([]T, columns)
	}
	return all
}

func (s *history) makeWaiting() {
	s.waiting = table[int32](s.reach(), len(s.confirmed))
	s.older = make([]int32, len(s.confirmed))
}

// reach is the largest target, in blocks.
func (s *history) reach() int { return s.scale * len(s.within) }

// at is the row of a height. It counts modulo 2^32 below the first block, as Core does.
func (s *history) at(height uint32) []int32 { return s.waiting[height%uint32(len(s.waiting))] }

// next makes room for those that come after a block, and forgets a little.
func (s *history) next(height uint32) {
	row := s.at(height)
	for bucket, n := range row {
		s.older[bucket] += n
	}
	clear(row)
	for _, list := range slices.Concat(s.within, s.failed, [][]float64{s.rates, s.confirmed}) {
		for bucket := range list {
			list[bucket] *= s.decay
		}
	}
}

// record notes a transaction that was confirmed after so many blocks, at least one.
func (s *history) record(blocks, bucket int, rate float64) {
	for period := (blocks + s.scale - 1) / s.scale; period <= len(s.within); period++ {
		s.within[period-1][bucket]++
	}
	s.confirmed[bucket]++
	s.rates[bucket] += rate
}

// remove takes out a transaction that waits, age blocks after it came.
func (s *history) remove(height uint32, age, bucket int, confirmed bool) {
	count := &s.older[bucket]
	if age < len(s.waiting) {
		count = &s.at(height)[bucket]
	}
	if *count > 0 {
		*count--
	}
	if confirmed {
		return
	}
	for period := range min(age/s.scale, len(s.failed)) {
		s.failed[period][bucket]++
	}
}

// A Range is a range of rates, in satoshis per 1,000 virtual bytes, and what became of the
// transactions in it. Counts are averages that decay.
type Range struct {
	Start, End float64 // -1: there is none
	Within     float64 // were confirmed within the target
	Confirmed  float64 // were confirmed at any time
	Waiting    float64 // are in the pool, unconfirmed for longer than the target
	Left       float64 // left the pool unconfirmed after the target
}

// A Finding is how an estimate came about.
type Finding struct {
	Pass  Range // the lowest range whose transactions are confirmed in time
	Fail  Range // the highest whose are not
	Decay float64
	Scale int
}

// A walk goes from the highest bucket down and joins buckets until they have enough transactions
// to be tested.
type walk struct {
	*history
	bounds []float64

	sum     Range // of the buckets since the last range that passed
	enough  float64
	partial float64 // transactions since the last test

	near, far int // first and last bucket of the range
	began     bool
	passing   bool

	found         bool
	best          [2]int // nearest and farthest bucket of the last range that passed
	passed, fails Range
}

var none = Range{Start: -1, End: -1}

// estimate returns the rate that is enough for a target at height, with the share of
// transactions that have to be confirmed in time; negative where nothing is known.
func (s *history) estimate(
	bounds []float64, target int, sufficient, share float64, height uint32,
) (rate float64, f Finding) {
	last := len(bounds) - 1
	w := &walk{
		history: s, bounds: bounds, enough: sufficient / (1 - s.decay), near: last, far: last, passing: true,
		best: [2]int{last, last}, passed: none, fails: none,
	}
	period := (target+s.scale-1)/s.scale - 1
	for bucket := last; bucket >= 0; bucket-- {
		if !w.began {
			w.near, w.began = bucket, true
		}
		w.far = bucket
		w.add(bucket, period, target, height)
		if w.partial >= w.enough {
			w.test(share)
		}
	}
	rate = w.median()
	if w.passing && w.began {
		w.fails = w.here()
	}
	return rate, Finding{w.passed, w.fails, s.decay, s.scale}
}

func (w *walk) add(bucket, period, target int, height uint32) {
	w.sum.Within += w.within[period][bucket]
	w.partial += w.confirmed[bucket]
	w.sum.Confirmed += w.confirmed[bucket]
	w.sum.Left += w.failed[period][bucket]
	waiting := w.older[bucket]
	for age := target; age < w.reach(); age++ {
		waiting += w.at(height - uint32(age))[bucket]
	}
	w.sum.Waiting += float64(waiting)
}

// test decides about a range that has enough transactions.
func (w *walk) test(share float64) {
	w.partial = 0
	if w.sum.Within/(w.sum.Confirmed+w.sum.Left+w.sum.Waiting) < share {
		if w.passing {
			w.fails, w.passing = w.here(), false
		}
		return
	}
	w.found, w.passing, w.began = true, true, false
	w.best = [2]int{w.near, w.far}
	w.passed, w.fails, w.sum = w.sum, none, Range{}
}

// here is the range that is being joined.
func (w *walk) here() Range {
	r := w.sum
	r.Start, r.End = w.limits(w.near, w.far)
	return r
}

// limits are the rates of buckets from near down to far.
func (w *walk) limits(near, far int) (start, end float64) {
	if far > 0 {
		start = w.bounds[far-1]
	}
	return start, w.bounds[near]
}

// median returns the mean rate of the bucket that has the middle transaction of the best range.
func (w *walk) median() float64 {
	near, far := w.best[0], w.best[1]
	all := 0.0
	for bucket := far; bucket <= near; bucket++ {
		all += w.confirmed[bucket]
	}
	if !w.found {
		w.passed = none
		return -1
	}
	if all == 0 {
		w.passed.Start, w.passed.End = -1, -1
		return -1
	}
	w.passed.Start, w.passed.End = w.limits(near, far)
	half := all / 2
	for bucket := far; bucket <= near; bucket++ {
		if w.confirmed[bucket] >= half {
			return w.rates[bucket] / w.confirmed[bucket]
		}
		half -= w.confirmed[bucket]
	}
	return -1
}
