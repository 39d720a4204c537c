// Package netrpc holds the JSON-RPC methods about the node's place in the network
// of its peers.
//
// A node without a peer table neither connects nor listens. The methods that
// only look say so in the form that clients of Bitcoin Core know, the others
// answer that there is no networking.
package netrpc

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// Deps is what the methods tell of.
type Deps struct {
	Version         int    // of Core's interface: 300200 for 30.2.0
	Subversion      string // see Subversion
	ProtocolVersion int    // of P2P messages
	AddressesOnly   bool   // addpeeraddress refuses a text that is no address

	// Peers is the peer table, Sync and Relay follow the peers' chains and
	// relay transactions. Any may be absent.
	Peers, Sync, Relay *ask.Ref

	// ServiceNames are the names of services that are the network's own.
	ServiceNames map[wire.ServiceFlag]string

	// Archive is the service of nodes that give all blocks with their witnesses; 0: there is none.
	Archive wire.ServiceFlag

	AddConnection bool // tests may choose the type of a connection

	// RelayFee and IncrementalFee are the least fees of transactions that are
	// passed on and that replace others, for 1000 virtual bytes.
	RelayFee, IncrementalFee jsontree.Amount

	// Warnings returns what the operator should know; nil: nothing ever.
	Warnings func(context.Context) ([]string, error)

	// LastWarning tells the latest warning alone, as text (-deprecatedrpc=warnings).
	LastWarning bool
}

// Commands returns the methods.
func Commands(d Deps) []command.Command {
	commands := []command.Command{
		addConnection(&d),
		addNode(&d),
		addPeerAddress(&d),
		clearBanned(&d),
		disconnectNode(&d),
		exportASMap(),
		getAddedNodeInfo(&d),
		getAddrmanInfo(&d),
		getConnectionCount(&d),
		getNetTotals(&d),
		getNetworkInfo(&d),
		getNodeAddresses(&d),
		getPeerInfo(&d),
		getRawAddrman(&d),
		listBanned(&d),
		ping(&d),
		sendMsgToPeer(&d),
		setBan(&d),
		setNetworkActive(&d),
	}
	if d.Archive != 0 {
		commands = append(commands, getArchivePeers(&d))
	}
	return commands
}

// errNoNetworking answers what needs a peer table.
var errNoNetworking = command.Error{
	Code: command.P2PDisabled, Message: "Error: Peer-to-peer functionality missing or disabled",
}

// tell asks the peer table for something that is done soon, at any load.
func tell[Q messages.Request[R], R any](ctx context.Context, d *Deps, q Q) (R, error) {
	r, err := ask.Ask(ctx, d.Peers, q)
	if errors.Is(err, ask.ErrAbsent) {
		err = errNoNetworking
	}
	return r, err
}
