package psbt

import (
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/rawtx/internal/serial"
)

// maxTapDepth is the longest path from a leaf to the root of a taproot tree.
const maxTapDepth = txscript.ControlBlockMaxNodeCount

// checkTapTree checks the leaves of a taproot tree: depth, version and script of
// each, in the order in which a walk through the tree meets them (BIP371).
func checkTapTree(value []byte) error {
	if len(value) == 0 {
		return serial.Error("Output Taproot tree must not be empty")
	}
	r := &serial.Reader{Rest: value, Part: true}
	var shape treeShape
	for len(r.Rest) > 0 {
		depth, version := r.Byte(), r.Byte()
		r.VarBytes()
		switch {
		case r.Err != nil:
			return r.Err
		case depth > maxTapDepth:
			return serial.Error("Output Taproot tree has as leaf greater than Taproot maximum depth")
		case version&1 != 0:
			return serial.Error("Output Taproot tree has a leaf with an invalid leaf version")
		}
		shape.add(int(depth))
	}
	if r.Err != nil || !shape.complete() {
		return serial.Error("Output Taproot tree is malformed")
	}
	return nil
}

// treeShape is a binary tree as far as its leaves have been added. It holds, for
// each depth, whether there is a subtree that waits for its sibling.
type treeShape struct {
	waiting []bool
	broken  bool // a leaf has no place
}

// add adds a leaf. Two siblings become a subtree one level up.
func (t *treeShape) add(depth int) {
	if depth+1 < len(t.waiting) {
		t.broken = true
	}
	for !t.broken && depth < len(t.waiting) && t.waiting[depth] {
		t.waiting = t.waiting[:depth]
		if depth == 0 {
			t.broken = true
			return
		}
		depth--
	}
	for len(t.waiting) <= depth {
		t.waiting = append(t.waiting, false)
	}
	t.waiting[depth] = true
}

// complete reports whether all leaves make one tree.
func (t *treeShape) complete() bool {
	return !t.broken && len(t.waiting) == 1 && t.waiting[0]
}
