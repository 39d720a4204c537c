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
		z.squarePortable(a)
		check("squarePortable", z, new(big.Int).Mul(a.big(), a.big()))
		z = *a
		z.square(&z)
		check("square in its place", z, new(big.Int).Mul(a.big(), a.big()))
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
			z.mulPortable(a, b)
			check("mulPortable", z, new(big.Int).Mul(a.big(), b.big()))
			z = *a
			z.mul(&z, b)
			check("mul in its place", z, new(big.Int).Mul(a.big(), b.big()))
			z.add(a, b)
			check("add", z, new(big.Int).Add(a.big(), b.big()))
			z.sub(a, b)
			check("sub", z, new(big.Int).Sub(a.big(), b.big()))
		}
	}
}

// Products that are small modulo p, but no less than 2^256 - p, are those whose second
// reduction overflows: the last carry counts.
func TestFieldLastCarry(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	small := []element{{excess}, {excess + 1}, {1 << 50}, {1<<63 - 1}, {^uint64(0)}, {0, 1}, {5, 3}}
	roots := 0
	for _, s := range small {
		want := s.big()
		for range 50 {
			a, b := element{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}, element{}
			inverse := new(big.Int).ModInverse(a.big(), bigP)
			b.setBig(inverse.Mod(inverse.Mul(inverse, want), bigP))
			var ours, portable element
			ours.mul(&a, &b)
			portable.mulPortable(&a, &b)
			if ours != s || portable != s {
				t.Fatalf("%x times %x is %x, portable %x, want %x", a, b, ours, portable, s)
			}
		}
		if root := new(big.Int).ModSqrt(want, bigP); root != nil {
			roots++
			var a, ours, portable element
			a.setBig(root)
			ours.square(&a)
			portable.squarePortable(&a)
			if ours != s || portable != s {
				t.Fatalf("the square of %x is %x, portable %x, want %x", a, ours, portable, s)
			}
		}
	}
	if roots == 0 {
		t.Error("no square was tried")
	}
	// It carries into the second limb where the product is just above 2^64, and both
	// factors just below p.
	for _, shift := range []uint{32, 33, 40, 50} {
		var a, b, ours, portable element
		a.negate(&element{1 << shift})
		b.negate(&element{1 << (64 - shift)})
		ours.mul(&a, &b)
		portable.mulPortable(&a, &b)
		if want := (element{0, 1}); ours != want || portable != want {
			t.Errorf("%x times %x is %x, portable %x", a, b, ours, portable)
		}
		if shift == 32 {
			ours.square(&a)
			portable.squarePortable(&a)
			if want := (element{0, 1}); ours != want || portable != want {
				t.Errorf("the square of %x is %x, portable %x", a, ours, portable)
			}
		}
	}
}

func (z *element) setBig(n *big.Int) {
	var b [32]byte
	n.FillBytes(b[:])
	z.setBytes(&b)
}

// FuzzField holds products, as this machine makes them and as all do, to big numbers.
func FuzzField(f *testing.F) {
	for _, e := range elements(rand.New(rand.NewPCG(5, 6)))[:12] {
		f.Add(e[0], e[1], e[2], e[3], e[3], e[2], e[1], e[0])
	}
	f.Fuzz(func(t *testing.T, a0, a1, a2, a3, b0, b1, b2, b3 uint64) {
		a, b := element{a0, a1, a2, a3}, element{b0, b1, b2, b3}
		for op, test := range map[string]struct {
			do   func(z *element)
			x, y *element
		}{
			"mul":            {func(z *element) { z.mul(&a, &b) }, &a, &b},
			"mulPortable":    {func(z *element) { z.mulPortable(&a, &b) }, &a, &b},
			"square":         {func(z *element) { z.square(&a) }, &a, &a},
			"squarePortable": {func(z *element) { z.squarePortable(&a) }, &a, &a},
		} {
			var z element
			test.do(&z)
			z.normalize()
			want := new(big.Int).Mul(test.x.big(), test.y.big())
			if want.Mod(want, bigP); z.big().Cmp(want) != 0 {
				t.Errorf("%s of %x and %x: %x, want %x", op, test.x.big(), test.y.big(), z.big(), want)
			}
		}
	})
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
