package mempool_test

import (
	"bytes"
	"crypto/sha256"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// A kind is a form of outputs, most of which anybody can spend.
type kind int

const (
	open        kind = iota // the witness script OP_TRUE
	nested                  // that in P2SH
	legacy                  // the redeem script OP_TRUE
	counting                // a witness script with many signature operations
	counted                 // a redeem script with some
	anchor                  // P2A
	bare                    // OP_TRUE alone: not standard
	taproot                 // of which nobody has the key
	multisig                // bare
	future                  // a witness program of version 2
	unspendable             // carries data
	kinds
)

var (
	truth = []byte{txscript.OP_TRUE}
	costs = append(append(
		[]byte{txscript.OP_0, txscript.OP_IF}, bytes.Repeat([]byte{txscript.OP_CHECKMULTISIG}, 40)...,
	),
		txscript.OP_ENDIF, txscript.OP_TRUE)
	some = append(append([]byte{txscript.OP_0, txscript.OP_IF}, bytes.Repeat([]byte{txscript.OP_CHECKSIG}, 15)...),
		txscript.OP_ENDIF, txscript.OP_TRUE)
)

func witnessScript(script []byte) []byte {
	hash := sha256.Sum256(script)
	return append([]byte{txscript.OP_0, 32}, hash[:]...)
}

func redeemScript(script []byte) []byte {
	return append(append([]byte{txscript.OP_HASH160, 20}, btcutil.Hash160(script)...), txscript.OP_EQUAL)
}

var scripts = [kinds][]byte{
	open:     witnessScript(truth),
	nested:   redeemScript(witnessScript(truth)),
	legacy:   redeemScript(truth),
	counting: witnessScript(costs),
	counted:  redeemScript(some),
	anchor:   {txscript.OP_1, 2, 0x4e, 0x73},
	bare:     truth,
	taproot:  append([]byte{txscript.OP_1, 32}, bytes.Repeat([]byte{0x79}, 32)...),
	multisig: append(append(
		[]byte{txscript.OP_1, 33, 2}, bytes.Repeat([]byte{0x79}, 32)...,
	), txscript.OP_1, txscript.OP_CHECKMULTISIG),
	future:      append([]byte{txscript.OP_2, 32}, make([]byte, 32)...),
	unspendable: {txscript.OP_RETURN, 3, 1, 2, 3},
}

func (k kind) script() []byte { return scripts[k] }

// kindOf knows a script again.
func kindOf(script []byte) kind {
	for k := range kinds {
		if bytes.Equal(scripts[k], script) {
			return k
		}
	}
	return unspendable
}

// spend fills an input in.
func (k kind) spend(in *wire.TxIn) {
	push := func(script []byte) []byte { return append([]byte{byte(len(script))}, script...) }
	switch k {
	case open:
		in.Witness = wire.TxWitness{truth}
	case nested:
		in.SignatureScript, in.Witness = push(witnessScript(truth)), wire.TxWitness{truth}
	case legacy:
		in.SignatureScript = push(truth)
	case counting:
		in.Witness = wire.TxWitness{costs}
	case counted:
		in.SignatureScript = push(some)
	case taproot:
		in.Witness = wire.TxWitness{make([]byte, 64)}
	case multisig:
		in.SignatureScript = []byte{txscript.OP_0, txscript.OP_0}
	case future:
		in.Witness = wire.TxWitness{{1}}
	case anchor, bare, unspendable, kinds:
	}
}
