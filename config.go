package trawl

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/wallets/device"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/wallet/spend"
	"github.com/seed61375155/trawl/messages"
)

// Defaults of a [Config].
const (
	DefaultCache    = 450 << 20
	DefaultMaxCalls = 64
)

// A StartError is a reason not to start, in Core's words and meant for the operator.
type StartError = messages.StartError

// Config is everything a [Node] is told. The zero value of a field is its documented default.
type Config struct {
	// Dir holds the node's files: blocks, chainstate and indexes are folders in it, made when missing. Required. Only
	// one node may use it at a time; locking it is the host's business.
	Dir string

	// Chain is one of main, test, testnet4, signet and regtest. Required.
	Chain string

	// Dialect is whose networks those are: bitcoin, the default, or qbit, whose chains pay to P2MR outputs.
	Dialect string

	Reference int // speak as Bitcoin Core 30 or 32; default: as the one attached to, or else 32; not for qbit

	// Regtest changes the rules of a regtest.
	Regtest RegtestConfig

	// SignetChallenge is the output script that blocks of a signet are signed for. Default: the public signet's.
	SignetChallenge []byte

	BlocksDir string   // default: blocks in Dir
	LoadBlock []string // files of blocks to import, in order

	// BlockFilterIndex keeps the BIP158 filters of all blocks, which scans need.
	BlockFilterIndex bool

	// FilterLayout says which index of the filters' elements is kept beside the filters. The layouts auto (the
	// default) and probe keep probe lines: they take some 28 % of the filters' size and make searches for few scripts
	// many times as fast. The layout plain keeps none. With probe, lines are used even where they are slower.
	FilterLayout string

	// RangeFilters keeps a filter of all scripts of every 2,048 blocks, some 40 % of the block filters' size. With
	// them, scans that look into blocks, and rescans of wallets, pass over most of the chain.
	RangeFilters bool
	// Searches bounds the searches that are kept, which need BlockFilterIndex.
	Searches SearchesConfig

	// Cluster says with which nodes this one scans together, by BlockFilterIndex. Default: none.
	Cluster *ClusterConfig

	// TxIndex keeps an index of all transactions, so that those of the chain are
	// found by their id alone. It cannot be kept together with Prune.
	TxIndex bool

	TxoSpenderIndex bool // keeps an index of the spenders of all outputs; as TxIndex, not together with Prune
	ScriptIndex     bool // keeps an index of the blocks of each script, for [Node.Scripts]; not together with Prune

	// CoinStatsIndex keeps sums and hashes of the unspent outputs as of every block.
	CoinStatsIndex bool

	// Prune lets old blocks be deleted. Default: all are kept.
	Prune *PruneConfig

	PruneWitnesses bool // old blocks lose their witnesses; on qbit's networks alone, and without those indexes

	Verify       *messages.StartChecks // of the chain; nil: none
	Reindex      bool                  // build everything anew from the block files
	ReindexState bool                  // build the chain state and the indexes anew
	NoBlocksXOR  bool                  // do not obfuscate new block files
	Cache        int64                 // bytes for unspent outputs in memory, default DefaultCache
	MaxCalls     int                   // unanswered requests an actor takes on, default DefaultMaxCalls
	Warnings     []string              // told to the operator as long as the node runs, beside its own

	// Workers is the number of goroutines that match filters for all searches together, and of goroutines that build
	// filters. Default: the number of processors. If Workers equals GOMAXPROCS, data from the network may wait for 10
	// ms while they work, the time after which Go polls the network in any case. A higher GOMAXPROCS avoids the wait.
	Workers int

	// StartWorker starts a goroutine that computes for long, of which there are up to Workers at a time, better than
	// the go statement would: on a core that is idle. Default: the go statement, and no thread of the program is bound
	// to a core. The daemon, which has the machine to itself, binds one to each.
	StartWorker func(work func())

	AllowNoOutputs    bool          // lets createrawtransaction make a transaction without outputs, as Core does
	BlocksOnly        bool          // take no transactions of peers but of those with the permission
	StaleFeeEstimates bool          // use those of the last run even if they are older than 60 hours
	Notify            *NotifyConfig // commands that run when something happens; nil: none

	// BlockCreation says how blocks are put together.
	BlockCreation BlockCreationConfig

	// Mempool says which transactions are kept and relayed.
	Mempool MempoolConfig

	Wallets *WalletConfig  // how wallets are kept; nil: none are
	Signer  device.Program // for signing devices: its Chain is the node's

	// Peers says how the node takes part in the network of its peers. Default: it does not.
	Peers *PeerConfig

	// Attach says which Bitcoin Core the node is attached to: what it validates is the
	// chain. Default: none, the node validates its chain itself.
	Attach *Attachment

	// MinimumChainWork is the work that the active chain must have before the node counts as up to date, and a peer's
	// chain before its blocks are fetched, in hex. Default: that of the network.
	MinimumChainWork string

	// AssumeValid is the hash of a block, in hex, whose ancestors' scripts are not executed as long as it is in the
	// best chain; "0": all are. Default: the network's.
	AssumeValid string

	// MaxTipAge is the age of the tip from which on the node counts as behind. Default: 24 hours.
	MaxTipAge time.Duration

	// System is the actor system to live in. Default: one of the node's own.
	// The node's actors then have names that begin with ActorPrefix.
	System      *actor.ActorSystem
	ActorPrefix string

	Log *slog.Logger // default: discard
}

