package script

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/internal/curve"
)

// A source makes the trials with a number, always the same ones.
type source func(number uint64) []*trial

// besideDecred holds so many trials against decred's verdict, on all cores.
func besideDecred(t *testing.T, count int, from source) {
	t.Helper()
	var next, done, right atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for !t.Failed() && done.Load() < int64(count) {
				for _, trial := range from(uint64(next.Add(1))) {
					want := trial.decreds()
					if got := trial.verdict(); got != want {
						t.Errorf("%t, and decred says %t: %v", got, want, trial)
					}
					if want {
						right.Add(1)
					}
					done.Add(1)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d signatures, %d of them right", done.Load(), right.Load())
	if n := done.Load(); right.Load() < n/4 || right.Load() > n*7/8 {
		t.Error("nearly all the same")
	}
}

// trials is how many are made: a sample, or as many as TRAWL_SIGNATURES says,
// divided.
func trials(sample, divisor int) int {
	if n, err := strconv.Atoi(os.Getenv("TRAWL_SIGNATURES")); err == nil {
		return n / divisor
	}
	return sample
}

func random(rng *rand.Rand) (s scalar) {
	var b [32]byte
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], rng.Uint64())
	}
	s.SetBytes(&b)
	return s
}

// TestSignaturesBesideDecred tries signatures by chance, half of them spoiled.
func TestSignaturesBesideDecred(t *testing.T) {
	const batch = 64
	besideDecred(t, trials(1500, 1), func(number uint64) []*trial {
		rng := rand.New(rand.NewPCG(1, number))
		scalars := make([]curve.Scalar, 2*batch) // secrets, and nonces
		for i := range scalars {
			n := random(rng)
			scalars[i] = n.Bytes()
		}
		points := make([]curve.Point, len(scalars))
		var adder curve.Adder
		adder.AddBase(points, scalars)
		made := make([]*trial, batch)
		for i := range made {
			made[i] = byChance(rng, scalars[i], scalars[batch+i], &points[i], &points[batch+i])
		}
		return made
	})
}

// byChance signs with a secret and a nonce, whose points are known.
func byChance(rng *rand.Rand, secret, nonce curve.Scalar, public, point *curve.Point) *trial {
	var d, k, r scalar
	d.SetBytes(&secret)
	k.SetBytes(&nonce)
	hash := random(rng)
	t := &trial{hash: hash.Bytes(), schnorr: rng.IntN(2) == 0, key: public.Uncompressed(), r: point.X()}
	if t.schnorr {
		if t.key = t.key[1:33]; public.OddY() {
			d.Negate()
		}
		if point.OddY() {
			k.Negate()
		}
		digest := newDigest()
		defer digest.release()
		for _, part := range [][]byte{tagChallenge[:], t.r[:], t.key, t.hash[:]} {
			digest.bytes(part)
		}
		sum := digest.sum()
		var e scalar
		e.SetBytes(&sum)
		t.s = e.Mul(&d).Add(&k).Bytes()
	} else {
		r.SetBytes(&t.r)
		t.r = r.Bytes()
		t.s = product(&r, &d).Add(&hash).Mul(k.InverseNonConst()).Bytes()
		switch rng.IntN(4) {
		case 0:
			t.key[0] = 6 + t.key[64]&1
		case 1, 2:
			var short [curve.Size]byte
			public.PutCompressed(&short)
			t.key = short[:]
		}
	}
	if rng.IntN(2) == 0 {
		t.spoil(rng)
	}
	return t
}

// TestEdgesBesideDecred tries signatures whose numbers are at edges: sums at
// infinity or of equal points on the way, an R above the order, keys and numbers that
// are none.
func TestEdgesBesideDecred(t *testing.T) {
	besideDecred(t, trials(1000, 100), func(number uint64) []*trial {
		rng := rand.New(rand.NewPCG(2, number))
		return []*trial{atEdges(rng)}
	})
}

