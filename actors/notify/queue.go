package notify

import (
	"context"
	"math"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/messages"
)

const (
	// maxQueued bounds the memory of the events that wait to be published, roughly in bytes.
	maxQueued = 256 << 20

	// stepCost is what a block counts there.
	stepCost = 64
)

// A queue is the events that wait to be published while a worker publishes earlier events.
type queue struct {
	stream  *stream
	waiting []messages.PoolChanged
	cost    int64
	worker  ask.Tasks        // at most one, which publishes
	end     *chainview.Block // of the chain as follow saw it
}

// add takes up events. Where too many wait they are dropped, and subscribers see that.
func (q *queue) add(ctx context.Context, c actor.Context, m messages.PoolChanged) {
	if len(m.Changes)+len(m.Blocks) == 0 && !m.Reset {
		return // it concerns announcements to peers alone
	}
	cost := costOf(&m)
	if q.cost > 0 && q.cost+cost > maxQueued { // so there are some
		if !q.waiting[len(q.waiting)-1].Reset {
			q.waiting = append(q.waiting, messages.PoolChanged{Reset: true})
			q.stream.log.Warn("zmq: news are not published: too many wait")
		}
		return
	}
	q.waiting = append(q.waiting, m)
	q.cost += cost
	q.next(ctx, c)
}

func costOf(m *messages.PoolChanged) int64 {
	cost := int64(len(m.Blocks)) * stepCost
	for i := range m.Changes {
		cost += m.Changes[i].VSize + stepCost
	}
	return cost
}

// next has a worker publish the waiting events.
func (q *queue) next(ctx context.Context, c actor.Context) {
	if q.worker.Len() > 0 || len(q.waiting) == 0 {
		return
	}
	waiting := q.waiting
	q.waiting, q.cost = nil, 0
	q.worker.Go(c, func() func() {
		q.stream.publish(ctx, waiting)
		return func() { q.next(ctx, c) }
	})
}

// follow queues the blocks on the way to the active tip. It is used if the pool does not
// report blocks.
func (q *queue) follow(ctx context.Context, c actor.Context) {
	reader := q.stream.view.Open()
	if reader == nil {
		return
	}
	active := reader.Active()
	at := q.end
	q.end = active.Tip()
	if at != nil {
		at = reader.Lookup(&at.Hash)
	}
	if at == nil { // it begins, or the chain was rebuilt
		return
	}
	var m messages.PoolChanged
	left, joined := follow.Plan(active, at, math.MaxInt)
	for _, b := range left {
		m.Blocks = append(m.Blocks, messages.PoolStep{Tip: messages.Tip{Hash: b.Hash, Height: b.Height}})
	}
	for _, b := range joined {
		tip := messages.Tip{Hash: b.Hash, Height: b.Height}
		m.Blocks = append(m.Blocks, messages.PoolStep{Tip: tip, Connected: true})
	}
	q.add(ctx, c, m)
}
