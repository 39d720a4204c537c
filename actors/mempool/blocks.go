package mempool

import (
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// blockSteps are the blocks that a step has taken the pool over, with their places among its
// changes: listeners are notified of both in one order.
type blockSteps struct{ list []messages.PoolStep }

// add notes a block that the pool has seen after so many changes.
func (n *blockSteps) add(b *chainview.Block, connected bool, after int) {
	n.list = append(n.list, messages.PoolStep{Tip: tipOf(b), Connected: connected, After: after})
}

func tipOf(b *chainview.Block) messages.Tip { return messages.Tip{Hash: b.Hash, Height: b.Height} }

// publishLeap notifies the listeners that the pool is at a block without having seen those before.
func publishLeap(m *Mempool, b *chainview.Block) {
	m.cfg.Feed.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{{Tip: tipOf(b), Connected: true, Leap: true}}})
}

// publishAlone notifies the listeners that the pool cannot get to the tip.
func publishAlone(m *Mempool) { m.cfg.Feed.Publish(messages.PoolChanged{Alone: true}) }

// publishStep publishes the changes of a step with its blocks. Blocks that join the chain after
// others have left are published once the transactions of the latter have come back, as in Core.
func (m *Mempool) publishStep(step []messages.PoolStep) {
	if m.disconnected == nil {
		m.publishWith(step)
		return
	}
	left := 0
	for left < len(step) && !step[left].Connected {
		left++
	}
	if left > 0 { // blocks kept back may be among them: publish first that they joined
		m.publishHeld()
	}
	m.publishWith(step[:left])
	m.held = append(m.held, step[left:]...)
}

// publishHeld publishes the blocks that were kept back.
func (m *Mempool) publishHeld() {
	held := m.held
	m.held = nil
	for i := range held {
		held[i].After = 0 // their changes are published
	}
	if len(held) > 0 {
		m.cfg.Feed.Publish(messages.PoolChanged{Blocks: held})
	}
}

// publishWith notifies the listeners what has changed, with the blocks that the pool has seen
// meanwhile.
func (m *Mempool) publishWith(blocks []messages.PoolStep) {
	changes := m.pool.TakeChanges()
	m.logRemovals(changes)
	m.fees.see(changes)
	if len(changes) > 0 || len(blocks) > 0 {
		m.cfg.Feed.Publish(messages.PoolChanged{Changes: changes, Blocks: blocks})
	}
}
