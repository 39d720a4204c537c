package txpool_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/messages"
)

func coinOf(tx *wire.MsgTx, index uint32) messages.Coin {
	return messages.Coin{Output: tx.TxOut[index], Height: 60}
}

// Each form of output is spent in several ways, which are relayed or refused.
func TestForms(t *testing.T) {
	item, control := []byte{1}, append([]byte{0xc0}, make([]byte, 32)...)
	long, other := make([]byte, 81), append([]byte{0xc2}, make([]byte, 32)...)
	annex := append([]byte{0x50}, make([]byte, 40)...)
	wpkh := append([]byte{txscript.OP_0, 20}, make([]byte, 20)...)
	redeem := func(script []byte) []byte {
		push, err := txscript.NewScriptBuilder().AddData(script).Script()
		if err != nil {
			t.Fatal(err)
		}
		return push
	}
	p2sh := slices.Concat([]byte{txscript.OP_HASH160, 20}, make([]byte, 20), []byte{txscript.OP_EQUAL})
	const inputs, mutated = "bad-txns-nonstandard-inputs", "bad-witness-nonstandard"
	type items = [][]byte
	for _, test := range []struct {
		what    string
		script  []byte
		push    []byte // signature script
		witness items
		want    string
	}{
		{"key path", taproot, nil, items{long}, ""},
		{"key path with two items", taproot, nil, items{long, long}, ""},
		{"script path", taproot, nil, items{item, item, control}, ""},
		{"script path, long item", taproot, nil, items{long, item, control}, mutated},
		{"script path, long item before a short one", taproot, nil, items{long, item, item, control}, mutated},
		{"script path, long script", taproot, nil, items{item, long, control}, ""},
		{"script path of another leaf version", taproot, nil, items{long, item, other}, ""},
		{"the lowest bit of control", taproot, nil, items{long, item, append([]byte{0xc1}, control[1:]...)}, mutated},
		{"empty control block", taproot, nil, items{item, item, nil}, mutated},
		{"two items, the last empty", taproot, nil, items{item, nil}, mutated},
		{"annex", taproot, nil, items{item, annex}, mutated},
		{"annex alone", taproot, nil, items{annex}, ""},
		{"nested taproot", p2sh, redeem(taproot), items{item, annex}, ""},
		{"witness for a key", p2pkh, nil, items{item}, mutated},
		{"witness key hash", wpkh, nil, items{long, long}, ""},
		{"nested witness key hash", p2sh, redeem(wpkh), items{long, long}, ""},
		{"nested witness script hash", p2sh, redeem(anyone), items{item, item}, ""},
		{"nested witness script hash, long item", p2sh, redeem(anyone), items{long, item}, mutated},
		{"witness for a redeem script", p2sh, redeem([]byte{txscript.OP_1}), items{item}, mutated},
		{"nothing pushed", p2sh, nil, nil, inputs},
		{"number pushed", p2sh, []byte{txscript.OP_16}, nil, ""},
		{"negative number pushed", p2sh, []byte{txscript.OP_1NEGATE}, nil, ""},
		{"reserved word", p2sh, []byte{txscript.OP_RESERVED, txscript.OP_1}, nil, inputs},
		{"cut push", p2sh, []byte{txscript.OP_1, txscript.OP_DATA_2, 1}, nil, "scriptsig-not-pushonly"},
		{"push of 520 bytes", p2sh, redeem(make([]byte, 520)), nil, ""},
		{
			"push of 521 bytes", p2sh, append(append([]byte{txscript.OP_PUSHDATA2, 9, 2}, make([]byte, 521)...),
				txscript.OP_1), nil, inputs,
		},
		{"anchor", []byte{txscript.OP_1, 2, 0x4e, 0x73}, nil, nil, ""},
		{"anchor with a witness", []byte{txscript.OP_1, 2, 0x4e, 0x73}, nil, items{item}, mutated},
		{"later witness version", append([]byte{txscript.OP_2, 32}, make([]byte, 32)...), nil, nil, inputs},
		{"unknown script", []byte{txscript.OP_NOP}, nil, nil, inputs},
	} {
		r := newRig(t)
		tx := r.tx(5000, 1, r.paying(test.script))
		tx.TxIn[0].SignatureScript, tx.TxIn[0].Witness = test.push, test.witness
		if got := r.accept(tx); reasonOf(got) != test.want {
			t.Errorf("%s: got %v, want %q", test.what, got, test.want)
		}
		lax := newRig(t, func(p *txpool.Policy) { p.RequireStandard = false })
		lax.coins = r.coins
		if got := lax.accept(tx); got != nil {
			t.Errorf("%s, where all may be relayed: %v", test.what, got)
		}
	}
}

