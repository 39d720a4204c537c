package mempool

import (
	"context"
	"slices"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

const (
	// maxDisconnected bounds the memory of the transactions that are kept while blocks
	// leave the chain. It is Core's.
	maxDisconnected = 20_000_000

	// maxReturned is how many blocks that are invalidated give their transactions back, as in
	// Core: those of the others are not valid for long, mostly.
	maxReturned = 10

	// stepBlocks is how many blocks a step has at most.
	stepBlocks = 1000
)

// disconnected is what blocks that left the chain had in them, to be submitted again.
type disconnected struct {
	txs  []*wire.MsgTx // the last that was confirmed comes first
	lost []*wire.MsgTx // that are not submitted again
	size int64         // estimated memory of txs
	task *task         // looks up what is needed for that
}

// add takes up the transactions of the block below.
func (d *disconnected) add(block *wire.MsgBlock) {
	for _, tx := range slices.Backward(block.Transactions) {
		d.txs = append(d.txs, tx)
		d.size += usageOf(tx)
	}
	d.limit()
}

// usageOf estimates the memory that Core takes for a transaction that it keeps, with its places in a list and in a
// map of ids.
func usageOf(tx *wire.MsgTx) int64 {
	const list, entry, bucket = 48, 64, 8
	return list + entry + bucket + txpool.Usage(tx)
}

// limit drops what was confirmed last where there is too much, as Core does.
func (d *disconnected) limit() {
	for d.size > maxDisconnected {
		d.size -= usageOf(d.txs[0])
		d.txs = d.txs[1:]
	}
}

// current reports whether the pool has seen the active tip. If not it takes the
// next step there.
func (m *Mempool) current(c actor.Context) bool {
	reader := m.cfg.View.Open()
	if reader == nil || m.follower.Busy() {
		return false
	}
	active := reader.Active()
	tip := active.Tip()
	if m.at.Is(tip) {
		m.at = tip // of the chain that is open now: the tree of the one before can go
	}
	switch {
	case tip.Is(m.unreadableTip):
		return true // there is no way there: what is known is served
	case !m.at.Is(tip), active != m.looked: // at the tip a branch may have come and gone
		m.looked = active
		m.follower.Wake(c)
		if !m.at.Is(tip) || m.follower.Busy() {
			return false
		}
	}
	return m.disconnected == nil || m.resubmit(c)
}

// chainTarget is the pool as a follower of the chain sees it. A step changes the pool in
// the worker, and where the pool is in the actor.
type chainTarget struct{ m *Mempool }

// Position implements follow.Target. A pool that is new begins at the active tip.
func (t chainTarget) Position() (at messages.Tip, ok bool) {
	m := t.m
	if m.at == nil {
		reader := m.cfg.View.Open()
		if reader == nil {
			return at, false
		}
		m.at = reader.Active().Tip()
		m.seen.stale(reader)
		if m.at.Parent == nil {
			m.pool.Moved(1) // a new chain: Core counts its first block too
		}
		if m.leaps {
			m.leaps = false
			publishLeap(m, m.at)
		}
	}
	return messages.Tip{Hash: m.at.Hash, Height: m.at.Height}, true
}

// Advance implements follow.Target.
func (t chainTarget) Advance(ctx context.Context, s follow.Step) (apply func() error, err error) {
	var gone *disconnected
	var at *chainview.Block
	var steps blockSteps
	if n := len(s.Disconnect); n > 0 {
		// A block that cannot be read is passed over: it would hold up the pool for ever.
		gone, err = t.disconnect(s.Reader, s.Disconnect, len(s.Connect) == 0)
		at = s.Disconnect[n-1].Parent
		for _, b := range s.Disconnect {
			t.m.seen.add(b)
			steps.add(b, false, 0)
		}
	}
	if err == nil && len(s.Connect) > 0 {
		var last *chainview.Block
		if last, err = t.connect(ctx, s.Reader, s.Connect, &steps); last != nil {
			at = last
		}
	}
	tip := s.Chain.Tip()
	return func() error { t.m.followed(at, gone, tip, steps.list, err); return nil }, err
}

// Recorded implements follow.Recorder: transactions of a block that has left the chain before the pool saw it come back
// too, as in Core, whose pool sees each block.
func (t chainTarget) Recorded(_ chainview.Reader, b *chainview.Block) (bool, error) {
	_, ok := t.m.seen[b.Hash]
	return ok, nil
}

// Reset implements follow.Target. The pool's transactions are submitted again, as if
// they came from another chain.
func (t chainTarget) Reset(reader chainview.Reader, _ error) (apply func() error, err error) {
	return func() error {
		tip := reader.Active().Tip()
		t.m.seen.stale(reader)
		t.m.followed(tip, &disconnected{}, nil, nil, nil)
		t.m.held = nil // blocks of the chain before
		publishLeap(t.m, tip)
		return nil
	}, nil
}

// followed notes what has come of a step on the way to a tip.
func (m *Mempool) followed(
	at *chainview.Block, gone *disconnected, tip *chainview.Block, blocks []messages.PoolStep, err error,
) {
	if gone != nil {
		m.addDisconnected(gone)
	}
	m.publishStep(blocks)
	if at != nil {
		m.at = at
	}
	m.unreadableTip = nil
	if err != nil {
		m.cfg.Log.Warn("memory pool cannot read a block", "err", err)
	}
	if err != nil && !m.at.Is(tip) {
		m.unreadableTip = tip
		publishAlone(m)
	}
}

// disconnect returns the transactions of blocks that have left the chain, which come from
// the highest down. Transactions that the pool holds stay there: they are checked again
// when the returned transactions are submitted. Where no other blocks come in their place
// they have been invalidated.
func (t chainTarget) disconnect(
	reader chainview.Reader, blocks []*chainview.Block, invalidated bool,
) (*disconnected, error) {
	gone := &disconnected{}
	t.m.pool.Moved(int32(len(blocks)))
	for i, b := range blocks {
		block, err := reader.Block(&b.Hash)
		if err != nil {
			return gone, err
		}
		if invalidated && i >= maxReturned {
			gone.lost = append(gone.lost, block.Transactions...)
			continue
		}
		gone.add(block)
	}
	return gone, nil
}

// connect applies blocks, each on the one before it. It returns the last that was applied,
// nil for none.
func (t chainTarget) connect(
	ctx context.Context, reader chainview.Reader, blocks []*chainview.Block, steps *blockSteps,
) (at *chainview.Block, err error) {
	pool, now := t.m.pool, t.m.now()
	if pool.Idle() {
		pool.Connect(nil, now)
		pool.Moved(int32(len(blocks)))
		t.m.fees.pass(reader, blocks)
		for _, b := range blocks {
			t.m.seen.add(b)
			steps.add(b, true, 0)
		}
		return blocks[len(blocks)-1], nil
	}
	for _, b := range blocks {
		if ctx.Err() != nil {
			return at, context.Cause(ctx)
		}
		block, err := reader.Block(&b.Hash)
		if err != nil {
			return at, err
		}
		t.m.fees.connect(block, b.Height, func() { pool.Connect(block.Transactions, now) })
		pool.Moved(1)
		t.m.seen.add(b)
		steps.add(b, true, len(pool.Changes()))
		at = b
	}
	return at, nil
}

// addDisconnected notes transactions of blocks that left the chain, below those that had
// left it already.
func (m *Mempool) addDisconnected(gone *disconnected) {
	if above := m.disconnected; above != nil { // what was needed for those is out of date
		gone.txs, gone.lost = append(above.txs, gone.txs...), append(above.lost, gone.lost...)
		gone.size += above.size
		gone.limit()
	}
	m.disconnected = gone
}

// resubmit checks the transactions of blocks that left the chain, and all others of the
// pool, on the chain as it is now. It reports whether that is done.
func (m *Mempool) resubmit(c actor.Context) bool {
	gone := m.disconnected
	if gone.task == nil {
		gone.task = &task{ctx: m.ctx, outs: m.pool.ReturnNeeds(gone.txs)}
	}
	if !m.ready(c, gone.task) {
		return false
	}
	if gone.task.err != nil {
		m.cfg.Log.Warn("memory pool cannot look outputs up", "err", gone.task.err)
		gone.task, m.unreadableTip = nil, m.at
		m.publishHeld()
		return true
	}
	coins, now := gone.task.coins, m.moment()
	m.lease(c, func() func(actor.Context) {
		slices.Reverse(gone.txs)
		m.pool.Lose(gone.lost)
		m.pool.Return(gone.txs, coins, now)
		return func(actor.Context) {
			m.disconnected = nil
			m.publishHeld()
		}
	})
	return false
}
