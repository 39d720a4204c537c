package messages

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// WalletTxChanged announces that a transaction came into a wallet, or changed there,
// and that this is on disk.
type WalletTxChanged struct {
	Wallet string // its name
	TxID   chainhash.Hash
	Block  *Tip // that it is in; nil: none of the active chain

	// Quiet: it was abandoned, or conflicts with a block, for which Core runs no command of
	// -walletnotify. A transaction that left the memory pool because of a block is announced once
	// more, without Quiet.
	Quiet bool
}
