package addrman

import (
	"bytes"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// MaxAnchorsFile is the longest file of anchors that is read, in bytes.
const MaxAnchorsFile = 64 << 10

// MarshalAnchors returns a file in the format of Bitcoin Core's anchors.dat, of the network
// with the given magic. The file has the magic (4 bytes), the number of addresses
// (CompactSize), the addresses in the form of peers.dat, and the double SHA-256 of all
// before.
func MarshalAnchors(anchors []codec.Address, magic [4]byte) []byte {
	b := appendCompact(magic[:], uint64(len(anchors)))
	for _, a := range anchors {
		b = appendAddress(b, a)
	}
	return append(b, chainhash.DoubleHashB(b)...)
}

// ParseAnchors reads such a file.
//
// Errors: [*FileError].
func ParseAnchors(file []byte, magic [4]byte) ([]codec.Address, error) {
	r := &reader{rest: file}
	if got := r.next(len(magic)); r.err == nil && !bytes.Equal(got, magic[:]) {
		return nil, &FileError{"Invalid network magic number"}
	}
	var anchors []codec.Address
	for n := r.compact(); n > 0 && r.err == nil; n-- {
		anchors = append(anchors, r.address(true))
	}
	want := chainhash.DoubleHashB(file[:len(file)-len(r.rest)])
	if sum := r.next(chainhash.HashSize); r.err == nil && !bytes.Equal(sum, want) {
		return nil, &FileError{"Checksum mismatch, data corrupted"}
	}
	return anchors, r.err
}
