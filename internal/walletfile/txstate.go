package walletfile

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// TxStateKind says what a wallet knows of the fate of a transaction.
type TxStateKind int

// The kinds of states that are stored. That a transaction is in the mempool is
// not: it is stored as inactive.
const (
	Inactive     TxStateKind = iota // not in a block of the active chain
	Abandoned                       // inactive, and given up by its owner
	Confirmed                       // in a block
	Conflicted                      // an input is spent by a transaction in a block
	Unrecognized                    // a pair of values that no client writes; inactive
)

// abandonedBlock stands in the place of a block for abandoned transactions.
var abandonedBlock = chainhash.Hash{1}

// TxState is the stored state of a transaction. The zero value is inactive.
type TxState struct {
	Block chainhash.Hash // where it is confirmed, or the block of the conflict
	Index int32          // place in its block, see Kind
}

// AbandonedState returns the state of an abandoned transaction.
func AbandonedState() TxState { return TxState{Block: abandonedBlock, Index: -1} }

// ConfirmedState returns the state of the transaction at index in a block.
func ConfirmedState(block chainhash.Hash, index int32) TxState {
	return TxState{Block: block, Index: index}
}

// ConflictedState returns the state of a transaction with an input that is also
// spent by another transaction, in the block.
func ConflictedState(block chainhash.Hash) TxState { return TxState{Block: block, Index: -1} }

// Kind tells the states apart.
func (s TxState) Kind() TxStateKind {
	switch {
	case s == TxState{}:
		return Inactive
	case s == AbandonedState():
		return Abandoned
	case s.Block == chainhash.Hash{} || s.Block == abandonedBlock || s.Index < -1:
		return Unrecognized
	case s.Index == -1:
		return Conflicted
	default:
		return Confirmed
	}
}
