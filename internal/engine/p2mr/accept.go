package p2mr

import (
	"errors"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
)

// Accept validates a serialized block and makes it part of the tree, and of
// the active chain when it ends the chain with the most work. The error is a
// [*messages.RejectError] for a block that is refused; any other error means
// that the engine cannot go on.
func (e *Engine) Accept(raw []byte) error {
	b, err := e.readBlock(raw)
	if err != nil {
		return reject("bad-block", err.Error())
	}
	return e.acceptBlock(b)
}

// Submit is Accept for a block that a miner sends: where its coinbase commits to
// witnesses and lacks the nonce, the nonce of zeros is filled in (BIP22 clients
// leave it out).
func (e *Engine) Submit(raw []byte) error {
	b, err := e.readBlock(raw)
	if err != nil {
		return reject("bad-block", err.Error())
	}
	if e.lacksNonce(b) {
		b.txs[0].MsgTx().TxIn[0].Witness = wire.TxWitness{make([]byte, chainhash.HashSize)}
		if b, err = e.readBlock(b.serialize()); err != nil {
			return reject("bad-block", err.Error())
		}
	}
	if err := e.acceptBlock(b); err != nil {
		return err
	}
	if at := e.tree.Lookup(&b.Hash); !e.tree.Active().Contains(at) {
		return reject("inconclusive", "not on the chain with the most work")
	}
	return nil
}

func (e *Engine) lacksNonce(b *block) bool {
	parent := e.tree.Lookup(&b.PrevBlock)
	if parent == nil || len(b.txs) == 0 || !e.net.Active("segwit", parent.Height+1) {
		return false
	}
	coinbase := b.txs[0].MsgTx()
	return consensus.WitnessCommitment(coinbase) >= 0 && !coinbase.HasWitness() && len(coinbase.TxIn) > 0
}

func (e *Engine) acceptBlock(b *block) error {
	known := e.tree.Lookup(&b.Hash)
	if known != nil && known.Height == 0 {
		return reject("duplicate", "")
	}
	if err := e.checkWork(b.Header); err != nil {
		return err
	}
	if known != nil && known.Status().Invalid() {
		return reject("duplicate-invalid", "")
	}
	if known != nil && known.Status()&chainview.HasData != 0 {
		return reject("duplicate", "")
	}
	c := begin()
	if err := e.take(c, b); err != nil {
		if failed := e.commit(c); failed != nil {
			return failed
		}
		return err
	}
	failed, err := e.activate(c)
	if err != nil {
		return err
	}
	if err := e.Auto(); err != nil {
		return err
	}
	return failed[b.Hash]
}

// take checks a block but for what it spends, and puts it into the tree.
func (e *Engine) take(c *change, b *block) error {
	if err := e.check(b); err != nil {
		return err
	}
	at, err := e.acceptHeader(c, b.Header)
	if err != nil {
		return err
	}
	if err := e.checkAt(b, at.Height, at.Parent.MedianTimePast()); err != nil {
		if !mutable(err) {
			e.fail(c, at)
		}
		return err
	}
	e.mark(c, at, at.Status()|chainview.HasData)
	c.block = b
	if e.complete(at.Parent) {
		c.fresh = e.release(at)
	} else {
		e.waiting[at.Parent] = append(e.waiting[at.Parent], at)
	}
	return nil
}

// mutable reports whether another block of the same header may be right although
// this one is refused.
func mutable(err error) bool {
	var rejected *messages.RejectError
	if !errors.As(err, &rejected) {
		return true
	}
	return consensus.MayBeMalleated(rejected.Reason) || rejected.Reason == reasonFuture
}

// release returns a block whose chain is all there, and those that waited for it.
func (e *Engine) release(b *chainview.Block) []*chainview.Block {
	found := []*chainview.Block{b}
	for i := 0; i < len(found); i++ {
		found = append(found, e.waiting[found[i]]...)
		delete(e.waiting, found[i])
	}
	return found
}

// complete reports whether a block and all before it are stored.
func (e *Engine) complete(b *chainview.Block) bool {
	active := e.tree.Active()
	for ; !active.Contains(b); b = b.Parent {
		if b.Status()&chainview.HasData == 0 {
			return false
		}
	}
	return true
}

// activate moves to the best chain and commits the change. It returns why blocks
// were found wanting on the way; that one was is not about another.
func (e *Engine) activate(c *change) (failed map[chainhash.Hash]error, err error) {
	failed = map[chainhash.Hash]error{}
	best := e.better(c.fresh)
	for best != e.tree.Active().Tip() {
		wanting, reason, err := e.move(c, best)
		if err != nil {
			return nil, err
		}
		if wanting == nil {
			break
		}
		failed[wanting.Hash] = reason
		e.refusedLate(wanting, reason)
		e.fail(c, wanting)
		best = e.best()
	}
	return failed, e.commit(c)
}

// maxLate is how many late refusals are remembered.
const maxLate = 1000

