package coinstats

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/crypto/chacha20"
	"pgregory.net/rapid"
)

// fromInt is the element that Core's tests use for a small number.
func fromInt(n byte) []byte { return append([]byte{n}, make([]byte, 31)...) }

// reversed is a hash as Core prints it.
func reversed(sum [32]byte) string {
	slices.Reverse(sum[:])
	return hex.EncodeToString(sum[:])
}

// The vector of Core's crypto_tests.cpp: elements 0 and 1 put in, 2 taken out.
func TestVector(t *testing.T) {
	var h MuHash
	h.Insert(fromInt(0))
	h.Insert(fromInt(1))
	h.Remove(fromInt(2))
	const want = "10d312b100cbd32ada024a6646e40d3482fcff103668d2625f10002a607d5863"
	if got := reversed(h.Sum()); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// number returns what an element stands for.
func number(element []byte) *big.Int {
	key := sha256.Sum256(element)
	cipher, err := chacha20.NewUnauthenticatedCipher(key[:], make([]byte, chacha20.NonceSize))
	if err != nil {
		panic(err) // key and nonce have the sizes they must have
	}
	stream := make([]byte, numberSize)
	cipher.XORKeyStream(stream, stream)
	slices.Reverse(stream)
	return new(big.Int).SetBytes(stream)
}

// small is the offset as a number.
var small = big.NewInt(offset)

// oracle is the definition, in plain arithmetic.
func oracle(in, out [][]byte) string {
	value := big.NewInt(1)
	for _, e := range in {
		value.Mod(value.Mul(value, number(e)), modulus)
	}
	for _, e := range out {
		value.Mod(value.Mul(value, new(big.Int).ModInverse(number(e), modulus)), modulus)
	}
	var h MuHash
	h.in.multiply(value)
	return reversed(h.Sum())
}

// Order, removals and joining make no difference, and the value is the
// definition's.
func TestAgainstDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		element := func() []byte { return binary.LittleEndian.AppendUint64(nil, rng.Uint64N(50)) }
		var in, out [][]byte
		hashes := make([]MuHash, 3)
		for range rapid.IntRange(0, 40).Draw(t, "elements") {
			e, h := element(), &hashes[rng.IntN(len(hashes))]
			if rng.IntN(3) > 0 {
				in = append(in, e)
				h.Insert(e)
			} else {
				out = append(out, e)
				h.Remove(e)
			}
		}
		var joined MuHash
		for _, i := range rng.Perm(len(hashes)) {
			joined.Join(&hashes[i])
		}
		if got, want := reversed(joined.Sum()), oracle(in, out); got != want {
			t.Errorf("%d in, %d out: got %s, want %s", len(in), len(out), got, want)
		}
	})
}

// A set goes on from its state.
func TestState(t *testing.T) {
	var h MuHash
	for n := range byte(6) {
		again, ok := RestoreMuHash(h.State())
		if !ok || again.Sum() != h.Sum() {
			t.Fatalf("after %d elements: another set", n)
		}
		h = again
		h.Insert(fromInt(n))
		h.Remove(fromInt(n + 100))
	}
	for _, bad := range [][]byte{nil, make([]byte, StateSize), make([]byte, StateSize+1)} {
		if _, ok := RestoreMuHash(bad); ok {
			t.Errorf("%d bytes were taken for a state", len(bad))
		}
	}
}

// Products of any size are reduced right, also those of numbers with long runs of
// the same bits, where carries go far.
func TestReductionOfAnything(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	draw := func() *big.Int {
		n := new(big.Int)
		for n.BitLen() < numberBits {
			run := 1 + rng.IntN(900)
			n.Lsh(n, uint(run))
			if rng.IntN(2) > 0 {
				n.Add(n, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(run)), big.NewInt(1)))
			}
			if n.Sign() == 0 {
				n.SetUint64(1)
			}
		}
		return n.Rsh(n, uint(n.BitLen()-numberBits+rng.IntN(3)))
	}
	for range 20_000 {
		x, y := draw(), draw()
		var f field
		f.multiply(x)
		f.multiply(y)
		want := new(big.Int).Mul(x, y)
		if f.n.BitLen() > numberBits || new(big.Int).Mod(&f.n, modulus).Cmp(want.Mod(want, modulus)) != 0 {
			t.Fatalf("%x * %x is wrong", x, y)
		}
	}
}

// Numbers at the edges of the reduction come out right.
func TestReduction(t *testing.T) {
	top := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), numberBits), big.NewInt(1))
	for _, x := range []*big.Int{big.NewInt(1), top, modulus, new(big.Int).Sub(modulus, big.NewInt(1)), small} {
		for _, y := range []*big.Int{
			big.NewInt(1), top, new(big.Int).Sub(modulus, big.NewInt(1)), big.NewInt(offset + 1),
		} {
			var f field
			f.multiply(x)
			f.multiply(y)
			if f.n.BitLen() > numberBits {
				t.Errorf("%v * %v is too long", x, y)
			}
			want := new(big.Int).Mul(x, y)
			if new(big.Int).Mod(&f.n, modulus).Cmp(want.Mod(want, modulus)) != 0 {
				t.Errorf("%v * %v is wrong", x, y)
			}
		}
	}
}

func BenchmarkInsert(b *testing.B) {
	var h MuHash
	element := make([]byte, 60)
	for i := range b.N {
		binary.LittleEndian.PutUint64(element, uint64(i))
		h.Insert(element)
	}
}
