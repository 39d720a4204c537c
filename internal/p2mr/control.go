package p2mr

import (
	"errors"
	"fmt"
)

// MaxDepth is the greatest depth of a leaf in a tree.
const MaxDepth = 128

// The errors of control blocks.
var (
	// ErrControlSize reports a control block whose size none can have.
	ErrControlSize = errors.New("invalid size of a control block")
	// ErrControlBit reports a control block whose first byte is even.
	ErrControlBit = errors.New("lowest bit of a control block is not set")
)

// A ControlBlock proves that a script is a leaf of a tree.
type ControlBlock struct {
	Version byte   // of the leaf; even
	Path    []Hash // the siblings on the way up from the leaf, at most MaxDepth
}

// ParseControlBlock reads the last item of a witness.
//
// Errors: [ErrControlSize], [ErrControlBit].
func ParseControlBlock(raw []byte) (ControlBlock, error) {
	const node = len(Hash{})
	if len(raw)%node != 1 || len(raw)/node > MaxDepth {
		return ControlBlock{}, fmt.Errorf("%d bytes: %w", len(raw), ErrControlSize)
	}
	if raw[0]&1 == 0 {
		return ControlBlock{}, ErrControlBit
	}
	block := ControlBlock{Version: raw[0] &^ 1}
	for path := raw[1:]; len(path) > 0; path = path[node:] {
		block.Path = append(block.Path, Hash(path))
	}
	return block, nil
}

// Bytes returns the control block as a witness has it.
func (c ControlBlock) Bytes() []byte {
	raw := append(make([]byte, 0, 1+len(c.Path)*len(Hash{})), c.Version|1)
	for _, sibling := range c.Path {
		raw = append(raw, sibling[:]...)
	}
	return raw
}

// Root returns the root of the tree that the leaf is in, if the path is right,
// and the leaf's own hash, which signatures sign.
func (c ControlBlock) Root(script []byte) (root, leaf Hash) {
	leaf = LeafHash(c.Version, script)
	root = leaf
	for _, sibling := range c.Path {
		root = BranchHash(root, sibling)
	}
	return root, leaf
}
