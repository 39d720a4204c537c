package chainstate

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/coincache"
	"github.com/seed61375155/trawl/internal/engine/forkchoice"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
)

// A step moved the tip by one block since the last commit: forward to the block, or
// back from the block to its parent.
type step struct {
	block *chainview.Block
	back  bool
	txs   int            // of the block
	mark  coincache.Mark // before it
}

// verdicts say what came of blocks that were connected: nil, or why one was refused.
type verdicts map[chainhash.Hash]error

// activate makes best the tip, or, where a block on the way breaks a rule, the best
// block without it, and so on; and commits what is pending.
func (e *Engine) activate(best *chainview.Block, found verdicts) error {
	e.begin(e.tip)
	defer func() { e.end(e.tip) }()
	if err := e.whole(func() error { return moveTo(e, best, found) }); err != nil {
		return err
	}
	_, err := e.strips.Step()
	e.settle()
	return e.guard(err)
}

// moveTo is activate without what follows a move of the tip.
func moveTo(e *Engine, best *chainview.Block, found verdicts) error {
	for best != e.tip {
		wanting, reason, err := e.activateTo(best, found)
		if _, ok := errors.AsType[*copyError](err); ok {
			best = e.choice.Best(e.tip)
			continue
		}
		if err != nil {
			return err
		}
		if wanting == nil {
			break
		}
		e.log.Info("InvalidChainFound: invalid block", "hash", wanting.Hash, "height", wanting.Height, "reason", reason)
		e.choice.Fail(wanting, e.tip)
		e.late.add(wanting, reason)
		best = e.choice.Best(e.tip)
	}
	return e.commit()
}

// maxLate is how many late refusals are remembered.
const maxLate = 1000

// lateRefusals are stored blocks that proved to break a rule.
type lateRefusals []nodemsg.LateRefusal

// add notes a block and the rule.
func (l *lateRefusals) add(b *chainview.Block, reason error) {
	var rejected *messages.RejectError
	if errors.As(reason, &rejected) && len(*l) < maxLate {
		*l = append(*l, nodemsg.LateRefusal{Hash: b.Hash, Reason: rejected})
	}
}

// Late returns the blocks that were stored and proved to break a rule since the last
// call.
func (e *Engine) Late() []nodemsg.LateRefusal {
	late := e.late
	e.late = nil
	return late
}

// maxPending is how many bytes of blocks and undo data one commit takes.
const maxPending = 32 << 20

