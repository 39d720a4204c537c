package main

import (
	"fmt"

	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/rpc"
)

// The least number of files and connections that the process needs, as Core counts
// them: the files of its stores, the requested connections to peers, and the port
// that it listens on.
const (
	leastFiles       = 151
	manualPeers      = 8
	enoughStoreFiles = 2048 // that the stores, and the wallets of a large node, have open
)

// A fileBudget divides the files that the process may have open, of which each
// connection is one: a store that gets none for want of them ends the node.
type fileBudget struct {
	peers   int // connections that were not asked for
	callers int // connections of the RPC server
	warning string
}

// budgetFiles divides files, of which -maxconnections may want more than there are.
func budgetFiles(files int, o *options.Settings) (b fileBudget, err error) {
	wanted := int64(int32(o.Int("maxconnections", defaultMaxPeers(o)))) // Core drops the upper half too
	if wanted < 0 {
		return b, refuse("-maxconnections must be greater or equal than zero")
	}
	needed := leastFiles + manualPeers + max(len(o.Strings("bind"))+len(o.Strings("whitebind")), 1)
	if files < needed {
		return b, refuse("Not enough file descriptors available. %d available, %d required.", files, needed)
	}
	b.peers = int(min(wanted, int64(files-needed)))
	if int64(b.peers) < wanted {
		b.warning = fmt.Sprintf(
			"Reducing -maxconnections from %d to %d, because of system limitations.", wanted, b.peers,
		)
	}
	rest := files - b.peers
	b.callers = min(rpc.DefaultMaxConns, max(rest-enoughStoreFiles, rest/3))
	if chosen := o.Int("rpcmaxconnections", 0); chosen > 0 {
		b.callers = int(min(int64(b.callers), chosen))
	}
	return b, nil
}
