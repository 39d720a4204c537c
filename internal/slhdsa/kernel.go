package slhdsa

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"
)

// lanes is how many blocks are hashed side by side: as many as a key pair has
// chains.
const lanes = chains

// A hasher is one way to hash many short messages. All give the same answers,
// by instructions that are the same whatever the bytes are.
type hasher interface {
	// sums hashes the first n blocks of the batch. It may overwrite the sums
	// after them.
	sums(t *tweak, from *midstate, n int)

	// walk takes the value of each chain from one step to another. a is the
	// address of the chains' kind and key pair.
	walk(t *tweak, a address, from, to digits)

	// leaves hashes each node with its address: height 0, and an index that is
	// first for the first node. All indices have the same upper half.
	leaves(t *tweak, a address, first uint32, nodes []node)

	// parents replaces the first half of the nodes by the hashes of all pairs,
	// with the addresses of nodes at a height, whose indices go up from first.
	// The number of nodes is a power of two, and first divisible by its half.
	parents(t *tweak, a address, height int, first uint32, nodes []node)
}

// A kernel is a hasher for some processors.
type kernel struct {
	name string
	hasher
}

// kernels are those that this processor can run, the fastest first.
var kernels = append(runnable(), kernel{"portable", byBlocks{portable{}}})

// from returns the hasher that can begin with a state.
func (k kernel) from(start *midstate) hasher {
	if start.registers == nil {
		return byBlocks{portable{}}
	}
	return k.hasher
}

// A midstate is the state of SHA-256 after some blocks.
type midstate struct {
	saved     []byte     // as a digest of crypto/sha256 marshals itself
	registers *[8]uint32 // nil where that looks in a way that is not known
	bits      uint16     // size of these blocks
}

// newMidstate is the state after these blocks.
func newMidstate(blocks ...byte) midstate {
	digest := sha256.New()
	digest.Write(blocks) // never fails
	saved := stateOf(digest)
	return midstate{saved, registers(saved), uint16(8 * len(blocks))}
}

// unsalted is the state in which SHA-256 begins.
var unsalted = newMidstate()

// stateOf marshals a digest of crypto/sha256, which never fails.
func stateOf(digest hash.Hash) []byte {
	state, _ := digest.(encoding.BinaryAppender).AppendBinary(nil)
	return state
}

// registers returns the state in a marshalled SHA-256 digest in the order in
// which the SHA extensions hold it (F, E, B, A and H, G, D, C). It returns nil
// if the digest looks in a way that is not known.
func registers(marshalled []byte) *[8]uint32 {
	const magic = "sha\x03"
	if len(marshalled) < len(magic)+sha256.Size || string(marshalled[:len(magic)]) != magic {
		return nil
	}
	var start [8]uint32
	for i, word := range [8]int{5, 4, 1, 0, 7, 6, 3, 2} {
		start[i] = binary.BigEndian.Uint32(marshalled[len(magic)+4*word:])
	}
	return &start
}

// portable hashes one block after the other by crypto/sha256, which has
// assembly of its own for many processors.
type portable struct{}

func (portable) sums(t *tweak, from *midstate, n int) {
	for i := range n {
		b := &t.blocks[i]
		restore(t.digest, from)
		size := int(binary.BigEndian.Uint16(b[len(b)-2:])-from.bits) / 8
		t.digest.Write(b[:size]) // never fails
		copy(t.sums[i][:], t.digest.Sum(t.full[:0]))
	}
}
