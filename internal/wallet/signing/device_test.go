package signing

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// A transaction stands for another if it spends the same coins, pays the same to others, and pays
// at most twice the fee.
func TestSamePayment(t *testing.T) {
	const fee = 1000
	other, change, next, thief := []byte("other"), []byte("own change"), []byte("own next"), []byte("thief")
	mine := func(script []byte) bool { return string(script[:3]) == "own" }
	change70k := wire.NewTxOut(70_000, change)
	asked := spending([]byte{1, 2}, wire.NewTxOut(5000, other), change70k)
	for name, test := range map[string]struct {
		got  *wire.MsgTx
		want bool
	}{
		"the same":           {asked.Copy(), true},
		"another order":      {spending([]byte{2, 1}, asked.TxOut[1], asked.TxOut[0]), true},
		"another change":     {spending([]byte{1, 2}, asked.TxOut[0], wire.NewTxOut(70_012, next)), true},
		"twice the fee":      {spending([]byte{1, 2}, asked.TxOut[0], wire.NewTxOut(69_000, change)), true},
		"more than that":     {spending([]byte{1, 2}, asked.TxOut[0], wire.NewTxOut(68_999, change)), false},
		"no change":          {spending([]byte{1, 2}, asked.TxOut[0]), false},
		"paid to another":    {spending([]byte{1, 2}, wire.NewTxOut(5000, thief), asked.TxOut[1]), false},
		"paid less":          {spending([]byte{1, 2}, wire.NewTxOut(4999, other), change70k), false},
		"paid to no one":     {spending([]byte{1, 2}, wire.NewTxOut(75_000, change)), false},
		"paid to one more":   {spending([]byte{1, 2}, asked.TxOut[0], change70k, wire.NewTxOut(0, thief)), false},
		"paid twice":         {spending([]byte{1, 2}, asked.TxOut[0], asked.TxOut[0], asked.TxOut[1]), false},
		"another coin":       {spending([]byte{1, 3}, asked.TxOut...), false},
		"one coin more":      {spending([]byte{1, 2, 3}, asked.TxOut...), false},
		"one coin less":      {spending([]byte{1}, asked.TxOut...), false},
		"one coin twice":     {spending([]byte{1, 1}, asked.TxOut...), false},
		"more than there is": {spending([]byte{1, 2}, asked.TxOut[0], wire.NewTxOut(71_001, change)), false},
		"numbers that wrap": {spending([]byte{1, 2}, asked.TxOut[0], wire.NewTxOut(1<<62, change),
			wire.NewTxOut(-1<<62, change)), false},
		"a negative one":    {spending([]byte{1, 2}, asked.TxOut[0], change70k, wire.NewTxOut(-1, change)), false},
		"all that there is": {spending([]byte{1, 2}, asked.TxOut[0], wire.NewTxOut(71_000, change)), true},
		"change in two parts": {spending([]byte{1, 2}, asked.TxOut[0], wire.NewTxOut(35_000, change),
			wire.NewTxOut(35_000, next)), true},
	} {
		if got := SamePayment(asked, test.got, fee, mine); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// spending makes a transaction that spends some coins.
func spending(coins []byte, outs ...*wire.TxOut) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	for _, coin := range coins {
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{coin}}, nil, nil))
	}
	for _, out := range outs {
		tx.AddTxOut(out)
	}
	return tx
}
