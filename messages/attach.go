package messages

import (
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

var (
	// ErrFollows reports a request that only a node can serve which validates its chain
	// itself.
	ErrFollows = refusal("the chain is that of the node that this one is attached to")

	// ErrNotAttached reports a request about the node that this one is attached to, where
	// it is attached to none.
	ErrNotAttached = refusal("the node is attached to none")

	// ErrNodeAway reports that the node that this one is attached to does not answer now.
	ErrNodeAway = refusal("Bitcoin Core does not answer")
)

// GetAttachState asks how it stands with the node that this one is attached to. It is
// answered at once.
//
// Errors: [ErrNotAttached].
type GetAttachState struct{ Control[AttachState] }

// AttachPhase is the phase of a node that is attached to another node.
type AttachPhase string

// The phases.
const (
	AttachStarting  AttachPhase = "starting"  // the other node was not reached yet
	AttachHeaders   AttachPhase = "headers"   // its headers are fetched, or its files looked through
	AttachFollowing AttachPhase = "following" // the tips are the same, or were a moment ago
	AttachHolding   AttachPhase = "holding"   // it builds its chain anew: the chain from before is kept
	AttachAway      AttachPhase = "away"      // it does not answer
	AttachOther     AttachPhase = "other"     // it has another chain, or breaks a rule: nothing of it is taken
)

// AttachState is how it stands with the node that this one is attached to.
type AttachState struct {
	Phase  AttachPhase
	Since  time.Time // of the phase
	Reason string    // of a phase that is no good one, for a person; holds no login

	Node AttachedNode

	Tip     BlockID // of this node
	Lag     int32   // how many blocks the other node's tip is ahead; 0 where it is not known
	Files   bool    // whether its block files are read
	Sources []AttachSource

	// Verified is the height up to which filters that came from the other node were built
	// here, too, since the start; Refused whether one was another, so that none is taken.
	Verified int32
	Refused  bool
}

// AttachedNode is what is known of the node that this one is attached to, from when it
// answered last.
type AttachedNode struct {
	Address         string // URL without a login
	Version         int    // 300200 is 30.2; 0: not known
	Subversion      string
	Chain           string // as getblockchaininfo names it
	Tip             chainhash.Hash
	Blocks, Headers int32
	InitialDownload bool
	PruneHeight     *int32 // first block that it has; nil: it has all
	REST            bool
	FilterIndex     bool
}

// AttachSource counts what has come from one place since the start.
type AttachSource struct {
	Name                  string // "files", "rest" or "rpc"
	Blocks, Undo, Filters int64
}

// GetCopiedPool asks how it stands with the copy of the pool of the node that this one is
// attached to. Only such a node serves it.
type GetCopiedPool struct{ Control[CopiedPool] }

// CopiedPool is how it stands with that copy.
type CopiedPool struct {
	Txs     int
	Bytes   int64     // as serialized
	Missing int       // transactions that are not copied: there is no room for more
	Updated time.Time // when it was last the same as the other node's; zero: never since the start
	Reason  string    // why it is not kept up to date, for a person; empty: it is
}
