package consensus

import (
	"math/big"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// The parts of the compact form: the number of bytes, a sign, and the first bytes.
const (
	sign     = 0x00800000
	mantissa = 0x007fffff
)

// TargetOf returns the target that a header's bits stand for: what the hash, as a number,
// must not exceed. It is negative or zero for bits that no header may have.
func TargetOf(bits uint32) *big.Int {
	target := big.NewInt(int64(bits & mantissa))
	if exponent := uint(bits >> 24); exponent <= 3 {
		target.Rsh(target, 8*(3-exponent))
	} else {
		target.Lsh(target, 8*(exponent-3))
	}
	if bits&sign != 0 {
		target.Neg(target)
	}
	return target
}

// TargetBits returns the compact form of a target that is not negative. It keeps the first
// bytes alone, so the target it stands for may be smaller.
func TargetBits(target *big.Int) uint32 {
	size := uint(target.BitLen()+7) / 8
	first := new(big.Int)
	if size <= 3 {
		first.Lsh(target, 8*(3-size))
	} else {
		first.Rsh(target, 8*(size-3))
	}
	bits := uint32(first.Uint64())
	if bits&sign != 0 {
		bits >>= 8
		size++
	}
	return bits | uint32(size)<<24
}

var one = big.NewInt(1)

// TargetWork returns how many hashes a header with these bits stands for on average:
// 2²⁵⁶ / (target + 1), 0 for bits that no header may have. The number is the
// caller's.
func TargetWork(bits uint32) *big.Int {
	target := TargetOf(bits)
	if target.Sign() <= 0 {
		return new(big.Int)
	}
	work := new(big.Int).Lsh(one, 256)
	return work.Div(work, target.Add(target, one))
}

// HashNumber returns a hash as the number that is held against targets.
func HashNumber(hash *chainhash.Hash) *big.Int {
	var number [chainhash.HashSize]byte
	for i, b := range hash {
		number[chainhash.HashSize-1-i] = b
	}
	return new(big.Int).SetBytes(number[:])
}

// MeetsTarget reports whether a hash proves the work that bits ask for, and that is at
// least what limit, the highest target, allows.
func MeetsTarget(hash *chainhash.Hash, bits uint32, limit *big.Int) bool {
	target := TargetOf(bits)
	return target.Sign() > 0 && target.Cmp(limit) <= 0 && HashNumber(hash).Cmp(target) <= 0
}
