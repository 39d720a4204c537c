package slhdsa

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
)

// maxTrees bounds the FORS indices of an instance.
const maxTrees = lanes

// A digest says which leaves sign a message.
type digest struct {
	indices [maxTrees]uint32 // of the leaves of the FORS trees
	tree    uint64           // of the lowest layer
	leaf    uint32           // of that tree: the key pair that signs the FORS key
}

// A salted message is hashed under one salt after another.
type salted struct {
	inner []byte // salt, public key, message
	outer [nodeSize + nodeSize + sha256.Size + 4]byte
}

func newSalted(public *PublicKey, message []byte) *salted {
	s := &salted{inner: make([]byte, 0, nodeSize+PublicKeySize+len(message))}
	s.inner = append(s.inner, make([]byte, nodeSize)...)
	s.inner = append(s.inner, public[:]...)
	s.inner = append(s.inner, message...)
	copy(s.outer[nodeSize:], public[:nodeSize])
	return s
}

// hash is H_msg of FIPS 205 (11.2.1); one block of MGF1 is enough.
func (s *salted) hash(salt *node) [sha256.Size]byte {
	copy(s.inner, salt[:])
	copy(s.outer[:], salt[:])
	sum := sha256.Sum256(s.inner)
	copy(s.outer[2*nodeSize:], sum[:])
	return sha256.Sum256(s.outer[:])
}

// lastIndex returns the FORS index in the hash of a message that has no tree,
// and that only zero is valid for.
func (p params) lastIndex(full *[sha256.Size]byte) uint32 {
	return bitsAt(full[:], (p.trees-1)*p.treeHeight, p.treeHeight)
}

// digestOf splits the hash of a message.
func (p params) digestOf(full *[sha256.Size]byte) (d digest) {
	for i := range p.trees {
		d.indices[i] = bitsAt(full[:], i*p.treeHeight, p.treeHeight)
	}
	rest := full[(p.trees*p.treeHeight+7)/8:]
	treeBits := (p.layers - 1) * p.layerHeight
	for range (treeBits + 7) / 8 {
		d.tree = d.tree<<8 | uint64(rest[0])
		rest = rest[1:]
	}
	d.tree &= 1<<treeBits - 1
	d.leaf = uint32(rest[0]) & (1<<p.layerHeight - 1)
	return d
}

// bitsAt returns count bits from a position on, the lowest of each byte first.
func bitsAt(from []byte, position, count int) (bits uint32) {
	for i := range count {
		at := position + i
		bits |= uint32(from[at/8]>>(at%8)&1) << i
	}
	return bits
}

// saltOf returns the salt that the reference signer begins with.
func (k *PrivateKey) saltOf(message []byte) (salt node) {
	raw := k.Bytes()
	defer clear(raw)
	h := sha256.New()
	h.Write(raw)
	h.Write(message)
	mac := hmac.New(sha256.New, k.secret().prf[:])
	mac.Write(h.Sum(nil)[:nodeSize])
	mac.Write(message)
	copy(salt[:], mac.Sum(nil))
	return salt
}

// findSalt counts up the salt's first four bytes, as a mask, until the last
// FORS index of the message is zero.
func (p params) findSalt(first node, s *salted) (salt node, d digest, err error) {
	low := binary.LittleEndian.Uint32(first[:])
	salt = first
	for counter := range p.salts() {
		binary.LittleEndian.PutUint32(salt[:], low^counter)
		if full := s.hash(&salt); p.lastIndex(&full) == 0 {
			return salt, p.digestOf(&full), nil
		}
	}
	return node{}, digest{}, ErrNoSalt
}