// A network's own forms of outputs are standard, with witnesses that are.
func TestNativeForms(t *testing.T) {
	native := append([]byte{txscript.OP_2, 32}, make([]byte, 32)...)
	r := newRig(t)
	rules := r.rules
	rules.Forms = txpool.Forms{
		Native:        func(script []byte) bool { return bytes.Equal(script, native) },
		NativeInput:   200,
		NativeWitness: func(witness wire.TxWitness) bool { return len(witness) == 2 },
	}
	r.pool = txpool.New(rules, txpool.DefaultPolicy())
	for n, want := range map[int]string{1: "bad-witness-nonstandard", 2: ""} {
		tx := r.tx(1000, 1, r.paying(native))
		tx.TxIn[0].Witness = slices.Repeat([][]byte{make([]byte, 100)}, n)
		if got := r.accept(tx); reasonOf(got) != want {
			t.Errorf("%d items: got %v, want %q", n, got, want)
		}
	}
	tx := r.tx(1000, 1, r.paying(append([]byte{txscript.OP_3}, native[1:]...)))
	if got := r.accept(tx); reasonOf(got) != "bad-txns-nonstandard-inputs" {
		t.Errorf("a form of nobody's: %v", got)
	}
	// 8 bytes of value, 1 of length, 34 of script and 200 of the input cost 729.
	for value, want := range map[int64]string{728: "dust", 729: ""} {
		tx := r.tx(1000, 1, r.coin())
		tx.TxOut = append(tx.TxOut, wire.NewTxOut(value, native))
		if got := r.accept(tx); reasonOf(got) != want {
			t.Errorf("%d: got %v, want %q", value, got, want)
		}
	}
}

// A network may say what may be paid to, from the next block on.
func TestMayPayTo(t *testing.T) {
	r := newRig(t)
	rules := r.rules
	rules.MayPayTo = func(script []byte, height int32) bool {
		return bytes.Equal(script, taproot) == (height > r.now.Tip.Height)
	}
	r.pool = txpool.New(rules, txpool.DefaultPolicy())
	if got := r.accept(r.tx(1000, 1, r.coin())); reasonOf(got) != "tx-output-not-p2mr" {
		t.Errorf("another output: %v", got)
	}
	tx := r.tx(1000, 1, r.coin())
	tx.TxOut[0].PkScript = taproot
	r.must(tx)
}

// A network may keep output scripts for later rules: they are not relayed.
func TestKeptScripts(t *testing.T) {
	r := newRig(t)
	rules := r.rules
	rules.IsKept = func(script []byte) bool { return bytes.Equal(script, taproot) }
	r.pool = txpool.New(rules, txpool.DefaultPolicy())
	tx := r.tx(1000, 1, r.coin())
	tx.TxOut[0].PkScript = taproot
	if got := r.accept(tx); reasonOf(got) != "scriptpubkey" {
		t.Errorf("got %v", got)
	}
	r.must(r.tx(1000, 1, r.coin()))
}

// The memory that Core takes for transactions, which decides what is in a full pool.
func TestUsage(t *testing.T) {
	for _, test := range []struct {
		what                    string
		inputs, outputs         int
		script, push, item, all int
		want                    int64
	}{
		{what: "nothing", want: 176},
		{what: "an input", inputs: 1, want: 176 + 128},
		{what: "two inputs", inputs: 2, want: 176 + 224},
		{what: "an output", outputs: 1, want: 176 + 64},
		{what: "three outputs", outputs: 3, want: 176 + 160},
		{what: "a script without memory of its own", outputs: 1, script: 36, want: 176 + 64},
		{what: "a longer one", outputs: 1, script: 37, want: 176 + 64 + 64},
		{what: "of 49 bytes", outputs: 1, script: 49, want: 176 + 64 + 80},
		{what: "a signature script", inputs: 1, push: 36, want: 176 + 128},
		{what: "a longer one", inputs: 1, push: 107, want: 176 + 128 + 128},
		{what: "an empty item", inputs: 1, all: 1, want: 176 + 128 + 48},
		{what: "an item of a byte", inputs: 1, all: 1, item: 1, want: 176 + 128 + 48 + 32},
		{what: "two items", inputs: 1, all: 2, item: 72, want: 176 + 128 + 64 + 2*96},
	} {
		tx := wire.NewMsgTx(2)
		for range test.inputs {
			tx.AddTxIn(&wire.TxIn{
				SignatureScript: make([]byte, test.push),
				Witness:         slices.Repeat([][]byte{make([]byte, test.item)}, test.all),
			})
		}
		for range test.outputs {
			tx.AddTxOut(wire.NewTxOut(0, make([]byte, test.script)))
		}
		if got := txpool.Usage(tx); got != test.want {
			t.Errorf("%s: %d, want %d", test.what, got, test.want)
		}
	}
	r := newRig(t)
	tx := r.must(r.tx(1000, 2, r.coin()))
	want := 512 + 96 + txpool.Usage(tx)
	if got := r.pool.Usage(); got != want {
		t.Errorf("the pool takes %d, want %d", got, want)
	}
	r.pool.Prioritise(&chainhash.Hash{1}, 5)
	if got := r.pool.Usage(); got != want+96 {
		t.Errorf("with a priority %d, want %d", got, want+96)
	}
}

