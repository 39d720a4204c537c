package trawl

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/alerts"
	"github.com/seed61375155/trawl/actors/blockindex"
	"github.com/seed61375155/trawl/actors/chain"
	"github.com/seed61375155/trawl/actors/cluster"
	"github.com/seed61375155/trawl/actors/coins"
	"github.com/seed61375155/trawl/actors/discovery"
	"github.com/seed61375155/trawl/actors/events"
	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/actors/mempool"
	"github.com/seed61375155/trawl/actors/notify"
	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/actors/searches"
	"github.com/seed61375155/trawl/actors/stale"
	"github.com/seed61375155/trawl/actors/txbuilder"
	"github.com/seed61375155/trawl/actors/wallets"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/internal/engine/opener"
	"github.com/seed61375155/trawl/internal/index"
	"github.com/seed61375155/trawl/internal/index/blocks"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/part"
	"github.com/seed61375155/trawl/internal/version"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// The parts of a node.
const (
	chainPart     = "chain"
	alertsPart    = "alerts"
	stalePart     = "stale"
	mempoolPart   = "mempool"
	txbuilderPart = "txbuilder"
	coinsPart     = "coins"
	indexerPart   = "indexer"
	coinstatsPart = blocks.CoinStatsName
	txindexPart   = blocks.TxIndexName
	spendersPart  = blocks.SpendersName
	scriptsPart   = blocks.ScriptsName
	pruningPart   = "pruning"
	clusterPart   = "cluster"
	scannerPart   = "scanner"
	discoveryPart = "discovery"
	searchesPart  = "searches"
	notifyPart    = "notify"
	eventsPart    = "events"
	walletsPart   = "wallets"
	syncPart      = "sync"
	relayPart     = "relay"
	peersPart     = "peers"
	attachPart    = "attach"
)

// A parts starts the parts of a node, each of which takes from it what they share.
type parts struct{ *Node }

// table is the node: which actors there are, in which order they start, and whom each
// asks. They stop in reverse. ARCHITECTURE.md shows this table.
func (n parts) table() []part.Part {
	type names = []string
	c := &n.cfg
	off, alone, fetch, two := !c.BlockFilterIndex, c.Peers == nil, names{n.fetchPart()}, names{indexerPart, mempoolPart}
	return []part.Part{
		{Name: chainPart, Start: n.startChain},
		{Name: alertsPart, Start: n.startAlerts},
		{Name: stalePart, Off: !n.net.CountsStale, Start: n.startStale},
		{Name: mempoolPart, Needs: names{chainPart}, Start: n.startMempool},
		{Name: txbuilderPart, Start: n.startTxBuilder},
		{Name: coinsPart, Needs: names{chainPart}, Start: n.startCoins},
		{Name: indexerPart, Needs: names{chainPart}, Later: names{clusterPart}, Off: off, Start: n.startIndexer},
		{Name: coinstatsPart, Needs: names{chainPart}, Off: !c.CoinStatsIndex, Start: n.startCoinStats},
		{Name: txindexPart, Off: !c.TxIndex, Start: n.startTxIndex},
		{Name: spendersPart, Off: !c.TxoSpenderIndex, Start: n.startSpenders},
		{Name: scriptsPart, Off: !c.ScriptIndex, Start: n.startScripts},
		// Blocks are deleted from when all have started who keep some.
		{Name: pruningPart, Needs: names{chainPart}, Off: c.Prune == nil, Start: startPruning},
		{Name: clusterPart, Off: c.Cluster == nil || off, Start: n.startCluster},
		{Name: scannerPart, Needs: names{indexerPart}, Later: fetch, Off: off, Start: n.startScanner},
		{Name: discoveryPart, Needs: names{scannerPart}, Later: fetch, Off: off, Start: n.startDiscovery},
		{Name: searchesPart, Needs: two, Later: fetch, Off: off, Start: n.startSearches},
		{Name: eventsPart, Needs: names{scannerPart}, Start: n.startEvents},
		{Name: notifyPart, Off: c.Notify == nil, Start: n.startNotify},
		{Name: walletsPart, Needs: two, Later: fetch, Off: c.Wallets == nil, Start: n.startWallets},
		{Name: syncPart, Needs: names{chainPart, mempoolPart}, Off: alone, Start: n.startSync},
		{Name: relayPart, Needs: names{mempoolPart}, Off: alone, Start: n.startRelay},
		{Name: peersPart, Needs: names{syncPart, relayPart, indexerPart, mempoolPart}, Off: alone, Start: n.startPeers},
		{Name: attachPart, Needs: names{chainPart}, Off: c.Attach == nil, Start: n.startAttach},
	}
}

