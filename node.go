package trawl

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/ask/hostcall"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/metrics/nodestats"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/internal/part"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/eventstream"
	"github.com/seed61375155/trawl/rpc/forward/attachment"
	"github.com/seed61375155/trawl/rpc/method/chainrpc"
	"github.com/seed61375155/trawl/rpc/method/mempoolrpc"
	"github.com/seed61375155/trawl/rpc/method/rawtxrpc"
	"github.com/seed61375155/trawl/rpc/method/searchrpc"
	"github.com/seed61375155/trawl/store/datadir"
)

// A Node is a running node. Its methods are safe for concurrent use.
type Node struct {
	cfg   Config
	knobs part.Knobs // of tests
	net   *dialect.Network
	set   *part.Set

	table func() (*command.Table, error) // for calls in this process, made once

	method filters.Method // by which filters are matched

	// Values that the parts share.
	clock     *clock.Clock
	view      *chainview.Current
	initial   *chainview.InitialDownload
	tip       *ask.Feed[messages.TipChanged]
	pool      *ask.Feed[messages.PoolChanged]
	moved     ask.Feed[chainview.TipMoved]
	staleSeen ask.Feed[nodemsg.StaleBlock]
	raised    ask.Feed[nodemsg.WarningRaised]
	warned    ask.Feed[nodemsg.WarningChanged]
	walletTxs ask.Feed[messages.WalletTxChanged]
	walletDir *ask.Directory
	numbers   *nodestats.Reader

	walletMeter, peerMeter ask.Meter // of actors that come and go
	walletsLoaded          ask.Feed[messages.WalletChanged]
	scans                  ask.Feed[messages.ScanChanged]
	searches               ask.Feed[messages.News]
	peersJoined            ask.Feed[messages.PeerChanged]

	rejoin ask.Feed[peerhandle.Restarted] // relay is to hear of the peers again

	// Opened by a part for others to read; nil where the part is off.
	store     filter.Lookup    // of the filters; nil: there is no index of them
	scheduler *match.Scheduler // of the searches in that store
	stats     chainrpc.CoinStats
	txs       rawtxrpc.TxIndex
	spenders  mempoolrpc.Spenders
	scripts   messages.Scripts
}

// Open starts a node and returns when its chain can be read. Importing blocks
// and building the filter index go on in the background. After an error nothing
// is left running.
func Open(ctx context.Context, cfg Config) (*Node, error) {
	speaks := cfg.Reference
	if cfg.Attach != nil && speaks == 0 {
		speaks = dialect.ReferenceOf(cfg.Attach.CoreVersion(ctx, cfg.Dir))
	}
	net, err := cfg.network(speaks)
	if err != nil {
		return nil, err
	}
	cfg.setDefaults()
	k := part.KnobsOf(ctx)
	method, err := filters.NewMethod(k.FilterKernel, cfg.FilterLayout)
	if err != nil {
		return nil, fmt.Errorf("trawl: Config.FilterLayout: %w", err)
	}
	if err := cfg.checkAttach(); err != nil {
		return nil, err
	}
	if err := datadir.Claim(cfg.dirs(net)); err != nil {
		return nil, err
	}
	n := &Node{
		cfg: cfg, knobs: k, net: net, method: method, clock: clock.At(k.MockTime), view: new(chainview.Current),
		tip: new(ask.Feed[messages.TipChanged]), pool: new(ask.Feed[messages.PoolChanged]),
		walletDir: new(ask.Directory),
	}
	oldTip := net.TipAge(cfg.MaxTipAge)
	n.initial = chainview.NewInitialDownload(n.view, net.MinimumChainWork, oldTip, n.clock.Now, func() {
		cfg.Log.Info("Leaving InitialBlockDownload (latching to false)")
	})
	n.walletDir.Changed = func(name string, loaded bool) {
		n.walletsLoaded.Publish(messages.WalletChanged{Name: name, Loaded: loaded})
	}
	if n.set, err = part.Open(ctx, parts{n}.table()); err != nil {
		return nil, err
	}
	n.numbers = nodestats.New(nodestats.Config{ //nolint:contextcheck // what it asks is answered in any case
		Parts: n.set, Wallet: &n.walletMeter, Peer: &n.peerMeter, Wallets: n.walletDir, Chain: n.view,
		Initial: n.initial, Scheduler: n.scheduler, Dir: n.cfg.Dir, BlocksDir: n.cfg.BlocksDir,
	})
	if a := cfg.Attach; a != nil {
		a.Attach(attachment.Node{Wallets: n.walletDir, Chain: n.Chain(), Pool: n.Mempool(), Log: cfg.Log})
	}
	host := Host{Started: time.Now()}
	n.table = sync.OnceValues(func() (*command.Table, error) { return n.Methods(host) })
	return n, nil
}

// Wait returns nil when ctx ends, and an error when an actor has stopped for good: its supervisor gave up, or its disk
// failed. Then the node is of no more use.
func (n *Node) Wait(ctx context.Context) error { return n.set.Wait(ctx) }

// Close stops the actors one by one, last started first, so that each finishes while those it depends on still answer.
// Each has its own time to stop, which ctx may cut short.
func (n *Node) Close(ctx context.Context) error { return n.set.Close(ctx) }

// warnings returns what the operator should know.
func (n *Node) warnings(ctx context.Context) ([]string, error) {
	return ask.Ask(ctx, n.set.Ref(alertsPart), nodemsg.GetWarnings{})
}

// A Ref addresses one of the node's actors.
type Ref = ask.Ref

