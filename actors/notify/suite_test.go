package notify_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
)

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		r := newRig(t)
		return &actortest.Subject{
			Ref: r.ref,
			News: func() {
				r.raised.Publish(nodemsg.WarningRaised{Text: "x"})
				r.wallets.Publish(messages.WalletTxChanged{})
				tip := r.mine(2)[1]
				r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
			},
			Check: func() {
				tip := r.chain.Active().Tip()
				r.tip.Publish(messages.TipChanged{Hash: tip.Hash, Height: tip.Height})
				r.took()
				r.expect(r.mine(2)...)
			},
		}
	})
}

// The tests of every actor, while messages are published.
func TestSuitePublishing(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		r, b := publishing(t, true)
		return &actortest.Subject{
			Ref: r.ref,
			News: func() {
				block := r.mine(1)[0]
				r.pool.Publish(messages.PoolChanged{
					Changes: []messages.PoolChange{payment(1)}, Blocks: []messages.PoolStep{joined(block)},
				})
				r.pool.Publish(messages.PoolChanged{Reset: true})
			},
			Check: func() {
				b.took()
				block := r.mine(1)[0]
				r.pool.Publish(messages.PoolChanged{Reset: true})
				r.pool.Publish(messages.PoolChanged{Blocks: []messages.PoolStep{joined(block)}})
				b.want(t, "after it", gap, r.joinedWords(block), r.bestWords(block))
			},
		}
	})
}
