package chainstate

import (
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

// treeOf makes a tree of n blocks on the genesis block, each with a work of 2; the last is the tip.
func treeOf(t *testing.T, n int) (*chainview.Tree, []*chainview.Block) {
	t.Helper()
	genesis := wire.BlockHeader{Bits: 0x207fffff}
	tree := chainview.NewTree(&genesis, big.NewInt(2))
	chain := []*chainview.Block{tree.Active().Tip()}
	for range n {
		chain = append(chain, grow(t, tree, chain[len(chain)-1], 0))
	}
	tree.SetActive(chain[n])
	return tree, chain
}

// grow puts a block into a tree.
func grow(t *testing.T, tree *chainview.Tree, parent *chainview.Block, nonce uint32) *chainview.Block {
	t.Helper()
	header := wire.BlockHeader{PrevBlock: parent.Hash, Nonce: nonce, Bits: 0x207fffff}
	b, err := tree.Add(&header, big.NewInt(2), chainview.HasData|chainview.Valid)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shelf is a store of files of blocks, which notes what is rewritten and looked at.
type shelf struct {
	files     [][]*chainview.Block
	reloading bool
	fails     error
	done      []string
}

func (s *shelf) Reloading() bool { return s.reloading }

func (s *shelf) FilesAbove(number int, visit func(chaindb.BlockFile) bool) {
	for n, blocks := range s.files {
		if n <= number {
			continue
		}
		f := chaindb.BlockFile{Number: n}
		for _, b := range blocks {
			f.Blocks = append(f.Blocks, b.Hash)
		}
		s.done = append(s.done, fmt.Sprint("look ", n))
		if !visit(f) {
			return
		}
	}
}

func (s *shelf) Strip(number int, how chaindb.Stripper) error {
	s.done = append(s.done, fmt.Sprint("strip ", number))
	if s.fails != nil {
		return s.fails
	}
	var hashes []chainhash.Hash
	for _, b := range s.files[number] {
		hashes = append(hashes, b.Hash)
	}
	how.Before(hashes)
	return nil
}

// took returns what was done since it was called last.
func (s *shelf) took() string {
	done := strings.Join(s.done, ", ")
	s.done = nil
	return done
}

func newShelf(t *testing.T, depth int32) (*shelf, *stripper, []*chainview.Block) {
	t.Helper()
	tree, chain := treeOf(t, 9)
	s := &shelf{files: [][]*chainview.Block{
		{chain[0], chain[2]}, {chain[1], chain[8]}, {chain[3]}, {chain[4], chain[5]}, {chain[6]},
	}}
	log := slog.New(slog.DiscardHandler)
	return s, newStripper(strippedChain{DB: s, Tree: tree, Log: log}, &StripConfig{Depth: depth}), chain
}

// Files of old blocks are stripped one after the other, the lowest first. A file with a block that is too new waits,
// and files that are done are not looked at again, up to the first that waits.
func TestStripperSteps(t *testing.T) {
	s, p, chain := newShelf(t, 4) // blocks up to 5 are old
	step := func(want string, stripped bool) {
		t.Helper()
		done, err := p.Step()
		if got := s.took(); err != nil || done != stripped || got != want {
			t.Errorf("%v, %v: %s, want %s", done, err, got, want)
		}
	}
	step("look 0, strip 0", true)
	step("", false) // not wanted
	for i, b := range chain {
		if is := b.Status()&chainview.Stripped != 0; is != (i == 0 || i == 2) || b.Status()&chainview.HasData == 0 {
			t.Errorf("block %d is stripped: %v", i, is)
		}
	}
	p.Want()
	step("look 0, look 1, look 2, strip 2", true)
	if p.upTo != 0 {
		t.Errorf("all is done up to file %d", p.upTo)
	}
	p.Want()
	step("look 1, look 2, look 3, strip 3", true)
	p.Want()
	step("look 1, look 2, look 3, look 4", false)
	if p.upTo != 0 {
		t.Errorf("all is done up to file %d", p.upTo)
	}
	tree := p.chain.Tree
	tip := grow(t, tree, chain[9], 0)
	tip = grow(t, tree, tip, 0)
	tree.SetActive(grow(t, tree, tip, 0)) // up to 8
	if err := p.All(); err != nil {
		t.Error(err)
	}
	if got, want := s.took(), "look 1, strip 1, look 1, look 2, look 3, look 4, strip 4, look 4"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if p.upTo != 4 {
		t.Errorf("all is done up to file %d", p.upTo)
	}
	s.files = append(s.files, []*chainview.Block{chain[7], chainview.NewChild(chain[7], &wire.BlockHeader{})})
	p.Want()
	step("look 5", false) // with a block that is not known
}

// A half stripped file is stripped, and a file of just the last block that is old enough.
func TestStripperEdges(t *testing.T) {
	s, p, chain := newShelf(t, 9)
	s.files = [][]*chainview.Block{{chain[0]}}
	if done, err := p.Step(); !done || err != nil {
		t.Errorf("a chain of just the depth: %v, %v", done, err)
	}
	s, p, _ = newShelf(t, 10)
	if done, err := p.Step(); done || err != nil || s.took() != "" {
		t.Errorf("a chain that is too short: %v, %v", done, err)
	}
	s, p, chain = newShelf(t, 4)
	s.files = [][]*chainview.Block{{chain[5], chain[1]}, {chain[6], chain[1]}}
	p.chain.Tree.SetStatus(chain[5], chain[5].Status()|chainview.Stripped)
	if got := []verdict{
		p.look([]chainhash.Hash{chain[5].Hash, chain[1].Hash}, 5), p.look([]chainhash.Hash{chain[5].Hash}, 5),
		p.look([]chainhash.Hash{chain[1].Hash, chain[6].Hash}, 5), p.look(nil, 5),
		p.look([]chainhash.Hash{{9}}, 5),
	}; !slices.Equal(got, []verdict{eligible, finished, tooNew, finished, tooNew}) {
		t.Errorf("%v", got)
	}
}

// Nothing is stripped without the option, while blocks are fed again, or while a snapshot is not validated. A file that
// cannot be written is tried again; a file that cannot be replaced ends the node.
func TestStripperRests(t *testing.T) {
	s, p, chain := newShelf(t, 4)
	p.config = nil
	rests := func(what string) {
		t.Helper()
		if done, err := p.Step(); done || err != nil || s.took() != "" {
			t.Errorf("%s: %v, %v", what, done, err)
		}
	}
	rests("no option")
	p.config, s.reloading = &StripConfig{Depth: 4}, true
	rests("reloading")
	s.reloading = false
	p.chain.Tree.SetAssumed(&chainview.Assumed{Base: chain[3], Validated: chain[0]})
	rests("a snapshot")
	p.chain.Tree.SetAssumed(nil)
	s.fails = errors.New("the disk is full")
	if done, err := p.Step(); done || err != nil || s.took() != "look 0, strip 0" || p.wanted {
		t.Errorf("a full disk: %v, %v", done, err)
	}
	if err := p.All(); err != nil || s.took() != "look 0, strip 0" {
		t.Errorf("again: %v", err)
	}
	for _, fails := range []error{chaindb.ErrHandOver, chaindb.ErrFailed} {
		p.Want()
		s.fails = fmt.Errorf("file 0: %w", fails)
		done, err := p.Step()
		if fatal, ok := errors.AsType[*messages.FatalError](err); done || !ok || !errors.Is(fatal.Err, fails) {
			t.Errorf("%v: %v, %v", fails, done, err)
		}
		if err := p.All(); err == nil {
			t.Errorf("%v: all is done", fails)
		}
	}
	p.mark([]chainhash.Hash{{7}, chain[4].Hash}) // of a block that is not known
	if chain[4].Status()&chainview.Stripped == 0 {
		t.Error("a known block is not marked")
	}
}
