package relay_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// works checks that a peer is sent transactions, and may send them.
func (r *rig) works(step string, salt uint32, p *remote) {
	r.t.Helper()
	p.got()
	tx := transaction(salt)
	r.takeIn(tx, false)
	time.Sleep(time.Minute)
	announced := false
	for _, m := range p.got() {
		if m, ok := m.(*wire.MsgInv); ok {
			announced = announced || slices.ContainsFunc(
				m.InvList, func(v *wire.InvVect) bool { return v.Hash == tx.WitnessHash() },
			)
		}
	}
	if !announced {
		r.t.Errorf("%s: nothing is announced", step)
	}
	handled := p.handled
	p.says(inv(transaction(salt + 1)))
	if p.handled != handled+1 {
		r.t.Errorf("%s: the peer is not read on", step)
	}
	asked := p.got()
	if len(asked) != 1 || asked[0].Command() != wire.CmdGetData {
		r.t.Errorf("%s: what the peer announces is not asked for: %v", step, asked)
	}
}

// After a panic the actor goes on with the peers that are there. A peer over whose
// message it failed is let go: nobody would read the peer on.
func TestPanic(t *testing.T) {
	once := func(command string) func(wire.Message) bool {
		armed := true
		return func(m wire.Message) bool {
			fails := armed && m.Command() == command
			armed = armed && !fails
			return fails
		}
	}
	t.Run("in its own time", func(t *testing.T) {
		bubble(t, func(r *rig) {
			honest, other := r.join(p2p.OutboundFullRelay), r.join(p2p.OutboundFullRelay)
			r.works("before", 10, honest)
			other.fails = once(wire.CmdInv)
			r.takeIn(transaction(1), false)
			time.Sleep(time.Minute)
			if other.fails(&wire.MsgInv{}) {
				t.Fatal("nothing failed")
			}
			r.works("after", 20, honest)
			r.works("after", 30, other)
			if honest.left+other.left != "" {
				t.Errorf("disconnected: %q, %q", honest.left, other.left)
			}
		})
	})
	t.Run("over a message", func(t *testing.T) {
		bubble(t, func(r *rig) {
			honest, other := r.join(p2p.OutboundFullRelay), r.join(p2p.OutboundFullRelay)
			other.fails = once(wire.CmdGetData)
			other.says(inv(transaction(1)))
			r.works("after", 20, honest)
			if honest.left != "" || other.left == "" {
				t.Errorf("disconnected: %q, %q", honest.left, other.left)
			}
		})
	})
}

// Stopping lets all peers be read on, even a peer whose transaction is being
// judged.
func TestStop(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		r.holds = true
		p.says(transaction(1))
		if p.handled != 0 {
			t.Fatal("handled before it was judged")
		}
		if err := r.ref.Stop(r.t.Context()); err != nil {
			t.Fatal(err)
		}
		if p.handled != 1 {
			t.Errorf("handled %d times", p.handled)
		}
	})
}

// A relay that has stopped is notified of nothing any more.
func TestStoppedHearsNothing(t *testing.T) {
	bubble(t, func(r *rig) {
		lost := r.lost()
		if err := r.ref.Stop(r.t.Context()); err != nil {
			t.Fatal(err)
		}
		before := lost()
		r.takeIn(transaction(1), false)
		r.tip.Publish(messages.TipChanged{Height: 1})
		synctest.Wait()
		if n := lost() - before; n != 0 {
			t.Errorf("%d events went to a relay that has stopped", n)
		}
	})
}

// A message of a peer that has left is done with at once, so that nothing waits
// for the message.
func TestMessageOfPeerThatLeft(t *testing.T) {
	bubble(t, func(r *rig) {
		p := r.join(p2p.OutboundFullRelay)
		r.ref.Tell(peerhandle.Left{ID: p.info.ID})
		p.says(inv(transaction(1)))
		p.says(transaction(2))
		p.quiet("it has left")
		if p.handled != 2 || len(r.offered) != 0 {
			t.Errorf("handled %d messages, judged %v", p.handled, r.offered)
		}
	})
}
