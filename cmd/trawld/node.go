package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/metrics"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/part"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/web"
)

// shutdownTime is how long running calls may take to end when the node stops.
const shutdownTime = 30 * time.Second

// daemon is a node with its RPC server.
type daemon struct {
	*session
	server  *rpc.Server  // nil with -server=0
	page    *web.Handler // of the server; nil: none
	node    *trawl.Node
	metrics *metrics.Exporter // nil without -prometheus
	scraped *metrics.Server   // the same
	stop    context.CancelFunc
}

// startNode runs the node of a session until ctx ends, the method stop is
// called, or the node fails.
func startNode(ctx context.Context, s *session) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d := &daemon{session: s, stop: stop}
	files, err := budgetFiles(maxFiles(), s.settings)
	if err != nil {
		return err
	}
	for _, warning := range []string{files.warning, warnOfCache(s.settings, systemMemory(os.DirFS("/")))} {
		if warning != "" {
			s.warn(warning)
		}
	}
	if err := s.openPublisher(); err != nil { //nolint:contextcheck // looks up a name, for seconds at most
		return err
	}
	defer func() { err = errors.Join(err, s.closePublisher()) }()
	cfg, err := nodeConfig(s, files)
	if err != nil {
		return err
	}
	s.logMagic(cfg)
	cfg.Signer.Command = s.settings.String("signer", "")
	cfg.Signer.Timeout = time.Duration(s.settings.Int("signertimeout", 0)) * time.Second
	if cfg.BlockFilterIndex { // only scans are in a hurry
		threads := cores.NewWorkerThreads()
		defer threads.Close()
		cfg.StartWorker = threads.Start
	}
	if err := d.openMetrics(ctx); err != nil {
		return err
	}
	scraped := d.serveMetrics()
	defer func() { <-scraped }()
	if err := d.openServer(files); err != nil {
		return errors.Join(err, d.closeMetrics(context.WithoutCancel(ctx)))
	}
	served := d.serve()
	failed := d.run(ctx, cfg)
	s.stopping(ctx)
	return errors.Join(failed, d.close(context.WithoutCancel(ctx), served))
}

// openServer binds the RPC server, which answers that the node is starting.
func (d *daemon) openServer(files fileBudget) error {
	if err := web.RemoveUploads(d.netDir); err != nil {
		return err
	}
	if !d.settings.Bool("server", true) {
		return nil
	}
	if _, err := portOf(d.settings, "rpcport"); err != nil {
		return err
	}
	cfg := serverConfig(d.session, files)
	if d.metrics != nil {
		cfg.Observer = d.metrics.Observer()
	}
	if d.settings.Bool("webui", true) {
		page, err := web.New(web.Config{Log: d.log, Dir: d.netDir})
		if err != nil {
			return err
		}
		cfg.Page, d.page = page, page
	}
	server, err := rpc.NewServer(cfg)
	d.server = server
	if err != nil {
		return err
	}
	d.serving.Store(server)
	if d.metrics != nil {
		d.metrics.AddServer(func() rpc.Load { return rpc.LoadOf(server) })
	}
	return d.writeAddress()
}

// serve starts to answer; what it returns is closed, or carries an error, when
// that has ended. An end that nobody asked for ends the program.
func (d *daemon) serve() <-chan error {
	ended := make(chan error, 1)
	if d.server == nil {
		close(ended)
		return ended
	}
	go func() {
		if err := d.server.Serve(); err != nil {
			ended <- fmt.Errorf("RPC server: %w", err)
			d.stop()
		}
		close(ended)
	}()
	return ended
}

// run opens the node and holds it until it is to stop.
func (d *daemon) run(ctx context.Context, cfg trawl.Config) error {
	d.yieldTorPort(cfg.Peers)
	started := time.Now()
	if err := d.checkRoom(); err != nil {
		return err
	}
	d.message("Loading block index…")
	cfg.Verify.Begun = func() { d.message("Verifying blocks…") }
	node, err := trawl.Open(part.WithKnobs(ctx, knobsOf(d.settings, d.log)), cfg)
	if ctx.Err() != nil && node == nil {
		return nil // told to stop before it was up
	}
	if err != nil {
		return err
	}
	d.node = node
	if d.metrics != nil {
		d.metrics.AddNode(node.Stats)
	}
	if cfg.Attach == nil {
		if err := d.checkTime(ctx); err != nil {
			return err
		}
	}
	if err := d.warnOfRoom(ctx, cfg); err != nil {
		return err
	}
	table, err := node.Methods(trawl.Host{
		Stop: d.stop, Started: started, LogPath: logPath(d.settings), Published: d.published, Log: d.filter,
		Comments:    d.settings.Strings("uacomment"),
		LastWarning: slices.Contains(d.settings.Strings("deprecatedrpc"), "warnings"),
		Deprecated:  d.settings.Strings("deprecatedrpc"),
	})
	if err != nil {
		return err
	}
	if d.settings.Bool("rpcdoccheck", false) {
		table.CheckResults()
	}
	if d.server != nil {
		d.server.Streams.Serve(node.Events())
		d.server.Ready(table)
	}
	d.say("Done loading") // programs that wait for this line in the log call at once
	d.ready(ctx)
	d.invite()
	go d.keepAlive(ctx, d.chainAnswers)
	go d.watchRoom(ctx, roomTurn, func() bool { return d.hasRoom(d.blocksDir, leastRoom) })
	if d.settings.Bool("stopafterblockimport", false) {
		go d.stopAfterImport(ctx)
	}
	if height := int32(d.settings.Int("stopatheight", 0)); height != 0 { // Core drops the upper half too
		go d.stopAtHeight(ctx, height)
	}
	return node.Wait(ctx)
}

