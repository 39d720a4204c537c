package walletgen_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chaintest/walletgen"
	"github.com/seed61375155/trawl/internal/dialect"
)

func generator(t *testing.T) *walletgen.Generator {
	t.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	return walletgen.New(walletgen.Config{
		Random: rand.New(rand.NewPCG(3, 4)), Network: net.Descriptors(), Params: net.Params,
		Sources: 40, Masters: 1, Accounts: 2, Gap: 20, Used: 6,
	})
}

// The gap that a branch needs lets find its highest index, and no smaller gap does.
func TestNeededGap(t *testing.T) {
	g := generator(t)
	wallets := g.Wallets()
	chain := chaintest.New(&chaincfg.RegressionNetParams)
	m := walletgen.Miner{Chain: chain, Random: g.Random}
	tip := m.Mine(chain.MineN(1), g.Plan(wallets, 12))
	seen, err := walletgen.Look(chain, tip)
	if err != nil {
		t.Fatal(err)
	}
	whole := walletgen.Heights{To: tip.Height}
	needed, unused, accounts := 0, 0, 0
	for _, w := range wallets {
		for _, o := range w.Objects {
			if o.Account != nil {
				accounts++
			}
			for i := range o.Branches {
				highest, need := seen.Need(o, i, whole)
				if highest < 0 {
					unused++
				}
				if need > 0 {
					if r := seen.Range(o, i, need, whole); r.Highest != highest {
						t.Errorf("%s: %+v with a gap of %d, want %d", o.Text, r, need, highest)
					}
				}
				if need > 1 {
					needed++
					if r := seen.Range(o, i, need-1, whole); r.Highest >= highest {
						t.Errorf("%s: %+v with a gap of %d", o.Text, r, need-1)
					}
				}
				r := seen.Range(o, i, o.Gap, whole)
				if entries := seen.Entries(o, i, r.Last, whole); (len(entries) > 0) != (r.Highest >= 0) {
					t.Errorf("%s: %+v with %d entries", o.Text, r, len(entries))
				}
			}
		}
	}
	if needed < 20 || unused == 0 || accounts != 8 {
		t.Errorf("%d need a gap, %d are not used, %d accounts", needed, unused, accounts)
	}
}

// The same seed makes the same wallets and the same blocks, which a valid chain does not spend from.
func TestSameSeed(t *testing.T) {
	make := func() any {
		g := generator(t)
		chain := chaintest.New(&chaincfg.RegressionNetParams)
		m := walletgen.Miner{Chain: chain, Random: g.Random, Valid: true}
		tip := m.Mine(chain.Active().Tip(), g.Plan(g.Wallets(), 3))
		if tip.Height != 103 {
			t.Errorf("height %d", tip.Height)
		}
		return tip.Hash
	}
	if a, b := make(), make(); !reflect.DeepEqual(a, b) {
		t.Errorf("%v, then %v", a, b)
	}
}
