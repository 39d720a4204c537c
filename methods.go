package trawl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/version"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/chainrpc"
	"github.com/seed61375155/trawl/rpc/method/controlrpc"
	"github.com/seed61375155/trawl/rpc/method/mempoolrpc"
	"github.com/seed61375155/trawl/rpc/method/miningrpc"
	"github.com/seed61375155/trawl/rpc/method/netrpc"
	"github.com/seed61375155/trawl/rpc/method/rawtxrpc"
	"github.com/seed61375155/trawl/rpc/method/searchrpc"
	"github.com/seed61375155/trawl/rpc/method/utilrpc"
	"github.com/seed61375155/trawl/rpc/method/walletrpc"
)

// expansionMemory is how many bytes the scripts of descriptors may take that
// methods keep for the next call, of some 300,000 keys.
const expansionMemory = 32 << 20

// Errors for callers while there is no chain to read.
var (
	loading = command.Error{Code: command.InWarmup, Message: "Loading block index…"}
	stopped = command.Error{Code: command.ClientNotConnected, Message: "Shutting down"}
)

// A CallError is what a method says of its failure: Bitcoin Core's code and words. Every
// error of [Node.Call] wraps one, but that of a context.
type CallError = command.Error

// A CallOption changes one [Node.Call].
type CallOption func(*command.Caller)

// ForWallet says which wallet a call is about, as the path /wallet/NAME of a URL does.
func ForWallet(name string) CallOption {
	return func(c *command.Caller) { c.WalletPath = &name }
}

// Call calls a JSON-RPC method in this process. Methods, checks, results and errors are the
// same as over RPC; there is no server, login or limit. JSON of params must be an array,
// for positional arguments, or an object, for named arguments; nil means no arguments. The
// result is JSON as a client would get it. The call ends with ctx.
//
// An error wraps a [CallError], and what was behind it, for errors.Is. `stop` is refused:
// a node is closed by [Node.Close], after which all calls are refused with [ErrClosed].
func (n *Node) Call(ctx context.Context, method string, params any, opts ...CallOption) (json.RawMessage, error) {
	table, err := n.table()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(params)
	if err != nil {
		return nil, fmt.Errorf("trawl: parameters of %s: %w", method, err)
	}
	var caller command.Caller
	for _, opt := range opts {
		opt(&caller)
	}
	if ended := n.set.Err(); ended != nil { // what is left would answer for a node without wallets
		return nil, fmt.Errorf("%w: %s: %w: %w", stopped, method, ErrStopped, ended)
	}
	result, err := table.Do(ctx, caller, method, text)
	if ended := n.set.Err(); ended != nil && errors.Is(err, chainview.ErrClosed) {
		err = fmt.Errorf("%w: %s: %w", stopped, method, ended) // it is not opened again
	}
	return result, err
}

// A Host describes the program to the methods about the program itself.
type Host struct {
	Stop        func()    // begins to stop the program, and returns at once
	Started     time.Time // of the program
	LogPath     string    // absolute path of the log file
	Comments    []string  // in the user agent (-uacomment)
	LastWarning bool      // methods tell the latest warning as text, in place of a list of all
	Deprecated  []string  // what is going away and stays, by the words of -deprecatedrpc

	Log controlrpc.LogFilter // what the method logging tells and changes; nil: nothing

	// Published is what the Publisher of [NotifyConfig] publishes, for getzmqnotifications.
	Published []Publication
}

// A Publication is a topic that is published at an address.
type Publication = controlrpc.Publication

