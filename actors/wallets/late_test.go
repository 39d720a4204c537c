package wallets_test

import (
	"errors"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// A keeper stands before a pool. It keeps one question of a kind, until it is to let it pass.
type keeper struct {
	pool *ask.Ref

	mu   sync.Mutex
	kind func(question any) bool // nil: every question passes
	kept any
	came chan struct{} // closed when there is a question
}

func (g *keeper) front(r *rig, pool *ask.Ref) *ask.Ref {
	g.pool = pool
	return r.sys.Spawn("keeper", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case actor.AutoReceiveMessage, actor.SystemMessage:
			default:
				g.pass(m)
			}
		})
	})
}

func (g *keeper) pass(question any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.kind != nil && g.kind(question) {
		g.kind, g.kept = nil, question
		close(g.came)
		return
	}
	g.pool.Tell(question)
}

// keep keeps the next question of a kind.
func (g *keeper) keep(kind func(question any) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.kind, g.came = kind, make(chan struct{})
}

// open lets the question pass.
func (g *keeper) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pool.Tell(g.kept)
}

func isQuestion[Q messages.Request[R], R any](question any) bool {
	_, ok := question.(*ask.Call[Q, R])
	return ok
}

// A trap has the next look at the clock wait, and fail.
type trap struct{ next atomic.Pointer[trapped] }

type trapped struct{ in, out chan struct{} }

func (t *trap) now() time.Time {
	if got := t.next.Swap(nil); got != nil {
		close(got.in)
		<-got.out
		panic("at the clock")
	}
	return genesis
}

// An answer of the pool that is in the mailbox of an instance when that fails changes nothing,
// whatever it was asked for. The caller is told of the failure, and the wallet serves the next
// one.
func TestAnswersToAFailedInstance(t *testing.T) {
	for name, c := range map[string]struct {
		kind  func(question any) bool
		start func(ref *ask.Ref, sent chainhash.Hash) error
	}{
		"pays": {
			isQuestion[messages.GetPoolClusters],
			func(ref *ask.Ref, _ chainhash.Hash) error { _, err := try(t, ref, pay(10_000_000)); return err },
		},
		"replaces": {
			isQuestion[messages.GetPoolCoins],
			func(ref *ask.Ref, sent chainhash.Hash) error {
				_, err := try(t, ref, messages.BumpFee{TxID: sent, FeeRate: new(int64(20_000)), Send: true})
				return err
			},
		},
		"goes on to replace": {
			isQuestion[messages.GetPoolClusters],
			func(ref *ask.Ref, sent chainhash.Hash) error {
				_, err := try(t, ref, messages.BumpFee{TxID: sent, FeeRate: new(int64(20_000)), Send: true})
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var g keeper
			var clock trap
			var mu sync.Mutex
			ids := map[chainhash.Hash]bool{}
			submitted := func() map[chainhash.Hash]bool {
				mu.Lock()
				defer mu.Unlock()
				return maps.Clone(ids)
			}
			r, ref := pooled(t, setup{front: g.front, clock: clock.now, submitted: func(q messages.SubmitTx) {
				mu.Lock()
				defer mu.Unlock()
				ids[q.Tx.TxHash()] = true
			}}, "bech32", "bech32")
			sent := do(t, ref, pay(20_000_000)).TxID
			before := do(t, ref, messages.GetWalletInfo{}).TxCount

			g.keep(c.kind)
			failed := make(chan error, 1)
			go func() { failed <- c.start(ref, sent) }()
			<-g.came
			stuck := &trapped{make(chan struct{}), make(chan struct{})}
			clock.next.Store(stuck)
			paid := messages.PoolChange{Tx: payment(foreign, 99), Added: true}
			r.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{paid}})
			<-stuck.in
			g.open()
			for ref.Stats().Queue == 0 { // until the answer is there
				runtime.Gosched()
			}
			close(stuck.out)
			if err := <-failed; !errors.Is(err, ask.ErrRestarted) {
				t.Errorf("the caller was told %v", err)
			}
			do(t, r.ref, messages.SyncWallets{})

			if n := do(t, ref, messages.GetWalletInfo{}).TxCount; n != before {
				t.Errorf("%d transactions, before %d", n, before)
			}
			for id := range submitted() {
				if _, err := try(t, ref, messages.GetTransaction{TxID: id}); err != nil {
					t.Errorf("%v was submitted: %v", id, err)
				}
			}
			if locked := do(t, ref, messages.ListLocked{}); len(locked) > 0 {
				t.Errorf("locked: %v", locked)
			}
			do(t, ref, pay(30_000_000))
			if n := ref.Stats().Restarts; n != 1 {
				t.Errorf("the wallet's actor failed %d times", n)
			}
		})
	}
}
