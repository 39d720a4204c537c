package p2mr

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestLeavesProveTheRoot makes any tree and lets each leaf's control block lead
// to its root, and to no other with a bit flipped.
func TestLeavesProveTheRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree, scripts := drawTree(t, 6)
		leaves := tree.Leaves()
		if len(leaves) != len(scripts) {
			t.Fatalf("%d leaves, want %d", len(leaves), len(scripts))
		}
		for i, leaf := range leaves {
			if !bytes.Equal(leaf.Script, scripts[i]) {
				t.Fatalf("leaf %d: script %x, want %x", i, leaf.Script, scripts[i])
			}
			raw := leaf.Control.Bytes()
			control, err := ParseControlBlock(raw)
			if err != nil {
				t.Fatal(err)
			}
			if root, hash := control.Root(leaf.Script); root != tree.Root() ||
				hash != LeafHash(ScriptVersion, leaf.Script) {
				t.Fatalf("leaf %d proves %v with leaf %v, want %v", i, root, hash, tree.Root())
			}
			raw[rapid.IntRange(0, len(raw)-1).Draw(t, "flipped")] ^= 1 << rapid.IntRange(1, 7).Draw(t, "bit")
			if control, err = ParseControlBlock(raw); err != nil {
				t.Fatal(err)
			}
			if root, _ := control.Root(leaf.Script); root == tree.Root() {
				t.Fatalf("leaf %d proves the root with a bit flipped", i)
			}
		}
	})
}

func drawTree(t *rapid.T, depth int) (*Tree, [][]byte) {
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "shape") == 0 {
		script := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "script")
		return NewLeaf(script), [][]byte{script}
	}
	left, leftScripts := drawTree(t, depth-1)
	right, rightScripts := drawTree(t, depth-1)
	tree, err := NewBranch(left, right)
	if err != nil {
		t.Fatal(err)
	}
	return tree, slices.Concat(leftScripts, rightScripts)
}

func TestDepth(t *testing.T) {
	tree, beside := NewLeaf([]byte{0x51}), NewLeaf([]byte{0x52})
	for depth := 1; depth <= MaxDepth; depth++ {
		var err error
		if tree, err = NewBranch(tree, beside); err != nil {
			t.Fatalf("depth %d: %v", depth, err)
		}
	}
	if _, err := NewBranch(beside, tree); !errors.Is(err, ErrDepth) {
		t.Errorf("depth %d: %v", MaxDepth+1, err)
	}
	if _, err := ParseControlBlock(tree.Leaves()[0].Control.Bytes()); err != nil {
		t.Errorf("control block of the deepest leaf: %v", err)
	}
}

func TestParseControlBlockErrors(t *testing.T) {
	for _, test := range []struct {
		raw []byte
		err error
	}{
		{nil, ErrControlSize},
		{make([]byte, 32), ErrControlSize},
		{make([]byte, 34), ErrControlSize},
		{make([]byte, 1+32*(MaxDepth+1)), ErrControlSize},
		{[]byte{0xc0}, ErrControlBit},
		{[]byte{0xc1}, nil},
		{[]byte{0x01}, nil},
	} {
		if _, err := ParseControlBlock(test.raw); !errors.Is(err, test.err) {
			t.Errorf("%d bytes %x…: %v, want %v", len(test.raw), test.raw[:min(1, len(test.raw))], err, test.err)
		}
	}
}

func TestOutputScript(t *testing.T) {
	root := Hash{1, 31: 2}
	script := OutputScript(root)
	if got, ok := ParseOutputScript(script); !ok || got != root {
		t.Errorf("ParseOutputScript(%x) = %v, %v", script, got, ok)
	}
	for _, other := range [][]byte{nil, script[:33], append(
		slices.Clone(script), 0,
	), append([]byte{0x51}, script[1:]...), append([]byte{0x52, 0x1f}, script[2:]...)} {
		if _, ok := ParseOutputScript(other); ok {
			t.Errorf("%x is taken for P2MR", other)
		}
	}
}

func FuzzParseControlBlock(f *testing.F) {
	f.Add([]byte{0xc1})
	f.Add(bytes.Repeat([]byte{0xc1}, 65))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		control, err := ParseControlBlock(raw)
		if err != nil {
			return
		}
		if got := control.Bytes(); !bytes.Equal(got, raw) {
			t.Errorf("Bytes() = %x, want %x", got, raw)
		}
		control.Root(raw)
	})
}