// Methods returns the node's JSON-RPC methods, to be served by an rpc.Server.
func (n *Node) Methods(h Host) (*command.Table, error) {
	subversion, err := netrpc.Subversion(n.net.Software.Agent, h.Comments, version.Number)
	if err != nil {
		return nil, err
	}
	policy, ref, signer := n.policy(), n.set.Ref, n.cfg.Signer.On(n.net.Name, n.net.Software.Daemon)
	expansions := descriptor.NewExpansions(expansionMemory)
	chainMethods := n.chainMethods(expansions, h.LastWarning)
	txMethods := rawtxrpc.Deps{
		Network: n.net, Chain: n.view, Pool: ref(mempoolPart), Builder: ref(txbuilderPart), Currency: n.net.Coin,
		Unspent: rawtxrpc.Unspent(ref(mempoolPart)), Txs: n.txs, BytesPerSigOp: policy.BytesPerSigOp,
	}
	lists := [][]command.Command{
		controlrpc.Commands(controlrpc.Node{
			Name: n.net.Software.Own, Stop: h.Stop, Started: h.Started, Now: n.net.Answers.UptimeClock(n.clock.Now),
			LogPath: h.LogPath, Published: h.Published, Log: h.Log, Cluster: ref(clusterPart),
			Unlisted: n.net.LogNames.Unlisted, GoneCategory: n.net.LogNames.Gone, Warn: n.cfg.Log.Warn,
		}),
		chainrpc.Commands(chainMethods),
		mempoolrpc.Commands(mempoolrpc.Deps{
			Network: n.net, Pool: ref(mempoolPart), Relay: ref(relayPart), Spenders: n.spenders,
			Peers: ref(peersPart), Private: n.cfg.Peers != nil && n.cfg.Peers.PrivateBroadcast,
			Wallets: walletrpc.Written(ref(walletsPart), n.walletDir),
		}),
		miningrpc.Commands(miningrpc.Deps{
			Network: n.net, Chain: n.view, Actor: ref(chainPart), Pool: ref(mempoolPart), Peers: ref(peersPart),
			Relay: ref(relayPart), Wallets: ref(walletsPart), Now: n.clock.Now, ClockHeeded: miningrpc.HeededBy(ref),
			Blocks: n.cfg.BlockCreation.Limits(n.net), Initial: n.initial, Warnings: n.warnings, Log: n.cfg.Log,
			LastWarning: h.LastWarning, Stale: ref(stalePart),
		}),
		netrpc.Commands(netrpc.Deps{
			Warnings: n.warnings, LastWarning: h.LastWarning, ServiceNames: n.net.ServiceNames, Archive: n.net.Archive,
			Version: n.net.Software.Version, Subversion: subversion, ProtocolVersion: int(n.net.ProtocolVersion),
			Peers: ref(peersPart), Sync: ref(syncPart), Relay: ref(relayPart), AddConnection: n.net.MineOnDemand,
			AddressesOnly: n.net.AddsAddressesOnly, RelayFee: jsontree.Amount(policy.MinRelayFee.PerKvB()),
			IncrementalFee: jsontree.Amount(policy.IncrementalFee.PerKvB()),
		}),
		rawtxrpc.Commands(txMethods),
		searchrpc.Commands(searchrpc.Deps{
			Network: n.net, Searches: ref(searchesPart), Chain: &chainMethods, Scripts: n.scripts,
		}),
		utilrpc.Commands(utilrpc.Deps{Net: n.net.Descriptors(), Expansions: expansions, Signers: signer.Signers}),
	}
	if w := n.cfg.Wallets; w != nil {
		lists = append(lists, walletrpc.Commands(walletrpc.Deps{
			Network: n.net, Chain: n.view, Wallets: ref(walletsPart), Directory: n.walletDir, Pool: ref(mempoolPart),
			Currency: n.net.Coin, Unspent: rawtxrpc.Unspent(ref(mempoolPart)), SetTxFee: w.Spending.SetTxFee,
			NotReplaceable: w.Spending.NotReplaceable, Complete: chainMethods.Complete,
		}))
	}
	t, err := command.NewTable(lists...)
	if err != nil {
		return nil, err
	}
	t.Speak(n.net.Reference, h.Deprecated...).Reword(n.net.HelpWords...).Know(
		command.KnownError{Err: chainview.ErrNotReady, As: loading},
		command.KnownError{Err: chainview.ErrClosed, As: loading}, // until its actor has opened it again
		command.KnownError{Err: ask.ErrStopped, As: stopped},
	)
	if a := n.cfg.Attach; a != nil {
		return a.Serve(t), nil
	}
	readers := command.Readers{ChainReader: chainrpc.Reader(chainMethods), TxReader: rawtxrpc.Reader(txMethods)}
	return t.Read(readers), nil
}

func (n *Node) chainMethods(expansions *descriptor.Expansions, lastWarning bool) chainrpc.Deps {
	ref := n.set.Ref
	d := chainrpc.Deps{
		Network: n.net, Chain: n.view, Actor: ref(chainPart), Coins: ref(coinsPart), Now: n.clock.Now,
		Dir: n.cfg.Dir, LastWarning: lastWarning, Expansions: expansions, Sync: ref(syncPart), Pool: ref(mempoolPart),
		Initial: n.initial, Warnings: n.warnings, Stale: ref(stalePart), Spread: n.cfg.StartWorker,
		Attached: n.cfg.Attach != nil, CoinStats: n.stats, Txs: n.txs, ScriptLimit: n.cfg.Searches.Scripts,
		Others: chainrpc.NamedIndexes(ref, txindexPart, coinstatsPart, spendersPart, scriptsPart),
	}
	if p := (parts{n}).pruning(); p != nil {
		d.Pruning = &chainrpc.Pruning{Target: p.Target, After: p.After}
	}
	if n.store != nil {
		filters := &filter.Reader{Store: n.store, Indexer: ref(indexerPart)}
		d.Index = &chainrpc.Index{Filters: filters, Indexer: ref(indexerPart), Scanner: ref(scannerPart)}
		d.Index.Discovery = ref(discoveryPart)
	}
	return d
}
