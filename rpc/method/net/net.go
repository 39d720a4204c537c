// Package net holds the JSON-RPC methods about the node's place in the network
// of its peers: disconnectnode, getconnectioncount, getnetworkinfo and
// getpeerinfo.
//
// The node has no peers: it neither connects nor listens. The methods say so in
// the form that clients of Bitcoin Core know.
package net

import (
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// Deps is what the methods tell of.
type Deps struct {
	Version         int              // of Core's interface: 300200 for 30.2.0
	Subversion      string           // see Subversion
	ProtocolVersion int              // of P2P messages
	Services        wire.ServiceFlag // offered to peers
	Active          bool             // whether connections may be made at all
	Reachable       []string         // networks that addresses are used of: "ipv4"

	// RelayFee and IncrementalFee are the least fees of transactions that are
	// passed on and that replace others, for 1000 virtual bytes.
	RelayFee, IncrementalFee jsontree.Amount

	// Warnings returns what the operator should know; nil: nothing ever.
	Warnings func() []string
}

// Commands returns the methods.
func Commands(d Deps) []command.Command {
	return []command.Command{
		disconnectNode(),
		getConnectionCount(),
		getNetworkInfo(&d),
		getPeerInfo(),
	}
}
