package indexer_test

import (
	"testing"

	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/messages"
)

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		actortest.InBubble(t)
		chain := newChain(20)
		r := newRig(t, chain)
		r.spawn()
		genesis := chain.Active().At(0).Hash
		return &actortest.Subject{
			Ref: r.Ref, Served: indexer.Requests,
			Requests: []actortest.Request{
				actortest.Sample(messages.WaitIndexed{Block: chain.Active().Tip().Hash}),
				actortest.Sample(messages.RepairFilter{Block: genesis}),
			},
			News: func() {
				tip := chain.MineN(1)
				r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
			},
			Check: func() {
				chain.MineN(1)
				r.announce(t)
				r.check(t, chain, chain.Active().Tip())
				if errs := r.failures(); len(errs) != 0 {
					t.Errorf("failed: %v", errs)
				}
			},
		}
	})
}
