package messages

import (
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// AbandonTx gives up a transaction of the wallet that is neither in a block nor in the
// memory pool, and all its descendants in the wallet. Their inputs can be spent again.
//
// Errors: [*WalletError].
type AbandonTx struct {
	Asks[Done]

	TxID chainhash.Hash
}

// ListGroupings asks for the addresses of the wallet in groups. The addresses of a group were
// spent from together, or took the change: anybody can see that they have one owner.
type ListGroupings struct{ Asks[[][]GroupedAddress] }

// GroupedAddress is an address in a group.
type GroupedAddress struct {
	Address  string
	Amount   btcutil.Amount // of its coins that can be relied on
	Label    string
	HasLabel bool
}

// SimulateTxs asks by how much transactions would change what the wallet has.
//
// Errors: [*WalletError].
type SimulateTxs struct {
	Asks[btcutil.Amount]

	Txs []*wire.MsgTx

	// Known are the outputs that the transactions spend, as far as the chain or the memory
	// pool has them.
	Known map[wire.OutPoint]bool
}

// SetWalletFlag changes a flag of the wallet that may be changed.
//
// Errors: [*WalletError].
type SetWalletFlag struct {
	Asks[Done]

	Flag  string
	Value bool
}

// BumpFee asks for a transaction that replaces one of the wallet which is not confirmed, and
// pays a higher fee. It spends all that the other one spends, so that only one of them can
// confirm.
//
// Errors: [*WalletError].
type BumpFee struct {
	Asks[Bumped]

	TxID        chainhash.Hash
	Payments    []Payment // instead of the outputs of the transaction; nil: those
	ChangeIndex *uint32   // which of its outputs is the change; nil: it is found out

	FeeRate       *int64 // for 1000 virtual bytes; nil: higher than before
	ConfTarget    int    // blocks to be confirmed within; 0: by the wallet's options
	Conservative  *bool  // how the fee is estimated; nil: by whether it can be replaced
	Irreplaceable bool   // do not say that it can be replaced again (BIP125)

	Send bool // sign it, write it and send it; false: it is only made
}

// Bumped is the answer to [BumpFee].
type Bumped struct {
	Tx          *wire.MsgTx
	TxID        chainhash.Hash
	OldFee, Fee btcutil.Amount
	PQCKeys     []PQCUse // keys of P2MR that signed, ascending
}

// ImportTx adds a transaction of a block to the wallet, as where the block cannot be read any
// more.
//
// Errors: [*WalletError].
type ImportTx struct {
	Asks[Done]

	Tx    *wire.MsgTx
	Block chainhash.Hash
	Index *uint32 // in the block; nil: it was not proven that it is there
}

// RemoveTx removes a transaction from the wallet and its file.
//
// Errors: [*WalletError].
type RemoveTx struct {
	Asks[Done]

	TxID chainhash.Hash
}
