package main

import (
	"math/big"
	"math/bits"
)

// Numbers of the table after the 64 constants of the rounds.
const (
	numberLength = 64 + iota // of oneNode
	numberLengthRound
	numberLengthEarly
	numberLength2 // of twoNodes
	numberLength2Round
	numberLength2Early
	numberLengthLate
	numberLength2Late
	numberPadding
	numberOne
	numberStep
	numbers
)

// table returns the numbers.
func table() []uint32 {
	t := make([]uint32, numbers)
	copy(t, constantsOfRounds[:])
	one, two := oneNode.bits, twoNodes.bits
	t[numberLength], t[numberLengthRound], t[numberLengthEarly] = one, one+t[15], early.of(one)
	t[numberLength2], t[numberLength2Round], t[numberLength2Early] = two, two+t[15], early.of(two)
	t[numberLengthLate], t[numberLength2Late] = late.of(one), late.of(two)
	t[numberPadding] = 0x8000
	t[numberOne] = 1
	t[numberStep] = 1 << 16
	return t
}

// of is the function of a number.
func (f turns) of(x uint32) uint32 {
	y := x >> f.shift
	if f.shift == 0 {
		y = 0
	}
	for _, by := range f.rotate {
		y ^= bits.RotateLeft32(x, -by)
	}
	return y
}

// constantsOfRounds are those of FIPS 180-4, 4.2.2: the first 32 bits of the fractions of the
// cube roots of the first 64 primes.
var constantsOfRounds = func() (k [64]uint32) {
	prime := uint64(2)
	for i := range k {
		k[i] = fractionOfCubeRoot(prime)
		for prime++; !isPrime(prime); prime++ {
		}
	}
	return k
}()

func isPrime(n uint64) bool {
	for d := uint64(2); d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return true
}

// fractionOfCubeRoot returns the first 32 bits of the fraction of a cube root.
func fractionOfCubeRoot(n uint64) uint32 {
	// The cube root of n * 2^96 is that of n with 32 bits after the point.
	cube := new(big.Int).Lsh(new(big.Int).SetUint64(n), 96)
	root := new(big.Int)
	for bit := 36; bit >= 0; bit-- {
		root.SetBit(root, bit, 1)
		if new(big.Int).Exp(root, big.NewInt(3), nil).Cmp(cube) > 0 {
			root.SetBit(root, bit, 0)
		}
	}
	return uint32(root.Uint64())
}
