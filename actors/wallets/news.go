package wallets

import (
	"slices"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

const (
	// maxBack is how many blocks a wallet goes back to where the memory pool is. From further
	// above it follows the chain by itself.
	maxBack = 64

	// maxEvents bounds the events that wait for a wallet which cannot follow the chain.
	maxEvents = 100_000
)

// An event is a part of what the memory pool tells, in its order. Exactly one field after
// number is set.
type event struct {
	number uint64               // of the announcement, counted as [ask.Feed.Published] does
	change *messages.PoolChange // a transaction has come or left
	to     *messages.Tip        // the pool has come to this block; zero: not known
	reset  bool                 // the pool is empty
	alone  bool                 // the pool does not tell of the next blocks
	run    func()               // contents of the pool are to be taken over
}

// news are the events that a wallet has yet to take. The wallet takes them one after the
// other, each at the block where the pool was then. So it sees transactions and blocks in
// the same order as the pool.
type news struct {
	queue []event
	last  uint64       // number of the last announcement
	at    messages.Tip // block where the next event is to be taken; zero: the active tip
	pool  messages.Tip // block where the pool was last; zero: not known
}

// add queues an announcement. Of several blocks without a change between them only the
// last is queued: the wallet goes directly to the last.
func (n *news) add(m *messages.PoolChanged, reader chainview.Reader) {
	n.last++
	if m.Reset {
		n.push(event{reset: true})
	}
	steps := m.Blocks
	for i := range len(m.Changes) + 1 {
		for len(steps) > 0 && (steps[0].After <= i || i == len(m.Changes)) {
			n.push(event{to: blockAfter(&steps[0], reader)})
			steps = steps[1:]
		}
		if i < len(m.Changes) {
			n.push(event{change: &m.Changes[i]})
		}
	}
	if m.Alone {
		n.push(event{alone: true})
	}
}

func (n *news) push(e event) {
	e.number = n.last
	if end := len(n.queue) - 1; e.to != nil && end >= 0 && n.queue[end].to != nil {
		n.queue[end] = e
		return
	}
	n.queue = append(n.queue, e)
}

// begin replaces all events up to the pool's contents by events for these contents: run
// takes them over, at the block where the pool was.
func (n *news) begin(pool *messages.PoolTxs, run func()) {
	n.queue = n.queue[n.after(pool.Published):]
	n.insert(pool, run)
}

// insert has run called after the events up to the pool's contents, where the pool was: the
// event that led there may have been dropped for a later one.
func (n *news) insert(pool *messages.PoolTxs, run func()) {
	events := []event{{to: &pool.At}, {run: run}}
	if pool.Alone {
		events = append(events, event{alone: true})
	}
	for i := range events {
		events[i].number = pool.Published
	}
	n.queue = slices.Insert(n.queue, n.after(pool.Published), events...)
}

// after returns how many events are of announcements up to a number.
func (n *news) after(number uint64) int {
	i := slices.IndexFunc(n.queue, func(e event) bool { return e.number > number })
	if i < 0 {
		return len(n.queue)
	}
	return i
}

// target returns the block that a wallet at a tip is to go to.
func (n *news) target(reader chainview.Reader, tip messages.Tip) *chainview.Block {
	active := reader.Active().Tip()
	if n.at == (messages.Tip{}) {
		return active
	}
	b := reader.Lookup(&n.at.Hash)
	if b == nil {
		return active
	}
	if at := reader.Lookup(&tip.Hash); at != nil && at.Height > b.Height+maxBack && at.Ancestor(b.Height).Is(b) {
		return active
	}
	return b
}

// blockAfter returns where the pool is after a step; zero where that is not known.
func blockAfter(step *messages.PoolStep, reader chainview.Reader) *messages.Tip {
	if step.Connected {
		return &step.Tip
	}
	var b *chainview.Block
	if reader != nil {
		b = reader.Lookup(&step.Hash)
	}
	if b == nil || b.Parent == nil {
		return new(messages.Tip)
	}
	return &messages.Tip{Hash: b.Parent.Hash, Height: b.Parent.Height}
}
