package slhdsa

import (
	"crypto/sha256"
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

// unsalted is the state in which SHA-256 begins.
var unsalted = registers(stateOf(sha256.New()))

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
		if !sumPairs(t.sums[:], unsalted, t.blocks[:]) {
			for lane := range lanes {
				full := sha256.Sum256(t.blocks[lane][:size])
				copy(t.sums[lane][:], full[:])
			}
		}
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

// oneTimeKey returns the public key of the key pair that a is the address of. If
// signed is not nil, the signature of these digits is written to values.
func (t *tweak) oneTimeKey(a address, secret *node, signed *digits, values []byte) node {
	for chain := range chains {
		t.blocks[chain].set(a.of(kindChainSecret).chain(chain), secret)
	}
	t.sumBatch(chains)
	for chain := range chains {
		t.blocks[chain].set(a.of(kindChain).chain(chain), &t.sums[chain])
	}
	for step := range steps {
		if signed != nil {
			t.emit(step, signed, values)
		}
		for chain := range chains {
			t.blocks[chain].advance(step, &t.sums[chain])
		}
		t.sumBatch(chains)
	}
	if signed != nil {
		t.emit(steps, signed, values)
	}
	return t.chainsEnd(a, t.sums[:])
}

// emit writes the values of the chains that a signature shows after this step.
func (t *tweak) emit(step int, signed *digits, values []byte) {
	for chain, digit := range signed {
		if int(digit) == step {
			copy(values[chain*nodeSize:], t.sums[chain][:])
		}
	}
}

// oneTimeKeyOf returns the public key that a signature of the digits is of. The
// chains take part from their digit on, those with small digits first, so that
// what is to hash stays together.
func (t *tweak) oneTimeKeyOf(a address, signed *digits, values []byte) node {
	order := signed.ascending()
	ends := [chains]node{}
	for lane, chain := range order {
		t.sums[lane] = node(values[chain*nodeSize:])
		t.blocks[lane].set(a.of(kindChain).chain(chain), &t.sums[lane])
	}
	active := 0
	for step := range steps {
		for active < chains && int(signed[order[active]]) == step {
			active++
		}
		for lane := range active {
			t.blocks[lane].advance(step, &t.sums[lane])
		}
		t.sumActive(active)
	}
	for lane, chain := range order {
		ends[chain] = t.sums[lane]
	}
	return t.chainsEnd(a, ends[:])
}

// sumActive is sumBatch for lanes of which those after the active hold values
// that are not to be lost.
func (t *tweak) sumActive(active int) {
	if active == chains {
		t.sumBatch(active)
		return
	}
	kept := t.sums[active]
	t.sumBatch(active)
	t.sums[active] = kept
}

// ascending returns the numbers of the chains in the order of their digits.
func (d *digits) ascending() (order [chains]int) {
	for i := range order {
		at := i
		for ; at > 0 && d[order[at-1]] > d[i]; at-- {
			order[at] = order[at-1]
		}
		order[at] = i
	}
	return order
}

// chainsEnd hashes the ends of all chains to the public key of a key pair.
func (t *tweak) chainsEnd(a address, ends []node) node {
	a = a.of(kindChainsEnd)
	var joined [chains * nodeSize]byte
	for i, end := range ends {
		copy(joined[i*nodeSize:], end[:])
	}
	return t.sum(a[:], joined[:])
}
