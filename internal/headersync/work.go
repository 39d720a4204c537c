// Package headersync judges chains of headers before anything of them is kept.
//
// A peer's chain is worth memory only when it has enough work, which shows after
// all its headers were seen. [State] therefore reads a long chain twice, as
// Bitcoin Core 30.2 does (src/headerssync.h): first it keeps a bit for some of the
// headers, then, when the work is known to be enough, it asks for them again and
// lets through what agrees with the bits. A chain made to fool it costs its maker
// the work of a real one.
package headersync

import (
	"math/big"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Target returns the target that a header's bits stand for: what the hash, as a
// number, must not exceed. It is negative or zero for bits that no header may
// have.
func Target(bits uint32) *big.Int {
	target := big.NewInt(int64(bits & 0x007fffff))
	if exponent := uint(bits >> 24); exponent <= 3 {
		target.Rsh(target, 8*(3-exponent))
	} else {
		target.Lsh(target, 8*(exponent-3))
	}
	if bits&0x00800000 != 0 {
		target.Neg(target)
	}
	return target
}

var one = big.NewInt(1)

// Work returns how many hashes a header with these bits stands for on average:
// 2²⁵⁶ / (target + 1), 0 for bits that no header may have. The number is the
// caller's.
func Work(bits uint32) *big.Int {
	target := Target(bits)
	if target.Sign() <= 0 {
		return new(big.Int)
	}
	work := new(big.Int).Lsh(one, 256)
	return work.Div(work, target.Add(target, one))
}

// Meets reports whether a hash proves the work that bits ask for, and that is at
// least what limit, the highest target, allows.
func Meets(hash *chainhash.Hash, bits uint32, limit *big.Int) bool {
	target := Target(bits)
	if target.Sign() <= 0 || target.Cmp(limit) > 0 {
		return false
	}
	var number [chainhash.HashSize]byte
	for i, b := range hash {
		number[chainhash.HashSize-1-i] = b
	}
	return new(big.Int).SetBytes(number[:]).Cmp(target) <= 0
}
