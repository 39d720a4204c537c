package spend

import (
	"testing"

	"github.com/btcsuite/btcd/wire"
)

// Scripts and witnesses of inputs may change as a transaction is signed, and nothing else.
func TestSameButSigned(t *testing.T) {
	asked := wire.NewMsgTx(2)
	asked.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	asked.AddTxOut(wire.NewTxOut(5, []byte{1}))
	for name, c := range map[string]struct {
		change func(tx *wire.MsgTx)
		same   bool
	}{
		"nothing":   {func(*wire.MsgTx) {}, true},
		"script":    {func(tx *wire.MsgTx) { tx.TxIn[0].SignatureScript = []byte{1} }, true},
		"witness":   {func(tx *wire.MsgTx) { tx.TxIn[0].Witness = wire.TxWitness{{1}} }, true},
		"sequence":  {func(tx *wire.MsgTx) { tx.TxIn[0].Sequence-- }, false},
		"outpoint":  {func(tx *wire.MsgTx) { tx.TxIn[0].PreviousOutPoint.Index++ }, false},
		"one more":  {func(tx *wire.MsgTx) { tx.AddTxIn(tx.TxIn[0]) }, false},
		"amount":    {func(tx *wire.MsgTx) { tx.TxOut[0].Value-- }, false},
		"output":    {func(tx *wire.MsgTx) { tx.TxOut[0].PkScript = []byte{2} }, false},
		"version":   {func(tx *wire.MsgTx) { tx.Version++ }, false},
		"lock time": {func(tx *wire.MsgTx) { tx.LockTime++ }, false},
	} {
		got := asked.Copy()
		c.change(got)
		if SameButSigned(asked, got) != c.same {
			t.Errorf("%s: not %v", name, c.same)
		}
	}
}
