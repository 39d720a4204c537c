package script

import (
	"crypto/sha256"
	"math/big"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

func scalarOf(text string) (n secp256k1.ModNScalar) {
	hash := sha256.Sum256([]byte(text))
	n.SetBytes(&hash)
	return n
}

// The x coordinate of a point may be above the order: a signature is right if
// its R is x less the order. A signature with another R is wrong.
func TestLargeX(t *testing.T) {
	hash := sha256.Sum256([]byte("hash"))
	var e secp256k1.ModNScalar
	e.SetBytes(&hash)
	found := 0
	for i := uint32(1); found < 3; i++ {
		x := [32]byte(new(big.Int).Add(secp256k1.Params().N, big.NewInt(int64(i))).Bytes())
		r := new(secp256k1.ModNScalar).SetInt(i)
		var point, sum, base secp256k1.JacobianPoint
		if point.X.SetByteSlice(x[:]) || !secp256k1.DecompressY(&point.X, false, &point.Y) {
			continue
		}
		found++
		point.Y.Normalize()
		point.Z.SetInt(1)
		// The key for which any s is right with this R: (s·R - e·G) / r.
		s := scalarOf("s")
		inverse := new(secp256k1.ModNScalar).InverseValNonConst(r)
		minus := new(secp256k1.ModNScalar).Mul2(&e, inverse)
		minus.Negate()
		secp256k1.ScalarBaseMultNonConst(minus, &base)
		secp256k1.ScalarMultNonConst(new(secp256k1.ModNScalar).Mul2(&s, inverse), &point, &sum)
		secp256k1.AddNonConst(&base, &sum, &sum)
		sum.ToAffine()
		key := secp256k1.NewPublicKey(&sum.X, &sum.Y)
		sig := ecdsa.NewSignature(r, &s).Serialize()
		if !ecdsa.NewSignature(r, &s).Verify(hash[:], key) {
			t.Fatal("not even decred takes it")
		}
		if !VerifyECDSA(key.SerializeCompressed(), sig, &hash) {
			t.Errorf("R %d is refused", i)
		}
		other := ecdsa.NewSignature(new(secp256k1.ModNScalar).SetInt(i+1), &s).Serialize()
		if VerifyECDSA(key.SerializeCompressed(), other, &hash) {
			t.Errorf("R %d is taken for %d", i+1, i)
		}
	}
}

// addOrder adds the order with all carries, and reports whether the sum fits
// into 256 bits.
func TestAddOrder(t *testing.T) {
	order, limit := secp256k1.Params().N, new(big.Int).Lsh(big.NewInt(1), 256)
	most := new(big.Int).Sub(limit, order)
	for _, n := range []*big.Int{
		big.NewInt(0), big.NewInt(1), big.NewInt(0xbf), big.NewInt(0xffff), new(big.Int).Rsh(most, 1),
		new(big.Int).Sub(most, big.NewInt(1)), most, new(big.Int).Add(most, big.NewInt(1)), order,
		new(big.Int).Sub(limit, big.NewInt(1)),
	} {
		var got, want [32]byte
		n.FillBytes(got[:])
		fits := addOrder(&got)
		sum := new(big.Int).Add(n, order)
		if sum.Mod(sum, limit).FillBytes(want[:]); got != want || fits != (n.Cmp(most) < 0) {
			t.Errorf("%x: %x, %t", n, got, fits)
		}
	}
}

// Verdicts are decred's, for signatures that are right, of another key, of another
// hash, with the other S, and with numbers that are none.
func TestVerifyECDSA(t *testing.T) {
	one, zero := new(secp256k1.ModNScalar).SetInt(1), new(secp256k1.ModNScalar)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		secret := scalarOf(name)
		private := secp256k1.NewPrivateKey(&secret)
		public := private.PubKey()
		hash := sha256.Sum256([]byte(name + "hash"))
		hashes := [][32]byte{hash, {}, sha256.Sum256(hash[:])}
		r, s := ecdsa.Sign(private, hash[:]).R(), ecdsa.Sign(private, hash[:]).S()
		high := new(secp256k1.ModNScalar).NegateVal(&s)
		for _, pair := range [][2]*secp256k1.ModNScalar{
			{&r, &s}, {&r, high}, {&s, &r}, {&r, one}, {one, &s}, {one, one}, {zero, &s}, {&r, zero}, {zero, zero},
		} {
			sig := ecdsa.NewSignature(pair[0], pair[1])
			raw := der(pair[0], pair[1])
			for _, hash := range hashes {
				want := sig.Verify(hash[:], public)
				for _, key := range [][]byte{public.SerializeCompressed(), public.SerializeUncompressed()} {
					if got := VerifyECDSA(key, raw, &hash); got != want {
						t.Errorf("%x of %x by %x: %v, want %v", raw, hash, key, got, want)
					}
				}
			}
		}
	}
	// The hash for which the sum is at infinity: u1·G = -u2·Q.
	secret := scalarOf("f")
	public := secp256k1.NewPrivateKey(&secret).PubKey().SerializeCompressed()
	r := scalarOf("r")
	hash := new(secp256k1.ModNScalar).Mul2(&r, &secret).Negate().Bytes()
	if VerifyECDSA(public, der(&r, one), &hash) {
		t.Error("a sum at infinity is taken")
	}
}

