// Package rawtx reads, signs and combines transactions outside of any wallet.
//
// It accepts, signs and reports the same as Bitcoin Core 30.2
// (src/core_read.cpp, script/sign.cpp); signatures are the same bytes.
//
// The package is pure. Its input may come from anyone: no length in it is trusted,
// and nothing panics.
package rawtx

import (
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/rawtx/internal/serial"
)

// A Form says how a transaction may be serialized.
type Form uint8

// The forms. The bytes of a transaction without inputs can look like the form with
// witnesses, so callers should name the form if they know it.
const (
	AnyForm     Form = iota // try both
	WitnessForm             // only the form of BIP144, which includes the one before it for transactions with inputs
	LegacyForm              // only the form without witnesses
)

// Decode reads a transaction that takes all of raw. If both forms fit, it takes
// the form whose scripts make sense, and tries the form with witnesses first. The
// scripts share memory with raw.
func Decode(raw []byte, form Form) (*wire.MsgTx, bool) {
	var extended, legacy *wire.MsgTx
	if form != LegacyForm {
		if extended = decodeAs(raw, true); extended != nil && sane(extended) {
			return extended, true
		}
	}
	if form != WitnessForm {
		legacy = decodeAs(raw, false)
	}
	if legacy != nil && (extended == nil || sane(legacy)) {
		return legacy, true
	}
	return extended, extended != nil
}

// Next reads the transaction that raw begins with, as nodes send it to each other,
// and returns what comes after it. The scripts share memory with raw.
func Next(raw []byte) (tx *wire.MsgTx, rest []byte, ok bool) {
	r := &serial.Reader{Rest: raw}
	tx = r.Tx(true)
	return tx, r.Rest, r.Err == nil
}

// decodeAs returns nil if raw is no transaction of that form.
//
// It is not wire.MsgTx.Deserialize because that allocates by counts which
// nothing backs, and panics on more than 4 MB of scripts.
func decodeAs(raw []byte, witness bool) *wire.MsgTx {
	r := &serial.Reader{Rest: raw}
	tx := r.Tx(witness)
	if r.Err != nil || len(r.Rest) > 0 {
		return nil
	}
	return tx
}

// Bounds of what a script may hold to make sense.
const (
	maxOpcode  = txscript.OP_NOP10
	maxElement = txscript.MaxScriptElementSize
)

// sane reports whether all scripts consist of known opcodes and pushes of
// allowed size. The script of a coinbase may hold anything.
func sane(tx *wire.MsgTx) bool {
	for _, in := range tx.TxIn {
		if !consensus.IsCoinbase(tx) && !saneScript(in.SignatureScript) {
			return false
		}
	}
	for _, out := range tx.TxOut {
		if !saneScript(out.PkScript) {
			return false
		}
	}
	return true
}

func saneScript(script []byte) bool {
	return len(script) <= txscript.MaxScriptSize && HasValidOps(script)
}

// HasValidOps reports whether a script consists of known opcodes and of pushes
// that are no longer than the largest stack element.
func HasValidOps(script []byte) bool {
	tokens := txscript.MakeScriptTokenizer(0, script)
	for tokens.Next() {
		if tokens.Opcode() > maxOpcode || len(tokens.Data()) > maxElement {
			return false
		}
	}
	return tokens.Err() == nil
}
