package messages

import (
	"fmt"
	"iter"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

var (
	// ErrScanBusy reports that another scan is running; a node runs one at a
	// time.
	ErrScanBusy = refusal("scan already in progress")

	// ErrNoSuchScan reports a slot that was released, or was never given.
	ErrNoSuchScan = refusal("scan slot is not reserved")
)

// FilterError reports a block whose filter can neither be read nor re-made,
// so that no complete answer can be given.
type FilterError struct {
	Block chainhash.Hash
	Err   error
}

// Error implements error.
func (e *FilterError) Error() string {
	return fmt.Sprintf("Block filter of block %v cannot be read", e.Block)
}

// AboutRequest implements [Refusal].
func (*FilterError) AboutRequest() {}

// Unwrap returns the cause.
func (e *FilterError) Unwrap() error { return e.Err }

// ReserveScan takes the scanner's slot for one scan and resets its status.
// Whoever holds the slot owes a [RunScan] or a [ReleaseScan].
//
// Errors: [ErrScanBusy].
type ReserveScan struct{ Asks[ScanSlot] }

// ScanSlot is a reserved slot. Aborted is closed when the scan is aborted
// while its scripts are still being prepared.
type ScanSlot struct {
	ID      uint64
	Aborted <-chan struct{}
}

// ReleaseScan gives a slot back without a scan. A slot that was released
// before is left alone.
type ReleaseScan struct {
	Control[Done]

	Slot uint64
}

// RunScan matches the BIP158 basic filters of a range of blocks against a set
// of output scripts. The range is pinned: the ancestors of Stop from height
// Start on, whatever the active chain does meanwhile. Blocks that the filter
// index has not reached are waited for. The answer arrives when the scan
// ends, which for a whole chain takes minutes; [AbortScan] ends it early. The
// slot is free again when the answer arrives.
//
// Errors: [ErrNoSuchScan], [*FilterError], or what reading a block for
// CheckBlocks answered.
type RunScan struct {
	Asks[ScanResult]

	Slot    uint64
	Scripts [][]byte // output scripts as they appear on chain, any order; not to be changed any more

	// Set, where there is one, is looked for instead of Scripts. A filters.Query is used as it is:
	// it is the way for millions of scripts, since it takes a fraction of their memory.
	Set ScriptSet

	Start       int32          // first height; 0 <= Start <= height of Stop
	Stop        chainhash.Hash // last block
	CheckBlocks bool           // drop false positives by looking into matching blocks
}

// ScriptSet is a set of output scripts. It is not changed any more.
type ScriptSet interface {
	// Len returns the number of different scripts.
	Len() int

	// Scripts returns them, in any order; each is valid until the next one comes.
	Scripts() iter.Seq[[]byte]
}

// ScanResult lists the blocks whose filter matched. Without CheckBlocks a match
// may be false, with a probability of 1/784931 for each script and block.
type ScanResult struct {
	From, To int32            // heights matched, both included
	Blocks   []chainhash.Hash // ascending height
	// false when the scan was aborted; then To is the last height before which nothing is left out
	Completed bool
}

// GetScanStatus asks how far the running scan has come.
type GetScanStatus struct{ Control[ScanStatus] }

// ScanStatus is the answer to [GetScanStatus]. The zero value means that no
// scan is running.
type ScanStatus struct {
	Running  bool
	Height   int32 // all heights up to it have been matched
	Progress int   // percent of the range, rounded down
}

// AbortScan ends the running scan; the answer is false when there was none.
type AbortScan struct{ Control[bool] }