// der writes a signature, S as it is.
func der(r, s *secp256k1.ModNScalar) []byte {
	var body []byte
	for _, n := range []*secp256k1.ModNScalar{r, s} {
		b := n.Bytes()
		body = append(append(body, 2, 33, 0), b[:]...)
	}
	return append([]byte{0x30, byte(len(body))}, body...)
}

// Signatures as leniently written as they may be without BIP66 are read, and no
// others.
func TestLaxDER(t *testing.T) {
	for _, test := range []struct {
		name string
		sig  []byte
		ok   bool
	}{
		{"strict", []byte{0x30, 6, 2, 1, 5, 2, 1, 6}, true},
		{"another length", []byte{0x30, 99, 2, 1, 5, 2, 1, 6}, true},
		{"long length", []byte{0x30, 0x82, 9, 9, 2, 1, 5, 2, 1, 6}, true},
		{"length beyond the end", []byte{0x30, 0x89, 2, 1, 5, 2, 1, 6}, false},
		{"something behind", []byte{0x30, 6, 2, 1, 5, 2, 1, 6, 7, 8}, true},
		{"zeros before", []byte{0x30, 6, 2, 3, 0, 0, 5, 2, 2, 0, 6}, true},
		{"negative", []byte{0x30, 6, 2, 1, 0x85, 2, 1, 0x86}, true},
		{"long size of R", []byte{0x30, 6, 2, 0x81, 1, 5, 2, 1, 6}, true},
		{"zeros in a size", []byte{0x30, 6, 2, 0x85, 0, 0, 0, 0, 1, 5, 2, 1, 6}, true},
		{"size of four digits", []byte{0x30, 6, 2, 0x84, 1, 0, 0, 0, 5, 2, 1, 6}, false},
		{"empty R", []byte{0x30, 6, 2, 0, 2, 1, 6}, true},
		{"no S", []byte{0x30, 6, 2, 1, 5}, false},
		{"S beyond the end", []byte{0x30, 6, 2, 1, 5, 2, 2, 6}, false},
		{"another tag", []byte{0x31, 6, 2, 1, 5, 2, 1, 6}, false},
		{"another tag of S", []byte{0x30, 6, 2, 1, 5, 3, 1, 6}, false},
		{"R above the order", append([]byte{0x30, 40}, append(fill33(), 2, 1, 6)...), false},
		{"nothing", nil, false},
	} {
		var r, s secp256k1.ModNScalar
		if got := laxDER(test.sig, &r, &s); got != test.ok {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

func fill33() []byte {
	b := append([]byte{2, 33, 0}, make([]byte, 32)...)
	for i := range b[3:] {
		b[3+i] = 0xff
	}
	return b
}

func TestVerifySchnorr(t *testing.T) {
	for _, name := range []string{"a", "b", "c", "d"} {
		secret := scalarOf(name)
		private := secp256k1.NewPrivateKey(&secret)
		hash := sha256.Sum256([]byte(name + "hash"))
		signed, err := schnorr.Sign(private, hash[:])
		if err != nil {
			t.Fatal(err)
		}
		key, sig := schnorr.SerializePubKey(private.PubKey()), signed.Serialize()
		if !verifySchnorr(key, sig, hash[:]) {
			t.Fatalf("%s: a right signature is refused", name)
		}
		for i := range sig {
			wrong := append([]byte(nil), sig...)
			if wrong[i] ^= 1; verifySchnorr(key, wrong, hash[:]) {
				t.Errorf("byte %d is not looked at", i)
			}
		}
		// S negated is a signature with the other y, S and R beyond their range none.
		s := new(secp256k1.ModNScalar)
		s.SetByteSlice(sig[32:])
		negated := s.Negate().Bytes()
		for _, wrong := range [][]byte{
			append(append([]byte(nil), sig[:32]...), negated[:]...),
			append(append([]byte(nil), sig[:32]...), order[:]...),
			append(fill33()[3:], sig[32:]...),
			make([]byte, 64),
		} {
			if verifySchnorr(key, wrong, hash[:]) {
				t.Errorf("%x is taken", wrong)
			}
		}
		if verifySchnorr(order[:], sig, hash[:]) || verifySchnorr(fill33()[3:], sig, hash[:]) {
			t.Error("another key is taken")
		}
	}
}
