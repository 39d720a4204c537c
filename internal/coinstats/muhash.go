package coinstats

import (
	"crypto/sha256"
	"math/big"
	"math/bits"
	"slices"

	"golang.org/x/crypto/chacha20"
)

const (
	numberBits = 3072
	numberSize = numberBits / 8
	// offset is what the modulus lies below 2^3072.
	offset = 1103717
)

// modulus is the prime 2^3072 - 1103717.
var modulus = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), numberBits), big.NewInt(offset))

// MuHash3072 stands for a set: its value does not depend on the order in which elements come
// and go. Each element stands for a number modulo the prime 2^3072 - 1103717: the ChaCha20 key
// stream of its SHA-256 hash. A set is the product of the numbers of its elements: sets of
// disjoint elements are joined by multiplying, and an element is taken out by dividing. The hash
// of the set is the SHA-256 hash of that product (384 bytes, little-endian).
//
// Source: Bitcoin Core 30.2, src/crypto/muhash.h; Bellare and Micciancio, "A new paradigm for
// collision-free hashing" (1997).

// A MuHash is a set of byte strings. The zero value is the empty set. It is used by
// one goroutine at a time.
type MuHash struct {
	in, out field // products of the elements put in, and of those taken out
	scratch scratch
}

// Insert adds an element.
func (h *MuHash) Insert(element []byte) { h.in.multiply(h.scratch.number(element)) }

// Remove takes an element out. An element that is taken out before it was put in
// counts against its insertion later.
func (h *MuHash) Remove(element []byte) { h.out.multiply(h.scratch.number(element)) }

// Join adds the elements of another set, which stays as it is.
func (h *MuHash) Join(other *MuHash) {
	h.in.multiply(&other.in.n)
	h.out.multiply(&other.out.n)
}

// Sum returns the hash of the set, in the order of the digest's bytes.
func (h *MuHash) Sum() [sha256.Size]byte {
	value := new(big.Int).Set(h.in.value())
	if h.out.started() {
		inverse := new(big.Int).ModInverse(new(big.Int).Mod(h.out.value(), modulus), modulus)
		value.Mul(value, inverse)
	}
	value.Mod(value, modulus)
	bytes := value.FillBytes(make([]byte, numberSize))
	slices.Reverse(bytes)
	return sha256.Sum256(bytes)
}

// StateSize is the length of a set's state.
const StateSize = 2 * numberSize

// State returns the set for [RestoreMuHash]: the product of all elements put in, then the product
// of all elements taken out, little-endian.
func (h *MuHash) State() []byte {
	state := make([]byte, 0, StateSize)
	for _, f := range []*field{&h.in, &h.out} {
		bytes := f.value().FillBytes(make([]byte, numberSize))
		slices.Reverse(bytes)
		state = append(state, bytes...)
	}
	return state
}

// RestoreMuHash returns the set of a state; ok is false for what cannot be one.
func RestoreMuHash(state []byte) (h MuHash, ok bool) {
	if len(state) != StateSize {
		return h, false
	}
	for i, f := range []*field{&h.in, &h.out} {
		bytes := slices.Clone(state[i*numberSize : (i+1)*numberSize])
		slices.Reverse(bytes)
		f.n.SetBytes(bytes)
	}
	return h, h.in.started() && h.out.started()
}

// scratch is memory for the number of an element.
type scratch struct {
	stream [numberSize]byte
	words  [words]big.Word
	n      big.Int
}

// number returns what an element stands for; it is valid until the next call.
func (s *scratch) number(element []byte) *big.Int {
	key := sha256.Sum256(element)
	var nonce [chacha20.NonceSize]byte
	cipher, err := chacha20.NewUnauthenticatedCipher(key[:], nonce[:])
	if err != nil {
		panic(err) // key and nonce have the sizes they must have
	}
	clear(s.stream[:])
	cipher.XORKeyStream(s.stream[:], s.stream[:])
	for i := range s.words {
		var word big.Word
		for j, b := range s.stream[i*wordSize : (i+1)*wordSize] {
			word |= big.Word(b) << (8 * j)
		}
		s.words[i] = word
	}
	return s.n.SetBits(s.words[:])
}

// words is how many words of a big.Int hold a number, wordSize their bytes.
const (
	words    = numberBits / bits.UintSize
	wordSize = bits.UintSize / 8
)

// A field holds a product modulo the prime, as a number below 2^3072. The zero
// value is one.
type field struct {
	n big.Int // zero: nothing was multiplied

	product, folded big.Int // memory of multiply, kept
	sum             [words]big.Word
}

// started reports whether anything was multiplied. No element stands for zero
// but by a chance of 2^-3072.
func (f *field) started() bool { return f.n.Sign() != 0 }

func (f *field) value() *big.Int {
	if !f.started() {
		return big.NewInt(1)
	}
	return &f.n
}

// multiply multiplies by x, which is below 2^3072; by one where x is zero, the
// value of a field that was never multiplied.
func (f *field) multiply(x *big.Int) {
	switch {
	case x.Sign() == 0:
		return
	case !f.started():
		f.n.Set(x)
		return
	}
	f.product.Mul(&f.n, x)
	if all := f.product.Bits(); len(all) > words {
		f.fold(all)
		f.n.Set(f.folded.SetBits(f.sum[:])) // copied: a set may be
		return
	}
	f.n.Set(&f.product)
}

// fold makes sum of a product of more than 3072 bits: what lies above them counts
// offset times as much below.
func (f *field) fold(product []big.Word) {
	low, high := product[:words], product[words:]
	var carry uint
	for i, word := range low {
		var above, c uint
		if i < len(high) {
			above = uint(high[i])
		}
		hi, lo := bits.Mul(above, offset)
		lo, c = bits.Add(lo, uint(word), 0)
		hi += c // of a product there is room for two carries
		lo, c = bits.Add(lo, carry, 0)
		carry = hi + c
		f.sum[i] = big.Word(lo)
	}
	for carry != 0 { // again, and hardly ever a third time
		hi, lo := bits.Mul(carry, offset)
		var c uint
		for i, add := range [2]uint{lo, hi} {
			add, c = bits.Add(uint(f.sum[i]), add, c)
			f.sum[i] = big.Word(add)
		}
		for i := 2; c != 0 && i < words; i++ {
			var word uint
			word, c = bits.Add(uint(f.sum[i]), 0, c)
			f.sum[i] = big.Word(word)
		}
		carry = c
	}
}
