package bitcoin

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine/signet"
	"github.com/seed61375155/trawl/messages"
)

// errTrailing reports bytes after the end of a block.
var errTrailing = errors.New("bytes after the end of the block")

// Accept validates a serialized block and makes it part of the tree, and of
// the active chain when it ends the chain with the most work. The error is a
// [*messages.RejectError] for a block that is refused; any other error means
// that the engine cannot go on.
func (e *Engine) Accept(raw []byte) error {
	block, err := parseBlock(raw)
	if err != nil {
		return &messages.RejectError{Reason: "bad-block", Debug: err.Error()}
	}
	return e.acceptBlock(block)
}

// Submit is Accept for a block that a miner sends: where its coinbase commits to
// witnesses and lacks the nonce, the nonce of zeros is filled in (BIP22 clients
// leave it out).
func (e *Engine) Submit(raw []byte) error {
	block, err := parseBlock(raw)
	if err != nil {
		return &messages.RejectError{Reason: "bad-block", Debug: err.Error()}
	}
	if e.fillNonce(block.MsgBlock()) {
		block = btcutil.NewBlock(block.MsgBlock())
	}
	if err := e.acceptBlock(block); err != nil {
		return err
	}
	if b := e.tree.Lookup(block.Hash()); !e.tree.Active().Contains(b) {
		return &messages.RejectError{Reason: "inconclusive", Debug: "not on the chain with the most work"}
	}
	return nil
}

// fillNonce reports whether a nonce had to be filled in.
func (e *Engine) fillNonce(block *wire.MsgBlock) bool {
	parent := e.tree.Lookup(&block.Header.PrevBlock)
	if parent == nil || len(block.Transactions) == 0 || !e.net.Active("segwit", parent.Height+1) {
		return false
	}
	coinbase := block.Transactions[0]
	if signet.WitnessCommitment(coinbase) < 0 || coinbase.HasWitness() || len(coinbase.TxIn) == 0 {
		return false
	}
	coinbase.TxIn[0].Witness = wire.TxWitness{make([]byte, 32)}
	return true
}

func (e *Engine) acceptBlock(block *btcutil.Block) error {
	if err := e.refuse(block); err != nil {
		return err
	}
	if e.stored(&block.MsgBlock().Header.PrevBlock) == nil {
		return e.park(block)
	}
	if err := e.connect(block); err != nil {
		return err
	}
	if err := e.unpark(block.Hash()); err != nil {
		return err
	}
	return e.Auto()
}

// connect hands a block to btcd, which has its parent, and takes over what it makes
// of it.
func (e *Engine) connect(block *btcutil.Block) error {
	known := e.tree.Lookup(block.Hash()) // by its header alone
	err := e.atomically(func() error {
		err := validating(block.Hash(), func() error {
			_, _, err := e.chain.ProcessBlock(block, blockchain.BFNone)
			return err
		})
		if known != nil && e.stored(block.Hash()) != nil {
			err = errors.Join(err, e.dropHeader(known))
		}
		if e.stored(block.Hash()) != nil {
			err = errors.Join(err, e.keepUnparsable(block))
		}
		return err
	})
	if err != nil {
		var rule blockchain.RuleError
		if !errors.As(err, &rule) {
			return fmt.Errorf("block %v: %w", block.Hash(), err)
		}
		err = e.reject(rule, block.MsgBlock())
	}
	if noted := e.note(block, err == nil); noted != nil {
		return noted
	}
	if known != nil && known.Status()&chainview.HasData == 0 && !mutable(err) {
		if failed := e.fail(known); failed != nil {
			return failed
		}
	}
	return err
}

// mutable reports whether another block of the same header may be right although
// this one is refused.
func mutable(err error) bool {
	var reject *messages.RejectError
	if !errors.As(err, &reject) {
		return true
	}
	switch reject.Reason {
	case "bad-txnmrklroot", "bad-txns-duplicate", "bad-witness-merkle-match", "bad-witness-nonce-size",
		"unexpected-witness", "bad-blk-length", "time-too-new", ReasonNoParent:
		return true
	}
	return false
}

// refuse rejects what btcd would not look at, or would keep as an orphan.
func (e *Engine) refuse(block *btcutil.Block) error {
	if b := e.tree.Lookup(block.Hash()); b != nil {
		if b.Status().Invalid() {
			return &messages.RejectError{Reason: "duplicate-invalid"}
		}
		if b.Status()&chainview.HasData != 0 {
			return &messages.RejectError{Reason: "duplicate"}
		}
	}
	parent := e.tree.Lookup(&block.MsgBlock().Header.PrevBlock)
	if parent == nil {
		return &messages.RejectError{Reason: ReasonNoParent}
	}
	if parent.Status().Invalid() {
		return e.headerError(blockchain.ErrInvalidAncestorBlock, &block.MsgBlock().Header)
	}
	if !e.WholeBranch(parent) {
		return &messages.RejectError{Reason: ReasonNoParent, Debug: "a block of its branch was pruned"}
	}
	if e.net.SignetChallenge != nil && !signet.Signed(block.MsgBlock(), e.net.SignetChallenge) {
		return errUnsigned
	}
	return nil
}