func atEdges(rng *rand.Rand) *trial {
	pick := func() *scalar {
		if rng.IntN(8) == 0 {
			n := random(rng)
			return &n
		}
		n := edges()[rng.IntN(len(edges()))]
		return &n
	}
	notZero := func() *scalar {
		for {
			if n := pick(); !n.IsZero() {
				return n
			}
		}
	}
	secret, u2 := notZero(), notZero()
	var made *trial
	switch rng.IntN(8) {
	case 0, 1, 2:
		made = signed(secret, pick(), u2, uint(rng.Uint32()))
	case 3: // at infinity
		made = signed(secret, product(u2, secret).Negate(), u2, uint(rng.Uint32()))
	case 4:
		made = aboveOrder(rng, notZero(), pick())
	case 5, 6:
		made = signedSchnorr(secret, pick(), pick().Bytes(), rng.IntN(8) == 0)
	default: // any numbers
		key := form(base(secret), uint(rng.Uint32()))
		made = &trial{key: key, r: pick().Bytes(), s: pick().Bytes(), hash: pick().Bytes()}
	}
	if rng.IntN(3) == 0 {
		made.spoil(rng)
	}
	return made
}

// aboveOrder returns a signature whose R is the x of a point less the order, of the
// only key for which any s is right: (s·R - e·G) / r.
func aboveOrder(rng *rand.Rand, s, e *scalar) *trial {
	for {
		small := uint32(1 + rng.IntN(1<<20))
		x := new(scalar).SetInt(small).Bytes()
		r := new(scalar).SetInt(small)
		addOrder(&x)
		var point, sum, other secp256k1.JacobianPoint
		if point.X.SetByteSlice(x[:]) || !secp256k1.DecompressY(&point.X, rng.IntN(2) == 0, &point.Y) {
			continue
		}
		point.Y.Normalize()
		point.Z.SetInt(1)
		inverse := new(scalar).InverseValNonConst(r)
		secp256k1.ScalarMultNonConst(product(s, inverse), &point, &sum)
		secp256k1.ScalarBaseMultNonConst(product(e, inverse).Negate(), &other)
		secp256k1.AddNonConst(&sum, &other, &sum)
		if sum.Z.IsZero() || sum.X.IsZero() && sum.Y.IsZero() {
			continue
		}
		sum.ToAffine()
		key := secp256k1.NewPublicKey(&sum.X, &sum.Y)
		return &trial{key: form(key, uint(rng.Uint32())), r: r.Bytes(), s: s.Bytes(), hash: e.Bytes()}
	}
}

// FuzzSignature holds verdicts against decred's: of a signature made from any
// secret for any multiples, and spoiled by any byte.
func FuzzSignature(f *testing.F) {
	few := edges()
	for i := range uint64(16) {
		a, b, c := few[11*i%40].Bytes(), few[7*i+40].Bytes(), few[13*i].Bytes()
		f.Add(a[:], b[:], c[:], byte(i), i)
	}
	f.Fuzz(func(t *testing.T, secret, first, second []byte, kind byte, seed uint64) {
		number := func(b []byte) (n scalar) {
			n.SetByteSlice(b)
			return n
		}
		d, u1, u2 := number(secret), number(first), number(second)
		if d.IsZero() || u2.IsZero() {
			return
		}
		var made *trial
		if kind&1 == 0 {
			made = signed(&d, &u1, &u2, uint(kind>>1))
		} else {
			made = signedSchnorr(&d, &u1, u2.Bytes(), kind&2 != 0)
		}
		if kind&64 != 0 {
			made.spoil(rand.New(rand.NewPCG(3, seed)))
		}
		if got, want := made.verdict(), made.decreds(); got != want {
			t.Errorf("%t, and decred says %t: %v", got, want, made)
		}
		made.r, made.s, made.hash = u1.Bytes(), u2.Bytes(), d.Bytes()
		if got, want := made.verdict(), made.decreds(); got != want {
			t.Errorf("%t, and decred says %t: %v", got, want, made)
		}
	})
}
