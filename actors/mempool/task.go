package mempool

import (
	"context"
	"errors"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// A task is work on the pool that needs outputs of the chain. They are looked up
// while other tasks are at work, and again if the chain has moved since.
type task struct {
	ctx  context.Context //nolint:containedctx // of the request
	outs []wire.OutPoint

	// run works on the pool, in the worker. The function that it returns runs in
	// the actor, after the listeners were notified.
	run func(coins txpool.Coins, now txpool.Now) func(actor.Context)

	// fail ends the task without its work.
	fail func(error)

	asked bool
	coins txpool.Coins
	tip   chainhash.Hash // that coins are of
	err   error
}

// coinsFound brings what a task needs.
type coinsFound struct {
	task *task
	got  messages.Coins
	err  error
}

// prefetchTasks is for how many tasks the chain is asked before their turn.
const prefetchTasks = 32

// errUnreadable ends tasks while blocks cannot be read that the pool must see.
var errUnreadable = errors.New("memory pool: blocks of the active chain cannot be read")

// enqueue adds a task at the end.
func (m *Mempool) enqueue(c actor.Context, t *task) {
	m.queue = append(m.queue, t)
	if len(m.queue) <= prefetchTasks {
		m.look(c, t)
	}
	m.next(c)
}

// look asks the chain for what a task needs.
func (m *Mempool) look(c actor.Context, t *task) {
	t.asked, t.coins = true, nil
	ask.Then(t.ctx, c, m.cfg.Chain, messages.GetCoins{Outs: t.outs}, func(got messages.Coins, err error) any {
		return coinsFound{t, got, err}
	})
}

func (m *Mempool) found(c actor.Context, msg coinsFound) {
	t := msg.task
	t.asked, t.err = false, msg.err
	t.coins, t.tip = msg.got.Coins, msg.got.Tip.Hash
	if t.coins == nil {
		t.coins = txpool.Coins{}
	}
	m.next(c)
}

// ready reports whether what a task needs is there, as of the pool's tip.
func (m *Mempool) ready(c actor.Context, t *task) bool {
	switch {
	case t.asked:
		return false
	case t.coins == nil, t.err == nil && t.tip != m.at.Hash:
		m.look(c, t)
		return false
	}
	return true
}

// begin starts a task that is ready. It reports false if the task has to wait.
func (m *Mempool) begin(c actor.Context, t *task) bool {
	if m.unreadableTip != nil {
		t.fail(errUnreadable)
		return true
	}
	if !m.ready(c, t) {
		return false
	}
	err := t.err
	if err == nil {
		err = context.Cause(t.ctx)
	}
	if err != nil {
		t.fail(err)
		return true
	}
	now := m.moment()
	m.lease(c, func() func(actor.Context) { return t.run(t.coins, now) })
	return true
}
