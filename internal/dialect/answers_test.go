package dialect_test

import (
	"testing"

	"github.com/seed61375155/trawl/internal/dialect"
)

// All networks answer as Bitcoin Core 30.2 does; the zero value answers as later versions.
func TestAnswers(t *testing.T) {
	for _, name := range []string{dialect.NameBitcoin, dialect.NameQbit} {
		for _, chain := range dialect.Chains() {
			n, err := dialect.Named(name, chain, dialect.Choices{})
			if err != nil {
				t.Fatal(err)
			}
			want := dialect.Answers{
				UnnamedWallets: true, AnyWalletName: true, AsksWatchOnly: true, EndsRanges: true,
				BlocksBelowReserve: true, PlainPrunedData: true,
			}
			if n.Answers != want {
				t.Errorf("%s %s: %+v", name, chain, n.Answers)
			}
			if w := n.Wallet(); !w.AsksWatchOnly || !w.EndsRanges {
				t.Errorf("%s %s: wallets %+v", name, chain, w)
			}
			if got := n.Answers.PrunedData(); got != "" {
				t.Errorf("%s %s: pruned data%s", name, chain, got)
			}
			n.Answers = dialect.Answers{}
			if got := n.Answers.PrunedData(); got != " (including undo data)" {
				t.Errorf("%s %s: pruned data%s", name, chain, got)
			}
			if w := n.Wallet(); w.AsksWatchOnly || w.EndsRanges {
				t.Errorf("%s %s: %+v", name, chain, w)
			}
		}
	}
}
