package messages

import (
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// GetLabels asks for the labels of a wallet that BIP329 has a form for.
type GetLabels struct{ Asks[WalletLabels] }

// WalletLabels are labels of a wallet.
type WalletLabels struct {
	Addresses []AddressLabel // in the order in which addresses are listed, those with an empty label as well
	Txs       []TxLabel      // their comments, by id; none is empty
	Outputs   []OutputLabel  // those that are locked
}

// An AddressLabel is the label of an address.
type AddressLabel struct {
	Script []byte
	Label  string
}

// A TxLabel is the comment of a transaction.
type TxLabel struct {
	TxID  chainhash.Hash
	Label string // empty takes it away
}

// An OutputLabel says whether an output may be spent. It is locked if it may not.
type OutputLabel struct {
	Out       wire.OutPoint
	Spendable bool
}

// PutLabels gives addresses, transactions and outputs labels, in one step. Foreign addresses enter the address book as
// addresses to send to. The wallet leaves out transactions that are not its own, outputs that are not unspent coins of
// its own, and labels "*".
type PutLabels struct {
	Asks[LabelsPut]

	Labels WalletLabels
}

// LabelsPut is the answer to [PutLabels].
type LabelsPut struct{ Put, Left int }
