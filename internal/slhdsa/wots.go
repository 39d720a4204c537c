package slhdsa

import (
	"bytes"
	"encoding/binary"
)

// The sizes of the one-time signature, WOTS+C: a digit is a byte (w = 256), and
// there are no checksum chains.
const (
	chains   = nodeSize // a chain for each digit
	steps    = 255      // hashes from the secret of a chain to its end
	digitSum = chains * steps / 2
)

// digits are the bytes of the hash that a one-time key signs.
type digits [chains]byte

// digitsOf hashes m with the counters from 0 on until the digits have the sum
// that every signature has, and returns them with the counter. 740 counters are
// tried on average.
func (t *tweak) digitsOf(m *node) (digits, uint16, error) {
	const size = nodeSize + 2 // the counter is two bytes, big-endian
	for lane := range lanes {
		b := &t.blocks[lane]
		*b = block{}
		copy(b[:], m[:])
		b[size] = 0x80
		b[len(b)-1] = 8 * size
	}
	for first := 0; first < 1<<16; first += lanes {
		for lane := range lanes {
			binary.BigEndian.PutUint16(t.blocks[lane][nodeSize:], uint16(first+lane))
		}
		t.by.sums(t, &unsalted, lanes)
		for lane := range lanes {
			if d := digits(t.sums[lane]); d.sum() == digitSum {
				return d, uint16(first + lane), nil
			}
		}
	}
	return digits{}, 0, ErrNoCounter
}

func (d *digits) sum() int {
	sum := 0
	for _, digit := range d {
		sum += int(digit)
	}
	return sum
}

// The digits at which chains begin and end.
var (
	chainStart = digits{}
	chainEnd   = digits(bytes.Repeat([]byte{steps}, chains))
)

// oneTimeKey returns the public key of the key pair that a is the address of. If
// signed is not nil, the signature of these digits is written to values.
func (t *tweak) oneTimeKey(a address, secret *node, signed *digits, values []byte) node {
	for chain := range chains {
		t.blocks[chain].set(a.of(kindChainSecret).chain(chain), secret)
	}
	t.sumBatch(chains)
	t.values = t.sums
	a = a.of(kindChain)
	if signed == nil {
		t.by.walk(t, a, chainStart, chainEnd)
		return t.chainsEnd(a)
	}
	t.by.walk(t, a, chainStart, *signed)
	for chain := range chains {
		copy(values[chain*nodeSize:], t.values[chain][:])
	}
	return t.endsOf(a, signed)
}

// oneTimeKeyOf returns the public key that a signature of the digits is of.
func (t *tweak) oneTimeKeyOf(a address, signed *digits, values []byte) node {
	for chain := range chains {
		t.values[chain] = node(values[chain*nodeSize:])
	}
	return t.endsOf(a.of(kindChain), signed)
}

// endsOf returns the public key whose chains have the values at the digits.
func (t *tweak) endsOf(a address, signed *digits) node {
	t.by.walk(t, a, *signed, chainEnd)
	return t.chainsEnd(a)
}

// chainsEnd hashes the ends of all chains to the public key of a key pair.
func (t *tweak) chainsEnd(a address) node {
	a = a.of(kindChainsEnd)
	var joined [chains * nodeSize]byte
	for i, end := range t.values {
		copy(joined[i*nodeSize:], end[:])
	}
	return t.sum(a[:], joined[:])
}