// RegtestConfig holds what the operator of a regtest may choose.
type RegtestConfig struct {
	Activation  map[string]int32            // heights of rules, by the names of -testactivationheight
	VersionBits map[string]VersionBitsRules // of rules that miners decide, by the names of -vbparams
	BIP94       bool                        // the rules of testnet4 against time warps hold

	// The rest is for the dialect qbit.
	AnyOutput       bool // outputs need not be P2MR
	ASERT, Periodic bool // targets follow the time of blocks, by lane; or change after a number of blocks, as Bitcoin's
}

// VersionBitsRules say when and where miners can signal for a rule (BIP9). Times are medians, in seconds since 1970. A
// start of -1 makes the rule hold always, one of -2 never.
type VersionBitsRules = dialect.VersionBits

// HasActivation reports whether a rule of that name has a height that a [RegtestConfig] of the dialect can choose.
func HasActivation(family, name string) bool { return dialect.HasRule(family, name) }

// HasVersionBits is the same of rules that miners decide by a [Config.Reference].
func HasVersionBits(name string, reference int) bool { return dialect.HasDeployment(name, reference) }

// WalletConfig says how a node keeps wallets.
type WalletConfig struct {
	Dir         string        // default: wallets in Config.Dir
	Settings    string        // file of settings that change at run time, default settings.json in Config.Dir
	NoSettings  bool          // keep no such file: what is loaded at start does not change
	Load        []string      // names of wallets to load at start, beside those of the settings
	LoadNone    bool          // load no wallet at start
	LoadNamed   bool          // load the wallets of Load alone at start, and none of the settings
	KeyPool     int           // addresses to derive ahead, default 1000
	AddressType string        // of new addresses: legacy, p2sh-segwit, bech32 or bech32m; default bech32
	ChangeType  string        // of addresses for change; default AddressType
	AnyChain    bool          // take wallets that have seen another chain
	Forget      func()        // called when a wallet was locked or unloaded, to wipe what is left of its keys
	Warn        func(string)  // called with each text for the operator about wallets that are not loaded at start
	NoBroadcast bool          // do not hand the wallets' transactions to the memory pool
	NoSync      bool          // do not wait for the disk: what is acknowledged may be lost
	Spending    spend.Choices // how wallets pay
}

// network checks what is required and returns the chain's values, with the words of a version of Bitcoin Core.
func (c *Config) network(speaks int) (*dialect.Network, error) {
	if c.Dir == "" {
		return nil, errors.New("trawl: Config.Dir is required")
	}
	net, err := dialect.Named(c.Dialect, c.Chain, dialect.Choices{
		Reference: speaks, SignetChallenge: c.SignetChallenge, AnyOutput: c.Regtest.AnyOutput, ASERT: c.Regtest.ASERT,
		Periodic: c.Regtest.Periodic, Activation: c.Regtest.Activation, VersionBits: c.Regtest.VersionBits,
		BIP94: c.Regtest.BIP94, BlockVersion: c.BlockCreation.Version,
	})
	if err != nil {
		return nil, fmt.Errorf("trawl: network of the Config: %w", err)
	}
	if err := c.BlockCreation.Check(net); err != nil {
		return nil, err
	}
	if err := net.Assume(c.MinimumChainWork, c.AssumeValid); err != nil {
		return nil, fmt.Errorf("trawl: Config.%w", err)
	}
	c.Signer.FirstDevices = net.Answers.FirstDevices
	return net, nil
}

func (c *Config) setDefaults() {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.BlocksDir, c.Cache = cmp.Or(c.BlocksDir, filepath.Join(c.Dir, "blocks")), cmp.Or(c.Cache, DefaultCache)
	c.Workers = cmp.Or(c.Workers, cores.Count())
	c.MaxCalls = cmp.Or(c.MaxCalls, DefaultMaxCalls)
	if c.System == nil {
		c.System = ask.NewSystem(c.Log)
	}
}