// message notifies callers, the log and the service manager of what the node is doing before it answers calls.
func (d *daemon) message(text string) {
	if d.server != nil {
		d.server.SetWarmup(text)
	}
	d.say(text)
}

// close stops the server first, so that nothing new is asked of the node.
func (d *daemon) close(ctx context.Context, served <-chan error) error {
	var errs []error
	limited, cancel := context.WithTimeout(ctx, shutdownTime)
	defer cancel()
	if err := d.closeMetrics(limited); err != nil {
		errs = append(errs, fmt.Errorf("stop metrics: %w", err))
	}
	if d.server != nil {
		if err := d.server.Shutdown(limited); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			errs = append(errs, fmt.Errorf("stop RPC server: %w", err))
		}
		errs = append(errs, <-served, d.forgetAddress())
	}
	if d.node != nil {
		errs = append(errs, d.node.Close(ctx))
	}
	return errors.Join(errs...)
}

// nodeConfig reads the options that concern the node.
func nodeConfig(s *session, files fileBudget) (trawl.Config, error) {
	o := s.settings
	core, err := reference(o)
	if err != nil {
		return trawl.Config{}, err
	}
	index, err := filterIndex(o)
	if err != nil {
		return trawl.Config{}, err
	}
	challenge, err := signetChallenge(o)
	if err != nil {
		return trawl.Config{}, err
	}
	keep, err := walletConfig(s)
	if err != nil {
		return trawl.Config{}, err
	}
	rules, err := regtestConfig(o)
	if err != nil {
		return trawl.Config{}, err
	}
	prune, strip, err := prunings(o)
	if err != nil {
		return trawl.Config{}, err
	}
	connections, err := peerConfig(s, files.peers)
	if err != nil {
		return trawl.Config{}, err
	}
	work, err := minimumWork(o)
	if err != nil {
		return trawl.Config{}, err
	}
	assumed, err := assumedValid(o)
	if err != nil {
		return trawl.Config{}, err
	}
	pool, err := mempoolConfig(o)
	if err != nil {
		return trawl.Config{}, err
	}
	if err := checkRelayed(o, keep, &pool); err != nil {
		return trawl.Config{}, err
	}
	stale, err := staleFeeEstimates(o)
	if err != nil {
		return trawl.Config{}, err
	}
	if err := checkFetchThreads(o); err != nil {
		return trawl.Config{}, err
	}
	blocks, err := blockCreationConfig(o)
	if err != nil {
		return trawl.Config{}, err
	}
	if s.attached != nil {
		index, connections = true, nil
	}
	together, err := s.clusterConfig(index)
	if err != nil {
		return trawl.Config{}, err
	}
	return trawl.Config{
		Attach: s.attached, Warnings: s.warnings, MaxTipAge: maxTipAge(o),
		BlockCreation: blocks, Notify: s.notifyConfig(o), MinimumChainWork: work, AssumeValid: assumed,
		Wallets: keep, Peers: connections, Prune: prune, PruneWitnesses: strip, TxIndex: o.Bool("txindex", false),
		TxoSpenderIndex: o.Bool("txospenderindex", false),
		ScriptIndex:     o.Bool("scriptindex", false),
		CoinStatsIndex:  o.Bool("coinstatsindex", false), Dialect: o.Dialect(), Reference: core, Regtest: rules,
		Mempool: pool, BlocksOnly: o.Bool("blocksonly", false),
		StaleFeeEstimates: stale,
		Dir:               s.netDir, Chain: string(o.Chain()), BlocksDir: s.blocksDir,
		SignetChallenge: challenge, LoadBlock: o.Strings("loadblock"), BlockFilterIndex: index,
		FilterLayout: o.String("filterlayout", ""),
		RangeFilters: o.Bool("rangefilters", false), Searches: searchesConfig(o),
		Cluster:        together,
		AllowNoOutputs: slices.Contains(o.Strings("deprecatedrpc"), "emptyoutputs"),
		Reindex:        o.Bool("reindex", false), ReindexState: o.Bool("reindex-chainstate", false),
		NoBlocksXOR: !o.Bool("blocksxor", true), Verify: startChecks(o),
		Cache: settledMemory(o).cache, Workers: workers(o), Log: s.log,
	}, nil
}

// workers reads -par as Core does: 0 for all processors, negative to leave so
// many free.
func workers(o *options.Settings) int {
	par := int(o.Int("par", 0))
	if par <= 0 {
		par += cores.Count()
	}
	return max(par, 1)
}

// filterIndex reports whether -blockfilterindex asks for the index.
func filterIndex(o *options.Settings) (bool, error) {
	on := false
	for _, value := range o.Strings("blockfilterindex") {
		switch value {
		case "", "1", "basic":
			on = true
		case "0":
			on = false
		default:
			return false, refuse("Unknown -blockfilterindex value %s.", value)
		}
	}
	return on, nil
}

func signetChallenge(o *options.Settings) ([]byte, error) {
	values := o.Strings("signetchallenge")
	if len(values) == 0 || o.Chain() != options.Signet {
		return nil, nil
	}
	if len(values) > 1 {
		return nil, refuse("-signetchallenge cannot be multiple values.")
	}
	script, err := hex.DecodeString(values[0])
	if err != nil || len(script) == 0 {
		return nil, refuse("-signetchallenge must be hex, not '%s'.", values[0])
	}
	return script, nil
}

// atLeastOne raises a number of workers as Core does.
func atLeastOne(n int64) int { return int(max(n, 1)) }