// refusedLate notes that a block proved to break a rule.
func (e *Engine) refusedLate(b *chainview.Block, reason error) {
	var rejected *messages.RejectError
	if errors.As(reason, &rejected) && len(e.late) < maxLate {
		e.late = append(e.late, nodemsg.LateRefusal{Hash: b.Hash, Reason: rejected})
	}
}

// Late returns the blocks that were stored and proved to break a rule since the last
// call.
func (e *Engine) Late() []nodemsg.LateRefusal {
	late := e.late
	e.late = nil
	return late
}

// move tries to make a block the tip. It returns the block that breaks a rule, if
// one does; nothing has moved then.
func (e *Engine) move(c *change, to *chainview.Block) (wanting *chainview.Block, reason, err error) {
	err = e.db.BTCD().View(func(tx database.Tx) (err error) {
		wanting, reason, err = e.moveOver(newView(coinsIn(tx)), c, to)
		return err
	})
	return wanting, reason, err
}

// moveOver is move with a view of the unspent outputs at the tip.
func (e *Engine) moveOver(v *view, c *change, to *chainview.Block) (wanting *chainview.Block, reason, err error) {
	active := e.tree.Active()
	from := active.Fork(to)
	for at := active.Tip(); at != from; at = at.Parent {
		if err := e.stepBack(v, at); err != nil {
			return nil, nil, err
		}
	}
	var path []*chainview.Block
	for at := to; at != from; at = at.Parent {
		path = append(path, at)
	}
	var undo []undone
	for _, at := range slices.Backward(path) {
		b, err := e.fetch(c, at)
		if err != nil {
			return nil, nil, err
		}
		spent, err := e.connect(v, at, b)
		var rejected *messages.RejectError
		if errors.As(err, &rejected) {
			return at, err, nil
		}
		if err != nil {
			return nil, nil, err
		}
		undo = append(undo, undone{at.Hash, spent})
	}
	for _, at := range path {
		e.mark(c, at, at.Status()|chainview.Valid)
	}
	c.undo, c.coins, c.tip = undo, v.changed, to
	return nil, nil, nil
}

// stepBack takes a block of the active chain back from a view.
func (e *Engine) stepBack(v *view, at *chainview.Block) error {
	raw, err := e.db.Block(&at.Hash)
	if err != nil {
		return err
	}
	b, err := e.readBlock(raw)
	if err != nil {
		return err
	}
	undo, err := e.db.Undo(&at.Hash)
	if err != nil {
		return err
	}
	if len(undo) != len(b.txs)-1 {
		return blockfile.ErrCorrupt
	}
	for i, tx := range b.txs[1:] {
		if len(undo[i]) != len(tx.MsgTx().TxIn) {
			return blockfile.ErrCorrupt
		}
	}
	disconnect(v, b, undo)
	return nil
}

// fetch returns a block of the tree: the one that the change brings, or a stored
// one.
func (e *Engine) fetch(c *change, at *chainview.Block) (*block, error) {
	if c.block != nil && c.block.Hash == at.Hash {
		return c.block, nil
	}
	raw, err := e.db.Block(&at.Hash)
	if err != nil {
		return nil, err
	}
	return e.readBlock(raw)
}

// better returns the candidate that has more work than the tip, or the tip.
func (e *Engine) better(candidates []*chainview.Block) *chainview.Block {
	best := e.tree.Active().Tip()
	for _, b := range candidates {
		if b.Work.Cmp(best.Work) > 0 && !b.Status().Invalid() && e.reachable(b) {
			best = b
		}
	}
	return best
}

// reachable reports whether all blocks are there that lead from the tip to b.
func (e *Engine) reachable(b *chainview.Block) bool {
	active := e.tree.Active()
	if fork := active.Fork(b); fork == active.Tip() {
		return e.WholeBranch(b)
	}
	return e.WholeBranch(b) && e.WholeAbove(b)
}

// best looks through the whole tree for the block that should be the tip. Of two
// with the same work it is the one that came first.
func (e *Engine) best() *chainview.Block {
	active := e.tree.Active()
	best := active.Tip()
	for best.Status().Invalid() {
		best = best.Parent
	}
	for _, tip := range e.tree.Tips() {
		if tip.Work.Cmp(best.Work) < 0 {
			continue
		}
		b := usable(active, tip)
		if !e.reachable(b) {
			continue
		}
		more := b.Work.Cmp(best.Work)
		if more > 0 || more == 0 && e.places[b].taken < e.places[best].taken {
			best = b
		}
	}
	return best
}

// usable returns the last block on the way to tip up to which everything is stored
// and nothing invalid.
func usable(active *chainview.Chain, tip *chainview.Block) *chainview.Block {
	last := tip
	for at := tip; !active.Contains(at); at = at.Parent {
		if s := at.Status(); s.Invalid() || s&chainview.HasData == 0 {
			last = at.Parent
		}
	}
	for last.Status().Invalid() {
		last = last.Parent // on the active chain, which is about to be left
	}
	return last
}
