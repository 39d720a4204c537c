package messages

import (
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

var (
	// ErrBlockNotFound reports a block hash that the node does not know.
	ErrBlockNotFound = refusal("block not found")

	// ErrNotPruning reports that the node keeps all blocks.
	ErrNotPruning = refusal("node is not in prune mode")

	// ErrBlockPruned reports that a block is needed that was deleted to save
	// space.
	ErrBlockPruned = refusal("block was pruned")

	// ErrBlockNotYet reports a block of which the node knows the header alone.
	ErrBlockNotYet = refusal("block is not here yet")

	// ErrNoCoin reports an output that is spent, or was never there.
	ErrNoCoin = refusal("no such unspent output")

	// ErrTipMoved reports that another block is the tip than was asked for.
	ErrTipMoved = refusal("the tip has moved")

	// ErrNotMineable reports that no block was found within the tries given.
	ErrNotMineable = refusal("no block found within the given tries")

	// ErrNotAccepted reports that a block was made and the chain refuses it, because it was
	// invalidated before.
	ErrNotAccepted = refusal("block not accepted")

	// ErrNotMergeMined reports that the next block cannot be mined together with those of another chain.
	ErrNotMergeMined = refusal("no merge-mined block may be next")
)

// RejectError is a consensus rule that a block breaks.
type RejectError struct {
	Reason string // Bitcoin Core's reject reason, for instance "bad-txnmrklroot"
	Debug  string // details for a person, may be empty
}

// Error implements error.
func (e *RejectError) Error() string {
	if e.Debug == "" {
		return e.Reason
	}
	return e.Reason + ", " + e.Debug
}

// AboutRequest implements [Refusal].
func (*RejectError) AboutRequest() {}

// SubmitBlock validates a block and, where it is valid and has the most work,
// connects it. It is answered when everything it changed is on disk.
//
// Errors: [*RejectError] with the reason in the words of BIP22: a rule's name,
// "duplicate", "duplicate-invalid" or "inconclusive".
type SubmitBlock struct {
	Asks[Done]

	Raw []byte // serialized block
}

// ProposeBlock checks a block on the tip but for its proof of work, and changes
// nothing.
//
// Errors: [*RejectError] with the rule that it breaks, or
// "inconclusive-not-best-prevblk" for a block that is not on the tip.
type ProposeBlock struct {
	Asks[Done]

	Raw []byte // serialized block
}

// Generate mines Count blocks on the active chain that pay to Script, where
// the network's difficulty lets a processor do that. At most Tries hashes are
// computed in all; the blocks found until then are the answer, and with Tries 0 there are
// none. A million is plenty for a regtest.
//
// Errors: [ErrTipMoved]; [*RejectError] from the validation of a block, [ErrNotAccepted] instead
// where it was made before and invalidated.
type Generate struct {
	Asks[[]chainhash.Hash]

	Script []byte
	Count  int
	Tries  uint64

	// The first block holds these transactions, serialized, and claims their
	// fees. It must follow On, unless that is nil.
	Txs  [][]byte
	Fees int64
	On   *chainhash.Hash
}

// GenerateBlock mines one block with exactly the given transactions. At most Tries hashes
// are computed; 0 finds nothing.
//
// Errors: [*RejectError] from the validation of the template; [ErrNotMineable]
// when no nonce was found; [ErrNotAccepted].
type GenerateBlock struct {
	Asks[MinedBlock]

	Script []byte
	Txs    [][]byte // serialized, in block order, without coinbase
	Submit bool     // false: the block is only returned
	Tries  uint64
}

// MakeTemplate asks for a block on On, serialized, that is valid but for its proof
// of work. Its coinbase pays the subsidy and Fees to Script; the transactions follow
// in their order. Its time is now, and it votes for the rules that can be voted for.
//
// Errors: [ErrTipMoved]; [*RejectError] from the validation of the block.
type MakeTemplate struct {
	Asks[[]byte]

	Script []byte
	Txs    [][]byte // serialized
	Fees   int64
	On     chainhash.Hash
}

// MinedBlock is the answer to [GenerateBlock].
type MinedBlock struct {
	Hash chainhash.Hash
	Raw  []byte
}

// InvalidateBlock marks a block and what follows it as invalid, and moves to
// the best chain without them.
//
// Errors: [ErrBlockNotFound], [ErrBlockPruned].
type InvalidateBlock struct {
	Asks[Done]

	Hash chainhash.Hash
}

// ReconsiderBlock takes back an [InvalidateBlock] for a block, its ancestors
// and its descendants.
//
// Errors: [ErrBlockNotFound].
type ReconsiderBlock struct {
	Asks[Done]

	Hash chainhash.Hash
}

// PreciousBlock has a block count as if it had come before all others with the same
// work, until the node is started again or another is preferred.
//
// Errors: [ErrBlockNotFound].
type PreciousBlock struct {
	Asks[Done]

	Hash chainhash.Hash
}

// PruneBlocks deletes the files of old blocks, where the node may. Up to Height,
// included, when it is above 0; else as far as the node's target asks.
//
// Errors: [ErrNotPruning].
type PruneBlocks struct {
	Asks[Done]

	Height int32
}

// VerifyChain checks the last blocks of the active chain and what they have done to the
// unspent outputs, and changes nothing. Nothing else is done meanwhile.
//
// Errors: [*CorruptError], which says the fault; [ErrPartlyVerified].
type VerifyChain struct {
	Asks[Done]

	// Level is how thorough: 0 reads the blocks, 1 checks them, 2 checks their undo data, 3
	// takes the blocks back from the unspent outputs, 4 connects them again, scripts included.
	Level int

	// Blocks is how many; 0 or less: all.
	Blocks int32
}

// ErrPartlyVerified reports that nothing was found, but that not all could be looked at that
// was asked for: blocks are gone, or the memory for unspent outputs was used up.
var ErrPartlyVerified = refusal("chain verified in part")

// CorruptError is what is wrong with the node's own data.
type CorruptError struct{ Reason string }

// Error implements error.
func (e *CorruptError) Error() string { return e.Reason }

// AboutRequest implements [Refusal].
func (*CorruptError) AboutRequest() {}

// GetChainStates asks for the chains whose unspent outputs the node keeps: the active one, and
// before it the one in the background that validates a snapshot.
type GetChainStates struct{ Asks[[]ChainState] }

// A ChainState is a chain with its unspent outputs.
type ChainState struct {
	Tip       Tip
	Snapshot  *chainhash.Hash // block whose unspent outputs it began with; nil: with none
	Validated bool            // every block of it was validated by the node

	// Memory for unspent outputs, in bytes: of their database, and of those to be written.
	DBCache, TipCache int64
}

// SetMockTime makes the chain judge block times by a fixed clock. The zero
// time returns to the real one.
type SetMockTime struct {
	Asks[Done]

	Time time.Time
}

// WaitImported is answered when the block files named at start have been read.
type WaitImported struct{ Control[Done] }

// GetImportStatus asks how far the reading of block files has come.
type GetImportStatus struct{ Control[ImportStatus] }

// ImportStatus is the answer to [GetImportStatus].
type ImportStatus struct {
	Running bool
	File    string // being read
	Read    int64  // bytes of all files
	Total   int64
	Blocks  int64 // accepted from files so far
}

// TipChanged announces that the active chain has another tip. It coalesces: a
// listener that lags gets one for many changes and reads the difference from
// the chain's view.
type TipChanged Tip

// GetCoin asks for an output of the active chain that is not spent.
//
// Errors: [ErrNoCoin].
type GetCoin struct {
	Asks[Coin]

	Out wire.OutPoint
}

// Coin is an output that is not spent.
type Coin struct {
	Output   *wire.TxOut
	Height   int32 // of its block
	Coinbase bool
	Tip      Tip // at which it is unspent
}

// GetCoins asks which of some outputs are not spent in the active chain, and of
// which tip that is true.
type GetCoins struct {
	Asks[Coins]

	Outs []wire.OutPoint
}

// Coins is the answer to [GetCoins]: what is missing is spent, or was never there.
type Coins struct {
	Tip   Tip
	Coins map[wire.OutPoint]Coin
}

// WaitOpen is answered when the chain is open and can be read.
type WaitOpen struct{ Control[Tip] }

// GetTip asks for the last block of the active chain.
type GetTip struct{ Asks[Tip] }

// WaitTip is answered when the tip of the active chain is as the fields ask, at
// once where it already is. It may wait for ever: send it with a context that ends.
type WaitTip struct {
	Control[Tip]

	Not    *chainhash.Hash // any tip but this one
	Is     *chainhash.Hash // this tip
	Height *int32          // a tip of this height or above
}

// Met reports whether a tip is as asked.
func (w WaitTip) Met(t Tip) bool {
	switch {
	case w.Not != nil && t.Hash == *w.Not:
		return false
	case w.Is != nil && t.Hash != *w.Is:
		return false
	case w.Height != nil && t.Height < *w.Height:
		return false
	}
	return true
}

// Tip is the last block of the active chain.
type Tip = BlockID
