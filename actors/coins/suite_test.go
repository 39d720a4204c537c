package coins_test

import (
	"testing"

	"github.com/seed61375155/trawl/actors/coins"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// The tests of every actor. All sets are given back in the end.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		r := newRig(t, newSet(50), 2)
		slot := do(t, r.ref, messages.ReserveCoinScan{})
		return &actortest.Subject{
			Ref: r.ref, Served: coins.Requests,
			Requests: []actortest.Request{
				actortest.Sample(messages.RunCoinScan{Slot: slot.ID, Scripts: [][]byte{script(1)}}),
			},
			Check: func() {
				for id := range 30 * slot.ID { // what the samples have reserved
					_, _ = ask.Ask(t.Context(), r.ref, messages.ReleaseCoinScan{Slot: id})
				}
				if got := <-r.begin(t, script(1)); got.err != nil || !got.result.Completed {
					t.Errorf("a scan: %+v", got)
				}
				do(t, r.ref, messages.SumCoins{})
			},
		}
	})
}
