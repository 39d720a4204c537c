package txpool

import (
	"cmp"
	"math/bits"

	"github.com/seed61375155/trawl/messages"
)

// A FeeRate is a fee for a virtual size. The zero value is a rate of nothing.
type FeeRate struct{ fee, size int64 }

// RateOf returns the rate of a fee, in the smallest unit, paid for a virtual
// size.
func RateOf(fee, vsize int64) FeeRate {
	if vsize <= 0 {
		return FeeRate{}
	}
	return FeeRate{fee, vsize}
}

// PerKvB returns the rate of so much for 1000 virtual bytes.
func PerKvB(fee int64) FeeRate { return RateOf(fee, 1000) }

// Fee returns what a virtual size costs, rounded up.
func (r FeeRate) Fee(vsize int64) int64 {
	if r.size == 0 {
		return 0
	}
	return r.scaled(vsize, true)
}

// PerKvB returns what 1000 virtual bytes cost, rounded down.
func (r FeeRate) PerKvB() int64 {
	if r.size == 0 {
		return 0
	}
	return r.scaled(1000, false)
}

// scaled returns fee*n/size.
func (r FeeRate) scaled(n int64, up bool) int64 {
	negative := r.fee < 0
	hi, lo := bits.Mul64(magnitude(r.fee), uint64(n))
	quo, rem := bits.Div64(hi%uint64(r.size), lo, uint64(r.size))
	result := int64(quo)
	if negative {
		result = -result
	}
	switch {
	case rem == 0:
	case up && !negative:
		result++
	case !up && negative:
		result--
	}
	return result
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// Compare orders rates exactly.
func (r FeeRate) Compare(o FeeRate) int {
	a, b := r.sign(), o.sign()
	if a != b || a == 0 {
		return cmp.Compare(a, b)
	}
	hi1, lo1 := bits.Mul64(magnitude(r.fee), uint64(o.size))
	hi2, lo2 := bits.Mul64(magnitude(o.fee), uint64(r.size))
	order := cmp.Compare(hi1, hi2)
	if order == 0 {
		order = cmp.Compare(lo1, lo2)
	}
	return a * order
}

func (r FeeRate) sign() int { return cmp.Compare(r.fee, 0) }

// Text returns the rate for 1000 virtual bytes as Core writes it, with the unit of amounts.
func (r FeeRate) Text(unit string) string {
	return messages.FormatMoney(r.PerKvB(), 8) + " " + unit + "/kvB"
}

// money writes an amount as Core's texts do: at least two decimals.
func money(amount int64) string { return messages.FormatMoney(amount, 2) }
