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
// The holder of the slot owes a [RunScan] or a [ReleaseScan].
//
// Errors: [ErrScanBusy].
type ReserveScan struct{ Asks[ScanSlot] }

// ScanSlot is a reserved slot. Aborted is closed when the scan is aborted, so that its
// holder ends what is done before or after the scan itself. The slot stays taken until
// then.
type ScanSlot struct {
	ID      uint64
	Aborted <-chan struct{}
}

// ReportScan says how far the holder of a slot is: with the scripts before a [RunScan],
// or with the result after a scan that holds the slot. [GetScanStatus] passes it on.
type ReportScan struct {
	Control[Done]

	Slot     uint64
	Progress int       // percent, 0 to 100
	Stage    ScanStage // empty: of the scripts before a scan, of the result after it
}

// ReleaseScan gives a slot back: without a scan, or after a scan that holds it. A slot
// that was released before is left alone.
type ReleaseScan struct {
	Control[Done]

	Slot      uint64
	Completed bool // says [ScanChanged]
}

// RunScan matches the BIP158 basic filters of a range of blocks against a set
// of output scripts. The range is pinned: the ancestors of Stop from height
// Start on, whatever the active chain does meanwhile. Blocks that the filter
// index has not reached are waited for. The answer arrives when the scan
// ends, which for a whole chain takes minutes; [AbortScan] ends it early. The
// slot is free again when the answer arrives, unless Hold is set.
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

	// Uses sets [ScanResult.Uses]. It goes with CheckBlocks and a Set that is a filters.Query.
	Uses bool

	// Hold keeps the slot after the answer until a [ReleaseScan], for work on the result
	// that is part of the scan: it has a status, and can be aborted. A further RunScan with the slot may be part of
	// that work.
	Hold bool

	// Pass numbers the scans with the same slot from 1 on, and Part is the scan's part of all that work. Both are for
	// the status alone, and zero where there is a single scan.
	Pass int
	Part ScanPart
}

// A ScanPart is a part of some work: from the share that is done before it on, the share of its own, both from 0 to 1.
// The zero value is the whole.
type ScanPart struct{ From, Share float64 }

// Percent returns how much of the whole is done, rounded down, with so many percent of the part.
func (p ScanPart) Percent(done float64) int {
	if p == (ScanPart{}) {
		return int(done)
	}
	return int(100*p.From + p.Share*done)
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

	// Uses has for each block which scripts it creates or spends, by their places in the query, in any order. Of a
	// pruned block it may have a taproot script that the block only seems to spend.
	Uses [][]uint32

	// false when the scan was aborted; then To is the last height before which nothing is left out
	Completed bool
}

// GetScanStatus asks how far the running scan has come.
type GetScanStatus struct{ Control[ScanStatus] }

// ScanStage is what a scan does.
type ScanStage string

// The stages of a scan, in their order.
const (
	ScanDeriving ScanStage = "deriving scripts" // its holder makes the scripts
	ScanMatching ScanStage = ""                 // filters are matched, or unspent outputs read
	ScanReading  ScanStage = "reading result"   // its holder reads what the result is about
)

// ScanStatus is the answer to [GetScanStatus]. The zero value means that no
// scan is running.
type ScanStatus struct {
	Running  bool
	Height   int32     // all heights up to it have been matched, by the present pass
	Progress int       // percent of the stage, rounded down; of the whole work where Pass is not 0
	Stage    ScanStage // what is done now
	Pass     int       // see [RunScan]
}

// AbortScan ends the running scan; the answer is false when there was none, or that of another slot. The slot
// is free once its holder has given it back.
type AbortScan struct {
	Control[bool]

	Slot uint64 // 0: whichever is taken
}
