package rawtx

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"pgregory.net/rapid"
)

// Signatures are valid, in the form that relay demands, and short. Where the
// first nonce gives a small R they are those of btcec.
func TestSignECDSA(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bytes32 := rapid.SliceOfN(rapid.ByteRange(1, 0xfe), 32, 32)
		private, public := btcec.PrivKeyFromBytes(bytes32.Draw(t, "key"))
		hash := bytes32.Draw(t, "hash")
		sig := signECDSA(private, hash)
		parsed, err := ecdsa.ParseDERSignature(sig)
		if err != nil || !parsed.Verify(hash, public) {
			t.Fatalf("%x: %v", sig, err)
		}
		s := parsed.S()
		if len(sig) > 70 || s.IsOverHalfOrder() {
			t.Errorf("%x has %d bytes", sig, len(sig))
		}
		const sizeOfR = 3 // its place in a signature
		if other := ecdsa.Sign(private, hash).Serialize(); other[sizeOfR] <= 32 && string(other) != string(sig) {
			t.Errorf("got  %x\nwant %x", sig, other)
		}
	})
}

// edges are scalars at the ends of their range, and short ones.
func edges() (all []*secp256k1.ModNScalar) {
	for _, n := range []uint32{1, 2, 3, 0xffff} {
		all = append(all, new(secp256k1.ModNScalar).SetInt(n), new(secp256k1.ModNScalar).SetInt(n).Negate())
	}
	for zeros := range 31 {
		b := sha256.Sum256([]byte{byte(zeros)})
		clear(b[:zeros])
		n := new(secp256k1.ModNScalar)
		n.SetBytes(&b)
		all = append(all, n)
	}
	return all
}

func TestInvert(t *testing.T) {
	for _, n := range edges() {
		var got secp256k1.ModNScalar
		invert(&got, n)
		if want := new(secp256k1.ModNScalar).InverseValNonConst(n); !got.Equals(want) {
			t.Errorf("1/%v = %v, want %v", n, got, want)
		}
	}
}

// The constant-time signature equals the signature computed in variable time.
func TestSignWithNonce(t *testing.T) {
	if raceEnabled {
		t.Skip("`make large` runs it")
	}
	hash := sha256.Sum256([]byte("hash"))
	for _, secret := range edges() {
		for _, nonce := range edges() {
			var point secp256k1.JacobianPoint
			secp256k1.ScalarBaseMultNonConst(nonce, &point)
			point.ToAffine()
			var r, s, e secp256k1.ModNScalar
			x := point.X.Bytes()
			r.SetByteSlice(x[:])
			e.SetByteSlice(hash[:])
			s.Mul2(secret, &r).Add(&e).Mul(new(secp256k1.ModNScalar).InverseValNonConst(nonce))
			if s.IsOverHalfOrder() {
				s.Negate()
			}
			want := ecdsa.NewSignature(&r, &s).Serialize()
			if sig := signWithNonce(secret, nonce, hash[:], false); !bytes.Equal(sig, want) {
				t.Fatalf("nonce %v: %x, want %x", nonce, sig, want)
			}
			if x[0] >= 0x80 {
				want = nil
			}
			if sig := signWithNonce(secret, nonce, hash[:], true); !bytes.Equal(sig, want) {
				t.Fatalf("nonce %v: %x, want %x with a low R", nonce, sig, want)
			}
		}
	}
}

// Known signatures of the key 1 with the nonces of RFC6979.
func TestRFC6979(t *testing.T) {
	one := new(secp256k1.ModNScalar).SetInt(1)
	secret := one.Bytes()
	for message, want := range map[string]string{
		"Satoshi Nakamoto": "934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8" +
			"2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5",
		"All those moments will be lost in time, like tears in rain. Time to die...": "8600dbd41e348fe5c9465ab92d23e3db8b" +
			"98b873beecd930736488696438cb6b" +
			"547fe64427496db33bf66019dacbf0039c04199abb0122918601db38a72cfc21",
	} {
		hash := sha256.Sum256([]byte(message))
		sig := signWithNonce(one, secp256k1.NonceRFC6979(secret[:], hash[:], nil, nil, 0), hash[:], false)
		parsed, err := ecdsa.ParseDERSignature(sig)
		if err != nil {
			t.Fatal(err)
		}
		r, s := parsed.R(), parsed.S()
		first, second := r.Bytes(), s.Bytes()
		if got := hex.EncodeToString(append(first[:], second[:]...)); got != want {
			t.Errorf("%s: %s", message, got)
		}
	}
}

// BenchmarkNonce shows that no time tells how many zeros a nonce begins with.
func BenchmarkNonce(b *testing.B) {
	secret := edges()[20]
	hash := sha256.Sum256([]byte("hash"))
	for _, zeros := range []int{0, 1, 2, 4, 8, 16} {
		b.Run(strconv.Itoa(zeros), func(b *testing.B) {
			var nonces [64]secp256k1.ModNScalar
			for i := range nonces {
				n := sha256.Sum256([]byte{byte(i), byte(zeros)})
				clear(n[:zeros])
				nonces[i].SetBytes(&n)
			}
			i := 0
			for b.Loop() {
				signWithNonce(secret, &nonces[i%len(nonces)], hash[:], false)
				i++
			}
		})
	}
}

// Schnorr signatures and tweaked keys are those of btcec.
func TestSignSchnorr(t *testing.T) {
	for i, secret := range edges() {
		private := secp256k1.NewPrivateKey(secret)
		hash := sha256.Sum256([]byte{byte(i)})
		want, err := schnorr.Sign(private, hash[:], schnorr.CustomNonce([32]byte{}))
		if err != nil {
			t.Fatal(err)
		}
		if got := signSchnorr(private, hash[:]); !bytes.Equal(got, want.Serialize()) {
			t.Errorf("key %v: %x, want %x", secret, got, want.Serialize())
		}
		for _, root := range [][]byte{nil, hash[:]} {
			if got, want := tweak(private, root),
				txscript.TweakTaprootPrivKey(*private, root); !got.Key.Equals(&want.Key) {
				t.Errorf("key %v, root %x: %v, want %v", secret, root, got.Key, want.Key)
			}
		}
	}
}
