package p2mr

import (
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
)

// A transaction with the id of one that has unspent outputs is refused, from the
// height on from which that is a rule; one whose outputs were spent is not.
func TestRepeatedTransaction(t *testing.T) {
	t.Parallel()
	e := fresh(t, dialect.Choices{})
	b := &builder{tb: t, e: e}
	first := b.add(e.tree.Active().Tip())
	tip := b.add(first)
	raw, err := e.db.Block(&first.Hash)
	if err != nil {
		t.Fatal(err)
	}
	old, err := e.readBlock(raw)
	if err != nil {
		t.Fatal(err)
	}
	again, err := e.readBlock(b.build(tip, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	again.txs = []*btcutil.Tx{old.txs[0]}
	at := chainview.NewChild(tip, &again.BlockHeader)
	for _, test := range []struct {
		name  string
		from  int32
		spent bool
		want  string
	}{
		{"a rule since long", 0, false, "bad-txns-BIP30"},
		{"a rule from here on", at.Height, false, "bad-txns-BIP30"},
		{"a rule from the next block on", at.Height + 1, false, ""},
		{"spent", 0, true, ""},
	} {
		e.rules.BIP30 = test.from
		v := newView(e.storedCoin)
		if test.spent {
			v.spend(&wire.OutPoint{Hash: *old.txs[0].Hash()})
		}
		_, err := e.connect(v, at, again)
		if got := reason(t, err); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}
