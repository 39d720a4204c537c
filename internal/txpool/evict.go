package txpool

import (
	"container/heap"
	"math"

	"github.com/seed61375155/trawl/messages"
)

// eviction is a heap of the entries, those first that a full pool can best do
// without: with what depends on them they pay the least.
type eviction []*Entry //nolint:recvcheck // heap.Interface wants both

func (v eviction) Len() int { return len(v) }

func (v eviction) Less(i, j int) bool {
	a, b := v[i], v[j]
	if order := a.evictionRate().Compare(b.evictionRate()); order != 0 {
		return order < 0
	}
	return a.Time > b.Time
}

func (v eviction) Swap(i, j int) {
	v[i], v[j] = v[j], v[i]
	v[i].place, v[j].place = i, j
}

func (v *eviction) Push(x any) {
	e := x.(*Entry)
	e.place = len(*v)
	*v = append(*v, e)
}

func (v *eviction) Pop() any {
	last := len(*v) - 1
	e := (*v)[last]
	(*v)[last] = nil
	*v = (*v)[:last]
	return e
}

func (v *eviction) fix(e *Entry) { heap.Fix(v, e.place) }

// evictionRate is the rate by which an entry is kept: its own, or that of its
// descendants if that is higher.
func (e *Entry) evictionRate() FeeRate {
	own, all := e.rate(), RateOf(e.Descendants.Fees, e.Descendants.VSize)
	if all.Compare(own) > 0 {
		return all
	}
	return own
}

// rollingMinFee is the rate below which nothing is taken in since the pool was full. It
// halves with time once a block has come.
type rollingMinFee struct {
	rate    float64 // for 1000 virtual bytes
	updated int64
	block   bool // since the rate was raised
}

// halfLife is the number of seconds in which the rate halves.
const halfLife = 12 * 60 * 60

// MinFee returns the rate below which nothing is taken in because the pool was
// full; nothing if it was not.
func (p *Pool) MinFee(now int64) FeeRate {
	f := &p.rollingMinFee
	if !f.block || f.rate == 0 {
		return PerKvB(int64(math.Round(f.rate)))
	}
	if now > f.updated+10 {
		half := float64(halfLife)
		switch used := p.Usage(); {
		case used < p.policy.MaxBytes/4:
			half /= 4
		case used < p.policy.MaxBytes/2:
			half /= 2
		}
		f.rate /= math.Pow(2, float64(now-f.updated)/half)
		f.updated = now
		if f.rate < float64(p.policy.IncrementalFee.PerKvB())/2 {
			f.rate = 0
			return FeeRate{}
		}
	}
	return higher(PerKvB(int64(math.Round(f.rate))), p.policy.IncrementalFee)
}

func higher(a, b FeeRate) FeeRate {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}

// Limit drops what is too old, then what pays least until the pool fits.
func (p *Pool) Limit(now int64) {
	p.expire(now)
	p.raised = FeeRate{}
	for len(p.byID) > 0 && p.Usage() > p.policy.MaxBytes {
		worst, rate := p.relatives.worst()
		rate = PerKvB(rate.PerKvB() + p.policy.IncrementalFee.PerKvB())
		if raised := float64(rate.PerKvB()); raised > p.rollingMinFee.rate {
			p.rollingMinFee.rate, p.rollingMinFee.block = raised, false
		}
		p.raised = higher(p.raised, rate)
		p.removeSet(worst, messages.PoolSizeLimit)
	}
}

// Raised returns the rate to which [Pool.Limit] raised the rolling minimum fee when it dropped
// something the last time it ran; nothing if it dropped nothing.
func (p *Pool) Raised() FeeRate { return p.raised }

// expire drops what is too old. Within one second that cannot change.
func (p *Pool) expire(now int64) {
	if p.expired == now {
		return
	}
	p.expired = now
	old := make(map[*Entry]struct{})
	for _, e := range p.byID {
		if e.Time < now-p.policy.Expiry {
			old[e] = struct{}{}
			for d := range e.descendants() {
				old[d] = struct{}{}
			}
		}
	}
	p.removeSet(old, messages.PoolExpiry)
}
