package bitcoin

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/signet"
	"github.com/seed61375155/trawl/messages"
)

// btcd takes no block before its parent. Those that come earlier, and whose headers
// stand in the tree, are parked: they lie in the block files and can be read, and
// btcd gets them when their parents have come.
type parked struct {
	blocks   map[chainhash.Hash]*chainview.Block
	children map[chainhash.Hash][]*chainview.Block // by parent
}

func (p *parked) add(b *chainview.Block) {
	if p.blocks == nil {
		p.blocks = make(map[chainhash.Hash]*chainview.Block)
		p.children = make(map[chainhash.Hash][]*chainview.Block)
	}
	p.blocks[b.Hash] = b
	p.children[b.Parent.Hash] = append(p.children[b.Parent.Hash], b)
}

// take forgets the children of a block, and returns them.
func (p *parked) take(parent *chainhash.Hash) []*chainview.Block {
	list := p.children[*parent]
	delete(p.children, *parent)
	for _, b := range list {
		delete(p.blocks, b.Hash)
	}
	return list
}

// isBare reports whether btcd does not have a block of the tree: there is only its
// header, or it is parked.
func (e *Engine) isBare(b *chainview.Block) bool {
	return b.Status()&chainview.HasData == 0 || e.parked.blocks[b.Hash] != nil
}

// park stores a block before its parent. What can be checked of it alone is.
func (e *Engine) park(block *btcutil.Block) error {
	header := &block.MsgBlock().Header
	if e.tree.Lookup(block.Hash()) == nil {
		if err := e.checkHeader(block.Hash(), header); err != nil {
			return err
		}
	}
	err := e.checkAlone(block)
	var rule blockchain.RuleError
	switch {
	case errors.As(err, &rule):
		return e.reject(rule, block.MsgBlock())
	case err != nil:
		return fmt.Errorf("block %v: %w", block.Hash(), err)
	}
	if e.net.SignetChallenge != nil && !signet.Signed(block.MsgBlock(), e.net.SignetChallenge) {
		return errUnsigned
	}
	b, err := e.tree.Add(header, blockchain.CalcWork(header.Bits), 0)
	if err != nil {
		return err
	}
	e.tree.SetStatus(b, b.Status()|chainview.HasData)
	err = e.db.BTCD().Update(func(tx database.Tx) error {
		if has, err := tx.HasBlock(block.Hash()); err != nil || has {
			return errors.Join(err, putHeaders(tx, []*chainview.Block{b}))
		}
		return errors.Join(tx.StoreBlock(block), putHeaders(tx, []*chainview.Block{b}))
	})
	if err != nil {
		return fmt.Errorf("store block %v: %w", block.Hash(), err)
	}
	e.parked.add(b)
	return nil
}

// checkAlone checks a block as far as can be without its parent's. What passes is
// the only block of its header.
func (e *Engine) checkAlone(block *btcutil.Block) error {
	if err := blockchain.CheckBlockSanity(block, e.net.Params.PowLimit, e.clock); err != nil {
		return err
	}
	parent := e.tree.Lookup(&block.MsgBlock().Header.PrevBlock)
	if e.net.Active("segwit", parent.Height+1) {
		return blockchain.ValidateWitnessCommitment(block)
	}
	for _, tx := range block.Transactions() {
		if tx.HasWitness() {
			return blockchain.RuleError{ErrorCode: blockchain.ErrUnexpectedWitness, Description: "witness before its time"}
		}
	}
	return nil
}

var errUnsigned = &messages.RejectError{
	Reason: "bad-signet-blksig", Debug: "signet block signature validation failure",
}

// unpark hands btcd the parked blocks that build on one that it has taken. One that
// breaks a rule is marked, and so is what builds on it.
func (e *Engine) unpark(parent *chainhash.Hash) error {
	for next := e.parked.take(parent); len(next) > 0; next = next[1:] {
		b := next[0]
		if b.Status().Invalid() {
			e.parked.add(b) // until somebody reconsiders it
			continue
		}
		raw, err := e.db.Block(&b.Hash)
		if err != nil {
			e.tree.SetStatus(b, b.Status()&^chainview.HasData) // peers give it again
			continue
		}
		block, err := parseBlock(raw)
		if err != nil {
			return fmt.Errorf("block %v: %w", b.Hash, err)
		}
		e.tree.SetStatus(b, b.Status()&^chainview.HasData)
		err = e.connect(block)
		var reject *messages.RejectError
		if err != nil && !errors.As(err, &reject) {
			return err
		}
		if err == nil {
			next = append(next, e.parked.take(&b.Hash)...)
		}
	}
	return nil
}

// loadParked finds the parked blocks again, and hands btcd those whose parents it
// has.
func (e *Engine) loadParked() error {
	for _, tip := range e.tree.Tips() {
		for b := tip; b != nil && e.stored(&b.Hash) == nil; b = b.Parent {
			if b.Status()&chainview.HasData == 0 || e.parked.blocks[b.Hash] != nil {
				continue
			}
			e.parked.add(b)
		}
	}
	return e.unparkAll()
}

// unparkAll hands btcd the parked blocks whose parents it has.
func (e *Engine) unparkAll() error {
	var ready []chainhash.Hash
	for parent := range e.parked.children {
		if e.stored(&parent) != nil {
			ready = append(ready, parent)
		}
	}
	for i := range ready {
		if err := e.unpark(&ready[i]); err != nil {
			return err
		}
	}
	return nil
}
