package wallets_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed61375155/trawl/messages"
)

// Transactions that no block takes up are offered to the pool again after 12 to 36 hours of the
// node's clock, once each time.
func TestResend(t *testing.T) {
	var clock, offered atomic.Int64
	s := setup{
		pool:  func() []messages.PoolTx { return nil },
		clock: func() time.Time { return time.Unix(clock.Load(), 0) },
		submitted: func(q messages.SubmitTx) {
			if q.Quietly {
				t.Error("it is not announced")
			}
			offered.Add(1)
		},
	}
	clock.Store(genesis.Unix())
	r, ref := rich(t, s, "bech32", "bech32m")
	if tip := r.current.Open().Active().Tip().Time(); tip.Before(genesis.Add(10 * time.Minute)) {
		t.Fatal("the tip is not ten minutes younger than the transactions: ", tip)
	}
	do(t, ref, messages.ListUnspent{MaxConf: 1, IncludeUnsafe: true})
	for _, step := range []struct {
		after time.Duration
		sync  bool // no time has passed by the timers
		want  int64
	}{
		{0, false, 0},
		{12*time.Hour - time.Minute, false, 0},
		{36 * time.Hour, true, 0},
		{36 * time.Hour, false, 2},
		{36 * time.Hour, false, 2},
		{48*time.Hour - time.Minute, false, 2},
		{72 * time.Hour, false, 4},
	} {
		clock.Store(genesis.Add(step.after).Unix())
		if step.sync {
			do(t, r.ref, messages.SyncWallets{})
		} else {
			do(t, r.ref, messages.AdvanceTimers{By: time.Minute})
		}
		if got := offered.Load(); got != step.want {
			t.Errorf("after %v: offered %d times, want %d", step.after, got, step.want)
		}
	}
}
