package feeestimate_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/txpool/feeestimate"
)

func id(n int) (h chainhash.Hash) {
	binary.LittleEndian.PutUint64(h[:], uint64(n))
	return h
}

// A life is what became of a transaction.
type life struct {
	rate      float64
	came      int32
	left      int32 // height of the last block when it left; -1: it is there
	confirmed bool
}

// An oracle keeps all lives, and counts them anew for each question.
type oracle struct {
	lives []life
	best  int32
}

// bucket is that of a rate, found by going up.
func bucket(rate float64) int {
	n := 0
	for bound := 1000.0; bound < rate && bound <= 1e7; bound *= 1.05 {
		n++
	}
	return n
}

func weight(decay float64, blocks int32) float64 { return math.Pow(decay, float64(blocks)) }

// waiting counts those in the pool that were there for at least so many blocks.
func (o *oracle) waiting(in, blocks int) (n float64) {
	for _, l := range o.lives {
		if l.left < 0 && bucket(l.rate) == in && int(o.best-l.came) >= blocks {
			n++
		}
	}
	return n
}

// past sums up those that were confirmed, confirmed within a number of periods, or left too late.
func (o *oracle) past(in int, decay float64, scale, periods int) (confirmed, within, failed, rates float64) {
	for _, l := range o.lives {
		if l.left < 0 || bucket(l.rate) != in {
			continue
		}
		w, age := weight(decay, o.best-l.left), int(l.left-l.came)
		switch {
		case l.confirmed:
			confirmed += w
			rates += w * l.rate
			if age <= scale*periods {
				within += w
			}
		case age/scale >= periods:
			failed += w
		}
	}
	return confirmed, within, failed, rates
}

type horizon struct {
	decay, sufficient float64
	scale, periods    int
}

var spans = []horizon{{.962, .5, 1, 12}, {.9952, .1, 2, 24}, {.99931, .1, 24, 42}}

// raw estimates by the definition: of the ranges of buckets with enough transactions, from the
// highest down, the last before too few were confirmed in time.
func (o *oracle) raw(h horizon, target int, share float64) float64 {
	var best []int
	var open []int
	var enough, within, all float64
	for in := bucket(math.Inf(1)); in >= 0; in-- {
		periods := (target + h.scale - 1) / h.scale
		confirmed, inTime, failed, _ := o.past(in, h.decay, h.scale, periods)
		open = append(open, in)
		enough += confirmed
		within += inTime
		all += confirmed + failed + o.waiting(in, target)
		if enough < h.sufficient/(1-h.decay) {
			continue
		}
		enough = 0
		if within/all < share {
			continue
		}
		best, open, within, all = open, nil, 0, 0
	}
	total := 0.0
	for _, in := range best {
		confirmed, _, _, _ := o.past(in, h.decay, h.scale, 1)
		total += confirmed
	}
	half := total / 2
	for i := len(best) - 1; i >= 0; i-- { // from the lowest
		confirmed, _, _, rates := o.past(best[i], h.decay, h.scale, 1)
		if confirmed >= half {
			return rates / confirmed
		}
		half -= confirmed
	}
	return 0
}

// begin is the height at which tests begin: below 1,008 the numbers of Core, and these, count some
// transactions of the pool more than once.
const begin = 2000

// Estimates agree with what all lives say, to the rounding of sums.
func TestModel(t *testing.T) {
	for seed := range uint64(2) {
		rng := rand.New(rand.NewPCG(seed, 1))
		e, o := feeestimate.Core30.New(), &oracle{}
		e.Connect(begin, nil)
		o.best = begin
		for range 150 {
			for range rng.IntN(12) {
				l := life{rate: math.Round(math.Exp(6 + rng.Float64()*9)), came: o.best, left: -1}
				e.Add(id(len(o.lives)), l.came, int64(l.rate))
				o.lives = append(o.lives, l)
			}
			var confirmed []chainhash.Hash
			o.best++
			for i := range o.lives {
				l := &o.lives[i]
				switch {
				case l.left >= 0:
				case rng.Float64() < .02:
					l.left = o.best - 1
					e.Remove(id(i))
				case rng.Float64() < (math.Log(l.rate)-5)/12:
					l.left, l.confirmed = o.best, true
					confirmed = append(confirmed, id(i))
				}
			}
			e.Connect(o.best, append(confirmed, id(1<<40))) // the last was never tracked
		}
		for h, span := range spans {
			for _, target := range []int{1, 2, 3, 7, 12, 20, 48, 100, 1008} {
				if target > e.Reach(feeestimate.Horizon(h)) {
					continue
				}
				for _, share := range []float64{0, .3, .6, .85, .95, 1} {
					got, _ := e.Raw(feeestimate.Horizon(h), target, share)
					want := o.raw(span, target, share)
					if math.Abs(float64(got)-want) > .51 {
						t.Errorf("seed %d: horizon %d, target %d, share %v: %d, want %v", seed, h, target, share, got, want)
					}
				}
			}
		}
	}
}

