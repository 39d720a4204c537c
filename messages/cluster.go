package messages

import (
	"fmt"
	"time"
)

// GetCluster asks for the state of the cluster that the node takes part in.
type GetCluster struct{ Control[Cluster] }

// Cluster is what a node knows of its cluster: whom it lends work to, and whom it works for.
type Cluster struct {
	Address string          // host:port at which other nodes reach this one
	Local   bool            // it works on its own scans beside the members
	Serves  bool            // it works for others
	Members []ClusterMember // by address
	Lending int             // passes that are lent from now

	Fronts  int    // nodes that it may work for now
	Scans   int    // of theirs
	Units   uint64 // that it has matched for them
	Scripts int64  // bytes that are kept of their scripts

	Refused uint64 // connections and messages that were kept out
}

// ClusterMember is a node that work is lent to.
type ClusterMember struct {
	Address string // by which it is reached
	State   string // "down", "up", "late" where it owes an answer for long, "excluded" after a wrong one
	Build   string // its version; empty until it was heard of
	Workers int    // cores that match
	Height  int32  // of its last block when it was asked last

	Units    uint64        // that it has answered first
	Redone   uint64        // that it did not answer, and others were given
	Twice    uint64        // that it was given because another was slow
	Audited  uint64        // that were done again here, with the same result
	Busy     time.Duration // that its units have taken
	Refusals uint64        // scans and units that it would not do
	Refusal  string        // why, the last time
}

// ClusterError reports a wrong answer of a member of the cluster. No result with a part of this
// member can be trusted.
type ClusterError struct {
	Member   string // its address
	From, To int32  // heights of the blocks, To not included
}

// Error implements error.
func (e *ClusterError) Error() string {
	return fmt.Sprintf("Cluster member %s gave a wrong answer for blocks %d to %d", e.Member, e.From, e.To-1)
}

// AboutRequest implements [Refusal].
func (*ClusterError) AboutRequest() {}
