package slhdsa

import "encoding/binary"

// addressSize is the size of a compressed address (ADRSc of FIPS 205, 11.2).
const addressSize = 22

// The kinds of addresses.
const (
	kindChain byte = iota
	kindChainsEnd
	kindTree
	kindFORSTree
	kindFORSRoots
	kindChainSecret
	kindFORSSecret
)

// Offsets in an address of what varies between the hashes of one tree.
const (
	lowAt   = 17 // chain, or height in a tree
	indexAt = 18 // index in a tree
	stepAt  = 21 // step in a chain, the last byte of the index
)

// An address says what a hash is for, so that no two of a key are the same.
type address [addressSize]byte

// newAddress returns an address in the layer-th layer from below, in the tree
// with this number there, of the key pair that is its leaf with this number.
func newAddress(layer int, tree uint64, kind byte, pair uint32) address {
	var a address
	a[0] = byte(layer)
	binary.BigEndian.PutUint64(a[1:], tree)
	a[9] = kind
	binary.BigEndian.PutUint32(a[10:], pair)
	return a
}

// of returns the address for another kind.
func (a address) of(kind byte) address {
	a[9] = kind
	return a
}

// at returns the address of a node of a tree.
func (a address) at(height int, index uint32) address {
	a[lowAt] = byte(height)
	binary.BigEndian.PutUint32(a[indexAt:], index)
	return a
}

// chain returns the address of the start of a chain.
func (a address) chain(number int) address {
	a[lowAt] = byte(number)
	return a
}
