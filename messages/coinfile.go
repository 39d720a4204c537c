package messages

import "github.com/btcsuite/btcd/chaincfg/chainhash"

// CheckCoinFile reads a file of unspent outputs, as dumptxoutset writes it: its beginning, or all
// of it. Nothing is kept of it. It ends with the context of its caller.
//
// Errors: [ErrNotOpened], [*CoinFileError].
type CheckCoinFile struct {
	Asks[CoinFile]

	Path string

	// At is the block that the set is of; nil: the outputs are not read.
	At *Tip
}

// CoinFile is the answer to [CheckCoinFile].
type CoinFile struct {
	Block chainhash.Hash // that the set is of
	Coins uint64
	Hash  chainhash.Hash // of the set, as [HashSerialized]; zero when the outputs are not read
}

// ErrNotOpened reports that a file cannot be opened.
var ErrNotOpened = refusal("file cannot be opened")

// A CoinFileError says what is wrong with a file of unspent outputs.
type CoinFileError struct {
	Reason string // in Bitcoin Core's words
	Head   bool   // the beginning of the file is wrong
}

// Error implements error.
func (e *CoinFileError) Error() string { return e.Reason }

// AboutRequest implements [Refusal].
func (*CoinFileError) AboutRequest() {}
