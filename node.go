package trawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/alerts"
	"github.com/seed61375155/trawl/actors/chain"
	"github.com/seed61375155/trawl/actors/coins"
	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/actors/mempool"
	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/actors/txbuilder"
	"github.com/seed61375155/trawl/actors/wallets"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/clock"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p/link"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// stopTime is how long one actor may take to stop. The chain writes what it
// holds in memory then.
const stopTime = 5 * time.Minute

// A Node is a running node. Its methods are safe for concurrent use.
type Node struct {
	cfg   Config
	net   *dialect.Network
	clock *clock.Clock
	view  *chainview.Current
	tip   *ask.Topic[messages.TipChanged]
	pool  *ask.Feed[messages.PoolChanged]
	crew  *cores.Crew // nil without the index

	initial *chainview.InitialDownload
	raised  ask.Feed[messages.WarningRaised]

	walletTxs ask.Feed[messages.WalletTxChanged]

	rejoin ask.Topic[link.Restarted] // relay is to hear of the peers again

	store            *segment.Store // nil without the index
	mempool, relay   *Ref
	chain, alerts    *Ref
	txbuilder        *Ref
	coins            *Ref
	indexer, scanner *Ref // nil without the index
	wallets          *Ref // nil without wallets
	walletDir        *ask.Directory
	notify           *Ref                // nil without commands
	sync, peers      *Ref                // nil without peers
	stats            *coinStats          // nil without the index of sums
	txs              *txIndex            // nil without the index of transactions
	fetcher          atomic.Pointer[Ref] // sync, once it has started
	refs             []*Ref              // in start order: each may ask those before it

	mu      sync.Mutex
	failed  error   // why the first actor stopped for good
	unsaved []error // what was not written when the actors stopped
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
		cfg: cfg, net: net, clock: new(clock.Clock),
		view: new(chainview.Current), tip: new(ask.Topic[messages.TipChanged]),
		pool: new(ask.Feed[messages.PoolChanged]),
	}
	n.initial = chainview.NewInitialDownload(n.view, net.MinimumChainWork, cfg.MaxTipAge, n.clock.Now, func() {
		cfg.Log.Info("Leaving InitialBlockDownload (latching to false)")
	})
	if err := n.start(ctx); err != nil {
		return nil, errors.Join(err, n.Close(context.WithoutCancel(ctx)))
	}
	return n, nil
}

// start starts the actors in the order of who may ask whom.
func (n *Node) start(ctx context.Context) error {
	if err := n.startChain(); err != nil {
		return err
	}
	if _, err := ask.Ask(ctx, n.chain, messages.WaitOpen{}); err != nil {
		err = n.why(err)
		if reason, ok := errors.AsType[StartError](err); ok {
			return reason
		}
		return err
	}
	if err := n.startAlerts(); err != nil {
		return err
	}
	if err := n.startMempool(); err != nil {
		return err
	}
	if err := n.startTxBuilder(); err != nil {
		return err
	}
	if err := n.startCoins(); err != nil {
		return err
	}
	if n.cfg.BlockFilterIndex {
		if err := n.startIndex(ctx); err != nil {
			return err
		}
	}
	if n.cfg.CoinStatsIndex {
		if err := n.startCoinStats(ctx); err != nil {
			return err
		}
	}
	if n.cfg.TxIndex {
		if err := n.startTxIndex(); err != nil {
			return err
		}
	}
	if err := n.startPruning(ctx); err != nil {
		return err
	}
	if n.cfg.Notify != nil {
		if err := n.startNotify(); err != nil {
			return err
		}
	}
	if n.cfg.Wallets != nil {
		if err := n.startWallets(ctx); err != nil {
			return err
		}
	}
	if n.cfg.Peers != nil {
		if err := n.startSync(); err != nil {
			return err
		}
		if err := n.startRelay(); err != nil {
			return err
		}
		return n.startPeers(ctx)
	}
	return nil
}

