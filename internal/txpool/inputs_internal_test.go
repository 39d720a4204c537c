package txpool

import (
	"bytes"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
)

// The pool tells why inputs are not standard only where it is to.
func TestOddInputs(t *testing.T) {
	p2sh := slices.Concat([]byte{txscript.OP_HASH160, 20}, make([]byte, 20), []byte{txscript.OP_EQUAL})
	push := func(b []byte) []byte {
		script, err := txscript.NewScriptBuilder().AddFullData(b).Script()
		if err != nil {
			t.Fatal(err)
		}
		return script
	}
	for want, in := range map[string][2][]byte{ // what is spent, and by which script
		"":                                      {p2sh, push([]byte{txscript.OP_1})},
		"non-witness sigops exceed bip54 limit": {bytes.Repeat([]byte{txscript.OP_CHECKSIG}, 2501)},
		"input 1 script unknown":                {{txscript.OP_1}},
		"input 1 witness program is undefined":  {{txscript.OP_2, 2, 0, 0}},
		"input 1 P2SH redeemscript missing":     {p2sh},
		"p2sh scriptsig malformed (input 1: Opcode missing or not understood)": {p2sh, {5, 1}},
		"p2sh scriptsig malformed (input 1: Push value size limit exceeded)":   {p2sh, push(make([]byte, 521))},
		"p2sh scriptsig malformed (input 1: Stack size limit exceeded)":        {p2sh, make([]byte, 1001)},
		"p2sh redeemscript sigops exceed limit (input 1: 16 > 15)":             {p2sh, push(bytes.Repeat([]byte{txscript.OP_CHECKSIG}, 16))},
	} {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{SignatureScript: push([]byte{txscript.OP_1})})
		tx.AddTxIn(&wire.TxIn{SignatureScript: in[1]})
		spent := []*wire.TxOut{{PkScript: p2sh}, {PkScript: in[0]}}
		for _, tells := range []bool{false, true} {
			k := &checks{rules: Rules{Rules: consensus.Rules{}, TellsInputs: tells}}
			r := k.checkStandardInputs(tx, spent)
			why := want
			if !tells {
				why = ""
			}
			switch {
			case want == "" && r != nil, want != "" && r == nil:
				t.Errorf("%q: got %v", want, r)
			case r != nil && (r.Reason != "bad-txns-nonstandard-inputs" || r.Debug != why):
				t.Errorf("got %s, %s, want %s", r.Reason, r.Debug, why)
			}
		}
	}
}