// spawn starts the actor of a part. It calls closing, which gives back what only the part has, if that fails.
func (n parts) spawn(
	name string, producer actor.Producer, served []ask.Served, closing func() error,
) (part.Running, error) {
	ref, err := ask.Spawn(n.cfg.System.Root, n.cfg.Log, n.cfg.ActorPrefix+name, n.cfg.MaxCalls, producer, served)
	if err != nil {
		err = fmt.Errorf("trawl: %w", err)
		if closing != nil {
			err = errors.Join(err, closing())
		}
		return part.Running{}, err
	}
	return part.Running{Ref: ref, Close: closing}, nil
}

// startChain starts what owns the chain, and returns when that can be read.
func (n parts) startChain(ctx context.Context, u *part.Uses) (part.Running, error) {
	r, err := n.spawn(chainPart, chain.New(chain.Config{
		Open: n.openEngine(), Network: n.net, Aux: n.cfg.BlockCreation.AuxBlocks(), Files: n.cfg.LoadBlock,
		Moved: &n.moved, Initial: n.initial, Warned: &n.warned, Current: n.view, Tip: n.tip, Now: n.clock.Now,
		Log: n.cfg.Log, OnFailed: u.Fail,
	}), chain.Requests, nil)
	if err != nil {
		return r, err
	}
	return part.Ready(ctx, r, messages.WaitOpen{})
}

func (n parts) openEngine() func(context.Context) (engine.Engine, error) {
	if n.cfg.Attach != nil {
		return n.openFollower
	}
	return opener.New(opener.Config{
		Network: n.net, Clock: n.clock, Dir: filepath.Join(n.cfg.Dir, "chainstate"), BlocksDir: n.cfg.BlocksDir,
		NoXOR: n.cfg.NoBlocksXOR, SmallFiles: n.knobs.SmallFiles, Cache: n.cfg.Cache, Prune: n.pruning(),
		Reindex: n.cfg.Reindex, ReindexState: n.cfg.ReindexState, Strip: n.cfg.PruneWitnesses, TxIndex: n.cfg.TxIndex,
		TxoSpenderIndex: n.cfg.TxoSpenderIndex, Verify: n.cfg.Verify, WroteCoins: n.knobs.WroteCoins, Log: n.cfg.Log,
	}).Open
}

func (n parts) startAlerts(context.Context, *part.Uses) (part.Running, error) {
	return n.spawn(alertsPart, alerts.New(alerts.Config{
		Network: n.net, View: n.view, Tip: n.tip, Initial: n.initial, Changed: &n.warned, Raised: &n.raised,
		Lasting: n.cfg.Warnings, Log: n.cfg.Log,
	}), alerts.Requests, nil)
}

func (n parts) startStale(context.Context, *part.Uses) (part.Running, error) {
	return n.spawn(stalePart, stale.New(stale.Config{
		View: n.view, Initial: n.initial, Moved: &n.moved, Seen: &n.staleSeen, Now: n.clock.Now, Log: n.cfg.Log,
	}), stale.Requests, nil)
}

