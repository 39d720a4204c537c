package peers

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
)

// While blocks before a snapshot are missing peers are told of recent ones alone.
func TestServicesWithSnapshot(t *testing.T) {
	const all = wire.SFNodeNetwork | wire.SFNodeWitness | wire.SFNodeNetworkLimited
	chain := chaintest.New(&chaincfg.RegressionNetParams)
	chain.MineN(5)
	table := newTable(t, func(c *Config) {
		c.Services, c.Chain = all, new(chainview.Current)
	})
	if got := table.services(); got != all {
		t.Errorf("without a chain: %v", got)
	}
	table.cfg.Chain.Set(chain)
	begun := &chainview.Assumed{Base: chain.Active().At(3), Validated: chain.Active().At(1)}
	for _, assumed := range []*chainview.Assumed{nil, begun, nil} {
		chain.SetAssumed(assumed)
		want := all
		if assumed != nil {
			want &^= wire.SFNodeNetwork
		}
		if got := table.services(); got != want {
			t.Errorf("%v, want %v", got, want)
		}
		if got := table.session(1, 0, false).Services; got != want {
			t.Errorf("a session with %v, want %v", got, want)
		}
	}
}
