package curve

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// oracle is what decred's package makes of point + scalar·G.
func oracle(p *Point, s *Scalar) Point {
	var k secp256k1.ModNScalar
	k.SetBytes(s)
	var sum secp256k1.JacobianPoint
	secp256k1.ScalarBaseMultNonConst(&k, &sum)
	if !p.IsInfinity() {
		var key [Size]byte
		p.PutCompressed(&key)
		public, err := secp256k1.ParsePubKey(key[:])
		if err != nil {
			panic(err)
		}
		var term secp256k1.JacobianPoint
		public.AsJacobian(&term)
		secp256k1.AddNonConst(&sum, &term, &sum)
	}
	if sum.Z.IsZero() || sum.X.IsZero() && sum.Y.IsZero() {
		return Point{}
	}
	sum.ToAffine()
	var r Point
	key := [Size]byte(secp256k1.NewPublicKey(&sum.X, &sum.Y).SerializeCompressed())
	if !r.SetCompressed(&key) {
		panic("not a key")
	}
	return r
}

func (p *Point) equals(q *Point) bool {
	if p.IsInfinity() || q.IsInfinity() {
		return p.IsInfinity() && q.IsInfinity()
	}
	var a, b [Size]byte
	p.PutCompressed(&a)
	q.PutCompressed(&b)
	return a == b
}

// scalars returns numbers below the order, the edges of digits and of the
// order's half among them.
func scalars(n int) (all []Scalar) {
	put := func(k [4]uint64) {
		var s Scalar
		for i := range k {
			binary.BigEndian.PutUint64(s[24-i*8:], k[i])
		}
		all = append(all, s)
	}
	put([4]uint64{})
	put([4]uint64{1})
	put([4]uint64{order[0] - 1, order[1], order[2], order[3]})
	put(halfOrder)
	put([4]uint64{halfOrder[0] + 1, halfOrder[1], halfOrder[2], halfOrder[3]})
	for w := range 256 {
		var k [4]uint64
		k[w/64] = 1 << (w % 64)
		put(k)
	}
	for d := uint64(maxDigit - 2); d <= maxDigit+2; d++ {
		put([4]uint64{d})
		put([4]uint64{d << windowBits})
	}
	for len(all) < n {
		all = append(all, pseudo(len(all)))
	}
	return all[:n]
}

// pseudo returns a number that is below the order but once in 2^127.
func pseudo(n int) Scalar { return sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(n))) }

func TestAddBase(t *testing.T) {
	all := scalars(400)
	var a Adder
	for _, n := range []int{1, 2, 3, 64, len(all)} {
		for chunk := range slices.Chunk(all, n) {
			points := make([]Point, len(chunk))
			want := make([]Point, len(chunk))
			for i := range points {
				switch i % 3 {
				case 1:
					points[i] = generator
				case 2:
					points[i] = oracle(&Point{}, new(pseudo(i)))
				}
				want[i] = oracle(&points[i], &chunk[i])
			}
			a.AddBase(points, chunk)
			for i := range points {
				if !points[i].equals(&want[i]) {
					t.Fatalf("%d points: of %x: got %x, want %x", n, chunk[i], points[i].X(), want[i].X())
				}
			}
		}
	}
}

// Sums that have no line through their points.
func TestAddBaseSpecial(t *testing.T) {
	all := scalars(300)
	double, gone := make([]Point, len(all)), make([]Point, len(all))
	for i := range all {
		double[i] = oracle(&Point{}, &all[i]) // k·G + k·G
		gone[i] = double[i]
		if !gone[i].IsInfinity() {
			gone[i].negate() // -k·G + k·G
		}
	}
	want := slices.Clone(double)
	for i := range want {
		want[i] = oracle(&want[i], &all[i])
	}
	for _, n := range []int{1, len(all)} {
		var a Adder
		twice, nothing := slices.Clone(double), slices.Clone(gone)
		for i := 0; i < len(all); i += n {
			a.AddBase(twice[i:i+n], all[i:i+n])
			a.AddBase(nothing[i:i+n], all[i:i+n])
		}
		for i := range all {
			if !twice[i].equals(&want[i]) || !nothing[i].IsInfinity() {
				t.Errorf("%d points: of %x: got %x and %x", n, all[i], twice[i], nothing[i])
			}
		}
	}
}