func (n parts) startMempool(_ context.Context, u *part.Uses) (part.Running, error) {
	if n.cfg.Attach != nil {
		return n.startCorePool(u)
	}
	m := &n.cfg.Mempool
	return n.spawn(mempoolPart, mempool.New(mempool.Config{
		Fees:  mempool.NewFees(n.cfg.Dir, n.net.Fees, n.cfg.StaleFeeEstimates, n.initial).Unless(n.cfg.BlocksOnly),
		Chain: u.Ref(chainPart), View: n.view, Tip: n.tip, Feed: n.pool,
		Rules: n.net.PoolRules(), Policy: n.policy(),
		File: filepath.Join(n.cfg.Dir, "mempool.dat"), Persist: !m.NoPersist,
		OldFile: m.OldFile, NotSaved: u.Unsaved, Now: n.clock.Now, Log: n.cfg.Log,
	}), mempool.Requests, nil)
}

func (n parts) startTxBuilder(context.Context, *part.Uses) (part.Running, error) {
	return n.spawn(txbuilderPart, txbuilder.New(txbuilder.Config{
		Net: n.net.Descriptors(), AllowNoOutputs: n.cfg.AllowNoOutputs,
	}), txbuilder.Requests, nil)
}

func (n parts) startCoins(_ context.Context, u *part.Uses) (part.Running, error) {
	return n.spawn(coinsPart, coins.New(coins.Config{
		Chain: u.Ref(chainPart), Workers: n.cfg.Workers, Magic: n.net.Magic, Log: n.cfg.Log,
	}), coins.Requests, nil)
}

// startIndexer opens the filter index, and starts what keeps it.
func (n parts) startIndexer(ctx context.Context, u *part.Uses) (part.Running, error) {
	locks := n.pruneLocks(u)
	store, err := filter.Open(filter.Config{
		Dir: filepath.Join(n.cfg.Dir, filepath.FromSlash(filter.Folder)), Anew: n.cfg.Reindex || n.cfg.ReindexState,
		Lines: n.method.Layout() != filters.LayoutPlain, RangeFilters: n.cfg.RangeFilters, Log: n.cfg.Log,
	})
	if err != nil {
		return part.Running{}, fmt.Errorf("trawl: %w", err)
	}
	if err := filter.Hold(ctx, locks, n.view.Open(), store, n.net.Answers.PrunedData()); err != nil {
		return part.Running{}, errors.Join(err, store.Close())
	}
	r, err := n.spawn(indexerPart, indexer.New(indexer.Config{
		Store: store, Chain: n.view, Tip: n.tip, HeaderLen: n.net.HeaderLen, Workers: n.cfg.Workers,
		Log: n.cfg.Log, Audit: n.cfg.Attach != nil && n.cfg.Attach.Verifies(), PruneLocks: locks,
		LockName: filter.LockName, OnFailed: u.Fail,
	}), indexer.Requests, store.Close)
	n.store = store
	n.scheduler = match.NewScheduler(match.SchedulerConfig{
		Source: filter.NewSourceFrom(store, n.view.FirstFilter), Method: n.method, Log: n.cfg.Log,
		Workers: n.cfg.Workers, Start: n.cfg.StartWorker, Repair: filter.RepairBy(r.Ref),
		Helper: filter.HelpBy(u.LaterRef(clusterPart)),
	})
	return r, err
}

// startCoinStats starts the index of the sums of the unspent outputs.
func (n parts) startCoinStats(ctx context.Context, u *part.Uses) (part.Running, error) {
	x, r, err := startBlockIndex(ctx, n, u, n.pruneLocks(u), coinstatsPart, blocks.OpenCoinStats)
	n.stats = &blocks.CoinStatsReader{Index: x, Keeper: r.Ref}
	return r, err
}

// startTxIndex starts the index of all transactions.
func (n parts) startTxIndex(ctx context.Context, u *part.Uses) (part.Running, error) {
	x, r, err := startBlockIndex(ctx, n, u, nil, txindexPart, blocks.OpenTxIndex)
	n.txs = &blocks.TxReader{Index: x, Keeper: r.Ref}
	return r, err
}

