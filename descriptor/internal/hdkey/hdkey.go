// Package hdkey derives BIP32 extended keys, one by one and in ranges.
//
// It keeps to the rules of Bitcoin Core where BIP32 leaves room: a key whose
// depth is zero must have no parent and no index, and the depth ends at 255.
// The 78-byte form carries no network (the caller strips the version bytes).
//
// A [Key] is a value and safe for concurrent use; a [Range] is not.
//
// Source: BIP32.
package hdkey

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"hash"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/internal/curve"
)

// PayloadSize is the size of a serialized extended key without its version.
const PayloadSize = 74

// Hardened is the bit that marks a hardened child number.
const Hardened uint32 = 1 << 31

var (
	// ErrNeedsPrivateKey reports a hardened step from a public key.
	ErrNeedsPrivateKey = errors.New("hardened derivation needs a private key")

	// ErrDepth reports a child of a key that is already 255 steps deep.
	ErrDepth = errors.New("extended key is too deep")

	// ErrInvalidChild reports a child number without a key, which happens
	// once in 2^127 children.
	ErrInvalidChild = errors.New("extended key has no such child")
)

// Key is an extended public key, with the private key where it is known.
type Key struct {
	Depth     uint8
	Parent    [4]byte // fingerprint of the parent; zero at depth 0
	Index     uint32  // child number within the parent
	ChainCode [32]byte
	PublicKey [33]byte // compressed

	secret  secp256k1.ModNScalar
	private bool
}

// ParsePublic reads the payload of an extended public key.
func ParsePublic(payload *[PayloadSize]byte) (Key, bool) {
	k, ok := parseHead(payload)
	k.PublicKey = [33]byte(payload[41:])
	var point curve.Point
	return k, ok && point.SetCompressed(&k.PublicKey)
}

// ParsePrivate reads the payload of an extended private key.
func ParsePrivate(payload *[PayloadSize]byte) (Key, bool) {
	k, ok := parseHead(payload)
	if !ok || payload[41] != 0 {
		return Key{}, false
	}
	overflow := k.secret.SetByteSlice(payload[42:])
	if overflow || k.secret.IsZero() {
		return Key{}, false
	}
	k.private = true
	k.PublicKey = PublicKeyOf(&k.secret)
	return k, true
}

func parseHead(payload *[PayloadSize]byte) (Key, bool) {
	k := Key{
		Depth:     payload[0],
		Parent:    [4]byte(payload[1:5]),
		Index:     binary.BigEndian.Uint32(payload[5:9]),
		ChainCode: [32]byte(payload[9:41]),
	}
	return k, k.Depth != 0 || k.Index == 0 && k.Parent == [4]byte{}
}

// PublicKeyOf returns the compressed public key of a secret that is not zero. The
// time that it takes does not depend on the secret.
func PublicKeyOf(secret *secp256k1.ModNScalar) (key [33]byte) {
	scalar := secret.Bytes()
	defer clear(scalar[:])
	point := curve.BaseMult(&scalar)
	point.PutCompressed(&key)
	return key
}

// Private reports whether the key holds its private key.
func (k *Key) Private() bool { return k.private }

// WithSecret returns the key together with its private key, which must be the
// one of its public key.
func (k *Key) WithSecret(secret *secp256k1.ModNScalar) Key {
	full := *k
	full.secret, full.private = *secret, true
	return full
}

// WithScalar returns the extended public key of a payload together with its private
// key, big endian. It is false for a scalar that is none.
func WithScalar(payload *[PayloadSize]byte, scalar *[32]byte) (Key, bool) {
	k, ok := parseHead(payload)
	k.PublicKey = [33]byte(payload[41:])
	overflow := k.secret.SetBytes(scalar)
	k.private = ok && overflow == 0 && !k.secret.IsZero()
	return k, k.private
}

// Neuter returns the key without its private key.
func (k *Key) Neuter() Key {
	public := *k
	public.secret, public.private = secp256k1.ModNScalar{}, false
	return public
}

// Secret returns the private key; it is zero when there is none.
func (k *Key) Secret() secp256k1.ModNScalar { return k.secret }

// Wipe overwrites the private key, which cannot be used any more.
func (k *Key) Wipe() { k.secret.Zero() }

// PublicPayload returns the serialized extended public key without version.
func (k *Key) PublicPayload() [PayloadSize]byte {
	payload := k.payloadHead()
	copy(payload[41:], k.PublicKey[:])
	return payload
}

