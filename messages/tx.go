package messages

import (
	"fmt"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"
)

// The versions that a transaction to be built may have: those that nodes relay
// (Core's TX_MIN_STANDARD_VERSION and TX_MAX_STANDARD_VERSION).
const (
	MinTxVersion = 1
	MaxTxVersion = 3
)

// MaxReplaceableSequence is the largest sequence number by which an input says
// that its transaction may be replaced (BIP125).
const MaxReplaceableSequence = wire.MaxTxInSequenceNum - 2

var (
	// ErrTxVersion reports a version outside [MinTxVersion] to [MaxTxVersion].
	ErrTxVersion = refusal("transaction version out of range")

	// ErrTxAddress reports an output whose address is not of the network.
	ErrTxAddress = refusal("invalid address")

	// ErrTxAddressTwice reports two outputs for the same destination.
	ErrTxAddressTwice = refusal("duplicated address")

	// ErrNoTxOutputs reports a transaction without any output.
	ErrNoTxOutputs = refusal("a transaction needs at least one output")

	// ErrTxReplaceable reports that a transaction should be replaceable while
	// no sequence number of its inputs signals it.
	ErrTxReplaceable = refusal("sequence numbers contradict replaceable")
)

// BuildTx asks for a transaction with the given inputs and outputs, not
// signed. Nothing is looked up: the inputs need not exist, and nothing is
// chosen or paid for.
//
// Errors, in this order: [ErrTxVersion]; a [*TxAddressError] of the first
// output that is wrong; Unread; [ErrNoTxOutputs] where the node refuses that;
// [ErrTxReplaceable].
type BuildTx struct {
	Asks[*wire.MsgTx]

	Version  uint32
	LockTime uint32 // height or time before which it is not valid; 0: none
	Inputs   []TxInput
	Outputs  []TxOutput

	// Replaceable says whether the transaction must be replaceable (true), or
	// gets no sequence number that makes it so (false). With nil it is made
	// replaceable, but the inputs' own sequence numbers may say otherwise.
	Replaceable *bool

	// Unread is the caller's error in reading the arguments behind these inputs
	// and outputs. It is the answer if nothing before it is wrong, so that a
	// client gets the first of its mistakes. Nil: everything was read.
	Unread error
}

// TxInput is an output to be spent.
type TxInput struct {
	OutPoint wire.OutPoint
	Sequence *uint32 // nil: chosen by Replaceable and LockTime
}

// TxOutput pays to an address, or carries data.
type TxOutput struct {
	Address string         // of the node's network
	Amount  btcutil.Amount // 0 to the network's limit

	// Data makes an unspendable output that holds these bytes, in place of a
	// paying output. Nil: none.
	Data []byte
}

// TxAddressError says which output's address is wrong.
type TxAddressError struct {
	Address string
	Err     error // [ErrTxAddress] or [ErrTxAddressTwice]
}

// Error implements error.
func (e *TxAddressError) Error() string { return fmt.Sprintf("%v: %s", e.Err, e.Address) }

// AboutRequest implements [Refusal].
func (*TxAddressError) AboutRequest() {}

// Unwrap returns the cause.
func (e *TxAddressError) Unwrap() error { return e.Err }