// startSpenders starts the index of spenders.
func (n parts) startSpenders(ctx context.Context, u *part.Uses) (part.Running, error) {
	x, r, err := startBlockIndex(ctx, n, u, nil, spendersPart, blocks.OpenSpenders)
	n.spenders = &blocks.SpenderReader{Index: x, Chain: n.view, Keeper: r.Ref}
	return r, err
}

// startScripts starts the index of scripts.
func (n parts) startScripts(ctx context.Context, u *part.Uses) (part.Running, error) {
	x, r, err := startBlockIndex(ctx, n, u, nil, scriptsPart, blocks.OpenScripts)
	n.scripts = &blocks.ScriptReader{Index: x, Network: n.net, Chain: n.view, Keeper: r.Ref}
	return r, err
}

// startBlockIndex opens an index of blocks, and starts what keeps it.
func startBlockIndex[X blocks.Index](
	ctx context.Context, n parts, u *part.Uses, locks *Ref, name string, open func(blocks.Config) (X, error),
) (x X, r part.Running, err error) {
	x, err = open(blocks.Config{
		Dir: filepath.Join(n.cfg.Dir, "indexes"), Network: n.net, Prunes: n.cfg.Prune != nil,
		Anew: n.cfg.Reindex || n.cfg.ReindexState, Importing: n.view.Importing, Log: n.cfg.Log,
	})
	if err != nil {
		return x, r, err
	}
	target := index.NewTarget(name, x, n.cfg.Log)
	if err := index.HoldTarget(ctx, locks, n.view.Open(), target, n.net.Answers.PrunedData()); err != nil {
		return x, r, errors.Join(err, x.Close())
	}
	r, err = n.spawn(name, blockindex.New(blockindex.Config{
		Name: name, Target: target, Chain: n.view, Tip: n.tip, PruneLocks: locks, Log: target.Log, OnFailed: u.Fail,
	}), blockindex.Requests, x.Close)
	return x, r, err
}

func startPruning(ctx context.Context, u *part.Uses) (part.Running, error) {
	_, err := ask.Ask(ctx, u.Ref(chainPart), nodemsg.StartPruning{})
	return part.Running{}, err
}

func (n parts) startCluster(ctx context.Context, _ *part.Uses) (part.Running, error) {
	r, err := n.spawn(clusterPart, cluster.New(cluster.Config{
		Options: *n.cfg.Cluster, Network: n.net.Name, Build: version.Number, Workers: n.cfg.Workers,
		Scheduler: n.scheduler, Chain: n.view, HeaderLen: n.net.HeaderLen, Header: filter.HeaderOf(n.store),
		Log: n.cfg.Log,
	}), cluster.Requests, n.cfg.Cluster.Link.Close)
	if err == nil {
		err = cluster.Connect(ctx, n.cfg.Cluster.Link, r.Ref)
	}
	return r, err
}

func (n parts) startScanner(_ context.Context, u *part.Uses) (part.Running, error) {
	return n.spawn(scannerPart, scanner.New(scanner.Config{
		News: &n.scans, Scheduler: n.scheduler, Chain: n.view, Indexer: u.Ref(indexerPart), HeaderLen: n.net.HeaderLen,
		Fetch: n.fetch(u.LaterRef(n.fetchPart())), Log: n.cfg.Log,
	}), scanner.Requests, nil)
}

func (n parts) startDiscovery(_ context.Context, u *part.Uses) (part.Running, error) {
	return n.spawn(discoveryPart, discovery.New(discovery.Config{
		Network: n.net, Chain: n.view, Scanner: u.Ref(scannerPart), Fetch: n.fetch(u.LaterRef(n.fetchPart())),
		Limit: n.cfg.Searches.Scripts, Log: n.cfg.Log,
	}), discovery.Requests, nil)
}

