package relay_test

import (
	"testing"
	"time"

	"github.com/seed61375155/trawl/actors/relay"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/messages"
)

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		r := newRig(t, 0)
		salt := uint32(100)
		p, honest := r.join(p2p.OutboundFullRelay), r.join(p2p.OutboundFullRelay)
		return &actortest.Subject{
			Ref: r.ref, Served: relay.Requests,
			News: func() {
				p.says(inv(transaction(1)))
				p.says(transaction(1))
				p.says(transaction(3, transaction(2))) // an orphan
				r.takeIn(transaction(4), true)
				tip := r.chain.MineN(1)
				r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
				r.ahead.Add(int64(time.Hour)) // peers are told of the least fee, and it is asked for again
				r.ref.Tell(relay.ClockSet{})
			},
			Check: func() {
				salt += 10
				r.works("check", salt, honest)
			},
		}
	})
}
