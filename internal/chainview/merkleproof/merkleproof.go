// Package merkleproof proves that transactions are in a block, by a part of the merkle tree
// of the block (BIP37, "Partial Merkle branch format").
//
// A [Proof] lists the nodes of the tree depth first. One bit for each says whether a proven
// transaction is below it; the hashes are those of the nodes that are not gone into, and
// of the proven transactions.
//
// The package is pure. Proofs of others are read with bounded memory and time.
package merkleproof

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// A Proof is a part of a merkle tree.
type Proof struct {
	Txs    uint32 // of the block
	Hashes []chainhash.Hash
	Bits   []byte // eight nodes in each, the first in the lowest bit
}

// A Match is a transaction that is proven.
type Match struct {
	ID    chainhash.Hash
	Index uint32 // in the block
}

// Verify returns the root of the tree and the proven transactions in their order. It is
// false for a proof that is none, and for one of a block with more than maxTxs transactions.
func (p *Proof) Verify(maxTxs uint32) (root chainhash.Hash, found []Match, ok bool) {
	if p.Txs == 0 || p.Txs > maxTxs || len(p.Hashes) > int(p.Txs) || 8*len(p.Bits) < len(p.Hashes) {
		return root, nil, false
	}
	r := reader{proof: p}
	root = r.node(depth(p.Txs), 0)
	if r.failed || r.hashes != len(p.Hashes) || (r.bits+7)/8 != len(p.Bits) {
		return chainhash.Hash{}, nil, false
	}
	return root, r.found, true
}

// width returns how many nodes a tree has at a height over the transactions.
func width(txs uint32, height int) uint32 {
	return uint32((uint64(txs) + 1<<height - 1) >> height)
}

// depth returns the height of the root.
func depth(txs uint32) (height int) {
	for width(txs, height) > 1 {
		height++
	}
	return height
}

// reader goes through a proof.
type reader struct {
	proof        *Proof
	bits, hashes int // that were read
	found        []Match
	failed       bool
}

// node returns the hash of a node.
func (r *reader) node(height int, at uint32) chainhash.Hash {
	if r.failed || r.bits >= 8*len(r.proof.Bits) {
		r.failed = true
		return chainhash.Hash{}
	}
	inside := r.proof.Bits[r.bits/8]>>(r.bits%8)&1 == 1
	r.bits++
	if inside && height > 0 {
		return r.branch(height, at)
	}
	if r.hashes >= len(r.proof.Hashes) {
		r.failed = true
		return chainhash.Hash{}
	}
	hash := r.proof.Hashes[r.hashes]
	r.hashes++
	if inside {
		r.found = append(r.found, Match{hash, at})
	}
	return hash
}

// branch returns the hash of a node with a proven transaction below it.
func (r *reader) branch(height int, at uint32) chainhash.Hash {
	left := r.node(height-1, 2*at)
	right := left
	if 2*at+1 < width(r.proof.Txs, height-1) {
		// Equal branches would let a block with a transaction twice pass for another.
		if right = r.node(height-1, 2*at+1); right == left {
			r.failed = true
		}
	}
	return join(left, right)
}

func join(left, right chainhash.Hash) chainhash.Hash {
	return chainhash.DoubleHashH(append(left[:], right[:]...))
}

// New proves that transactions are in a block: those of ids that are marked.
func New(ids []chainhash.Hash, marked func(id chainhash.Hash) bool) *Proof {
	w := writer{proof: &Proof{Txs: uint32(len(ids))}}
	hashes, marks := ids, make([]bool, len(ids))
	for i, id := range ids {
		marks[i] = marked(id)
	}
	w.levels, w.marks = append(w.levels, hashes), append(w.marks, marks)
	for len(hashes) > 1 {
		var next []chainhash.Hash
		var above []bool
		for i := 0; i < len(hashes); i += 2 {
			other := min(i+1, len(hashes)-1)
			next = append(next, join(hashes[i], hashes[other]))
			above = append(above, marks[i] || marks[other])
		}
		hashes, marks = next, above
		w.levels, w.marks = append(w.levels, hashes), append(w.marks, marks)
	}
	if len(ids) > 0 {
		w.node(len(w.levels)-1, 0)
	}
	return w.proof
}

// writer makes a proof of a tree, whose levels it has from the transactions up.
type writer struct {
	proof  *Proof
	levels [][]chainhash.Hash
	marks  [][]bool // whether a node has a transaction below it that is to be proven
	bits   int
}

func (w *writer) node(height, at int) {
	inside := w.marks[height][at]
	if w.bits%8 == 0 {
		w.proof.Bits = append(w.proof.Bits, 0)
	}
	if inside {
		w.proof.Bits[w.bits/8] |= 1 << (w.bits % 8)
	}
	w.bits++
	if height == 0 || !inside {
		w.proof.Hashes = append(w.proof.Hashes, w.levels[height][at])
		return
	}
	w.node(height-1, 2*at)
	if 2*at+1 < len(w.levels[height-1]) {
		w.node(height-1, 2*at+1)
	}
}
