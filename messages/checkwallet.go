package messages

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// CheckWallet looks for payments beyond the addresses that a wallet has derived, as after the restore of an old backup.
// It widens the range of each descriptor until a gap of unused indices follows the highest index that was paid to. It
// looks through the blocks for all scripts, until no range widens any more. It is a rescan: [AbortRescan] ends it.
//
// Errors: [*WalletError].
type CheckWallet struct {
	Asks[WalletChecked]

	Gap   int32  // at least 1
	Start *int32 // height of the first block; nil: the first that may concern the wallet
}

// WalletChecked is the answer to [CheckWallet].
type WalletChecked struct {
	Gap         int32
	From        int32 // height of the first block
	Tip         Tip   // the last block
	Descriptors []CheckedDescriptor
	New         int // transactions in blocks that the wallet did not have

	Scripts [][]byte         // all that was looked for; not to be changed
	Blocks  []chainhash.Hash // that have transactions of the wallet, by height
}

// CheckedDescriptor is a descriptor of a wallet after [CheckWallet].
type CheckedDescriptor struct {
	Desc     string // public, with checksum; empty: not to be shown
	Active   bool
	Internal bool // where it is active: for change

	// The first and the last index of the range, before and after; only where it is ranged.
	Ranged        bool
	Before, Range [2]int32

	HighestUsed int32 // highest index that was paid to, -1 for none; only where it is ranged
	Exhausted   bool  // the range ends before the gap does, since the wallet cannot derive more

	Payments    int   // outputs in blocks that pay to it
	New         int   // those of transactions that the wallet did not have
	FirstHeight int32 // of the payments, -1 for none
	LastHeight  int32
}

// WalletBeyond is what is known of payments to a restored wallet behind the addresses that a restore derives.
type WalletBeyond struct {
	Known bool  // all blocks were looked at, or a payment was found
	Found bool  // there are payments behind
	Gap   int32 // with which [CheckWallet] finds them
}

// WalletRestored says what a look behind the addresses of a restored wallet has found.
type WalletRestored struct {
	Wallet string // its name
	WalletBeyond
}

// Kind implements [News].
func (WalletRestored) Kind() EventKind { return EventWallet }
