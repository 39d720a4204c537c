package mempool_test

import (
	"testing"

	"github.com/seed61375155/trawl/actors/mempool"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// Once six blocks are known the next block says what a transaction has to pay: nothing more than the least where there
// is room.
func TestNextBlock(t *testing.T) {
	next := func(f *mempool.Fees) { f.Next = true }
	r := newRig(t, estimating(t.TempDir(), next), func(cfg *mempool.Config) { cfg.Policy.Order = txpool.ByClusters })
	r.waitLoaded()
	estimate := func(by messages.FeeEstimator) messages.FeeEstimate {
		t.Helper()
		q := messages.EstimateFee{FeeQuery: messages.FeeQuery{Target: 6}, By: by}
		return ok(ask.Ask(t.Context(), r.pool, q)).must(t)
	}
	got := estimate(messages.ByNextBlock)
	if got.Rate != got.MinFee || got.By != messages.ByNextBlock || got.Blocks != 2 {
		t.Errorf("with blocks of the start: %+v", got)
	}
	for i := range 6 {
		if err := r.submit(spend(50*coin-1000, r.coins[i])); err != nil {
			t.Fatal(err)
		}
		if i == 3 {
			if err := r.confirm(r.coins[i]); err != nil { // a conflict
				t.Fatal(err)
			}
			continue
		}
		r.mine(1)
	}
	got = estimate(messages.ByNextBlock)
	if len(got.Mined) != 6 || got.Rate == 0 || got.Problem != "" {
		t.Errorf("after six: %+v", got)
	}
	for i, m := range got.Mined {
		known := m.Weight
		if i == 2 {
			known = 0
		}
		if m.Weight == 0 || m.Known != known || i > 0 && m.Height != got.Mined[i-1].Height-1 {
			t.Errorf("%d: %+v, want %d known", i, m, known)
		}
	}
	if got := estimate(messages.ByBoth); got.By != messages.ByConfirmations || got.Rate != 0 || got.Problem != "" {
		t.Errorf("too few transactions for both: %+v", got)
	}
}

// Without what is new in Core 32 nothing is known of blocks.
func TestNoNextBlock(t *testing.T) {
	r := newRig(t, estimating(t.TempDir()))
	r.waitLoaded()
	r.mine(1)
	q := messages.EstimateFee{FeeQuery: messages.FeeQuery{Target: 6}, By: messages.ByNextBlock}
	got := ok(ask.Ask(t.Context(), r.pool, q)).must(t)
	const want = "mempool_policy: Mempool is unreliable for fee rate estimation"
	if got.Problem != want || got.Rate != 0 || got.Mined != nil {
		t.Errorf("%+v", got)
	}
}