// PrivatePayload returns the serialized extended private key without version.
// The key must be private.
func (k *Key) PrivatePayload() [PayloadSize]byte {
	payload := k.payloadHead()
	k.secret.PutBytesUnchecked(payload[42:])
	return payload
}

func (k *Key) payloadHead() (payload [PayloadSize]byte) {
	payload[0] = k.Depth
	copy(payload[1:], k.Parent[:])
	binary.BigEndian.PutUint32(payload[5:], k.Index)
	copy(payload[9:], k.ChainCode[:])
	return payload
}

// Fingerprint returns the first four bytes of the hash of the public key.
func (k *Key) Fingerprint() [4]byte {
	return [4]byte(btcutil.Hash160(k.PublicKey[:]))
}

// Child derives the child with the given number, hardened where the number
// bears the [Hardened] bit. The child of a private key is private.
//
// Errors: [ErrNeedsPrivateKey], [ErrDepth], [ErrInvalidChild].
func (k *Key) Child(index uint32) (Key, error) {
	if err := k.canDerive(index); err != nil {
		return Key{}, err
	}
	child := Key{Depth: k.Depth + 1, Parent: k.Fingerprint(), Index: index}
	tweak, err := k.tweak(index, &child.ChainCode)
	if err != nil {
		return Key{}, err
	}
	if k.private {
		child.secret.Add2(&tweak, &k.secret)
		if child.secret.IsZero() {
			return Key{}, ErrInvalidChild
		}
		child.private = true
		child.PublicKey = PublicKeyOf(&child.secret)
		return child, nil
	}
	return child, k.addTweak(&child.PublicKey, &tweak)
}

// ChildSecret returns the private key of a child of a private key, without the work that its public key takes.
//
// Errors: [ErrNeedsPrivateKey], [ErrDepth], [ErrInvalidChild].
func (k *Key) ChildSecret(index uint32) (secret secp256k1.ModNScalar, err error) {
	if err := k.canDerive(index | Hardened); err != nil {
		return secret, err
	}
	var code [32]byte
	defer clear(code[:])
	secret, err = k.tweak(index, &code)
	if err != nil {
		return secret, err
	}
	if secret.Add(&k.secret); secret.IsZero() {
		return secret, ErrInvalidChild
	}
	return secret, nil
}

// tweak returns what is added to a key to get a child, and sets the child's chain code.
func (k *Key) tweak(index uint32, code *[32]byte) (tweak secp256k1.ModNScalar, err error) {
	var seed [37]byte
	k.seed(&seed, index&Hardened != 0)
	binary.BigEndian.PutUint32(seed[33:], index)
	mac := hmac.New(sha512.New, k.ChainCode[:])
	mac.Write(seed[:])
	sum := mac.Sum(nil)
	if k.private {
		defer clear(sum)
		defer wipe(mac, &seed)
	}
	copy(code[:], sum[32:])
	if overflow := tweak.SetByteSlice(sum[:32]); overflow {
		return tweak, ErrInvalidChild
	}
	return tweak, nil
}

// wipe overwrites what a private key was hashed in: the hash keeps what it was
// given until other bytes take its place.
func wipe(mac hash.Hash, seed *[37]byte) {
	clear(seed[:])
	mac.Reset()
	mac.Write(make([]byte, mac.BlockSize()-1))
}

// Derive follows a path of child numbers.
func (k *Key) Derive(path ...uint32) (Key, error) {
	key := *k
	for _, index := range path {
		var err error
		if key, err = key.Child(index); err != nil {
			return Key{}, err
		}
	}
	return key, nil
}

func (k *Key) canDerive(index uint32) error {
	switch {
	case index&Hardened != 0 && !k.private:
		return ErrNeedsPrivateKey
	case k.Depth == 255:
		return ErrDepth
	}
	return nil
}

// seed writes the part of the HMAC input that all children share.
func (k *Key) seed(seed *[37]byte, hardened bool) {
	if hardened {
		seed[0] = 0
		k.secret.PutBytesUnchecked(seed[1:33])
		return
	}
	copy(seed[:], k.PublicKey[:])
}

func (k *Key) addTweak(child *[33]byte, tweak *secp256k1.ModNScalar) error {
	var points [1]curve.Point
	if !points[0].SetCompressed(&k.PublicKey) {
		return ErrInvalidChild
	}
	var adder curve.Adder
	adder.AddBase(points[:], []curve.Scalar{tweak.Bytes()})
	if points[0].IsInfinity() {
		return ErrInvalidChild
	}
	points[0].PutCompressed(child)
	return nil
}
