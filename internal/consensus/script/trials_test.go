package script

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
)

type scalar = secp256k1.ModNScalar

// A trial is a signature, by ECDSA or by Schnorr, with the key and hash that it
// is checked against.
type trial struct {
	schnorr    bool
	key        []byte
	r, s, hash [32]byte
	der        []byte // of ECDSA; nil: r and s in their strict form
}

func (t *trial) String() string {
	return fmt.Sprintf("Schnorr %t, key %x, r %x, s %x, hash %x, DER %x", t.schnorr, t.key, t.r, t.s, t.hash, t.der)
}

// verdict is ours.
func (t *trial) verdict() bool {
	if t.schnorr {
		return len(t.key) == 32 && verifySchnorr(t.key, append(t.r[:], t.s[:]...), t.hash[:])
	}
	if t.der != nil {
		return strictDER(append(t.der[:len(t.der):len(t.der)], 1)) && VerifyECDSA(t.key, t.der, &t.hash)
	}
	return VerifyECDSA(t.key, strictly(&t.r, &t.s), &t.hash)
}

// decreds is that of decred's package, and of btcec's on top of it for Schnorr.
func (t *trial) decreds() bool {
	if t.schnorr {
		key, err := schnorr.ParsePubKey(t.key)
		if err != nil {
			return false
		}
		sig, err := schnorr.ParseSignature(append(t.r[:], t.s[:]...))
		return err == nil && sig.Verify(t.hash[:], key)
	}
	key, err := secp256k1.ParsePubKey(t.key)
	if err != nil {
		return false
	}
	if t.der != nil {
		sig, err := ecdsa.ParseDERSignature(t.der)
		return err == nil && sig.Verify(t.hash[:], key)
	}
	var r, s scalar
	if r.SetBytes(&t.r) != 0 || s.SetBytes(&t.s) != 0 {
		return false
	}
	return ecdsa.NewSignature(&r, &s).Verify(t.hash[:], key)
}

// strictly writes a signature in its strict form, whatever the numbers are.
func strictly(r, s *[32]byte) []byte {
	sig := []byte{0x30, 0}
	for _, n := range [][]byte{r[:], s[:]} {
		for len(n) > 1 && n[0] == 0 {
			n = n[1:]
		}
		if n[0]&0x80 != 0 {
			n = append([]byte{0}, n...)
		}
		sig = append(append(sig, 2, byte(len(n))), n...)
	}
	sig[1] = byte(len(sig) - 2)
	return sig
}

func product(a, b *scalar) *scalar { return new(scalar).Mul2(a, b) }

// base returns n·G, of a number that is not 0.
func base(n *scalar) *secp256k1.PublicKey { return secp256k1.NewPrivateKey(n).PubKey() }

// form writes a key in one of the forms that consensus allows.
func form(key *secp256k1.PublicKey, which uint) []byte {
	switch b := key.SerializeUncompressed(); which % 4 {
	case 0:
		return b
	case 1:
		b[0] = 6 + b[64]&1
		return b
	}
	return key.SerializeCompressed()
}

// signed returns a right signature by ECDSA for which the verifier computes
// u1·G+u2·Q, Q being secret·G. If that sum is at infinity the signature is
// wrong, with some R. u2 and secret are not 0.
func signed(secret, u1, u2 *scalar, which uint) *trial {
	t := &trial{key: form(base(secret), which)}
	r := new(scalar).SetInt(uint32(which) + 1)
	if nonce := product(u2, secret).Add(u1); !nonce.IsZero() {
		x := base(nonce).X().FillBytes(make([]byte, 32))
		r.SetByteSlice(x)
	}
	s := product(r, new(scalar).InverseValNonConst(u2))
	t.r, t.s, t.hash = r.Bytes(), s.Bytes(), product(u1, s).Bytes()
	if which&16 != 0 {
		if above := t.hash; addOrder(&above) {
			t.hash = above
		}
	}
	return t
}

// signedSchnorr returns a right signature with R = nonce·G; with keep the y of R
// is not made even, so that half the signatures are wrong. A nonce of 0 gives a
// signature with some R for which the sum is at infinity.
func signedSchnorr(secret, nonce *scalar, hash [32]byte, keep bool) *trial {
	t := &trial{schnorr: true, hash: hash}
	public := base(secret)
	t.key = public.SerializeCompressed()[1:]
	d, k := *secret, *nonce
	if public.SerializeCompressed()[0] == 3 {
		d.Negate()
	}
	if k.IsZero() {
		copy(t.r[:], t.key)
	} else {
		point := base(&k).SerializeCompressed()
		copy(t.r[:], point[1:])
		if point[0] == 3 && !keep {
			k.Negate()
		}
	}
	digest := newDigest()
	defer digest.release()
	for _, part := range [][]byte{tagChallenge[:], t.r[:], t.key, hash[:]} {
		digest.bytes(part)
	}
	sum := digest.sum()
	var e scalar
	e.SetBytes(&sum)
	t.s = e.Mul(&d).Add(&k).Bytes()
	return t
}

