package chainstate

import (
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/messages"
)

// Accept validates a serialized block and makes it part of the tree, and of
// the active chain when it ends the chain with the most work. The error is a
// [*messages.RejectError] for a block that is refused; any other error means
// that the engine cannot go on.
func (e *Engine) Accept(raw []byte) error { return e.Prepare(raw)() }

// Submit is Accept for a block that a miner sends: where its coinbase commits to
// witnesses and lacks the nonce, the nonce of zeros is filled in (BIP22 clients
// leave it out).
func (e *Engine) Submit(raw []byte) error {
	b, err := e.readBlock(raw)
	if err == nil && fillNonce(e, b) {
		b, err = e.readBlock(b.serialize())
	}
	if err != nil {
		return badBlock(err)
	}
	found := verdicts{}
	if err := e.acceptBlock(b, found); err != nil {
		return err
	}
	if _, tried := found[b.Hash]; !tried {
		return reject("inconclusive", "not on the chain with the most work")
	}
	return nil
}

// fillNonce is [FillWitnessNonce] for a block, whose parent says whether the rules are active.
func fillNonce(e *Engine, b *block) bool {
	parent := e.tree.Lookup(&b.PrevBlock)
	return parent != nil && len(b.List) > 0 && e.net.Active("segwit", parent.Height+1) && FillWitnessNonce(b.List[0])
}

// acceptBlock stores a block and moves to the best chain (Core's ProcessNewBlock).
func (e *Engine) acceptBlock(b *block, found verdicts) error {
	if e.broken != nil {
		return e.broken
	}
	if err := e.solved(b); err != nil {
		return err
	}
	best, err := e.addBlock(b)
	if err != nil {
		if failed := e.commit(); failed != nil {
			return failed
		}
		return err
	}
	if err := e.activate(best, found); err != nil {
		return err
	}
	if err := e.Auto(); err != nil {
		return e.guard(err)
	}
	return found[b.Hash]
}

// addBlock puts a block into the tree (Core's AcceptBlock), and returns which should be the
// tip now. A block that was pruned is stored again; its undo data stays lost until it is
// connected.
func (e *Engine) addBlock(b *block) (best *chainview.Block, err error) {
	at, isNew, err := e.acceptHeader(b.Header)
	if err != nil {
		return nil, err
	}
	const data = chainview.HasData | chainview.Pruned
	before := at.Status() & data
	if before == chainview.HasData {
		return nil, reject("duplicate", "")
	}
	if err := e.checkPlace(b, at.Parent); err != nil {
		var rejected *messages.RejectError
		if errors.As(err, &rejected) && !consensus.MayBeMalleated(rejected.Reason) {
			e.choice.Fail(at, e.tip)
		}
		return nil, err
	}
	e.pending.store(b)
	if before == data {
		e.mark(at, at.Status()&^(chainview.Pruned|chainview.Stripped)|chainview.NoUndo)
		return e.choice.Restored(at, e.tip), nil
	}
	e.mark(at, at.Status()|chainview.HasData)
	linked := e.choice.Received(at)
	for _, one := range linked {
		e.pending.link(one, one != at || !isNew)
	}
	return e.choice.Better(e.tip, linked), nil
}

// Invalidate marks a block and its descendants as invalid and moves to the
// best chain without them.
func (e *Engine) Invalidate(hash *chainhash.Hash) error {
	if e.broken != nil {
		return e.broken
	}
	b := e.tree.Lookup(hash)
	if b == nil {
		return messages.ErrBlockNotFound
	}
	if b.Height == 0 {
		return nil // as in Core, nothing happens
	}
	if isActive := e.tip.Ancestor(b.Height) == b; isActive {
		if !e.choice.CanReturn(e.tip, b.Parent) {
			return messages.ErrBlockPruned
		}
		err := e.whole(func() error {
			_, _, err := e.activateTo(b.Parent, nil)
			return err
		})
		if err != nil {
			return err
		}
	}
	e.choice.Invalidate(b, e.tip)
	return e.activate(e.choice.Best(e.tip), nil)
}

// Reconsider takes back Invalidate for a block, its ancestors and its
// descendants, and moves the tip to the chain that is the best then.
func (e *Engine) Reconsider(hash *chainhash.Hash) error {
	if e.broken != nil {
		return e.broken
	}
	b := e.tree.Lookup(hash)
	if b == nil {
		return messages.ErrBlockNotFound
	}
	e.choice.Reconsider(b, e.tip)
	return e.activate(e.choice.Best(e.tip), nil)
}

// Precious has a block count as if it had come before all others with the same work.
func (e *Engine) Precious(hash *chainhash.Hash) error {
	if e.broken != nil {
		return e.broken
	}
	b := e.tree.Lookup(hash)
	if b == nil {
		return messages.ErrBlockNotFound
	}
	if !e.choice.Prefer(b, e.tip) {
		return nil
	}
	return e.activate(e.choice.Best(e.tip), nil)
}

// Restore is Accept for a block that was pruned; any other is a duplicate.
func (e *Engine) Restore(raw []byte) error {
	if e.broken != nil {
		return e.broken
	}
	b, err := e.readBlock(raw)
	if err != nil {
		return badBlock(err)
	}
	at := e.tree.Lookup(&b.Hash)
	if at == nil || at.Status()&chainview.Pruned == 0 {
		return reject("duplicate", "")
	}
	return e.acceptBlock(b, verdicts{})
}