func TestBaseMult(t *testing.T) {
	for _, s := range scalars(330)[1:] {
		want := oracle(&Point{}, &s)
		if got := BaseMult(&s); !got.equals(&want) {
			t.Fatalf("of %x: got %x, want %x", s, got.X(), want.X())
		}
	}
}

// The formulas for secrets hold for equal and opposite points, and at infinity.
func TestProjective(t *testing.T) {
	double := oracle(&generator, &Scalar{31: 1})
	for name, test := range map[string]struct{ p, want Point }{
		"infinity": {Point{}, generator},
		"equal":    {generator, double},
		"other":    {double, oracle(&double, &Scalar{31: 1})},
		"opposite": {Point{generator.x, *new(element)}, Point{}},
	} {
		p := projective{test.p.x, test.p.y, one}
		switch name {
		case "infinity":
			p = projective{y: one}
		case "opposite":
			p.y.negate(&generator.y)
		}
		p.add(&generator)
		got := p.affine()
		if got.x.normalize(); !got.equals(&test.want) {
			t.Errorf("%s: got %x, want %x", name, got, test.want)
		}
	}
}

// FuzzMultiples holds both ways to multiply against decred's package.
func FuzzMultiples(f *testing.F) {
	for _, s := range scalars(20) {
		f.Add(s[:], s[:])
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var k [2]secp256k1.ModNScalar
		k[0].SetByteSlice(first[:min(len(first), 32)])
		k[1].SetByteSlice(second[:min(len(second), 32)])
		all := []Scalar{k[0].Bytes(), k[1].Bytes()}
		p := oracle(&Point{}, &all[0])
		for _, times := range []int{1, fewPoints} {
			points := slices.Repeat([]Point{p, {}}, times)
			scalars := slices.Repeat(all, times)
			want := slices.Repeat([]Point{oracle(&p, &all[0]), oracle(&Point{}, &all[1])}, times)
			new(Adder).AddBase(points, scalars)
			for i := range points {
				if !points[i].equals(&want[i]) {
					t.Errorf("of %x: got %x, want %x", scalars[i], points[i].X(), want[i].X())
				}
			}
		}
		if !k[1].IsZero() {
			want := oracle(&Point{}, &all[1])
			if got := BaseMult(&all[1]); !got.equals(&want) {
				t.Errorf("of a secret %x: got %x, want %x", all[1], got.X(), want.X())
			}
		}
	})
}

func TestPoint(t *testing.T) {
	for i := range 200 {
		x := pseudo(i)
		for _, first := range []byte{0, 2, 3, 4} {
			key := [Size]byte(append([]byte{first}, x[:]...))
			var p Point
			ok := p.SetCompressed(&key)
			if _, err := secp256k1.ParsePubKey(key[:]); ok != (err == nil) {
				t.Fatalf("%x: %v", key, ok)
			}
			if !ok {
				continue
			}
			var again [Size]byte
			if p.PutCompressed(&again); again != key || p.X() != x {
				t.Fatalf("%x: printed as %x", key, again)
			}
		}
	}
	high := [Size]byte(append([]byte{2}, slices.Repeat([]byte{0xff}, 32)...))
	if new(Point).SetCompressed(&high) {
		t.Error("a coordinate above the field's order was read")
	}
}

func BenchmarkAddBase(b *testing.B) {
	const n = 64
	var a Adder
	points, all := make([]Point, n), make([]Scalar, n)
	for i := range all {
		points[i], all[i] = generator, pseudo(i)
	}
	b.Run("comb", func(b *testing.B) {
		comb()
		for b.Loop() {
			a.AddBase(points, all)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/key")
	})
	for _, few := range []int{1, fewPoints - 1, fewPoints} {
		b.Run(fmt.Sprintf("points=%d", few), func(b *testing.B) {
			for b.Loop() {
				a.AddBase(points[:few], all[:few])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(few), "ns/key")
		})
	}
	b.Run("secret", func(b *testing.B) {
		for b.Loop() {
			BaseMult(&all[1])
		}
	})
	b.Run("decred", func(b *testing.B) {
		var k secp256k1.ModNScalar
		k.SetBytes(&all[1])
		for b.Loop() {
			var sum secp256k1.JacobianPoint
			secp256k1.ScalarBaseMultNonConst(&k, &sum)
		}
	})
}