// ErrClosed reports that the node was closed, or has failed: then the cause is wrapped too.
var ErrClosed = part.ErrClosed

// Errors of [Ask], beside those that a request documents.
var (
	ErrStopped   = ask.ErrStopped   // the actor stopped before it answered
	ErrRestarted = ask.ErrRestarted // the actor failed while it held the request
	ErrUnhandled = ask.ErrUnhandled // the actor does not serve this request
	ErrAbsent    = ask.ErrAbsent    // the node runs without this actor
)

// Ask sends a request of package messages to an actor and waits for its answer, whose type the request names. It
// returns in any case: with the answer, with the error of ctx, or with one of the errors above.
//
// From inside an actor of the host, which must not wait, use protoactor's RequestFuture with the same message and the
// PID of the Ref; the reply is the answer, or an error.
func Ask[Q messages.Request[R], R any](ctx context.Context, to *Ref, q Q) (R, error) {
	return ask.Ask(ctx, to, q)
}

// Subscribe returns what happens from now on, of some kinds or of all: for what cannot be read later, as [Node.Follow]
// reads blocks. A subscriber that does not read is cut off after some 1,000 events, with [messages.ErrLagged], and
// delays nobody else. It ends with [ErrStopped] when the node is closed, or with its Close.
func (n *Node) Subscribe(ctx context.Context, kinds ...messages.EventKind) (messages.Subscription, error) {
	return ask.Ask(ctx, n.set.Ref(eventsPart), nodemsg.Subscribe{Kinds: kinds})
}

// Events returns what an rpc.Server streams at GET /events.
func (n *Node) Events() rpc.Events {
	s := &eventstream.Source{Chain: n.view, Subscribe: n.Subscribe, Print: searchrpc.NewPrinter(n.net)}
	s.Search, s.Entries = searchrpc.Readers(n.Searches())
	return s
}

// Descriptors returns what descriptors and addresses of the node's network look like.
func (n *Node) Descriptors() *descriptor.Network { return n.net.Descriptors() }

// Chain returns the actor that owns the chain. It serves the requests of messages/chain.go.
func (n *Node) Chain() *Ref { return n.set.Ref(chainPart) }

// Coins returns the actor that reads the set of unspent outputs. It serves the requests
// of messages/coins.go, but for [messages.SnapshotCoins], which Chain serves.
func (n *Node) Coins() *Ref { return n.set.Ref(coinsPart) }

// TxBuilder returns the actor that builds transactions. It serves the requests of messages/tx.go.
func (n *Node) TxBuilder() *Ref { return n.set.Ref(txbuilderPart) }

// Mempool returns the actor that owns the pool of unconfirmed transactions. It
// serves the requests of messages/mempool.go.
func (n *Node) Mempool() *Ref { return n.set.Ref(mempoolPart) }

// Wallets returns the actor that loads, creates and restores wallets, absent when
// the node keeps none. It serves the requests of messages/wallets.go.
func (n *Node) Wallets() *Ref { return n.set.Ref(walletsPart) }

// Wallet returns the actor of a loaded wallet, nil (which is absent) when it is not loaded. It
// serves the requests of messages/wallet.go and messages/wallettx.go.
func (n *Node) Wallet(name string) *Ref {
	return n.walletDir.Lookup(name)
}

// Peers returns the actor that owns the connections to peers, absent when the node
// has none. It serves the requests of messages/peers.go.
func (n *Node) Peers() *Ref { return n.set.Ref(peersPart) }

// Indexer returns the actor that keeps the block filter index, absent when there
// is none. It serves the requests of messages/index.go.
func (n *Node) Indexer() *Ref { return n.set.Ref(indexerPart) }

// Scripts returns what answers from the index of scripts, nil where there is none.
func (n *Node) Scripts() messages.Scripts { return n.scripts }

// Scanner returns the actor that runs scans, absent when there is no index. It serves the requests of messages/scan.go.
func (n *Node) Scanner() *Ref { return n.set.Ref(scannerPart) }

// Scan runs a whole scan; a zero Stop is the tip of this moment. The end of ctx aborts it. progress, which may be nil,
// is called four times a second. Errors: [ErrAbsent], that of ctx, what ReserveScan and RunScan of messages return.
func (n *Node) Scan(
	ctx context.Context, q messages.RunScan, progress func(messages.ScanStatus),
) (messages.ScanResult, error) {
	return hostcall.Scan(ctx, n.Chain(), n.Scanner(), q, progress)
}

// Discovery returns the actor that serves the requests of messages/discover.go, absent when there is no index.
func (n *Node) Discovery() *Ref { return n.set.Ref(discoveryPart) }

// Discover is [messages.DiscoverAccounts] in one call, with progress, cancel and further errors as of [Node.Scan].
func (n *Node) Discover(
	ctx context.Context, q messages.DiscoverAccounts, progress func(messages.DiscoveryStatus),
) (messages.Discovery, error) {
	return hostcall.Discover(ctx, n.Discovery(), q, progress)
}

// Cluster returns the actor that scans together with other nodes, absent where there are none.
func (n *Node) Cluster() *Ref { return n.set.Ref(clusterPart) }

// Stats returns numbers about the node as it is now. Numbers that are not known when ctx ends are left out: it waits
// for no part longer. However often it is called, each part has at most one of its requests in the mailbox.
func (n *Node) Stats(ctx context.Context) messages.NodeStats { return n.numbers.Read(ctx) }

// Searches returns the actor of the searches that are kept, absent when there is no index. It
// serves the requests of messages/search.go.
func (n *Node) Searches() *Ref { return n.set.Ref(searchesPart) }
