package dialect_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/options"
)

// The defaults of the options equal the defaults of the pool.
func TestPoolDefaults(t *testing.T) {
	for _, name := range []string{dialect.NameBitcoin, dialect.NameQbit} {
		n, err := dialect.Named(name, "regtest", dialect.Choices{})
		if err != nil {
			t.Fatal(err)
		}
		policy, said := n.PoolPolicy(), options.PoolOf(name)
		if limits := policy.Limits; limits.AncestorVSize != said.ChainSize*1000 ||
			limits.DescendantVSize != said.ChainSize*1000 || int64(policy.DataCarrier) != said.DataCarrier {
			t.Errorf("%s: %+v, options say %+v", name, policy, said)
		}
	}
}

// Transactions are relayed by the second version of the weight of signatures from the height on at which blocks have
// it. If P2MR scripts are executed later than that, it holds at once: no block can have them by the first version.
func TestVerifyVersion(t *testing.T) {
	for _, test := range []struct {
		spends, weight int32
		first          int32 // height with the second version
	}{{0, 100, 100}, {98, 100, 100}, {100, 100, 0}, {120, 100, 0}} {
		n, err := dialect.Named(dialect.NameQbit, "regtest", dialect.Choices{
			Activation: map[string]int32{"p2mr": test.spends, "p2mrweightv2": test.weight},
		})
		if err != nil {
			t.Fatal(err)
		}
		version := n.PoolRules().VerifyVersion
		for _, height := range []int32{0, 97, 98, 99, 100, 119, 120, 121} {
			if got, want := version(height) == 2, height >= test.first; got != want {
				t.Errorf("%+v: at %d: %t", test, height, got)
			}
		}
	}
	n, err := dialect.Bitcoin("main")
	if err != nil || n.PoolRules().VerifyVersion != nil {
		t.Error("Bitcoin's rules for relayed transactions depend on the height", err)
	}
}
