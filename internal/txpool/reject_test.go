package txpool_test

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

// Each reason for refusing a transaction, in Core's words.
func TestRejectReasons(t *testing.T) {
	plain := func(r *rig) *wire.MsgTx { return r.tx(1000, 1, r.coin()) }
	changed := func(change func(*wire.MsgTx)) func(*rig) *wire.MsgTx {
		return func(r *rig) *wire.MsgTx {
			tx := plain(r)
			change(tx)
			return tx
		}
	}
	tests := []struct {
		want string
		tx   func(*rig) *wire.MsgTx
	}{
		{"", plain},
		{"bad-txns-vin-empty", changed(func(tx *wire.MsgTx) { tx.TxIn = nil })},
		{"bad-txns-vout-empty", changed(func(tx *wire.MsgTx) { tx.TxOut = nil })},
		{"bad-txns-oversize", changed(func(tx *wire.MsgTx) { tx.TxOut[0].PkScript = make([]byte, 1_000_000) })},
		{"bad-txns-vout-negative", changed(func(tx *wire.MsgTx) { tx.TxOut[0].Value = -1 })},
		{"bad-txns-vout-toolarge", changed(func(tx *wire.MsgTx) { tx.TxOut[0].Value = 21e14 + 1 })},
		{"bad-txns-txouttotal-toolarge", changed(func(tx *wire.MsgTx) {
			tx.TxOut = []*wire.TxOut{wire.NewTxOut(21e14, anyone), wire.NewTxOut(1, anyone)}
		})},
		{"bad-txns-inputs-duplicate", changed(func(tx *wire.MsgTx) { tx.TxIn = append(tx.TxIn, tx.TxIn[0]) })},
		{"bad-txns-prevout-null", changed(func(tx *wire.MsgTx) {
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}})
		})},
		{"coinbase", changed(func(tx *wire.MsgTx) {
			tx.TxIn[0].PreviousOutPoint = wire.OutPoint{Index: wire.MaxPrevOutIndex}
			tx.TxIn[0].SignatureScript = []byte{1, 1}
		})},
		{
			"bad-cb-length",
			changed(func(tx *wire.MsgTx) { tx.TxIn[0].PreviousOutPoint = wire.OutPoint{Index: wire.MaxPrevOutIndex} }),
		},
		{"version", changed(func(tx *wire.MsgTx) { tx.Version = 4 })},
		{"version", changed(func(tx *wire.MsgTx) { tx.Version = 0 })},
		{"tx-size", changed(func(tx *wire.MsgTx) {
			tx.TxOut = slices.Repeat([]*wire.TxOut{wire.NewTxOut(1, anyone)}, 2400)
		})},
		{"scriptsig-size", changed(func(tx *wire.MsgTx) { tx.TxIn[0].SignatureScript = make([]byte, 1651) })},
		{
			"scriptsig-not-pushonly",
			changed(func(tx *wire.MsgTx) { tx.TxIn[0].SignatureScript = []byte{txscript.OP_HASH160} }),
		},
		{"scriptpubkey", changed(func(tx *wire.MsgTx) { tx.TxOut[0].PkScript = []byte{txscript.OP_1} })},
		{"dust", changed(func(tx *wire.MsgTx) {
			tx.TxOut = []*wire.TxOut{
				wire.NewTxOut(329, anyone), wire.NewTxOut(329, anyone),
			}
		})},
		{"dust, tx with dust output must be 0-fee", changed(func(tx *wire.MsgTx) { tx.TxOut[0].Value = 329 })},
		{
			"tx-size-small",
			changed(func(tx *wire.MsgTx) { tx.TxOut[0] = wire.NewTxOut(0, []byte{txscript.OP_RETURN, 1, 1}) }),
		},
		{"non-final", changed(func(tx *wire.MsgTx) { tx.LockTime, tx.TxIn[0].Sequence = 202, 0 })},
		{"", changed(func(tx *wire.MsgTx) { tx.LockTime, tx.TxIn[0].Sequence = 200, wire.SequenceLockTimeDisabled })},
		{"non-BIP68-final", changed(func(tx *wire.MsgTx) { tx.TxIn[0].Sequence = 152 })},
		{"", changed(func(tx *wire.MsgTx) { tx.TxIn[0].Sequence = 151 })},
		{"bad-txns-inputs-missingorspent", changed(func(tx *wire.MsgTx) { tx.TxIn[0].PreviousOutPoint.Index += 7 })},
		{"bad-txns-premature-spend-of-coinbase, tried to spend coinbase at depth 99", func(r *rig) *wire.MsgTx {
			return r.tx(1000, 1, r.coin(func(c *messages.Coin) { c.Coinbase, c.Height = true, 102 }))
		}},
		{"bad-txns-in-belowout, value in (0.01) < value out (0.01000001)", changed(func(tx *wire.MsgTx) { tx.TxOut[0].Value = coinValue + 1 })},
		{"bad-txns-nonstandard-inputs", func(r *rig) *wire.MsgTx {
			return r.tx(1000, 1, r.coin(func(c *messages.Coin) { c.Output.PkScript = []byte{txscript.OP_1} }))
		}},
		{
			"bad-witness-nonstandard",
			changed(func(tx *wire.MsgTx) { tx.TxIn[0].Witness = wire.TxWitness{make([]byte, 81), {0x51}} }),
		},
		{"min relay fee not met, 9 < 10", func(r *rig) *wire.MsgTx { return r.tx(9, 1, r.coin()) }},
		{"mempool-script-verify-flag-failed (no), input 0", func(r *rig) *wire.MsgTx {
			tx := plain(r)
			r.fails[tx.TxHash()] = scriptFailure("no")
			return tx
		}},
		{"txn-already-known", func(r *rig) *wire.MsgTx {
			tx := plain(r)
			delete(r.coins, tx.TxIn[0].PreviousOutPoint)
			r.coins[out(tx, 0)] = messages.Coin{Output: tx.TxOut[0]}
			return tx
		}},
		{"txn-already-in-mempool", func(r *rig) *wire.MsgTx { return r.must(plain(r)) }},
		{"txn-same-nonwitness-data-in-mempool", func(r *rig) *wire.MsgTx {
			tx := r.must(plain(r)).Copy()
			tx.TxIn[0].Witness = wire.TxWitness{{0x52}}
			return tx
		}},
		{"too-long-mempool-chain, too many unconfirmed ancestors [limit: 25]", func(r *rig) *wire.MsgTx {
			tx := plain(r)
			for range 25 {
				tx = r.tx(1000, 1, out(r.must(tx), 0))
			}
			return tx
		}},
	}
	for _, test := range tests {
		t.Run(test.want, func(t *testing.T) {
			r := newRig(t)
			tx := test.tx(r)
			got := ""
			if reject := r.accept(tx); reject != nil {
				got = reject.Error()
			}
			if got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// scriptFailure is an error as Rules.Verify returns it.
type scriptFailure string

func (f scriptFailure) Error() string { return string(f) }
func (scriptFailure) Input() string   { return "input 0" }

func carrier(size int) *wire.TxOut {
	script, err := txscript.NewScriptBuilder().AddOp(txscript.OP_RETURN).AddFullData(make([]byte, size)).Script()
	if err != nil {
		panic(err)
	}
	return wire.NewTxOut(0, script)
}

// All outputs that carry data may together be as large as the operator says.
func TestDataCarrier(t *testing.T) {
	r := newRig(t, func(p *txpool.Policy) { p.DataCarrier = 100 })
	for _, test := range []struct {
		sizes []int
		want  string
	}{{[]int{97}, ""}, {[]int{98}, "datacarrier"}, {[]int{48, 48}, ""}, {[]int{48, 49}, "datacarrier"}} {
		tx := r.tx(1000, 1, r.coin())
		for _, size := range test.sizes {
			tx.AddTxOut(carrier(size))
		}
		if got := reasonOf(r.accept(tx)); got != test.want {
			t.Errorf("%v bytes: got %q, want %q", test.sizes, got, test.want)
		}
	}
}

// A replacement pays more than what it drives out, and for its own relay.
func TestReplacement(t *testing.T) {
	r := newRig(t)
	coin := r.coin()
	first := r.must(r.tx(1000, 1, coin))
	child := r.must(r.tx(2000, 1, out(first, 0)))
	for _, test := range []struct {
		fee  int64
		want string
	}{
		{999, "insufficient fee"},  // a lower rate than the first
		{2999, "insufficient fee"}, // less than both
		{3009, "insufficient fee"}, // does not pay for its relay
		{3010, ""},
	} {
		reject := r.accept(r.tx(test.fee, 1, coin))
		if got := reasonOf(reject); got != test.want {
			t.Errorf("fee %d: got %v, want %q", test.fee, reject, test.want)
		}
		if test.want != "" {
			r.holds("refused", first, child)
		}
	}
	if r.pool.Len() != 1 {
		t.Errorf("%d transactions stay", r.pool.Len())
	}
	other := r.must(r.tx(1000, 1, r.coin()))
	if got := r.accept(r.tx(9000, 1, coin, out(other, 0))); reasonOf(got) != "replacement-adds-unconfirmed" {
		t.Errorf("new unconfirmed input: %v", got)
	}
}

func reasonOf(r *messages.TxReject) string {
	if r == nil {
		return ""
	}
	return r.Reason
}

// A restricted transaction (BIP431) has one small child, which another may
// replace.
func TestTRUC(t *testing.T) {
	r := newRig(t)
	truc := func(fee int64, parts int, from ...wire.OutPoint) *wire.MsgTx {
		tx := r.tx(fee, parts, from...)
		tx.Version = 3
		return tx
	}
	parent := r.must(truc(1000, 2, r.coin()))
	if got := r.accept(r.tx(1000, 1, out(parent, 0))); reasonOf(got) != "TRUC-violation" {
		t.Errorf("child of another version: %v", got)
	}
	if got := r.accept(truc(5000, 30, out(parent, 0))); reasonOf(got) != "TRUC-violation" {
		t.Errorf("large child: %v", got)
	}
	child := r.must(truc(1000, 1, out(parent, 0)))
	if got := r.accept(truc(1000, 1, out(child, 0))); reasonOf(got) != "TRUC-violation" {
		t.Errorf("grandchild: %v", got)
	}
	if got := r.accept(truc(1000, 1, out(parent, 1))); reasonOf(got) != "insufficient fee (including sibling eviction)" {
		t.Errorf("cheap sibling: %v", got)
	}
	sibling := r.must(truc(2000, 1, out(parent, 1)))
	r.holds("sibling", parent, sibling)
}

// A child pays for its parent only if both come together.
func TestPackage(t *testing.T) {
	r := newRig(t)
	parent := r.tx(0, 1, r.coin())
	parent.Version = 3
	r.coins[out(parent, 0)] = messages.Coin{Output: parent.TxOut[0], Height: 1}
	child := r.tx(1000, 1, out(parent, 0))
	child.Version = 3
	delete(r.coins, out(parent, 0))
	txs := []*wire.MsgTx{parent, child}
	if got := r.accept(parent); reasonOf(got) != "min relay fee not met" {
		t.Errorf("the parent alone: %v", got)
	}
	result := r.pool.Submit(txs, r.coins, r.now, txpool.FeeRate{})
	if result.Failed != nil {
		t.Fatal(result.Failed)
	}
	r.holds("package", parent, child)
	if got := result.Results[0]; got.Fee != 0 || len(got.RateOf) != 2 {
		t.Errorf("parent: %+v", got)
	}
	if again := r.pool.Submit(txs, r.coins, r.now, txpool.FeeRate{}); !again.Results[0].InPool ||
		!again.Results[1].InPool {
		t.Errorf("again: %+v", again)
	}
	if got := r.pool.Try([]*wire.MsgTx{child, parent}, r.coins, r.now); got.Failed.Reason != "package-not-sorted" {
		t.Errorf("not sorted: %v", got.Failed)
	}
}

// Trying changes nothing.
func TestTry(t *testing.T) {
	r := newRig(t)
	tx := r.tx(1000, 1, r.coin())
	if got := r.pool.Try([]*wire.MsgTx{tx}, r.coins, r.now); got.Results[0].Rejected != nil ||
		got.Results[0].Fee != 1000 {
		t.Errorf("got %+v", got)
	}
	r.holds("tried")
	if changes := r.pool.TakeChanges(); len(changes) > 0 {
		t.Errorf("changes: %v", changes)
	}
}

// If a child's scripts fail, its parent is refused for its own fault.
func TestPackageWithFailingChild(t *testing.T) {
	r := newRig(t)
	parent := r.tx(0, 1, r.coin())
	parent.Version = 3
	r.coins[out(parent, 0)] = messages.Coin{Output: parent.TxOut[0], Height: 1}
	child := r.tx(1000, 1, out(parent, 0))
	child.Version = 3
	delete(r.coins, out(parent, 0))
	r.fails[child.TxHash()] = scriptFailure("no")
	got := r.pool.Submit([]*wire.MsgTx{parent, child}, r.coins, r.now, txpool.FeeRate{})
	if reasonOf(got.Results[0].Rejected) != "min relay fee not met" || reasonOf(got.Results[1].Rejected) == "" {
		t.Errorf("parent %v, child %v", got.Results[0].Rejected, got.Results[1].Rejected)
	}
	r.holds("refused")
}
