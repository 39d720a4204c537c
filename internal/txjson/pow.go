package txjson

import (
	"fmt"
	"math/big"

	"github.com/seed61375155/trawl/internal/consensus"
)

// Bits writes a target in its compact form, as in block headers.
func Bits(bits uint32) string { return fmt.Sprintf("%08x", bits) }

// Target writes the number that a block's hash must not exceed, from its
// compact form.
func Target(bits uint32) string { return fmt.Sprintf("%064x", consensus.TargetOf(bits)) }

// Work returns how many hashes a block of a target, from its compact form, takes on the average.
func Work(bits uint32) *big.Int { return consensus.TargetWork(bits) }

// Difficulty returns how many times harder than the least a target is to meet.
// The least is that of exponent 29 and mantissa 0xffff on every network. The
// steps are Core's, so that every digit is.
func Difficulty(bits uint32) float64 {
	exponent := bits >> 24
	d := float64(0xffff) / float64(bits&0xffffff)
	for ; exponent < 29; exponent++ {
		d *= 256
	}
	for ; exponent > 29; exponent-- {
		d /= 256
	}
	return d
}
