// Package poolorder queues what the memory pool publishes for a wallet, which takes it event by event, each at the
// block where the pool was then. So the wallet sees transactions and blocks in the same order as the pool.
package poolorder

import (
	"slices"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

const (
	// maxBack is how many blocks a wallet goes back to where the memory pool is. From further
	// above it follows the chain by itself.
	maxBack = 64

	// MaxEvents bounds the events that wait for a wallet which cannot follow the chain.
	MaxEvents = 100_000
)

// Contents are the transactions of the memory pool, or some of these.
type Contents struct {
	messages.PoolTxs

	Clear bool // the wallet forgets what it knew of the pool
	Seen  int  // how many scripts these were picked for; 0: all that the wallet has
	Taken bool // by the wallet
}

// An Event is a part of what the memory pool tells, in its order. Exactly one field after
// number is set.
type Event struct {
	number uint64               // of the announcement, counted as [ask.Feed.Published] does
	Change *messages.PoolChange // a transaction has come or left
	To     *messages.Tip        // the pool has come to this block; zero: not known
	Reset  bool                 // the pool is empty
	Alone  bool                 // the pool does not tell of the next blocks
	All    *Contents            // are to be taken over
}

// A Queue has the events that a wallet has yet to take, one after the other. The zero value is empty.
type Queue struct {
	Events []Event
	Last   uint64       // number of the last announcement
	At     messages.Tip // block where the next event is to be taken; zero: the active tip
	Pool   messages.Tip // block where the pool was last; zero: not known
}

// Add queues an announcement. Of several blocks without a change between them only the
// last is queued: the wallet goes directly to the last.
func (n *Queue) Add(m *messages.PoolChanged, reader chainview.Reader) {
	n.Last++
	if m.Reset {
		n.push(Event{Reset: true})
	}
	steps := m.Blocks
	for i := range len(m.Changes) + 1 {
		for len(steps) > 0 && (steps[0].After <= i || i == len(m.Changes)) {
			n.push(Event{To: blockAfter(&steps[0], reader)})
			steps = steps[1:]
		}
		if i < len(m.Changes) {
			n.push(Event{Change: &m.Changes[i]})
		}
	}
	if m.Alone {
		n.push(Event{Alone: true})
	}
}

func (n *Queue) push(e Event) {
	e.number = n.Last
	if end := len(n.Events) - 1; e.To != nil && end >= 0 && n.Events[end].To != nil {
		n.Events[end] = e
		return
	}
	n.Events = append(n.Events, e)
}

// Begin replaces all events up to the pool's contents by events for these contents, which are
// taken over at the block where the pool was.
func (n *Queue) Begin(all *Contents) {
	n.Events = n.Events[n.After(all.Published):]
	n.Insert(all)
}

// Insert has contents taken over after the events up to these contents, where the pool was: the
// event that led there may have been dropped for a later one.
func (n *Queue) Insert(all *Contents) {
	events := []Event{{To: &all.At}, {All: all}}
	if all.Alone {
		events = append(events, Event{Alone: true})
	}
	for i := range events {
		events[i].number = all.Published
	}
	n.Events = slices.Insert(n.Events, n.After(all.Published), events...)
}

// TakeAll takes all contents out of the queue, and returns these.
func (n *Queue) TakeAll() (all []*Contents) {
	n.Events = slices.DeleteFunc(n.Events, func(e Event) bool {
		if e.All != nil {
			all = append(all, e.All)
		}
		return e.All != nil
	})
	return all
}

// After returns how many events are of announcements up to a number.
func (n *Queue) After(number uint64) int {
	i := slices.IndexFunc(n.Events, func(e Event) bool { return e.number > number })
	if i < 0 {
		return len(n.Events)
	}
	return i
}

// Target returns the block that a wallet at a tip is to go to.
func (n *Queue) Target(reader chainview.Reader, tip messages.Tip) *chainview.Block {
	active := reader.Active().Tip()
	if n.At == (messages.Tip{}) {
		return active
	}
	b := reader.Lookup(&n.At.Hash)
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
