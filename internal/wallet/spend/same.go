package spend

import (
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/codes"
)

// OutsOf returns what a transaction spends.
func OutsOf(tx *wire.MsgTx) []wire.OutPoint {
	outs := make([]wire.OutPoint, len(tx.TxIn))
	for i, in := range tx.TxIn {
		outs[i] = in.PreviousOutPoint
	}
	return outs
}

// ErrOtherTx says that a signer has changed more of a replacement than its signatures.
var ErrOtherTx = codes.Errorf(codes.Wallet, "Signed replacement transaction differs in more than its signatures")

// SameButSigned reports whether a signed transaction differs from the transaction to be signed only in its
// signatures.
func SameButSigned(asked, got *wire.MsgTx) bool {
	plain := got.Copy()
	for i, in := range plain.TxIn {
		if i < len(asked.TxIn) {
			in.SignatureScript = asked.TxIn[i].SignatureScript
		}
	}
	return plain.TxHash() == asked.TxHash()
}
