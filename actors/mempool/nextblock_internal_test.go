package mempool

import (
	"encoding/binary"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/internal/txpool/feeestimate"
	"github.com/seed61375155/trawl/messages"
)

// estimated is a pool without transactions, beside the fees of 50,000 that past blocks were paid.
func estimated(t *testing.T) *fees {
	t.Helper()
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	m := &Mempool{cfg: Config{Rules: network.PoolRules(), Fees: &Fees{Next: true}}}
	m.pool = txpool.New(m.cfg.Rules, txpool.Policy{Order: txpool.ByClusters})
	f := &fees{m: m, known: feeestimate.Core31.New()}
	for height := range int32(60) {
		var ids []chainhash.Hash
		for n := range uint32(20) {
			id := chainhash.Hash{1}
			binary.LittleEndian.PutUint32(id[4:], uint32(height))
			binary.LittleEndian.PutUint32(id[8:], n)
			f.known.Add(id, height, 50_000)
			ids = append(ids, id)
		}
		f.known.Connect(height+1, ids)
	}
	return f
}

// Of both estimators the lower rate is the answer. Past blocks answer where the next block says nothing.
func TestEstimateBy(t *testing.T) {
	f := estimated(t)
	full := f.m.cfg.Rules.MaxWeight
	past := f.estimate(messages.FeeQuery{Target: 6}).Rate
	if past < 40_000 {
		t.Fatalf("past blocks say %d", past)
	}
	ask := func(by messages.FeeEstimator, loaded bool, least int64) messages.FeeEstimate {
		q := messages.EstimateFee{FeeQuery: messages.FeeQuery{Target: 6}, By: by}
		return f.estimateBy(&q, &messages.PoolInfo{Loaded: loaded}, least)
	}
	for _, known := range []bool{false, true} {
		if known {
			for height := range int32(6) {
				f.mined.Add(feeestimate.Mined{Height: height, Weight: full, Known: full * 3 / 4})
			}
		}
		for _, test := range []struct {
			by     messages.FeeEstimator
			loaded bool
			least  int64
			rate   int64 // where blocks are known; 0: none
			next   bool
		}{
			{messages.ByConfirmations, true, 1000, past, false},
			{messages.ByNextBlock, true, 1000, 1000, true},
			{messages.ByNextBlock, false, 1000, 0, true},
			{messages.ByBoth, true, 1000, 1000, true},
			{messages.ByBoth, true, past - 1, past - 1, true},
			{messages.ByBoth, true, past, past, false},
			{messages.ByBoth, true, past + 1, past, false},
			{messages.ByBoth, false, 1000, past, false},
		} {
			rate, next, problem := test.rate, test.next, ""
			switch {
			case test.by == messages.ByNextBlock && !test.loaded:
				problem = notLoaded
			case test.by == messages.ByNextBlock && !known:
				rate, problem = 0, unreliable
			case test.by == messages.ByBoth && !known:
				rate, next = past, false
			}
			by := messages.ByConfirmations
			if next {
				by = messages.ByNextBlock
			}
			got := ask(test.by, test.loaded, test.least)
			if got.Rate != rate || got.By != by || got.Problem != problem || known != (len(got.Mined) == 6) {
				t.Errorf("known %v, %+v: %+v, want %d by %d, %q", known, test, got, rate, by, problem)
			}
		}
	}
	f.known = feeestimate.Core31.New()
	if got := ask(messages.ByBoth, true, 1000); got.Rate != 0 || got.By != messages.ByConfirmations {
		t.Errorf("past blocks say nothing: %+v", got)
	}
}
