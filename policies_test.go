package trawl

import (
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/options"
)

// The defaults of the options are those of a node that is told nothing.
func TestPoolDefaults(t *testing.T) {
	for _, name := range []string{"bitcoin", "qbit"} {
		n, err := dialect.Named(name, "regtest", dialect.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		policy, said := (&MempoolConfig{}).policy(n), options.PoolOf(name)
		if limits := policy.Limits; limits.AncestorVSize != said.ChainSize*1000 ||
			limits.DescendantVSize != said.ChainSize*1000 || int64(policy.DataCarrier) != said.DataCarrier {
			t.Errorf("%s: %+v, options say %+v", name, policy, said)
		}
	}
}
