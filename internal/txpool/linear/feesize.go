package linear

import (
	"cmp"
	"math/bits"
)

// MaxFee bounds the fee of a transaction, in the smallest unit, on both sides of 0: sums of all
// that are compared then fit. A fee beyond it, which only operators can grant, counts as MaxFee.
const MaxFee = 1 << 49

// A FeeSize is a fee together with the size that it is paid for, in units of weight. The zero
// value is that of no transaction.
type FeeSize struct{ Fee, Size int64 }

// limited returns the value with a fee within bounds.
func (a FeeSize) limited() FeeSize { return FeeSize{max(-MaxFee, min(a.Fee, MaxFee)), a.Size} }

// Plus sums up two values.
func (a FeeSize) Plus(b FeeSize) FeeSize { return FeeSize{a.Fee + b.Fee, a.Size + b.Size} }

// Minus is the inverse of Plus.
func (a FeeSize) Minus(b FeeSize) FeeSize { return FeeSize{a.Fee - b.Fee, a.Size - b.Size} }

// CompareRate orders values by the fee for a size, exactly. No transactions compare as equal to all.
func (a FeeSize) CompareRate(b FeeSize) int {
	hiA, loA := times(a.Fee, b.Size)
	hiB, loB := times(b.Fee, a.Size)
	return cmp.Or(cmp.Compare(hiA, hiB), cmp.Compare(loA, loB))
}

// times returns a product in 128 bits, of which the second factor is not negative.
func times(fee, size int64) (hi int64, lo uint64) {
	high, lo := bits.Mul64(uint64(fee), uint64(size))
	if fee < 0 {
		high -= uint64(size)
	}
	return int64(high), lo
}