// The memory of clusters counts, by their transactions and chunks.
func TestClustersUsage(t *testing.T) {
	r := newRig(t, byClusters)
	parent := r.must(r.tx(1000, 2, r.coin()))
	want := 224 + 60 + 64 + txpool.Usage(parent) + 80 + 64 + 72
	if got := r.pool.Usage(); got != want {
		t.Errorf("alone: %d, want %d", got, want)
	}
	child := r.must(r.tx(9000, 1, wire.OutPoint{Hash: parent.TxHash()}))
	want += 224 + 60 + 64 + txpool.Usage(child) + 80 - 72 + 136 + 2*32 + 80 // in one chunk
	if got := r.pool.Usage(); got != want {
		t.Errorf("with a child: %d, want %d", got, want)
	}
	other := r.must(r.tx(500, 1, wire.OutPoint{Hash: parent.TxHash(), Index: 1}))
	want += 224 + 60 + 64 + txpool.Usage(other) + 80 + 64 + (112 - 80)
	if got := r.pool.Usage(); got != want {
		t.Errorf("with a chunk more: %d, want %d", got, want)
	}
}

// Sums of fees stay within what a number can hold.
func TestSaturatingAdd(t *testing.T) {
	for _, test := range [][3]int64{
		{1, 2, 3},
		{math.MaxInt64, 1, math.MaxInt64},
		{math.MaxInt64, math.MaxInt64, math.MaxInt64},
		{math.MaxInt64, 0, math.MaxInt64},
		{math.MaxInt64, -1, math.MaxInt64 - 1},
		{math.MaxInt64, math.MinInt64, -1},
		{math.MinInt64, -1, math.MinInt64},
		{math.MinInt64, math.MinInt64, math.MinInt64},
		{math.MinInt64 + 1, -1, math.MinInt64},
		{-1, -2, -3},
	} {
		for _, got := range []int64{txpool.SaturatingAdd(test[0], test[1]), txpool.SaturatingAdd(test[1], test[0])} {
			if got != test[2] {
				t.Errorf("%d and %d: %d, want %d", test[0], test[1], got, test[2])
			}
		}
	}
}

// Why a replacement pays too little, in Core's words.
func TestReplacementTexts(t *testing.T) {
	r := newRig(t)
	coin := r.coin()
	first := r.must(r.tx(1000, 1, coin))
	r.must(r.tx(2000, 1, out(first, 0)))
	for fee, want := range map[int64]string{
		999:  "rejecting replacement X; new feerate 0.00010406 BTC/kvB <= old feerate 0.00010416 BTC/kvB",
		2999: "rejecting replacement X, less fees than conflicting txs; 0.00002999 < 0.00003",
		3000: "rejecting replacement X, not enough additional fees to relay; 0.00 < 0.0000001",
		3009: "rejecting replacement X, not enough additional fees to relay; 0.00000009 < 0.0000001",
	} {
		tx := r.tx(fee, 1, coin)
		got := r.accept(tx)
		if got == nil || strings.ReplaceAll(got.Debug, tx.TxHash().String(), "X") != want ||
			got.Kind != messages.TxReconsiderable {
			t.Errorf("fee %d: got %v, want %s", fee, got, want)
		}
	}
}

// A transaction cannot spend from a transaction that it replaces.
func TestSpendsWhatItReplaces(t *testing.T) {
	r := newRig(t)
	coin := r.coin()
	first := r.must(r.tx(1000, 1, coin))
	tx := r.tx(9000, 1, coin, out(first, 0))
	got := r.accept(tx)
	if want := tx.TxHash().String() + " spends conflicting transaction " + first.TxHash().String(); got == nil ||
		got.Reason != "bad-txns-spends-conflicting-tx" || got.Debug != want || got.Kind != messages.TxInvalid {
		t.Errorf("got %v, want %s", got, want)
	}
}