// Transactions and blocks that must not count change nothing.
func TestPassedOver(t *testing.T) {
	learn := func(extra func(e *feeestimate.Estimator, height int32)) []byte {
		e := feeestimate.Core30.New()
		e.Connect(1, nil)
		for height := int32(1); height < 40; height++ {
			n := int(height)
			e.Add(id(n), height, 5000)
			if extra != nil {
				extra(e, height)
			}
			e.Connect(height+1, []chainhash.Hash{id(n)})
		}
		return e.Encode()
	}
	want := learn(nil)
	for name, extra := range map[string]func(e *feeestimate.Estimator, height int32){
		"one that is there": func(e *feeestimate.Estimator, height int32) {
			e.Add(id(int(height)), height, 9000)
		},
		"one of another height": func(e *feeestimate.Estimator, height int32) { e.Add(id(1000), height-1, 9000) },
		"a block that is not new": func(e *feeestimate.Estimator, height int32) {
			e.Connect(height, []chainhash.Hash{id(int(height))})
		},
		"one that nobody knows": func(e *feeestimate.Estimator, _ int32) { e.Remove(id(5000)) },
		"one that leaves at once": func(e *feeestimate.Estimator, height int32) {
			e.Add(id(5000), height, 9000)
			e.Remove(id(5000))
		},
	} {
		if got := learn(extra); !bytes.Equal(got, want) {
			t.Errorf("%s changes what is known", name)
		}
	}
}

// An estimate is for no more blocks than half of those that there is experience of.
func TestTargets(t *testing.T) {
	e := feeestimate.Core30.New()
	e.Connect(1, nil)
	if got := e.Smart(6, false); got.Rate != 0 || got.Blocks != 0 {
		t.Errorf("without experience: %+v", got)
	}
	for height := int32(1); height <= 60; height++ {
		for n := range 20 {
			e.Add(id(int(height)*100+n), height, int64(2000+100*n))
		}
		var all []chainhash.Hash
		for n := range 20 {
			all = append(all, id(int(height)*100+n))
		}
		e.Connect(height+1, all)
	}
	for target, blocks := range map[int]int{0: 0, -1: -1, 1: 2, 2: 2, 20: 20, 29: 29, 30: 29, 1008: 29, 1009: 1009} {
		got := e.Smart(target, false)
		if got.Blocks != blocks || (got.Rate > 0) != (target > 0 && target < 1009) {
			t.Errorf("target %d: %+v, want one for %d blocks", target, got, blocks)
		}
		if got.Rate > 0 && (got.Rate < 2000 || got.Rate > 4000 || got.Reason != "Half Target 60% Threshold") {
			t.Errorf("target %d: %+v", target, got)
		}
	}
	if rate, _ := e.Raw(feeestimate.Short, 13, .5); rate != 0 {
		t.Error("a target beyond the horizon has a rate")
	}
}

// A block decays what is known, and what waits at the end counts as failed.
func TestForget(t *testing.T) {
	e := feeestimate.Core30.New()
	e.Connect(begin, nil)
	for n := range 400 {
		e.Add(id(n), begin, 5000)
	}
	var half []chainhash.Hash
	for n := range 200 {
		half = append(half, id(n))
	}
	e.Connect(begin+1, half)
	e.Connect(begin+2, nil)
	_, before := e.Raw(feeestimate.Short, 1, .9)
	e.Forget()
	_, after := e.Raw(feeestimate.Short, 1, .9)
	if before.Fail.Waiting != 200 || before.Fail.Left != 0 || math.Abs(before.Fail.Within-200*.962) > 1e-9 {
		t.Errorf("before: %+v", before.Fail)
	}
	if after.Fail.Waiting != 0 || after.Fail.Left != 200 {
		t.Errorf("after: %+v", after.Fail)
	}
}