// ReasonNoParent is the reject reason of a block whose parent is unknown: it
// may be right, and come too early.
const ReasonNoParent = "prev-blk-not-found"

// note takes over into the tree what btcd has learned from a block: it may have
// been stored although it is refused, and a branch may have been tried and
// found wanting.
func (e *Engine) note(block *btcutil.Block, accepted bool) error {
	header := &block.MsgBlock().Header
	if !accepted && e.stored(block.Hash()) == nil {
		return nil // refused before it was stored
	}
	b, err := e.tree.Add(header, blockchain.CalcWork(header.Bits), chainview.HasData)
	if err != nil {
		return err
	}
	extends := e.chain.BestSnapshot().Hash == b.Hash && b.Parent == e.tree.Active().Tip()
	if accepted && extends {
		e.tree.SetStatus(b, chainview.HasData|chainview.Valid)
		return e.followTip()
	}
	if err := e.refreshBranch(b); err != nil {
		return err
	}
	if b.Status().Invalid() {
		e.spread()
	}
	return e.followTip()
}

// stored returns btcd's header of a block it has taken into its index.
func (e *Engine) stored(hash *chainhash.Hash) *wire.BlockHeader {
	header, err := e.chain.HeaderByHash(hash)
	if err != nil {
		return nil
	}
	return &header
}

// Invalidate marks a block and its descendants as invalid and moves to the
// best chain without them.
func (e *Engine) Invalidate(hash *chainhash.Hash) error {
	b := e.tree.Lookup(hash)
	if b == nil {
		return messages.ErrBlockNotFound
	}
	if b.Height == 0 {
		return nil // as in Core, nothing happens
	}
	if e.tree.Active().Contains(b) && !e.WholeAbove(b) {
		return messages.ErrBlockPruned
	}
	if e.isBare(b) {
		return e.fail(b)
	}
	return e.change(func() error {
		return validating(hash, func() error { return e.chain.InvalidateBlock(hash) })
	})
}

// Reconsider takes back Invalidate for a block, its ancestors and its
// descendants, and moves to the best chain with them.
func (e *Engine) Reconsider(hash *chainhash.Hash) error {
	b := e.tree.Lookup(hash)
	if b == nil {
		return messages.ErrBlockNotFound
	}
	if err := e.clear(b); err != nil {
		return err
	}
	failed := e.failedAround(b)
	if len(failed) == 0 {
		e.spread()
		return e.unparkAll()
	}
	// btcd clears one block, and marks of it on what follows.
	reconsider := func() error {
		for _, at := range failed {
			again := func() error { return e.chain.ReconsiderBlock(&at.Hash) }
			if err := validating(&at.Hash, again); err != nil {
				return err
			}
		}
		return nil
	}
	if err := e.change(reconsider); err != nil {
		return err
	}
	if err := e.preferBest(); err != nil {
		return err
	}
	return e.unparkAll()
}

// failedAround returns the blocks with data that broke a rule or were
// invalidated: b, its ancestors and its descendants, the lowest first.
func (e *Engine) failedAround(b *chainview.Block) []*chainview.Block {
	found := map[*chainview.Block]struct{}{}
	take := func(from *chainview.Block) {
		for at := from; at != nil && at.Status().Invalid(); at = at.Parent {
			if at.Status()&chainview.Failed != 0 && !e.isBare(at) {
				found[at] = struct{}{}
			}
		}
	}
	take(b)
	for _, tip := range e.tree.Tips() {
		if tip.Ancestor(b.Height) == b {
			take(tip)
		}
	}
	return slices.SortedFunc(maps.Keys(found), func(x, y *chainview.Block) int { return cmp.Compare(x.Height, y.Height) })
}

// change makes and takes over a change of many blocks at once.
func (e *Engine) change(change func() error) error {
	if err := e.atomically(change); err != nil {
		return fmt.Errorf("change block status: %w", err)
	}
	if err := e.refresh(); err != nil {
		return err
	}
	e.spread()
	return e.followTip()
}

// parseBlock reads a block and nothing after it.
func parseBlock(raw []byte) (*btcutil.Block, error) {
	r := bytes.NewReader(raw)
	block, err := btcutil.NewBlockFromReader(r)
	if err != nil {
		return nil, err
	}
	if _, err := r.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	return block, nil
}