// A caller's own limits on what a transaction pays.
func TestMaxFees(t *testing.T) {
	for _, test := range []struct {
		options txpool.Options
		want    string
	}{
		{txpool.Options{}, ""},
		{txpool.Options{MaxFee: 960}, ""},
		{txpool.Options{MaxFee: 959}, txpool.ReasonMaxFee},
		{txpool.Options{MaxFee: 1}, txpool.ReasonMaxFee},
		{txpool.Options{MaxRate: txpool.PerKvB(10_000)}, ""},
		{txpool.Options{MaxRate: txpool.PerKvB(9_999)}, "max feerate exceeded"},
	} {
		for _, only := range []bool{true, false} {
			r := newRig(t)
			test.options.Test = only
			got := r.pool.Accept(r.tx(960, 1, r.coin()), r.coins, r.now, test.options)
			if reasonOf(got.Rejected) != test.want {
				t.Errorf("%+v: got %v, want %q", test.options, got.Rejected, test.want)
			}
			if r.pool.Len() > 0 != (test.want == "" && !only) {
				t.Errorf("%+v: %d in the pool", test.options, r.pool.Len())
			}
			if test.want == "" && (got.VSize != 96 || got.Fee != 960 || got.Rate != 10_000) {
				t.Errorf("%+v: %+v", test.options, got)
			}
		}
	}
}

// A transaction with dust pays nothing, in the fee and in what the operator adds, which
// he may not.
func TestDustPaysNothing(t *testing.T) {
	for _, test := range []struct {
		fee, delta int64
		want       string
	}{{1000, 0, "dust"}, {0, 1000, "dust"}, {1000, -1000, "dust"}, {0, 0, ""}} {
		r := newRig(t)
		tx := restricted(r.tx(test.fee, 1, r.coin()))
		tx.TxOut[0].Value -= 300
		tx.AddTxOut(wire.NewTxOut(300, anyone))
		id := tx.TxHash()
		if test.delta != 0 {
			r.pool.Prioritise(&id, test.delta)
		}
		got := r.pool.Accept(tx, r.coins, r.now, txpool.Options{Bypass: true}).Rejected
		if reasonOf(got) != test.want {
			t.Errorf("pays %d and %d: got %v, want %q", test.fee, test.delta, got, test.want)
		}
		if err := r.pool.MayPrioritise(&id); (err != nil) != (test.want == "") {
			t.Errorf("may be prioritised: %v", err)
		}
	}
	r := newRig(t)
	if err := r.pool.MayPrioritise(new(r.must(r.tx(1000, 1, r.coin())).TxHash())); err != nil {
		t.Errorf("one without dust: %v", err)
	}
}

// A redeem script may be any small number.
func TestNumbersAsRedeemScripts(t *testing.T) {
	r := newRig(t)
	p2sh := slices.Concat([]byte{txscript.OP_HASH160, 20}, make([]byte, 20), []byte{txscript.OP_EQUAL})
	for op := byte(txscript.OP_1); op <= txscript.OP_16; op++ {
		tx := r.tx(1000, 1, r.paying(p2sh))
		tx.TxIn[0].SignatureScript, tx.TxIn[0].Witness = []byte{op}, nil
		r.must(tx)
	}
}

// A transaction is replaceable if it or an ancestor signals BIP125.
func TestReplaceable(t *testing.T) {
	r := newRig(t)
	for sequence, want := range map[uint32]bool{
		wire.MaxTxInSequenceNum: false, wire.MaxTxInSequenceNum - 1: false, wire.MaxTxInSequenceNum - 2: true,
	} {
		tx := r.tx(1000, 1, r.coin(), r.coin())
		tx.TxIn[1].Sequence = sequence
		at := out(r.must(tx), 0)
		for generation := range 3 {
			e := r.pool.Lookup(&at.Hash)
			if got := e.Replaceable(); got != want {
				t.Errorf("%x, generation %d: %v", sequence, generation, got)
			}
			at = r.chain(1, at)
		}
	}
}

// The result of a refused transaction has its own fee rate if it may come again in a
// package.
func TestRateOfTheRefused(t *testing.T) {
	r := full(t, 2)
	tx := r.tx(960, 1, r.coin())
	got := r.pool.Accept(tx, r.coins, r.now, txpool.Options{})
	if reasonOf(got.Rejected) != "mempool full" || got.Rate != 10_000 ||
		!slices.Equal(got.RateOf, []chainhash.Hash{tx.WitnessHash()}) {
		t.Errorf("got %+v", got)
	}
	tx = r.tx(9, 1, r.coin())
	got = r.pool.Accept(tx, r.coins, r.now, txpool.Options{})
	if got.Rejected.Kind != messages.TxPolicy || got.Rate != 0 || got.RateOf != nil {
		t.Errorf("got %+v", got)
	}
}