// edges are numbers at the edges of scalars, of their halves, and of digits.
var edges = sync.OnceValue(func() (all []scalar) {
	add := func(n scalar) { all = append(all, n, *new(scalar).NegateVal(&n)) }
	for i := range uint32(20) {
		add(*new(scalar).SetInt(i))
	}
	two := new(scalar).SetInt(2)
	power := *new(scalar).SetInt(1)
	for i := range 256 {
		if i%8 < 2 || i > 120 && i < 136 || i > 250 {
			add(power)
			add(*new(scalar).SetInt(1).Add(&power))
			add(*new(scalar).SetInt(1).Negate().Add(&power))
		}
		power.Mul(two)
	}
	add(*new(scalar).InverseValNonConst(two))
	var lambda scalar
	b := [32]byte(unhexed("5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72"))
	lambda.SetBytes(&b)
	add(lambda)
	add(*new(scalar).Set(&lambda).Square())
	for i := range uint32(8) {
		add(*product(&lambda, new(scalar).SetInt(i+2)))
		add(*new(scalar).SetInt(i).Add(&lambda))
	}
	return all
})

// odd are numbers that are no coordinate or no scalar, or just one.
var odd = []string{
	"0000000000000000000000000000000000000000000000000000000000000000",
	"0000000000000000000000000000000000000000000000000000000000000001",
	"0000000000000000000000000000000000000000000000000000000000000005", // no x of a point
	"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140", // order - 1
	"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141",
	"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364142",
	"7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", // half of it
	"7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1",
	"fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2e", // p - 1
	"fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f",
	"fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc30",
	"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
}

func unhexed(text string) []byte {
	b := make([]byte, 0, len(text)/2)
	for i := 0; i < len(text); i += 2 {
		n, err := strconv.ParseUint(text[i:i+2], 16, 8)
		if err != nil {
			panic(err)
		}
		b = append(b, byte(n))
	}
	return b
}

// spoil changes a trial in one place, or leaves it as it is.
func (t *trial) spoil(rng *rand.Rand) {
	bit := func(b []byte) { b[rng.IntN(len(b))] ^= 1 << rng.IntN(8) }
	number := func() [32]byte { return [32]byte(unhexed(odd[rng.IntN(len(odd))])) }
	switch rng.IntN(16) {
	case 0:
		bit(t.r[:])
	case 1:
		bit(t.s[:])
	case 2:
		bit(t.hash[:])
	case 3:
		bit(t.key)
	case 4:
		t.r = number()
	case 5:
		t.s = number()
	case 6:
		t.hash = number()
	case 7: // high where it was low
		var s scalar
		s.SetBytes(&t.s)
		t.s = s.Negate().Bytes()
	case 8:
		n := number()
		copy(t.key[len(t.key)%32:], n[:])
	case 9:
		t.key = append(t.key, 0)[:max(1, len(t.key)+rng.IntN(3)-1)]
	case 10:
		t.key[0] = byte(rng.IntN(9))
	case 11, 12:
		if !t.schnorr {
			t.spoilForm(rng)
		}
	}
}

// spoilForm changes how a signature by ECDSA is written.
func (t *trial) spoilForm(rng *rand.Rand) {
	t.der = strictly(&t.r, &t.s)
	at := rng.IntN(len(t.der))
	switch rng.IntN(4) {
	case 0:
		t.der[at] ^= 1 << rng.IntN(8)
	case 1: // a byte more
		t.der = append(t.der[:at:at], append([]byte{byte(rng.IntN(2) * 0x80)}, t.der[at:]...)...)
	case 2:
		t.der = append(t.der[:at:at], t.der[at+1:]...)
	case 3: // lengths, tags and first bytes
		places := []int{0, 1, 2, 3, 4, 4 + int(t.der[3]), 5 + int(t.der[3]), 6 + int(t.der[3])}
		t.der[places[rng.IntN(len(places))]] += byte(1 + rng.IntN(255))
	}
}
