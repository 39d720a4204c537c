package wallets

import (
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

const (
	// batchBlocks and batchBytes bound what a worker reads ahead of the actor.
	batchBlocks = 64
	batchBytes  = 4 << 20
)

// chainTarget is a wallet as a follower of the chain sees it: blocks are read in the
// worker, and taken in by the actor.
type chainTarget struct{ w *Wallet }

// unreadable reports a block that a wallet has to see.
type unreadable struct {
	block *chainview.Block // nil: reading was ended
	err   error
}

func (u *unreadable) Error() string { return u.err.Error() }

func (u *unreadable) Unwrap() error { return u.err }

// current serves a request when the wallet has seen the tip that is active now, and its
// knowledge of the pool is on disk. Clients that have just heard of a block expect
// answers that include this block. A request is refused when a block cannot be read,
// because the wallet then knows only an older chain.
func current[Q messages.Request[R], R any](serve service[Q, R]) service[Q, R] {
	return atTip(func(w *Wallet, c actor.Context, call *ask.Call[Q, R]) {
		w.pool.whenWritten(func() { serve(w, c, call) })
	})
}

// atTip serves a request when the wallet has seen the tip that is active now.
func atTip[Q messages.Request[R], R any](serve service[Q, R]) service[Q, R] {
	return after(func(w *Wallet, c actor.Context, then func(error)) { w.pool.whenCurrent(c, then) }, serve)
}

// behind says that a wallet cannot follow the chain past a block; nil for no error.
func behind(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, chainview.ErrNotYet) {
		return codes.Errorf(codes.Wallet, "Error: wallet is behind: it has to see blocks before the loaded snapshot, "+
			"which are still being downloaded and validated. Check getchainstates and try again later.")
	}
	if u, ok := errors.AsType[*unreadable](err); ok && u.block != nil {
		return codes.Errorf(codes.Wallet, "Error: wallet is behind: block %v (height %d) cannot be read",
			u.block.Hash, u.block.Height)
	}
	return codes.Errorf(codes.Wallet, "Error: wallet is behind: blocks cannot be read")
}

// follow makes the follower of a wallet. During the rescan of a loading the tip stands
// still: blocks that come meanwhile are connected afterwards. The follower also waits
// while wanted keys are being made, because the next blocks may pay to these keys.
func (w *Wallet) follow() *follow.Follower {
	return follow.New(follow.Config{
		Target: chainTarget{w}, Chain: w.cfg.Chain, Tip: w.cfg.Tip, Batch: batchBlocks,
		Paused: func() bool { return !w.live || w.awaitsKeys },
		To:     w.pool.target,
		Moved: func(c actor.Context) {
			w.followed(c)
			w.pool.take(c)
		},
		Reached: func(c actor.Context) {
			if at := w.pool.news.at; w.live {
				w.pool.take(c)
				if w.pool.news.at != at {
					w.follower.Wake(c)
				}
			}
		},
		Waits: w.pool.fail,
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
		blocks, err := t.readLeft(s)
		return func() error { t.disconnect(blocks, err); return nil }, nil
	}
	blocks, err := t.w.readBlocks(ctx, s.Reader, s.Connect)
	if err != nil {
		u := &unreadable{err: err}
		if ctx.Err() == nil {
			u.block = s.Connect[len(blocks)]
		}
		err = u
	}
	return func() error { t.connect(blocks, err); return nil }, err
}

// readLeft reads the blocks that have left the chain, as far as that can be done. The last
// one has no transactions if it could not be read.
func (chainTarget) readLeft(s follow.Step) (read []*txs.Block, err error) {
	for _, b := range s.Disconnect {
		block := &txs.Block{BlockRef: blockRef(b)}
		read = append(read, block)
		msg, err := s.Reader.Block(&b.Hash) // peers do not have it any more
		if err != nil {
			return read, err
		}
		block.Txs = msg.Transactions
	}
	return read, nil
}

// disconnect takes back the blocks that were read, as far as they are still to be left. An
// unreadable block must not hold the wallet up for ever. Its transactions that the wallet
// does not know come with the news of the pool, if at all.
func (t chainTarget) disconnect(blocks []*txs.Block, err error) {
	w := t.w
	if !w.live {
		return
	}
	if err != nil {
		w.cfg.Log.Warn("wallet cannot read a block that has left the chain", "wallet", w.label(), "err", err)
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
		w.cfg.Log.Warn("wallet cannot read a block", "wallet", w.label(), "err", err)
	}
}

// followed writes what has changed by a step, and has the keys made that the ledger wants.
func (w *Wallet) followed(c actor.Context) {
	if !w.live {
		return
	}
	if w.savesPosition {
		w.savesPosition = false
		w.saveAt(c)
	} else {
		w.save(c, nil)
	}
	if w.awaitsKeys {
		w.keygen.after(c, func() { keysCame(c, w) })
		return
	}
	w.pool.look(c)
}

// keysCame goes on with the chain when the keys are made that the ledger wanted
// because of a block. The same block may pay to these keys, too, and make the ledger
// want further keys.
func keysCame(c actor.Context, w *Wallet) {
	if w.ledger == nil {
		return
	}
	if again := w.again; again != nil {
		w.again = nil
		txs.LookAgain(w.ledger.Txs(), again, w.cfg.now())
		if w.keygen.needsKeys() {
			w.again = again
		}
		w.saveAt(c)
	}
	if w.again != nil {
		w.keygen.after(c, func() { keysCame(c, w) })
		return
	}
	w.awaitsKeys = false
	w.pool.look(c)
	w.follower.Wake(c)
}

// saveAt writes the position together with all other changes.
func (w *Wallet) saveAt(c actor.Context) {
	w.ledger.Txs().SaveBestBlock(w.position())
	w.save(c, nil)
}

// readBlocks reads blocks from the first one on, as many as fit a batch. It runs
// in workers.
func (h *home) readBlocks(
	ctx context.Context, reader chainview.Reader, wanted []*chainview.Block,
) ([]*txs.Block, error) {
	var blocks []*txs.Block
	size := 0
	for _, b := range wanted {
		select {
		case <-ctx.Done():
			return blocks, context.Cause(ctx)
		default:
		}
		if size > batchBytes {
			break
		}
		if !reader.Active().Contains(b) {
			blocks = append(blocks, readStale(reader, b))
			continue
		}
		msg, err := h.cfg.Fetch.Block(ctx, reader, &b.Hash)
		if err != nil {
			return blocks, err
		}
		size += msg.SerializeSize()
		blocks = append(blocks, &txs.Block{BlockRef: blockRef(b), Txs: msg.Transactions})
	}
	return blocks, nil
}

// readStale reads a block that has left the chain before the wallet has seen it. Where it
// cannot be read it has no transactions: peers do not have it any more, and the wallet is
// about to take it back.
func readStale(reader chainview.Reader, b *chainview.Block) *txs.Block {
	block := &txs.Block{BlockRef: blockRef(b)}
	if msg, err := reader.Block(&b.Hash); err == nil {
		block.Txs = msg.Transactions
	}
	return block
}
