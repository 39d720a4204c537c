package forkchoice_test

import (
	"bytes"
	"math/big"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
)

// Of equal work the active chain goes first, what was loaded beside it next, and what
// comes afterwards last; those that were loaded lie in the same order each time.
func TestOrderAfterLoad(t *testing.T) {
	t.Parallel()
	for range 2 {
		tree := chainview.NewTree(&wire.BlockHeader{Version: 1}, big.NewInt(1))
		root := tree.Active().Tip()
		choice := forkchoice.New(tree, root, tree.SetStatus)
		add := func(nonce uint32) *chainview.Block {
			b, err := tree.Add(&wire.BlockHeader{PrevBlock: root.Hash, Nonce: nonce}, big.NewInt(1), chainview.HasData)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		loaded := []*chainview.Block{add(1), add(2), add(3)}
		for _, b := range loaded {
			if !choice.Load(b) {
				t.Fatal("a block on the root is not linked")
			}
		}
		slices.SortFunc(loaded, func(a, b *chainview.Block) int { return bytes.Compare(a.Hash[:], b.Hash[:]) })
		active := loaded[2]
		choice.Loaded(active)
		late := add(4)
		choice.Received(late)
		for _, want := range []*chainview.Block{active, loaded[0], loaded[1], late} {
			if got := choice.Best(root); got != want {
				t.Errorf("the best is %d, want %d", got.Header().Nonce, want.Header().Nonce)
			}
			if got := choice.Better(want, []*chainview.Block{late}); got != want {
				t.Errorf("what came last is better than %d", want.Header().Nonce)
			}
			choice.Fail(want, root)
		}
	}
}

// Of headers with as much work as the tip the tip's own is the best, and only one with
// more takes its place.
func TestHeaderOfTheTip(t *testing.T) {
	t.Parallel()
	tree := chainview.NewTree(&wire.BlockHeader{Version: 1}, big.NewInt(1))
	root := tree.Active().Tip()
	choice := forkchoice.New(tree, root, tree.SetStatus)
	add := func(parent *chainview.Block, nonce uint32) *chainview.Block {
		b, err := tree.Add(&wire.BlockHeader{PrevBlock: parent.Hash, Nonce: nonce}, big.NewInt(1), 0)
		if err != nil {
			t.Fatal(err)
		}
		choice.AddHeader(b)
		return b
	}
	var branches []*chainview.Block
	for nonce := range uint32(8) {
		branches = append(branches, add(root, nonce))
	}
	for _, tip := range branches {
		if choice.Reconsider(tip, tip); choice.Header() != tip {
			t.Errorf("the header is %d of the tip %d", choice.Header().Header().Nonce, tip.Header().Nonce)
		}
	}
	longer := add(branches[3], 100)
	for _, tip := range branches {
		if choice.Reconsider(tip, tip); choice.Header() != longer {
			t.Errorf("the header is %d, and one has more work", choice.Header().Header().Nonce)
		}
	}
}

// Nothing is kept of a block that no longer waits for one before it.
func TestNothingWaits(t *testing.T) {
	t.Parallel()
	tree := chainview.NewTree(&wire.BlockHeader{Version: 1}, big.NewInt(1))
	at := tree.Active().Tip()
	choice := forkchoice.New(tree, at, tree.SetStatus)
	var blocks []*chainview.Block
	for nonce := range uint32(20) {
		b, err := tree.Add(&wire.BlockHeader{PrevBlock: at.Hash, Nonce: nonce}, big.NewInt(1), chainview.HasData)
		if err != nil {
			t.Fatal(err)
		}
		blocks, at = append(blocks, b), b
	}
	for i, b := range slices.Backward(blocks) {
		linked := choice.Received(b)
		if want := i; i > 0 && (len(linked) != 0 || choice.Waiting() != len(blocks)-want) {
			t.Fatalf("block %d: %d are linked, %d wait", i, len(linked), choice.Waiting())
		}
		if i == 0 && (!slices.Equal(linked, blocks) || choice.Waiting() != 0) {
			t.Errorf("at the end %d are linked, %d wait", len(linked), choice.Waiting())
		}
	}
}

// Of blocks that break a rule, and stored blocks that build on them, the block with the most work is known. Of blocks
// that a user has invalidated the lowest is known, and the others when they are loaded again.
func TestInvalid(t *testing.T) {
	t.Parallel()
	tree := chainview.NewTree(&wire.BlockHeader{Version: 1}, big.NewInt(1))
	root := tree.Active().Tip()
	choice := forkchoice.New(tree, root, tree.SetStatus)
	branch := func(nonce uint32, stored, headers int) (blocks []*chainview.Block) {
		at := root
		for i := range stored + headers {
			status := chainview.HasData
			if i >= stored {
				status = 0
			}
			b, err := tree.Add(&wire.BlockHeader{PrevBlock: at.Hash, Nonce: nonce}, big.NewInt(1), status)
			if err != nil {
				t.Fatal(err)
			}
			choice.AddHeader(b)
			if i < stored {
				choice.Received(b)
			}
			blocks, at = append(blocks, b), b
		}
		return blocks
	}
	wants := func(what string, want *chainview.Block) {
		t.Helper()
		if got := choice.Invalid(); got != want {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
	}
	failing, shorter, disliked := branch(1, 4, 3), branch(2, 3, 0), branch(3, 6, 0)
	wants("nothing is invalid", nil)
	choice.Fail(shorter[1], root)
	wants("a branch", shorter[2])
	choice.Fail(failing[0], root)
	wants("a longer branch", failing[3])
	choice.Invalidate(disliked[4], disliked[5])
	wants("a block that a user has invalidated", disliked[4])
	choice.Invalidate(disliked[0], root)
	wants("and one below", disliked[4])
	choice.Reconsider(shorter[2], root)
	wants("another was reconsidered", disliked[4])
	choice.Reconsider(disliked[0], root)
	wants("it was reconsidered", nil)

	tree.SetStatus(failing[0], chainview.HasData|chainview.Failed)
	loaded := forkchoice.New(tree, root, tree.SetStatus)
	for _, b := range failing {
		loaded.Load(b)
	}
	if got := loaded.Invalid(); got != failing[6] {
		t.Errorf("loaded: %+v", got)
	}
}
