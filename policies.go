package trawl

import (
	"time"

	"github.com/seed61375155/trawl/actors/cluster"
	"github.com/seed61375155/trawl/actors/notify"
	"github.com/seed61375155/trawl/actors/searches"
	"github.com/seed61375155/trawl/internal/txpool"
	"github.com/seed61375155/trawl/rpc/method/miningrpc"
)

// MempoolConfig says which unconfirmed transactions a node keeps and relays. The defaults are Bitcoin Core 30.2's.
// Fees are in the smallest unit, for 1000 virtual bytes.
type MempoolConfig struct {
	MaxBytes       int64         // of memory, default 300,000,000; negative: nothing is kept
	Expiry         time.Duration // after which a transaction is dropped, default 336 hours
	MinRelayFee    *int64        // default: the network's, 100 on Bitcoin's
	IncrementalFee *int64        // what a replacement must add, default: the network's, 100 on Bitcoin's
	DustFee        *int64        // defines dust, default: the network's, 3000 on Bitcoin's

	AcceptNonStandard bool // also take what is valid and not of a standard form
	NoBareMultisig    bool // such outputs are not standard
	DataCarrier       *int // bytes of scripts that carry data, default: the network's, 100,000 on Bitcoin's
	BytesPerSigOp     int  // virtual bytes that a signature operation counts for, default 20

	// Limits of what a transaction may depend on, and what may depend on it,
	// itself included: default 25 transactions and 101,000 virtual bytes, 404,000 on qbit's networks.
	Ancestors, Descendants         int
	AncestorVSize, DescendantVSize int64
	Cluster, ClusterVSize          *int64 // limits of clusters, default 64, which is the most, and 101,000

	NoPersist bool // do not keep the pool in a file between two runs
	OldFile   bool // write that file in the format of old versions
}

// policy is what the pool keeps.
func (n *Node) policy() txpool.Policy { return n.net.PoolPolicy().With(txpool.Choices(n.cfg.Mempool)) }

// BlockCreationConfig says how the blocks are put together that the node makes, or gives templates of.
type BlockCreationConfig = miningrpc.Choices

// ClusterConfig says with which nodes a node scans together; Link is a *link.Link of actors/cluster/link.
type ClusterConfig = cluster.Options

// NotifyConfig says what other programs are told of: commands that are run, and what is published. Default: nothing.
type NotifyConfig = notify.Orders

// A Publisher hands messages to the subscribers of their topics, as the publisher of actors/notify/zmqsink does.
type Publisher = notify.Publisher

// SearchesConfig bounds the searches that are kept.
type SearchesConfig = searches.Choices
