package indexer_test

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// While blocks below a snapshot are not validated, waits for their filters or for later filters fail
// with ErrBlockNotYet, also waits from before. Filters of validated blocks are built.
func TestSnapshot(t *testing.T) {
	chain := chaintest.New(&chaincfg.RegressionNetParams)
	chain.MineN(50)
	active := chain.Active()
	chain.SetAssumed(&chainview.Assumed{Base: active.At(40), Validated: active.At(20)})
	r := newRig(t, chain)
	r.spawn()
	for height, want := range map[int32]error{
		0: nil, 20: nil, 21: messages.ErrBlockNotYet, 40: messages.ErrBlockNotYet, 50: messages.ErrBlockNotYet,
	} {
		_, err := ask.Ask(t.Context(), r.Ref, messages.WaitIndexed{Block: active.At(height).Hash})
		if !errors.Is(err, want) {
			t.Errorf("height %d: %v, want %v", height, err, want)
		}
	}
	status, err := ask.Ask(t.Context(), r.Ref, messages.GetIndexStatus{})
	if err != nil || status.Height != 20 || !status.Synced {
		t.Errorf("status %+v, %v", status, err)
	}
	chain.SetAssumed(nil)
	r.announce(t)
	if _, err := ask.Ask(t.Context(), r.Ref, messages.WaitIndexed{Block: active.Tip().Hash}); err != nil {
		t.Error(err)
	}
	r.check(t, chain, active.Tip())
}
