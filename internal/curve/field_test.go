package curve

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

var bigP, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f", 16)

func (z *element) big() *big.Int {
	n := new(big.Int)
	for i := range z {
		n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(z[3-i]))
	}
	return n
}

// elements returns numbers at the edges of limbs and of the field, and others.
func elements(r *rand.Rand) []element {
	edges := []uint64{0, 1, 2, excess - 1, excess, excess + 1, ^uint64(0), ^uint64(1), ^uint64(excess), 1 << 63}
	all := []element{
		{}, one, prime, {prime[0] - 1, prime[1], prime[2], prime[3]}, {prime[0] + 1, prime[1], prime[2], prime[3]},
	}
	for range 100 {
		var e element
		for i := range e {
			if e[i] = r.Uint64(); r.IntN(2) == 0 {
				e[i] = edges[r.IntN(len(edges))]
			}
		}
		all = append(all, e)
	}
	return all
}

func TestField(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := elements(r)
	check := func(op string, got element, want *big.Int) {
		t.Helper()
		want.Mod(want, bigP)
		plain := got
		got.normalize()
		if got.big().Cmp(want) != 0 {
			t.Fatalf("%s: got %x, want %x", op, got.big(), want)
		}
		if plain.isZero() != (want.Sign() == 0) {
			t.Fatalf("%s: isZero of %x is %v", op, plain, plain.isZero())
		}
	}
	for i := range all {
		a := &all[i]
		var z element
		z.square(a)
		check("square", z, new(big.Int).Mul(a.big(), a.big()))
		z.negate(a)
		check("negate", z, new(big.Int).Neg(a.big()))
		z.invert(a)
		inverse := new(big.Int).ModInverse(new(big.Int).Mod(a.big(), bigP), bigP)
		if inverse == nil {
			inverse = new(big.Int)
		}
		check("invert", z, inverse)
		root := new(big.Int).ModSqrt(new(big.Int).Mod(a.big(), bigP), bigP)
		if ok := z.sqrt(a); ok != (root != nil) {
			t.Fatalf("sqrt of %x: %v", a.big(), ok)
		} else if ok {
			z.square(&z)
			check("sqrt", z, a.big())
		}
		for j := range all {
			b := &all[j]
			z.mul(a, b)
			check("mul", z, new(big.Int).Mul(a.big(), b.big()))
			z.add(a, b)
			check("add", z, new(big.Int).Add(a.big(), b.big()))
			z.sub(a, b)
			check("sub", z, new(big.Int).Sub(a.big(), b.big()))
		}
	}
}

func TestFieldBytes(t *testing.T) {
	for _, e := range elements(rand.New(rand.NewPCG(3, 4))) {
		var b, again [32]byte
		e.putBytes(&b)
		var got element
		below := e.big().Cmp(bigP) < 0
		if got.setBytes(&b) != below || got != e {
			t.Fatalf("%x: read as %x", b, got)
		}
		got.putBytes(&again)
		if again != b {
			t.Fatalf("%x: written as %x", b, again)
		}
	}
}

func BenchmarkField(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := element{
		r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(),
	}, element{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
	b.Run("mul", func(b *testing.B) {
		for b.Loop() {
			x.mul(&x, &y)
		}
	})
	b.Run("mulIndependent", func(b *testing.B) {
		var z element
		for b.Loop() {
			z.mul(&x, &y)
		}
	})
	b.Run("square", func(b *testing.B) {
		for b.Loop() {
			x.square(&x)
		}
	})
	b.Run("invert", func(b *testing.B) {
		for b.Loop() {
			x.invert(&x)
		}
	})
}
