package sync

import (
	"math/big"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
)

// oneTree is a reader that looks blocks up in a tree.
type oneTree struct {
	chainview.Reader

	tree *chainview.Tree
}

func (o oneTree) Lookup(hash *chainhash.Hash) *chainview.Block { return o.tree.Lookup(hash) }

// After the chain was opened again, a peer refers to blocks of the new tree, and forgets blocks that the new tree
// lacks.
func TestRebase(t *testing.T) {
	t.Parallel()
	genesis := &wire.BlockHeader{Timestamp: time.Unix(1, 0)}
	next := &wire.BlockHeader{Timestamp: time.Unix(2, 0), PrevBlock: genesis.BlockHash()}
	lost := &wire.BlockHeader{Timestamp: time.Unix(3, 0), PrevBlock: genesis.BlockHash()}
	tree := func(headers ...*wire.BlockHeader) (*chainview.Tree, []*chainview.Block) {
		made := chainview.NewTree(genesis, big.NewInt(1))
		blocks := []*chainview.Block{made.Active().Tip()}
		for _, h := range headers {
			b, err := made.Add(h, big.NewInt(1), 0)
			if err != nil {
				t.Fatal(err)
			}
			blocks = append(blocks, b)
		}
		return made, blocks
	}
	_, before := tree(next, lost)
	now, after := tree(next)
	p := &peer{presyncStart: before[0], best: before[2], common: before[1], announcements: before}
	p.chain.at = before[1]
	p.rebase(oneTree{tree: now})
	if p.presyncStart != after[0] || p.best != nil || p.common != after[1] || p.bestSent != nil ||
		p.chain.at != after[1] || p.announcements != nil {
		t.Errorf("got %+v", p)
	}
}
