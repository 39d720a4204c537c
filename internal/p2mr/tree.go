package p2mr

import (
	"errors"
	"fmt"
	"slices"
)

// ErrDepth reports a tree deeper than [MaxDepth].
var ErrDepth = errors.New("script tree is too deep")

// A Leaf is a script in a tree, with what spends it.
type Leaf struct {
	Script  []byte
	Control ControlBlock
}

// A Tree is a script tree. It does not change after it was made.
type Tree struct {
	root   Hash
	leaves []Leaf // from left to right
	depth  int    // of the deepest leaf
}

// NewLeaf returns the tree of one script of version [ScriptVersion].
func NewLeaf(script []byte) *Tree {
	return &Tree{
		root:   LeafHash(ScriptVersion, script),
		leaves: []Leaf{{Script: slices.Clone(script), Control: ControlBlock{Version: ScriptVersion}}},
	}
}

// NewBranch returns the tree of two trees.
//
// Errors: [ErrDepth].
func NewBranch(left, right *Tree) (*Tree, error) {
	depth := 1 + max(left.depth, right.depth)
	if depth > MaxDepth {
		return nil, fmt.Errorf("depth %d: %w", depth, ErrDepth)
	}
	return &Tree{
		root:   BranchHash(left.root, right.root),
		leaves: append(left.under(right.root), right.under(left.root)...),
		depth:  depth,
	}, nil
}

// under returns the leaves as they are below a branch beside the sibling.
func (t *Tree) under(sibling Hash) []Leaf {
	leaves := slices.Clone(t.leaves)
	for i := range leaves {
		control := &leaves[i].Control
		control.Path = append(slices.Clip(control.Path), sibling)
	}
	return leaves
}

// Root returns the hash that an output pays to.
func (t *Tree) Root() Hash { return t.root }

// Leaves returns the scripts from left to right. The caller must not change
// them.
func (t *Tree) Leaves() []Leaf { return t.leaves }
