package wallets

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/internal/wallet/rescan"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// batchBlocks is how many blocks a worker reads ahead of the actor at most.
const batchBlocks = 64

// chainTarget is a wallet as a follower of the chain sees it: blocks are read in the
// worker, and taken in by the actor.
type chainTarget struct{ w *Wallet }

// follow makes the follower of a wallet. During the rescan of a loading the tip stands
// still: blocks that come meanwhile are connected afterwards. The follower also waits
// while wanted keys are being made, because the next blocks may pay to these keys.
func (w *Wallet) follow() *follow.Follower {
	return follow.New(follow.Config{
		Target: chainTarget{w}, Chain: w.cfg.Chain, Tip: w.cfg.Tip, Batch: batchBlocks,
		Paused: func() bool { return !w.live || w.awaitsKeys },
		To:     w.pool.target,
		Moved: func(actor.Context) {
			w.followed()
			w.pool.take()
		},
		Reached: func(actor.Context) {
			if at := w.pool.events.At; w.live {
				w.pool.take()
				if w.pool.events.At != at {
					w.follower.Wake(w.c)
				}
			}
		},
		Waits: func(err error) { w.pool.fail(err) },
	})
}

// at returns the block that the ledger is at. A chain that was built anew and
// does not know it is followed from its beginning.
func (w *Wallet) at(reader chainview.Reader) *chainview.Block {
	tip := w.ledger.Txs().Tip()
	if b := reader.Lookup(&tip.Hash); b != nil {
		return b
	}
	genesis := reader.Active().At(0)
	w.ledger.Txs().SetTip(messages.Tip{Hash: genesis.Hash})
	return genesis
}

// Position implements follow.Target.
func (t chainTarget) Position() (at messages.Tip, ok bool) {
	if t.w.ledger == nil {
		return at, false
	}
	return t.w.ledger.Txs().Tip(), true
}

// Reset implements follow.Target. A chain that was built anew and does not know the tip of
// the wallet is followed from its beginning.
func (t chainTarget) Reset(reader chainview.Reader, _ error) (apply func() error, err error) {
	return func() error {
		if t.w.live {
			t.w.ledger.Txs().SetTip(messages.Tip{Hash: reader.Active().At(0).Hash})
		}
		return nil
	}, nil
}

// Advance implements follow.Target.
func (t chainTarget) Advance(ctx context.Context, s follow.Step) (apply func() error, err error) {
	if len(s.Disconnect) > 0 {
		blocks, err := rescan.ReadLeft(s.Reader, s.Disconnect)
		return func() error { t.disconnect(blocks, err); return nil }, nil
	}
	blocks, err := rescan.Read(ctx, t.w.cfg.Fetch, s.Reader, s.Connect)
	if err != nil {
		u := &rescan.UnreadableError{Err: err}
		if ctx.Err() == nil {
			u.Block = s.Connect[len(blocks)]
		}
		err = u
	}
	return func() error { t.connect(blocks, err); return nil }, err
}

// disconnect takes back the blocks that were read, as far as they are still to be left. An
// unreadable block must not hold the wallet up for ever. Its transactions that the wallet
// does not know come with the changes of the pool, if at all.
func (t chainTarget) disconnect(blocks []*txs.Block, err error) {
	w := t.w
	if !w.live {
		return
	}
	if err != nil {
		w.cfg.Log.Warn("wallet cannot read a block that has left the chain", "wallet", w.Label(), "err", err)
	}
	reader := w.cfg.Chain.Open()
	for _, b := range blocks {
		block := reader.Lookup(&b.Hash)
		if block == nil || block.Parent == nil || block.Hash != w.ledger.Txs().Tip().Hash ||
			w.pool.target(reader).Ancestor(block.Height).Is(block) {
			break
		}
		parent := messages.Tip{Hash: block.Parent.Hash, Height: block.Parent.Height}
		if w.ledger.Txs().DisconnectBlock(b, parent, w.cfg.now()).Changed {
			w.pool.left(block, reader)
		}
		w.savesPosition = true
		if w.awaitsKeys = w.keygen.needsKeys(); w.awaitsKeys { // the blocks below may pay to them
			break
		}
	}
}

// connect takes blocks over that were read, as far as they still follow.
func (t chainTarget) connect(blocks []*txs.Block, err error) {
	w := t.w
	if !w.live {
		return
	}
	reader := w.cfg.Chain.Open()
	for _, b := range blocks {
		block := reader.Lookup(&b.Hash)
		if block == nil || block.Parent == nil || block.Parent.Hash != w.ledger.Txs().Tip().Hash ||
			!w.pool.target(reader).Ancestor(block.Height).Is(block) {
			break
		}
		synced := w.ledger.Txs().ConnectBlock(b, w.cfg.now())
		w.savesPosition = synced.Save || w.savesPosition
		if w.awaitsKeys = w.keygen.needsKeys(); w.awaitsKeys { // the blocks that follow may pay to them
			if synced.Changed { // and this one, too
				w.again = b
			}
			break
		}
	}
	if err != nil {
		w.cfg.Log.Warn("wallet cannot read a block", "wallet", w.Label(), "err", err)
	}
}

// followed writes what has changed by a step, and has the keys made that the ledger wants.
func (w *Wallet) followed() {
	if !w.live {
		return
	}
	if w.savesPosition {
		w.savesPosition = false
		w.saveAt()
	} else {
		w.save(nil)
	}
	if w.awaitsKeys {
		w.beside(w.lookAgain)
		return
	}
	w.pool.look()
}

// lookAgain goes on with the chain when the keys are made that the ledger wanted
// because of a block. The same block may pay to these keys, too, and make the ledger
// want further keys.
func (w *Wallet) lookAgain(j *ask.Job) {
	for more := true; more; {
		err := w.keysMade(j)
		if err == nil {
			err = w.do(j, func() { more = w.keysCame() })
		}
		if err != nil {
			return
		}
	}
}

// keysCame looks at the block again, and reports whether further keys are wanted.
func (w *Wallet) keysCame() (more bool) {
	if again := w.again; again != nil {
		w.again = nil
		txs.LookAgain(w.ledger.Txs(), again, w.cfg.now())
		if w.keygen.needsKeys() {
			w.again = again
		}
		w.saveAt()
	}
	if w.again != nil {
		return true
	}
	w.awaitsKeys = false
	w.pool.look()
	w.follower.Wake(w.c)
	return false
}

// saveAt writes the position together with all other changes.
func (w *Wallet) saveAt() {
	w.ledger.Txs().SaveBestBlock(w.position())
	w.save(nil)
}
