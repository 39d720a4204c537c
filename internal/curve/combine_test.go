package curve

import (
	"crypto/sha256"
	"encoding/binary"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// bySecp is a·G + b·q by decred's package.
func bySecp(a, b *secp256k1.ModNScalar, q *secp256k1.JacobianPoint) (key []byte) {
	var base, sum secp256k1.JacobianPoint
	secp256k1.ScalarBaseMultNonConst(a, &base)
	secp256k1.ScalarMultNonConst(b, q, &sum)
	secp256k1.AddNonConst(&base, &sum, &sum)
	if sum.X.IsZero() && sum.Y.IsZero() || sum.Z.IsZero() {
		return nil
	}
	sum.ToAffine()
	return secp256k1.NewPublicKey(&sum.X, &sum.Y).SerializeCompressed()
}

// modN are scalars: the edges of halves and digits, and others.
func modN(n int) (all []secp256k1.ModNScalar) {
	for _, k := range scalars(n) {
		var s secp256k1.ModNScalar
		s.SetBytes(&k)
		all = append(all, s)
	}
	lambda := endomorphism.lambda
	all = append(all, lambda, *new(secp256k1.ModNScalar).NegateVal(&lambda))
	return all
}

func TestCombine(t *testing.T) {
	few := modN(36)
	compared, atInfinity := 0, 0
	for i, secret := range few {
		if secret.IsZero() {
			continue
		}
		var q Point
		public := secp256k1.NewPrivateKey(&secret).PubKey()
		if !q.SetPublicKey(public.SerializeUncompressed()) {
			t.Fatal("not a key")
		}
		var other secp256k1.JacobianPoint
		public.AsJacobian(&other)
		for j := range few {
			a, b := few[(i+j)%len(few)], few[(7*i+j*j+1)%len(few)]
			if j%8 == 0 { // a sum at infinity
				a.Mul2(&secret, &b).Negate()
			}
			want := bySecp(&a, &b, &other)
			sum := Combine(&a, &b, &q)
			compared++
			if want == nil || sum.IsInfinity() {
				atInfinity++
				if p := sum.Point(); want != nil || !sum.IsInfinity() || !p.IsInfinity() {
					t.Fatalf("%v·G + %v·%v·G: infinity", a, b, secret)
				}
				continue
			}
			p := sum.Point()
			var got [Size]byte
			p.PutCompressed(&got)
			if string(got[:]) != string(want) {
				t.Fatalf("%v·G + %v·%v·G: %x, want %x", a, b, secret, got, want)
			}
			x := p.X()
			if !sum.HasX(&x) {
				t.Fatal("another x than its own")
			}
			if x[31] ^= 1; sum.HasX(&x) {
				t.Fatal("an x that is not its own")
			}
		}
	}
	if compared < 1000 || atInfinity < 50 {
		t.Errorf("%d compared, %d at infinity", compared, atInfinity)
	}
}

func TestCombineRandom(t *testing.T) {
	scalar := func(n uint64) (s secp256k1.ModNScalar) {
		hash := sha256.Sum256(binary.LittleEndian.AppendUint64(nil, n))
		s.SetBytes(&hash)
		return s
	}
	for n := range uint64(300) {
		secret, a, b := scalar(3*n), scalar(3*n+1), scalar(3*n+2)
		public := secp256k1.NewPrivateKey(&secret).PubKey()
		var q Point
		q.SetPublicKey(public.SerializeCompressed())
		var other secp256k1.JacobianPoint
		public.AsJacobian(&other)
		sum := Combine(&a, &b, &q)
		p := sum.Point()
		var got [Size]byte
		p.PutCompressed(&got)
		if want := bySecp(&a, &b, &other); string(got[:]) != string(want) {
			t.Fatalf("%d: %x, want %x", n, got, want)
		}
	}
}

// Both parts of a scalar are short, and make it up.
func TestSplit(t *testing.T) {
	for _, k := range modN(200) {
		var digits [2][digitsOfHalf]int16
		split(&k, &digits[0], &digits[1])
		var parts [2]secp256k1.ModNScalar
		for half := range digits {
			for i := digitsOfHalf - 1; i >= 0; i-- {
				parts[half].Add(new(secp256k1.ModNScalar).Set(&parts[half]))
				var d secp256k1.ModNScalar
				switch digit := digits[half][i]; {
				case digit > 0:
					d.SetInt(uint32(digit))
				case digit < 0:
					d.SetInt(uint32(-digit)).Negate()
				}
				parts[half].Add(&d)
			}
		}
		if sum := parts[1].Mul(&endomorphism.lambda).Add(&parts[0]); !sum.Equals(&k) {
			t.Fatalf("%v is taken for %v", k, sum)
		}
	}
}

func TestSetPublicKey(t *testing.T) {
	for _, k := range scalars(4) {
		var secret secp256k1.ModNScalar
		if secret.SetBytes(&k); secret.IsZero() {
			continue
		}
		key := secp256k1.NewPrivateKey(&secret).PubKey().SerializeUncompressed()
		for first := range byte(9) {
			for _, change := range []byte{0, 1, 0x80} {
				form := append([]byte{first}, key[1:]...)
				form[64] ^= change
				_, err := secp256k1.ParsePubKey(form)
				if p := new(Point); p.SetPublicKey(form) != (err == nil) {
					t.Errorf("%x: decred says %v", form, err)
				}
			}
		}
	}
	for _, key := range [][]byte{nil, {2}, make([]byte, 33), make([]byte, 65), append([]byte{4}, make([]byte, 64)...)} {
		if new(Point).SetPublicKey(key) {
			t.Errorf("%x is no key", key)
		}
	}
	above := append([]byte{2}, make([]byte, 32)...)
	for i := range above[1:] {
		above[1+i] = 0xff
	}
	if new(Point).SetPublicKey(above) {
		t.Error("a coordinate above p")
	}
}

func BenchmarkCombine(b *testing.B) {
	few := modN(30)
	var q Point
	q.SetPublicKey(secp256k1.NewPrivateKey(&few[20]).PubKey().SerializeCompressed())
	for b.Loop() {
		Combine(&few[21], &few[22], &q)
	}
}
