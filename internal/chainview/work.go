package chainview

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// work is a number of 256 bits, the lowest word first: how many hashes a chain took.
type work [4]uint64

// workOf takes the lower 256 bits of a number that is not negative.
func workOf(n *big.Int) (w work) {
	var bytes [32]byte
	new(big.Int).And(n, workMask).FillBytes(bytes[:])
	for i := range w {
		w[i] = binary.BigEndian.Uint64(bytes[24-8*i:])
	}
	return w
}

var workMask = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 256), big.NewInt(1))

func (w *work) plus(other *work) (sum work) {
	var carry uint64
	for i := range w {
		sum[i], carry = bits.Add64(w[i], other[i], carry)
	}
	return sum
}

func (w *work) compare(other *work) int {
	for i := len(w) - 1; i >= 0; i-- {
		switch {
		case w[i] < other[i]:
			return -1
		case w[i] > other[i]:
			return 1
		}
	}
	return 0
}

func (w *work) big() *big.Int {
	var bytes [32]byte
	for i, word := range w {
		binary.BigEndian.PutUint64(bytes[24-8*i:], word)
	}
	return new(big.Int).SetBytes(bytes[:])
}
