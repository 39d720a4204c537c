package mempool

import (
	"maps"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/messages"
)

// blockSteps are the blocks that a step has taken the pool over, with their places among its
// changes: listeners are notified of both in one order.
type blockSteps struct{ list []messages.PoolStep }

// seenBlocks are the heights of blocks that the pool was led through, or need not be, by their hashes.
type seenBlocks map[chainhash.Hash]int32

// maxSeen is more than the blocks of so many heights that a follower is led back through branches.
const maxSeen = 4 * follow.MaxStaleDepth

func (s seenBlocks) add(b *chainview.Block) {
	s[b.Hash] = b.Height
	if len(s) > maxSeen {
		maps.DeleteFunc(s, func(_ chainhash.Hash, height int32) bool { return height < b.Height-follow.MaxStaleDepth })
	}
}

// stale adds the blocks that had left the chain before the pool began.
func (s seenBlocks) stale(reader chainview.Reader) {
	active := reader.Active()
	for _, tip := range reader.Tips() {
		for b := range tip.Above(max(active.ForkHeight(tip), active.Height()-follow.MaxStaleDepth)) {
			if b.Status()&chainview.Valid != 0 {
				s.add(b)
			}
		}
	}
}

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
