package txbuilder

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

func TestMain(m *testing.M) { actortest.Main(m) }

// Small requests are built by the actor and large ones by a worker; the answer
// is the same.
func TestAnswers(t *testing.T) {
	ref := actortest.New(t).Spawn("txbuilder", New(*config(false)), Requests...)
	for _, n := range []int{1, smallTx, smallTx + 1, 10 * smallTx} {
		req := messages.BuildTx{Version: 2, Outputs: manyOutputs(n)}
		tx, err := ask.Ask(t.Context(), ref, req)
		if err != nil {
			t.Fatal(err)
		}
		if len(tx.TxOut) != n || tx.TxOut[n-1].Value != 1 {
			t.Errorf("%d outputs: got %d", n, len(tx.TxOut))
		}
		req.Outputs = append(req.Outputs, req.Outputs[0])
		if _, err := ask.Ask(t.Context(), ref, req); !errors.Is(err, messages.ErrTxAddressTwice) {
			t.Errorf("%d outputs: got %v", n+1, err)
		}
	}
}

// A plain request of protoactor's is answered too.
func TestPlainRequest(t *testing.T) {
	system := actortest.New(t)
	ref := system.Spawn("txbuilder", New(*config(true)), Requests...)
	got, err := system.Root.RequestFuture(ref.PID(), messages.BuildTx{Version: 2}, 10*time.Second).Result()
	if tx, ok := got.(*wire.MsgTx); !ok || err != nil || tx.Version != 2 {
		t.Errorf("got %v, %v", got, err)
	}
}

// While large requests are being built, small ones are answered.
func TestLargeHoldsUpNobody(t *testing.T) {
	ref := actortest.New(t).Spawn("txbuilder", New(*config(false)))
	large := messages.BuildTx{Version: 2, Outputs: manyOutputs(5000)}
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			if _, err := ask.Ask(t.Context(), ref, large); err != nil {
				t.Error(err)
			}
		})
	}
	for range 100 {
		if _, err := ask.Ask(t.Context(), ref, messages.BuildTx{Version: 2, Outputs: pay(lower)}); err != nil {
			t.Error(err)
		}
	}
	running.Wait()
}

// The tests of every actor.
func TestSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		ref := actortest.New(t).Spawn("txbuilder", New(*config(false)), Requests...)
		small := messages.BuildTx{Version: 2, Outputs: manyOutputs(1)}
		return &actortest.Subject{
			Ref: ref, Served: Requests,
			Requests: []actortest.Request{
				actortest.Sample(small),
				actortest.Sample(messages.BuildTx{Version: 2, Outputs: manyOutputs(10 * smallTx)}),
			},
			Check: func() {
				if tx, err := ask.Ask(t.Context(), ref, small); err != nil || len(tx.TxOut) != 1 {
					t.Errorf("got %v, %v", tx, err)
				}
			},
		}
	})
}

// A request that the actor fails over, at once or in a worker, is answered, and so is the
// next one.
func TestPanic(t *testing.T) {
	cfg := config(true)
	cfg.fault = func(req *messages.BuildTx) {
		if len(req.Outputs) > 0 {
			panic("injected fault")
		}
	}
	ref := actortest.New(t).Spawn("txbuilder", New(*cfg))
	for _, n := range []int{1, 10 * smallTx} {
		if _, err := ask.Ask(
			t.Context(), ref, messages.BuildTx{Version: 2, Outputs: manyOutputs(n)},
		); !errors.Is(err, ask.ErrRestarted) {
			t.Errorf("%d outputs: got %v", n, err)
		}
		if _, err := ask.Ask(t.Context(), ref, messages.BuildTx{Version: 2}); err != nil {
			t.Errorf("after %d outputs: %v", n, err)
		}
	}
}
