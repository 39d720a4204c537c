// Package bip322 makes and verifies signed messages of BIP322, version 2.0.0: a signature is the input of a transaction
// that cannot exist, and any output script may be signed for. It knows the forms simple, full and proof of funds, and
// the older one for P2PKH.
//
// The package is pure. Signatures may come from anyone: their sizes are not trusted, and nothing panics.
package bip322

import (
	"crypto/sha256"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// tag separates the hash of a message from other hashes (BIP340).
const tag = "BIP0322-signed-message"

// MessageHash returns the hash of a message that is signed.
func MessageHash(message string) [sha256.Size]byte {
	return *chainhash.TaggedHash([]byte(tag), []byte(message))
}

// ToSpend returns the transaction whose output a signature of a message spends. pkScript is the output script of the
// address that signs. Its input spends an output that cannot exist.
func ToSpend(pkScript []byte, message string) *wire.MsgTx {
	hash := MessageHash(message)
	tx := wire.NewMsgTx(0)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex},
		SignatureScript:  append([]byte{txscript.OP_0, txscript.OP_DATA_32}, hash[:]...),
	})
	tx.AddTxOut(wire.NewTxOut(0, pkScript))
	return tx
}

// ToSign returns the transaction that signs a message by spending the output of toSpend. Nothing is signed in it yet.
func ToSign(toSpend *wire.MsgTx) *wire.MsgTx {
	tx := wire.NewMsgTx(0)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: toSpend.TxHash()}})
	tx.AddTxOut(wire.NewTxOut(0, []byte{txscript.OP_RETURN}))
	return tx
}

// A Form is how a signature is written.
type Form string

// The forms. Each but the legacy one begins with its prefix.
const (
	Legacy       Form = "legacy"         // of a P2PKH address, without a prefix: the key can be recovered from it
	Simple       Form = "simple"         // the witness alone
	Full         Form = "full"           // the transaction
	ProofOfFunds Form = "proof_of_funds" // the PSBT of the transaction, which spends other outputs, too
)

var prefixes = []struct {
	prefix string
	form   Form
}{{"smp", Simple}, {"ful", Full}, {"pof", ProofOfFunds}}

// A State is what is known of a signature.
type State string

// The states.
const (
	Valid        State = "valid"
	Inconclusive State = "inconclusive" // it uses what later rules may give a meaning
	Invalid      State = "invalid"
)

// A Result tells about a signature.
type Result struct {
	State  State
	Form   Form
	Reason string // why it is not valid; empty if it is

	Time uint32 // lock time of the transaction: it is valid from then on
	Age  uint32 // sequence of the first input: and when its output has this age

	// Funds are the outputs that the signer controls besides the address's. They are what the signature says:
	// whether they exist and are unspent is for the caller to find out.
	Funds []Fund
}

// A Fund is an output whose control a signature proves.
type Fund struct {
	Out    wire.OutPoint
	Output wire.TxOut
}
