package txpool_test

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// All of a package counts as depending on all that some of it depends on.
func TestPackageLimits(t *testing.T) {
	for _, test := range []struct {
		what  string
		limit func(*txpool.Limits)
		depth int // of the chain that the package depends on
		want  string
	}{
		{"fits", func(l *txpool.Limits) { l.Ancestors, l.Descendants = 5, 5 }, 3, ""},
		{
			"ancestors", func(l *txpool.Limits) { l.Ancestors = 4 }, 3,
			"possibly too many unconfirmed ancestors [limit: 4]",
		},
		{
			"parents", func(l *txpool.Limits) { l.Ancestors = 2 }, 1,
			"too many unconfirmed parents [limit: 2]",
		},
		{"parents fit", func(l *txpool.Limits) { l.Ancestors = 3 }, 1, ""},
		{
			"descendants", func(l *txpool.Limits) { l.Descendants = 2 }, 1,
			"possibly too many descendants for tx ID [limit: 2]",
		},
		{"descendants fit", func(l *txpool.Limits) { l.Descendants = 3 }, 1, ""},
		{
			"more than ancestors", func(l *txpool.Limits) { l.Ancestors = 1 }, 0,
			"package count 2 exceeds ancestor count limit [limit: 1]",
		},
		{
			"more than descendants", func(l *txpool.Limits) { l.Descendants = 1 }, 0,
			"package count 2 exceeds descendant count limit [limit: 1]",
		},
		{"as many", func(l *txpool.Limits) { l.Descendants, l.Ancestors = 2, 2 }, 0, ""},
		{
			"larger than ancestors", func(l *txpool.Limits) { l.AncestorVSize = 191 }, 0,
			"package size 192 exceeds ancestor size limit [limit: 191]",
		},
		{
			"larger than descendants", func(l *txpool.Limits) { l.DescendantVSize = 191 }, 0,
			"package size 192 exceeds descendant size limit [limit: 191]",
		},
		{"as large", func(l *txpool.Limits) { l.AncestorVSize, l.DescendantVSize = 192, 192 }, 0, ""},
		{
			"size with ancestors", func(l *txpool.Limits) { l.AncestorVSize = 287 }, 1,
			"possibly exceeds ancestor size limit [limit: 287]",
		},
		{"size with ancestors fits", func(l *txpool.Limits) { l.AncestorVSize = 288 }, 1, ""},
		{
			"size of descendants", func(l *txpool.Limits) { l.DescendantVSize = 287 }, 1,
			"possibly exceeds descendant size limit for tx ID [limit: 287]",
		},
		{"size of descendants fits", func(l *txpool.Limits) { l.DescendantVSize = 288 }, 1, ""},
	} {
		t.Run(test.what, func(t *testing.T) {
			r := newRig(t, func(p *txpool.Policy) { test.limit(&p.Limits) })
			parent := r.tx(1000, 1, r.chain(test.depth, r.coin()))
			got := r.pool.Try([]*wire.MsgTx{parent, r.spending(1000, parent, 0)}, r.coins, r.now)
			debug := ""
			if got.Failed != nil {
				debug = withoutIDs(r, got.Failed.Debug)
			}
			if debug != test.want || got.Policy != (test.want != "") {
				t.Errorf("got %v, want %q", got.Failed, test.want)
			}
		})
	}
}

// A transaction may not depend on more of the pool than the limits allow, and the limit
// is named that it meets first.
func TestChainTexts(t *testing.T) {
	for _, test := range []struct {
		what string
		tx   func(r *rig) *wire.MsgTx
		want string
	}{
		{"parents", func(r *rig) *wire.MsgTx {
			return r.tx(1000, 1, r.chain(1, r.coin()), r.chain(1, r.coin()), r.chain(1, r.coin()))
		}, "too many unconfirmed parents [limit: 3]"},
		{"ancestors", func(r *rig) *wire.MsgTx {
			return r.tx(1000, 1, r.chain(1, r.coin()), r.chain(2, r.coin()))
		}, "too many unconfirmed ancestors [limit: 3]"},
	} {
		r := newRig(t, func(p *txpool.Policy) { p.Limits.Ancestors = 3 })
		tx := test.tx(r)
		if got := r.accept(tx); got == nil || got.Debug != test.want {
			t.Errorf("%s: got %v, want %s", test.what, got, test.want)
		}
	}
}

// A lost witness is told from a wrong witness: the transaction may come again with its
// witness.
func TestStrippedWitness(t *testing.T) {
	nested := append([]byte{txscript.OP_0, 20}, make([]byte, 20)...)
	anchor := []byte{txscript.OP_1, 2, 0x4e, 0x73}
	pays := func(script []byte) func(r *rig) (wire.OutPoint, []byte) {
		return func(r *rig) (wire.OutPoint, []byte) { return r.paying(script), nil }
	}
	for _, test := range []struct {
		what    string
		coin    func(r *rig) (wire.OutPoint, []byte)
		witness bool
		want    messages.TxRejectKind
	}{
		{"witness program", pays(anyone), false, messages.TxWitnessStripped},
		{"with a witness", pays(anyone), true, messages.TxNotStandard},
		{
			"nested program", func(r *rig) (wire.OutPoint, []byte) { return r.p2sh(nested) }, false,
			messages.TxWitnessStripped,
		},
		{
			"other redeem script", func(r *rig) (wire.OutPoint, []byte) { return r.p2sh([]byte{txscript.OP_1}) }, false,
			messages.TxNotStandard,
		},
		{"key", pays(p2pkh), false, messages.TxNotStandard},
		{"anchor", pays(anchor), false, messages.TxNotStandard},
	} {
		r := newRig(t)
		at, push := test.coin(r)
		tx := r.tx(1000, 1, at)
		tx.TxIn[0].SignatureScript = push
		if !test.witness {
			tx.TxIn[0].Witness = nil
		}
		r.fails[tx.TxHash()] = scriptFailure("no")
		if got := r.accept(tx); got == nil || got.Kind != test.want {
			t.Errorf("%s: got %v, want kind %v", test.what, got, test.want)
		}
	}
}

// ChildWithParents wants at least a parent.
func TestChildWithParents(t *testing.T) {
	r := newRig(t)
	first, second := r.tx(1000, 1, r.coin()), r.tx(1000, 1, r.coin())
	child := r.joined(0, first, second)
	for _, test := range []struct {
		txs  []*wire.MsgTx
		want bool
	}{
		{nil, false},
		{[]*wire.MsgTx{first}, false},
		{[]*wire.MsgTx{first, child}, true},
		{[]*wire.MsgTx{second, child}, true},
		{[]*wire.MsgTx{first, second, child}, true},
		{[]*wire.MsgTx{first, second}, false},
		{[]*wire.MsgTx{r.tx(1, 1, r.coin()), first, child}, false},
	} {
		if got := txpool.ChildWithParents(test.txs); got != test.want {
			t.Errorf("%d transactions: %v", len(test.txs), got)
		}
	}
	want := []wire.OutPoint{out(first, 0), out(second, 0), out(child, 0)}
	if needs := txpool.Needs(child); !slices.Equal(needs, want) {
		t.Errorf("needs %v", needs)
	}
}