func (n *Node) startChain() error {
	files := make([]chain.BlockFile, len(n.cfg.LoadBlock))
	for i, path := range n.cfg.LoadBlock {
		files[i] = chain.BlockFile{Path: path, Magic: n.net.Magic, MaxBlock: n.net.MaxBlockSize}
	}
	producer := chain.New(chain.Config{
		Open:    (&opener{cfg: &n.cfg, net: n.net, clock: n.clock}).open,
		Files:   files,
		Current: n.view, Tip: n.tip, Log: n.cfg.Log, OnFailed: n.fail,
	})
	return n.spawn(&n.chain, "chain", producer, chain.Requests)
}

func (n *Node) startAlerts() error {
	producer := alerts.New(alerts.Config{
		Network: n.net, View: n.view, Tip: n.tip, Initial: n.initial, Raised: &n.raised, Log: n.cfg.Log,
	})
	return n.spawn(&n.alerts, "alerts", producer, alerts.Requests)
}

// warnings returns what the operator should know.
func (n *Node) warnings(ctx context.Context) ([]string, error) {
	return ask.Control(ctx, n.alerts, messages.GetWarnings{})
}

func (n *Node) startMempool() error {
	m := &n.cfg.Mempool
	producer := mempool.New(mempool.Config{
		Chain: n.chain, View: n.view, Tip: n.tip, Feed: n.pool,
		Rules: txRules(n.net), Policy: m.policy(n.net),
		File: filepath.Join(n.cfg.Dir, "mempool.dat"), Persist: !m.NoPersist, OldFile: m.OldFile, NotSaved: n.notSaved,
		Now: n.clock.Now, Log: n.cfg.Log,
	})
	return n.spawn(&n.mempool, "mempool", producer, mempool.Requests)
}

func (n *Node) startTxBuilder() error {
	producer := txbuilder.New(txbuilder.Config{
		Net: n.net.Descriptors(), AllowNoOutputs: n.cfg.AllowNoOutputs,
	})
	return n.spawn(&n.txbuilder, "txbuilder", producer, txbuilder.Requests)
}

func (n *Node) startCoins() error {
	producer := coins.New(coins.Config{Chain: n.chain, Workers: n.cfg.Workers, Log: n.cfg.Log})
	return n.spawn(&n.coins, "coins", producer, coins.Requests)
}

func (n *Node) startIndex(ctx context.Context) error {
	store, err := openIndex(&n.cfg)
	if err != nil {
		return err
	}
	n.store = store
	if err := n.lockPruning(ctx); err != nil {
		return err
	}
	cfg := indexer.Config{
		Store: store, Chain: n.view, Tip: n.tip, HeaderLen: n.net.HeaderLen,
		Workers: n.cfg.Workers, Log: n.cfg.Log, OnFailed: n.fail,
	}
	if n.cfg.Prune != nil {
		cfg.Keeper, cfg.LockName = n.chain, filterLock
	}
	if err := n.spawn(&n.indexer, "indexer", indexer.New(cfg), indexer.Requests); err != nil {
		return err
	}
	n.crew = cores.NewCrew()
	return n.spawn(&n.scanner, "scanner", scanner.New(scanner.Config{
		Source: scanner.Segments(store), Chain: n.view, Indexer: n.indexer,
		HeaderLen: n.net.HeaderLen, Workers: n.cfg.Workers, Log: n.cfg.Log,
		Spread: n.crew.Spread, Fetch: n.fetch(),
	}), scanner.Requests)
}

