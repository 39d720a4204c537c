package wallets

import (
	"context"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

const (
	// batchBlocks and batchBytes bound what a worker reads ahead of the actor.
	batchBlocks = 64
	batchBytes  = 4 << 20
)

// follower brings a wallet from the last block it has seen to the active tip.
type follower struct {
	worker  *ask.Worker // nil: nothing is being read
	waiting []waiter
}

// waiter is a request that is served when the wallet has seen a block, or is told
// why it cannot see it.
type waiter struct {
	block *chainview.Block
	then  func(err error)
}

// Messages of the follower to its actor.
type (
	// blocksRead brings blocks that follow each other.
	blocksRead struct {
		blocks []*txs.Block
		err    error
		failed *chainview.Block // that could not be read; nil: another error, or none
	}
	// blocksLeft brings blocks that are not in the active chain any more, from the
	// highest down. The last one has no transactions if it could not be read.
	blocksLeft struct {
		blocks []*txs.Block
		err    error
	}
)

// current serves a request when the wallet has seen the tip that is active now, as
// clients expect who have just heard of a block. It refuses the request when a
// block cannot be read: what the wallet knows is of an older chain then.
func current[Q messages.Request[R], R any](c actor.Context, w *Wallet, call *ask.Call[Q, R], serve func()) {
	w.whenCurrent(c, func(err error) {
		if err != nil {
			var none R
			call.Answer(none, err)
			return
		}
		serve()
	})
}

// whenCurrent calls back when the wallet has seen the tip that is active now, or
// cannot.
func (w *Wallet) whenCurrent(c actor.Context, then func(err error)) {
	reader := w.cfg.Chain.Open()
	tip := reader.Active().Tip()
	if tip.Hash == w.ledger.Txs().Tip().Hash {
		then(nil)
		return
	}
	w.follower.waiting = append(w.follower.waiting, waiter{tip, then})
	w.follow(c)
}

// follow takes the next step towards the tip. During the rescan of a loading
// the tip stands still: what comes meanwhile is connected afterwards.
func (w *Wallet) follow(c actor.Context) {
	if w.follower.worker != nil || !w.live {
		return
	}
	reader := w.cfg.Chain.Open()
	active := reader.Active()
	at := w.at(reader)
	fork := active.Fork(at)
	if at != fork {
		w.readLeft(c, reader, at, fork)
		return
	}
	if fork == active.Tip() {
		w.takeNews(c)
		w.serveWaiting(fork)
		return
	}
	w.serveWaiting(fork)
	var next []*chainview.Block
	for b := active.Next(fork); b != nil && len(next) < batchBlocks; b = active.Next(b) {
		next = append(next, b)
	}
	w.follower.worker = ask.Go(c, func() any {
		blocks, err := w.readBlocks(w.ctx, reader, active, next)
		read := blocksRead{blocks: blocks, err: err}
		if err != nil && w.ctx.Err() == nil {
			read.failed = next[len(blocks)]
		}
		return read
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

// readLeft has the blocks read that are to be taken back, down to fork.
func (w *Wallet) readLeft(c actor.Context, reader chainview.Reader, at, fork *chainview.Block) {
	active := reader.Active()
	var left []*chainview.Block
	for b := at; b != fork && len(left) < batchBlocks; b = b.Parent {
		left = append(left, b)
	}
	w.follower.worker = ask.Go(c, func() any {
		var read blocksLeft
		for _, b := range left {
			block := &txs.Block{BlockRef: w.times.ref(active, b)}
			read.blocks = append(read.blocks, block)
			msg, err := reader.Block(&b.Hash) // peers do not have it any more
			if err != nil {
				read.err = err
				break
			}
			block.Txs = msg.Transactions
		}
		return read
	})
}

// disconnect takes blocks back that were read, as far as they are still above the
// active chain. One that cannot be read must not hold the wallet up for ever: what
// of it the wallet does not know comes with the news of the pool, if at all.
func (w *Wallet) disconnect(c actor.Context, m blocksLeft) {
	w.follower.worker = nil
	if !w.live {
		return
	}
	if m.err != nil {
		w.cfg.Log.Warn("wallet cannot read a block that has left the chain", "wallet", w.label(), "err", m.err)
	}
	reader := w.cfg.Chain.Open()
	for _, b := range m.blocks {
		block := reader.Lookup(&b.Hash)
		if block == nil || block.Parent == nil || block.Hash != w.ledger.Txs().Tip().Hash || reader.Active().Contains(block) {
			break
		}
		w.ledger.Txs().DisconnectBlock(b, messages.Tip{Hash: block.Parent.Hash, Height: block.Parent.Height}, w.cfg.now())
		if w.wantsKeys() { // the blocks below may pay to them
			break
		}
	}
	w.saveAt(c)
	w.whenMade(c, func() { w.follow(c) })
}

// connect takes blocks over that were read, as far as they still follow.
func (w *Wallet) connect(c actor.Context, m blocksRead) {
	w.follower.worker = nil
	if !w.live {
		return
	}
	reader := w.cfg.Chain.Open()
	save := false
	for _, b := range m.blocks {
		block := reader.Lookup(&b.Hash)
		if block == nil || block.Parent == nil || block.Parent.Hash != w.ledger.Txs().Tip().Hash || !reader.Active().Contains(block) {
			break
		}
		save = w.ledger.Txs().ConnectBlock(b, w.cfg.now()).Save || save
		if w.wantsKeys() { // the blocks that follow may pay to them
			break
		}
	}
	if save {
		w.saveAt(c)
	} else {
		w.save(c, nil)
	}
	if m.err != nil {
		// The chain may be about to be opened again: it announces its tip then.
		// Else the next request tries again.
		w.cfg.Log.Warn("wallet cannot read a block", "wallet", w.label(), "err", m.err)
		w.serveWaiting(w.at(reader))
		w.refuseWaiting(behind(m.failed))
		return
	}
	w.whenMade(c, func() { w.follow(c) })
}

// saveAt writes the position with what has changed.
func (w *Wallet) saveAt(c actor.Context) {
	w.ledger.Txs().SaveBestBlock(w.position())
	w.save(c, nil)
}

// serveWaiting serves those whose block has been seen.
func (w *Wallet) serveWaiting(at *chainview.Block) {
	waiting := w.follower.waiting
	w.follower.waiting = nil
	for _, wait := range waiting {
		if at.Ancestor(wait.block.Height) == wait.block {
			wait.then(nil)
		} else {
			w.follower.waiting = append(w.follower.waiting, wait)
		}
	}
}

// refuseWaiting tells all who wait that the wallet does not get to their block.
func (w *Wallet) refuseWaiting(err error) {
	waiting := w.follower.waiting
	w.follower.waiting = nil
	for _, wait := range waiting {
		wait.then(err)
	}
}

// behind says that a wallet cannot follow the chain past a block.
func behind(b *chainview.Block) error {
	if b == nil {
		return failf(codeWallet, "Error: wallet is behind: blocks cannot be read")
	}
	return failf(codeWallet, "Error: wallet is behind: block %v (height %d) cannot be read", b.Hash, b.Height)
}

// readBlocks reads blocks from the first one on, as many as fit a batch. It runs
// in workers.
func (h *home) readBlocks(ctx context.Context, reader chainview.Reader, active *chainview.Chain, wanted []*chainview.Block) ([]*txs.Block, error) {
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
		msg, err := h.cfg.Fetch.Block(ctx, reader, &b.Hash)
		if err != nil {
			return blocks, err
		}
		size += msg.SerializeSize()
		blocks = append(blocks, &txs.Block{BlockRef: h.times.ref(active, b), Txs: msg.Transactions})
	}
	return blocks, nil
}
