package segment

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

var (
	// ErrNotFound reports a block whose filter is not stored, or a height
	// above the tip.
	ErrNotFound = errors.New("filter not found")

	// ErrInvalid reports an entry that cannot be stored, or a tip whose
	// ancestors do not form a chain down to height 0.
	ErrInvalid = errors.New("invalid filter entry")

	// ErrClosed reports a call after Close, or a view after its release.
	ErrClosed = errors.New("filter index is closed")

	// ErrFailed reports a write after a failed write. Open the store again.
	ErrFailed = errors.New("filter index takes no writes after a failure")

	// ErrForeign is returned by [Open] for a directory that holds the index
	// of another program. Nothing in it was changed.
	ErrForeign = errors.New("directory holds a filter index of another program")

	// ErrFault reports mapped memory that cannot be read, because its file
	// became shorter or the disk failed.
	ErrFault = errors.New("mapped file cannot be read")
)

// Reasons of a [DamagedError].
var (
	errChecksum = errors.New("checksum mismatch")
	errHash     = errors.New("filter hash mismatch")
	errHeader   = errors.New("segment header mismatch")
	errSize     = errors.New("wrong file size")
	errNotZero  = errors.New("unused bytes are not zero")
	errMissing  = errors.New("file is missing")
	errKeys     = errors.New("record cannot be read")
)

// DamagedError reports a segment that is not as it was written. Rebuild it
// with [Store.Rebuild].
type DamagedError struct {
	Segment int            // number of the segment
	Block   chainhash.Hash // whose filter is damaged; zero for other bytes
	Reason  error
}

// Error implements error.
func (e *DamagedError) Error() string {
	if e.Block == (chainhash.Hash{}) {
		return fmt.Sprintf("filter segment %d is damaged: %v", e.Segment, e.Reason)
	}
	return fmt.Sprintf("filter segment %d is damaged: filter of block %v: %v",
		e.Segment, e.Block, e.Reason)
}

// Unwrap returns the reason.
func (e *DamagedError) Unwrap() error { return e.Reason }
