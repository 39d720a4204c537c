// Package nodemsg defines the messages that the actors of a node send to each other
// and that a host of the node has no use for. Messages that a host may send are in
// package messages.
package nodemsg

import "github.com/seed61375155/trawl/messages"

// refused is a refusal that is nothing but its text.
type refused string

func (r refused) Error() string { return string(r) }

// AboutRequest implements [messages.Refusal].
func (refused) AboutRequest() {}

var _ messages.Refusal = refused("")

// Why [FetchBlock] and [FetchBlockFrom] are refused.
const (
	ErrNoPeer           = refused("peer does not exist")
	ErrPreSegwitPeer    = refused("peer knows no witnesses")
	ErrAlreadyRequested = refused("already requested from this peer")
	ErrImporting        = refused("block files are being read")
	ErrLittleWork       = refused("no chain with the block has the least work")

	// ErrNotKept reports a block that came again and could not be written to the disk.
	ErrNotKept = refused("block could not be written")

	// ErrNoSource reports that no connected peer has given the block.
	ErrNoSource = refused("no peer gave the block")
)
