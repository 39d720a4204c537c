package scanner_test

import (
	"testing"

	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		actortest.InBubble(t)
		r := newRig(t, 30)
		ref := r.spawn(options{})
		slot := do(t, ref, messages.ReserveScan{})
		o := order{scripts: [][]byte{script(5)}, to: 30}
		return &actortest.Subject{
			Ref: ref, Served: scanner.Requests,
			Requests: []actortest.Request{actortest.Sample(r.request(slot, o))},
			Check: func() {
				for id := range 30 * slot.ID { // what the samples have reserved
					_, _ = ask.Ask(t.Context(), ref, messages.ReleaseScan{Slot: id})
				}
				got, err := r.run(t.Context(), ref, o)
				r.check(t, answer{got, err}, o)
			},
		}
	})
}
