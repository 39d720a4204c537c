package mempool

import (
	"context"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/txpool"
)

// maxReturned bounds the memory of the transactions that are kept while blocks
// leave the chain, as Core does.
const maxReturned = 20_000_000

// returned is what blocks that left the chain had in them, to be judged again.
type returned struct {
	txs  []*wire.MsgTx // in the order in which they were confirmed
	size int64         // estimated memory
	task *task         // looks up what is needed for that
}

// current reports whether the pool has seen the active tip. If not it takes the
// next step there.
func (m *Mempool) current(c actor.Context) bool {
	reader := m.cfg.View.Open()
	if reader == nil {
		return false
	}
	active := reader.Active()
	tip := active.Tip()
	switch {
	case m.at == nil:
		m.at = tip
		if tip.Parent == nil {
			m.pool.Moved(1) // a new chain: Core counts its first block too
		}
	case m.stuck == tip:
		// There is no way there: what is known is served.
	case m.at != tip:
		m.follow(c, reader, active)
		return false
	case m.returned != nil:
		return m.giveBack(c)
	}
	return true
}

// follow reads the blocks between what the pool has seen and the tip, and applies
// them.
func (m *Mempool) follow(c actor.Context, reader chainview.Reader, active *chainview.Chain) {
	from, tip, now := m.at, active.Tip(), m.now()
	m.work(c, func() func(actor.Context) {
		gone, err := m.disconnected(reader, from, active.Fork(from))
		at := active.Fork(from)
		if err == nil {
			at, err = m.connect(reader, active, at, now)
		}
		return func(actor.Context) {
			m.at = at
			if gone != nil {
				m.keep(gone)
			}
			if err != nil {
				m.cfg.Log.Warn("memory pool cannot read a block", "err", err)
				m.stuck = tip
			}
		}
	})
}

// disconnected returns the transactions of the blocks above fork, and takes the
// pool's own descendants as they are.
func (m *Mempool) disconnected(reader chainview.Reader, from, fork *chainview.Block) (*returned, error) {
	if from == fork {
		return nil, nil
	}
	gone := &returned{}
	m.pool.Moved(from.Height - fork.Height)
	for b := from; b != fork; b = b.Parent {
		txs, err := m.blockTxs(reader, b)
		if err != nil {
			return gone, err
		}
		for _, tx := range slices.Backward(txs) {
			gone.txs = append(gone.txs, tx)
			gone.size += txpool.Usage(tx)
		}
		for gone.size > maxReturned {
			gone.size -= txpool.Usage(gone.txs[0])
			gone.txs = gone.txs[1:]
		}
	}
	slices.Reverse(gone.txs)
	return gone, nil
}

// connect applies the blocks above a block of the active chain.
func (m *Mempool) connect(reader chainview.Reader, active *chainview.Chain, at *chainview.Block, now int64) (*chainview.Block, error) {
	if m.pool.Idle() {
		m.pool.Connect(nil, now)
		m.pool.Moved(active.Height() - at.Height)
		return active.Tip(), nil
	}
	for next := active.Next(at); next != nil; next = active.Next(at) {
		if m.ctx.Err() != nil {
			return at, context.Cause(m.ctx)
		}
		txs, err := m.blockTxs(reader, next)
		if err != nil {
			return at, err
		}
		m.pool.Connect(txs, now)
		m.pool.Moved(1)
		at = next
	}
	return at, nil
}

func (*Mempool) blockTxs(reader chainview.Reader, b *chainview.Block) ([]*wire.MsgTx, error) {
	block, err := reader.Block(&b.Hash)
	if err != nil {
		return nil, err
	}
	return block.Transactions, nil
}

// keep notes transactions of blocks that left the chain, before those of blocks
// that had left it already.
func (m *Mempool) keep(gone *returned) {
	if m.returned != nil { // and what was needed for those is out of date
		gone.txs = append(gone.txs, m.returned.txs...)
		gone.size += m.returned.size
	}
	m.returned = gone
}

// giveBack judges the transactions that came back and all others again. It
// reports whether that is done.
func (m *Mempool) giveBack(c actor.Context) bool {
	gone := m.returned
	if gone.task == nil {
		gone.task = &task{ctx: m.ctx, outs: m.pool.ReturnNeeds(gone.txs)}
	}
	if !m.ready(c, gone.task) {
		return false
	}
	if gone.task.err != nil {
		m.cfg.Log.Warn("memory pool cannot look outputs up", "err", gone.task.err)
		gone.task, m.stuck = nil, m.at
		return true
	}
	coins, now := gone.task.coins, m.moment()
	m.work(c, func() func(actor.Context) {
		m.pool.Return(gone.txs, coins, now)
		return func(actor.Context) { m.returned = nil }
	})
	return false
}
