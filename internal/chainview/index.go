package chainview

import (
	"crypto/rand"
	"encoding/binary"
	"math/bits"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// A hashIndex finds blocks by their hashes: a table with open addressing, of a word or
// two for each block, where a map would have seven. A key that nobody knows decides where
// a hash goes, so that headers cannot be made to go to the same place.
type hashIndex struct {
	cells []*Block // nil is free; a power of two long
	used  int
	key   uint64 // odd
}

func newHashIndex() *hashIndex {
	var key [8]byte
	_, _ = rand.Read(key[:]) // never fails
	return &hashIndex{cells: make([]*Block, 16), key: binary.LittleEndian.Uint64(key[:]) | 1}
}

// add enters a block that is not there.
func (x *hashIndex) add(b *Block) {
	if 4*(x.used+1) > 3*len(x.cells) {
		old := x.cells
		x.cells = make([]*Block, 2*len(old))
		for _, b := range old {
			if b != nil {
				x.put(b)
			}
		}
	}
	x.put(b)
	x.used++
}

func (x *hashIndex) put(b *Block) {
	i := x.home(&b.Hash)
	for x.cells[i] != nil {
		i = x.next(i)
	}
	x.cells[i] = b
}

// find returns the block with a hash, nil where there is none.
func (x *hashIndex) find(hash *chainhash.Hash) *Block {
	for i := x.home(hash); x.cells[i] != nil; i = x.next(i) {
		if x.cells[i].Hash == *hash {
			return x.cells[i]
		}
	}
	return nil
}

// home returns the index of the cell where a hash is looked for first: the upper bits of
// a product. They depend on all bits of the multiplied value, which is the low bytes of
// the hash; the proof of work leaves these random.
func (x *hashIndex) home(hash *chainhash.Hash) uint64 {
	high, _ := bits.Mul64(binary.LittleEndian.Uint64(hash[:])*x.key, uint64(len(x.cells)))
	return high
}

func (x *hashIndex) next(i uint64) uint64 { return (i + 1) & uint64(len(x.cells)-1) }
