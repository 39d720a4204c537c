package trawl

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/index/coinstats"
	"github.com/seed61375155/trawl/internal/index/tx"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p/link"
	"github.com/seed61375155/trawl/internal/part"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// A Node is a running node. Its methods are safe for concurrent use.
type Node struct {
	cfg Config
	net *dialect.Network
	set *part.Set

	// What the parts share.
	clock     *clock.Clock
	view      *chainview.Current
	initial   *chainview.InitialDownload
	tip       *ask.Topic[messages.TipChanged]
	pool      *ask.Feed[messages.PoolChanged]
	raised    ask.Feed[nodemsg.WarningRaised]
	warned    ask.Feed[nodemsg.WarningChanged]
	walletTxs ask.Feed[messages.WalletTxChanged]
	walletDir *ask.Directory
	rejoin    ask.Topic[link.Restarted] // relay is to hear of the peers again

	// What a part has opened for others to read, nil where it is off.
	store   *segment.Store // of the filters
	filters match.Source   // that store, for scans
	stats   *coinstats.Reader
	txs     *tx.Reader
}

// Open starts a node and returns when its chain can be read. Importing blocks
// and building the filter index go on in the background. After an error nothing
// is left running.
func Open(ctx context.Context, cfg Config) (*Node, error) {
	net, err := cfg.network()
	if err != nil {
		return nil, err
	}
	cfg.setDefaults()
	if err := cfg.chooseFilters(); err != nil {
		return nil, err
	}
	if err := cfg.claimDirs(net); err != nil {
		return nil, err
	}
	n := &Node{
		cfg: cfg, net: net, clock: new(clock.Clock), view: new(chainview.Current),
		tip: new(ask.Topic[messages.TipChanged]), pool: new(ask.Feed[messages.PoolChanged]), walletDir: new(ask.Directory),
	}
	n.initial = chainview.NewInitialDownload(n.view, net.MinimumChainWork, cfg.MaxTipAge, n.clock.Now, func() {
		cfg.Log.Info("Leaving InitialBlockDownload (latching to false)")
	})
	if n.set, err = part.Open(ctx, parts{n}.table()); err != nil {
		return nil, err
	}
	return n, nil
}

// Wait returns nil when ctx ends, and an error when an actor has stopped for
// good: its supervisor gave up on it, or it lost its disk, and the node is of no
// more use.
func (n *Node) Wait(ctx context.Context) error { return n.set.Wait(ctx) }

// Close stops the actors one by one, last started first, so that each finishes
// while those it depends on still answer. Each has its own time to stop, which
// ctx may cut short.
func (n *Node) Close(ctx context.Context) error { return n.set.Close(ctx) }

// warnings returns what the operator should know.
func (n *Node) warnings(ctx context.Context) ([]string, error) {
	return ask.Control(ctx, n.set.Ref(alertsPart), nodemsg.GetWarnings{})
}
