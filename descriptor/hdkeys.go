package descriptor

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/descriptor/internal/hdkey"
)

// ParseXPrv reads the text of an extended private key of the network. The caller overwrites the result.
func ParseXPrv(text string, net *Network) (key XPub, scalar [32]byte, ok bool) {
	raw, ok := decodeBase58Check(text)
	defer clear(raw)
	if !ok || len(raw) != 4+hdkey.PayloadSize || !net.orMain().xprv([4]byte(raw)) {
		return XPub{}, scalar, false
	}
	payload := [hdkey.PayloadSize]byte(raw[4:])
	defer clear(payload[:])
	parsed, ok := hdkey.ParsePrivate(&payload)
	defer parsed.Wipe()
	if !ok {
		return XPub{}, scalar, false
	}
	copy(scalar[:], payload[hdkey.PayloadSize-len(scalar):])
	return parsed.PublicPayload(), scalar, true
}

// DeriveXPrv follows a path of child numbers from an extended key, given with its private key, to another. It is
// false where there is none, or scalar is no private key. The time that it takes does not depend on the keys. The
// caller overwrites the result.
func DeriveXPrv(root *XPub, scalar *[32]byte, path []uint32) (child XPub, secret [32]byte, ok bool) {
	key, ok := hdkey.WithScalar(root, scalar)
	defer func() { key.Wipe() }()
	if !ok {
		return XPub{}, secret, false
	}
	for _, step := range path {
		next, err := key.Child(step)
		key.Wipe()
		if err != nil {
			return XPub{}, secret, false
		}
		key = next
	}
	number := key.Secret()
	defer number.Zero()
	return key.PublicPayload(), number.Bytes(), true
}

// KeyOrigin is the text of where a key is from, as it stands before the key in a descriptor: [d34db33f/44h/0h]. The
// path leads to it from the root.
func KeyOrigin(root *XPub, path []uint32) string {
	const fingerprintLen = 4
	fingerprint := btcutil.Hash160(root[len(root)-keyLen:])[:fingerprintLen]
	text := hex.AppendEncode([]byte{'['}, fingerprint)
	return string(append(appendPath(text, path, 'h'), ']'))
}

// ParseHDPath reads the path of a key as m/44h/0'/1. The m may be left out. Hardened steps have the highest bit set.
func ParseHDPath(text string) (path []uint32, ok bool) {
	steps := strings.Split(strings.TrimSuffix(text, "/"), "/")
	if steps[0] == "m" || text == "" {
		steps = steps[1:]
	}
	for _, step := range steps {
		number := strings.TrimRight(step, "h'")
		if len(step)-len(number) > 1 {
			return nil, false
		}
		n, err := strconv.ParseUint(number, 10, 31)
		if err != nil {
			return nil, false
		}
		if number != step {
			n |= uint64(hdkey.Hardened)
		}
		path = append(path, uint32(n))
	}
	return path, true
}

// IsHardenedPath reports whether a path has a hardened step.
func IsHardenedPath(path []uint32) bool {
	return slices.ContainsFunc(path, func(step uint32) bool { return step&hdkey.Hardened != 0 })
}