// activateTo takes the tip to a block, as far as blocks break no rule. It returns the
// first that does and why.
func (e *Engine) activateTo(to *chainview.Block, found verdicts) (wanting *chainview.Block, reason, err error) {
	fork := forkchoice.Fork(e.tip, to)
	for e.tip != fork {
		if err := e.disconnectTip(); err != nil {
			return nil, nil, &messages.FatalError{Summary: "Failed to disconnect block.", Err: err}
		}
		if err := e.saveLarge(); err != nil {
			return nil, nil, err
		}
	}
	for e.tip != to {
		next := to.Ancestor(e.tip.Height + 1)
		err := e.connectTip(next)
		var rejected *messages.RejectError
		isRejected := errors.As(err, &rejected)
		if found != nil && (err == nil || isRejected) {
			found[next.Hash] = err
		}
		if isRejected {
			return next, err, nil
		}
		if err == nil {
			err = e.saveLarge()
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, nil
}

// maxSteps is how many blocks the tip moves in one commit.
const maxSteps = 1000

// saveLarge commits in the middle of a move of very many blocks.
func (e *Engine) saveLarge() error {
	if e.pending.size < maxPending && len(e.steps) < maxSteps && !e.coins.Full() {
		return nil
	}
	if err := e.save(); err != nil {
		return err
	}
	if e.coins.Full() {
		return e.flush()
	}
	return nil
}

// A txCount is the number of transactions of the chain up to the tip, 0 where they are
// not counted.
type txCount struct {
	counts bool
	n      uint64
}

// add notes that there are so many more.
func (t *txCount) add(more int) {
	if t.counts {
		t.n += uint64(more) // also of a negative number
	}
}

// undone takes the last step back, which needs no undo data.
func (e *Engine) undone(last step) {
	e.coins.Rollback(last.mark)
	e.steps = e.steps[:len(e.steps)-1]
	if last.back {
		move(e, last.block, last.txs)
	} else {
		move(e, last.block.Parent, -last.txs)
	}
}

// move makes a block next to the tip the tip. The chain has so many transactions more then.
func move(e *Engine, to *chainview.Block, txs int) {
	e.tip = to
	e.txs.add(txs)
	if !e.hidden {
		e.now = append(e.now, engine.Move{Tip: to, Totals: e.Totals()})
		e.improve(to)
	}
}

// A trail is where the tip has been.
type trail struct {
	now   []engine.Move // since the last commit
	saved []engine.Move // before it, and not reported yet

	// from is the tip that a better one is looked for; nil while none is.
	from *chainview.Block
}

// begin notes that a better tip is looked for.
func (t *trail) begin(tip *chainview.Block) { t.from = tip }

// improve notes the branch that was left, once there is a better tip.
func (t *trail) improve(tip *chainview.Block) {
	if t.from != nil && tip.CompareWork(t.from) > 0 {
		t.leave(tip)
	}
}

// end is improve for a tip that may have no more work: the operator may prefer it.
func (t *trail) end(tip *chainview.Block) {
	if tip != t.from {
		t.leave(tip)
	}
	t.from = nil
}

// leave notes the branch that was left for a tip, if there is one, and goes on from the tip.
func (t *trail) leave(tip *chainview.Block) {
	if left := t.from; tip.ForkHeight(left) < left.Height {
		if last := t.last(); last != nil {
			last.Left = left
		}
	}
	t.from = tip
}

// last returns the last move that was not reported; nil where there is none.
func (t *trail) last() *engine.Move {
	for _, moves := range [][]engine.Move{t.now, t.saved} {
		if n := len(moves); n > 0 {
			return &moves[n-1]
		}
	}
	return nil
}

// save notes that the moves have been committed.
func (t *trail) save() { t.saved, t.now = append(t.saved, t.now...), nil }

// Moves implements engine.Validator.
func (t *trail) Moves() []engine.Move {
	moves := t.saved
	t.saved = nil
	return moves
}

// steps are those since the last commit.
type steps []step

// last returns the last step, if it is of that kind.
func (s steps) last(back bool) (step, bool) {
	if n := len(s); n > 0 && s[n-1].back == back {
		return s[n-1], true
	}
	return step{}, false
}

// disconnectTip takes the tip back from the unspent outputs.
func (e *Engine) disconnectTip() error {
	if last, ok := e.steps.last(false); ok {
		e.undone(last)
		return nil
	}
	at := e.tip
	b, err := e.fetch(at)
	if err != nil {
		return err
	}
	s := step{block: at, back: true, txs: len(b.List), mark: e.coins.Mark()}
	if err := e.disconnect(at, b); err != nil {
		e.coins.Rollback(s.mark)
		return err
	}
	e.steps = append(e.steps, s)
	move(e, at.Parent, -s.txs)
	return nil
}

// connectTip connects a block on the tip.
func (e *Engine) connectTip(at *chainview.Block) error {
	if last, ok := e.steps.last(true); ok && last.block == at {
		e.undone(last)
		return nil
	}
	b, err := e.fetchCopy(at)
	isCopy := b != nil
	if !isCopy && err == nil {
		b, err = e.fetch(at)
	}
	if err != nil {
		return err
	}
	s := step{block: at, txs: len(b.List), mark: e.coins.Mark()}
	undo, err := e.connect(at, b)
	if rejected, ok := errors.AsType[*messages.RejectError](err); ok {
		corelog.Printf(e.log, slog.LevelInfo, "Block validation error: %v", rejected)
		if isCopy {
			return e.failed(at, rejected)
		}
	}
	if err != nil {
		return err
	}
	if isCopy {
		e.used = append(e.used, at)
	}
	e.pending.addUndo(&at.Hash, undo)
	e.recent.Add(at, b.raw, b.message(), undo)
	e.mark(at, at.Status()&^chainview.NoUndo|chainview.Valid)
	e.steps = append(e.steps, s)
	move(e, at, s.txs)
	return nil
}

// fetch returns a block of the tree that is stored, or is to be.
func (e *Engine) fetch(at *chainview.Block) (*block, error) {
	if b := e.pending.blocks[at.Hash]; b != nil {
		return b, nil
	}
	raw, err := e.db.Block(&at.Hash)
	if err != nil {
		return nil, err
	}
	b, err := e.readBlock(raw)
	if err != nil {
		return nil, fmt.Errorf("block %v: %w", at.Hash, err)
	}
	return b, nil
}

// disconnect takes a block back from the unspent outputs with its undo data.
func (e *Engine) disconnect(at *chainview.Block, b *block) error {
	undo, err := e.db.Undo(&at.Hash)
	if err != nil {
		return err
	}
	if len(undo) != len(b.List)-1 {
		return fmt.Errorf("undo data of block %v: %w", at.Hash, blockfile.ErrCorrupt)
	}
	var key, value []byte
	for i := len(b.List) - 1; i >= 0; i-- {
		tx, out := b.List[i], wire.OutPoint{Hash: b.IDs[i]}
		for n, o := range tx.TxOut {
			if out.Index = uint32(n); consensus.Unspendable(o.PkScript) || e.odd.is(o.PkScript) {
				continue
			}
			key = appendKey(key[:0], &out)
			e.coins.Spend(key)
		}
		if i == 0 {
			break
		}
		if len(undo[i-1]) != len(tx.TxIn) {
			return fmt.Errorf("undo data of block %v: %w", at.Hash, blockfile.ErrCorrupt)
		}
		for n, in := range tx.TxIn {
			coin := undo[i-1][n]
			if e.odd.is(coin.Script) {
				continue
			}
			key = appendKey(key[:0], &in.PreviousOutPoint)
			value = blockfile.AppendUnspent(value[:0], coin)
			e.coins.Put(key, value, false)
		}
	}
	return nil
}