// startSearches opens the store of searches, and starts what owns them.
func (n parts) startSearches(_ context.Context, u *part.Uses) (part.Running, error) {
	dir := filepath.Join(n.cfg.Dir, "searches")
	store, err := searchdb.Open(searchdb.Options{Dir: dir, Network: n.net.Magic, Log: n.cfg.Log})
	if err != nil {
		return part.Running{}, fmt.Errorf("trawl: %w", err)
	}
	return n.spawn(searchesPart, searches.New(searches.Config{
		Store: store, Scheduler: n.scheduler, Chain: n.view, Tip: n.tip, Indexer: u.Ref(indexerPart),
		HeaderLen: n.net.HeaderLen, Fetch: n.fetch(u.LaterRef(n.fetchPart())),
		News: &n.searches, Pool: u.Ref(mempoolPart), Changes: n.pool, Network: n.net.Descriptors(),
		Limits: n.cfg.Searches.Limits(), Room: vfs.DiskRoom(dir), LeastRoom: uint64(n.cfg.Searches.LeastRoom),
		Now: time.Now, Log: n.cfg.Log,
	}), searches.Requests, store.Close)
}

func (n parts) startEvents(_ context.Context, u *part.Uses) (part.Running, error) {
	return n.spawn(eventsPart, events.New(events.Config{
		Tip: n.tip, Pool: n.pool, Wallets: &n.walletsLoaded, WalletTxs: &n.walletTxs, Scans: &n.scans,
		Searches: &n.searches, Peers: &n.peersJoined, Scanner: u.Ref(scannerPart),
	}), events.Requests, nil)
}

func (n parts) startNotify(context.Context, *part.Uses) (part.Running, error) {
	return n.spawn(notifyPart, notify.New(notify.Config{
		Orders: *n.cfg.Notify, Pool: n.pool, PoolTells: n.cfg.Attach == nil,
		View: n.view, Tip: n.tip, Initial: n.initial, Wallets: &n.walletTxs, Raised: &n.raised, Log: n.cfg.Log,
	}), nil, nil)
}

// startWallets starts the registry of wallets, and returns when those that are to be loaded at start have been.
func (n parts) startWallets(ctx context.Context, u *part.Uses) (part.Running, error) {
	w := n.cfg.Wallets
	cfg := wallets.Config{
		Dir: w.Dir, Settings: w.Settings, Load: w.Load, NoStartup: w.LoadNone, OnlyNamed: w.LoadNamed,
		KeyPool: int32(w.KeyPool), Types: keys.AddressTypes{Receive: w.AddressType, Change: w.ChangeType},
		AnyChain: w.AnyChain, Unsafe: w.NoSync, Calls: n.cfg.MaxCalls, Meter: &n.walletMeter, Network: n.net,
		Chain: n.view, Tip: n.tip, Indexer: u.Ref(indexerPart), Scheduler: n.scheduler, Directory: n.walletDir,
		Fetch: n.fetch(u.LaterRef(n.fetchPart())), Pool: u.Ref(mempoolPart), Changes: n.pool, Forget: w.Forget,
		NoBroadcast: w.NoBroadcast, Spending: w.Spending.Options(n.net.WalletFee, n.net.FallbackFee), Now: n.clock.Now,
		Signer: n.cfg.Signer.On(n.net.Name, n.net.Software.Daemon), TxChanges: &n.walletTxs,
		Warn: w.Warn, Warned: &n.warned, Restored: &n.searches, Log: n.cfg.Log, Client: n.net.Software.Name,
	}
	if err := cfg.SetIn(n.cfg.Dir, w.NoSettings); err != nil {
		return part.Running{}, err
	}
	r, err := n.spawn(walletsPart, wallets.New(cfg), wallets.Requests, nil)
	if err != nil {
		return r, err
	}
	return part.Ready(ctx, r, messages.WaitWallets{})
}
