package qbit

import (
	"testing"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/internal/dialect"
)

// From the height of the rule on, a transaction is refused if an earlier
// transaction with its id has unspent outputs. It is not refused if all these
// outputs were spent.
func TestRepeatedTransaction(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		from  int32 // height of the rule; the repeating block is at 4
		spent bool
		want  string
	}{
		{"a rule since long", 0, false, "bad-txns-BIP30"},
		{"a rule from here on", 4, false, "bad-txns-BIP30"},
		{"a rule from the next block on", 5, false, ""},
		{"spent", 0, true, ""},
	} {
		// Coinbases need not name their heights.
		e := fresh(t, dialect.Choices{Activation: map[string]int32{"bip34": 1000}})
		e.net.P2MR.BIP30, e.net.Rules.Maturity = test.from, 1
		b := &builder{tb: t, e: e}
		first := b.add(e.tree.Active().Tip())
		tip := b.add(first)
		out, value := b.coinbaseOf(first)
		if test.spent {
			tip = b.add(tip, spend(out, value))
		} else {
			tip = b.add(tip)
		}
		raw, err := e.db.Block(&first.Hash)
		if err != nil {
			t.Fatal(err)
		}
		old, err := readBlock(raw)
		if err != nil {
			t.Fatal(err)
		}
		again := b.build(tip, nil, func(made *block) { made.txs = []*btcutil.Tx{old.txs[0]} })
		if got := reason(t, e.Submit(again)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