// startWallets starts the registry of wallets, and returns when those that are
// to be loaded at start have been.
func (n *Node) startWallets(ctx context.Context) error {
	w := n.cfg.Wallets
	types := wallet.AddressTypes{Receive: w.AddressType, Change: w.ChangeType}
	if err := wallet.CheckTypes(n.net, types); err != nil {
		return err
	}
	dir, settings := w.Dir, w.Settings
	if dir == "" {
		var err error
		if dir, err = wallets.Dir(n.cfg.Dir); err != nil {
			return fmt.Errorf("trawl: wallets directory: %w", err)
		}
	}
	if settings == "" {
		settings = filepath.Join(n.cfg.Dir, "settings.json")
	}
	n.walletDir = new(ask.Directory)
	cfg := wallets.Config{
		Dir: dir, Settings: settings, Load: w.Load, NoStartup: w.LoadNone, KeyPool: int32(w.KeyPool), Types: types,
		AnyChain: w.AnyChain, Unsafe: w.NoSync, Calls: n.cfg.MaxCalls,
		Network: n.net, Chain: n.view, Tip: n.tip, Indexer: n.indexer, Workers: n.cfg.Workers,
		Fetch: n.fetch(), Pool: n.mempool, Changes: n.pool, NoBroadcast: w.NoBroadcast, Forget: w.Forget,
		Now: n.clock.Now, Directory: n.walletDir, TxChanges: &n.walletTxs, Log: n.cfg.Log,
	}
	if n.store != nil {
		cfg.Filters = scanner.Segments(n.store)
	}
	if err := n.spawn(&n.wallets, "wallets", wallets.New(cfg), wallets.Requests); err != nil {
		return err
	}
	_, err := ask.Ask(ctx, n.wallets, messages.WaitWallets{})
	return n.why(err)
}

func (n *Node) spawn(ref **Ref, name string, producer actor.Producer, served []ask.Served) error {
	r, err := ask.Spawn(n.cfg.System.Root, n.cfg.Log, n.cfg.ActorPrefix+name, n.cfg.MaxCalls, producer, served)
	if err != nil {
		return fmt.Errorf("trawl: %w", err)
	}
	*ref = r
	n.refs = append(n.refs, r)
	return nil
}

// fail notes why an actor stops for good.
func (n *Node) fail(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failed == nil {
		n.failed = err
	}
}

// why returns the reason behind err, if an actor gave one.
func (n *Node) why(err error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failed != nil {
		return n.failed
	}
	return err
}

// Wait returns nil when ctx ends, and an error when an actor has stopped for
// good: its supervisor gave up on it, or it lost its disk, and the node is of no
// more use.
func (n *Node) Wait(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	failed := make(chan string, len(n.refs))
	for _, ref := range n.refs {
		go func() {
			select {
			case <-ref.Done():
				failed <- ref.Name()
			case <-ctx.Done():
			}
		}()
	}
	select {
	case <-ctx.Done():
		return nil
	case name := <-failed:
		return n.why(fmt.Errorf("trawl: %s stopped", name))
	}
}

// Close stops the actors one by one, last started first, so that each finishes
// while those it depends on still answer. Each has its own time to stop, which
// ctx may cut short.
func (n *Node) Close(ctx context.Context) error {
	var errs []error
	for _, ref := range slices.Backward(n.refs) {
		errs = append(errs, stop(ctx, ref))
	}
	if n.crew != nil {
		n.crew.Close()
	}
	if n.store != nil {
		errs = append(errs, n.store.Close())
	}
	if n.stats != nil {
		errs = append(errs, n.stats.store.Close())
	}
	if n.txs != nil {
		errs = append(errs, n.txs.store.Close())
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return errors.Join(append(errs, n.unsaved...)...)
}

// notSaved notes what an actor could not write when it stopped.
func (n *Node) notSaved(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.unsaved = append(n.unsaved, err)
}

func stop(ctx context.Context, ref *Ref) error {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	return ref.Stop(ctx)
}

// openIndex opens the store of the filters.
func openIndex(cfg *Config) (*segment.Store, error) {
	dir := indexDir(cfg)
	if cfg.Reindex {
		if err := removeIndex(dir); err != nil {
			return nil, err
		}
	}
	options := segment.Options{Dir: dir, RangeFilters: cfg.RangeFilters, Log: cfg.Log.With(slog.String("category", "index"))}
	if cfg.FilterLayout != string(filters.LayoutPlain) {
		options.MakeLines = filters.AppendLines
	}
	store, err := segment.Open(options)
	if err != nil {
		return nil, fmt.Errorf("trawl: open block filter index: %w", err)
	}
	return store, nil
}
