// Package table lists the options of the programs: for daemon and client the names that Bitcoin
// Core 30.2 accepts, each with a help text of our own. Reading and precedence
// are the business of package options.
package table

import (
	"slices"

	"github.com/seed61375155/trawl/internal/options"
)

// Short names for the columns of the tables.
const (
	sensitive   = options.Sensitive
	networkOnly = options.NetworkOnly
	noNegation  = options.NoNegation
	needsValue  = options.NeedsValue
	debug       = options.Debug
	hidden      = options.Hidden
	unused      = options.Unused
)

// Daemon returns the options of trawld.
func Daemon() []options.Option {
	return slices.Concat(
		in(options.General, general),
		in(options.General, help),
		in(options.Connection, connection),
		in(options.Wallet, wallet),
		in(options.WalletDebug, walletDebug),
		in(options.Debugging, logging),
		in(options.Debugging, debugging),
		in(options.ChainSelection, chain),
		in(options.Relay, relay),
		in(options.BlockCreation, blockCreation),
		in(options.RPC, rpc),
		in(options.ZMQ, zmq),
	)
}

// CLI returns the options of trawl-cli. It reads the same files as the daemon
// and passes over the options there that it does not know.
func CLI() []options.Option {
	return slices.Concat(
		in(options.General, client),
		in(options.General, help),
		in(options.ChainSelection, chain),
		in(options.Commands, clientCommands),
	)
}

// DefaultCore is the version of Bitcoin Core that is spoken as where nobody chooses.
const DefaultCore = "32"

// WalletTool returns the options of trawl-wallet, which reads no files of options.
func WalletTool() []options.Option {
	return slices.Concat(
		in(options.General, walletTool),
		in(options.General, help),
		in(options.ChainSelection, chain),
	)
}

// in puts all rows into one category.
func in(category options.Category, rows []options.Option) []options.Option {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].Category = category
	}
	return rows
}

// help are the help options of both programs.
var help = []options.Option{
	{Name: "?", Flags: hidden},
	{Name: "h", Flags: hidden},
	{Name: "help", Help: "Show this help and exit (also -h or -?)"},
	{Name: "version", Help: "Show the version and exit"},
}

// chain selects the network, for both programs.
var chain = []options.Option{
	{
		Name: "chain", Arg: "<chain>",
		Help: "Use the network <chain>: main, test, testnet4, signet or regtest (default: main)",
	},
	{
		Name: "asert", Flags: debug,
		Help: "Let the targets of blocks follow their times; dialect qbit, regtest only (default: 0)",
	},
	{
		Name: "legacyretarget", Flags: debug, Help: "Let the target of blocks change every 1440 blocks, as Bitcoin's " +
			"does every 2016; not with -asert; dialect qbit, regtest only (default: 0)",
	},
	{Name: "dialect", Arg: "<name>", Flags: noNegation | needsValue, Help: "Use the networks of <name>: bitcoin, or " +
		"qbit, whose chains pay to P2MR outputs; command line only (default: bitcoin, or the end of the program's " +
		"name as in trawld-qbit)"},
	{Name: "p2mronly", Flags: debug, Help: "Allow P2MR outputs alone; dialect qbit, regtest only (default: 1)"},
	{
		Name: "regtest", Flags: debug,
		Help: "Use a private chain whose blocks are made on demand; the same as -chain=regtest",
	},
	{Name: "signet", Help: "Use the signet, whose blocks are signed; the same as -chain=signet"},
	{
		Name: "signetchallenge", Arg: "<hex>", Flags: noNegation,
		Help: "Script that blocks of the signet must satisfy (default: that of the public signet); only with -signet",
	},
	{
		Name: "signetseednode", Arg: "<host>", Flags: noNegation,
		Help: "Find peers of the signet through <host>; may be repeated (default: those of the public signet)",
	},
	{Name: "testactivationheight", Arg: "<name>@<height>", Flags: debug, Help: "Activate the rule <name> (segwit, " +
		"bip34, dersig, cltv, csv, or with the dialect qbit also cadence, auxpowcommitment, outerwitness, p2mr, " +
		"p2mrweightv2, futuretime) at <height>; regtest only"},
	{Name: "testnet", Help: "Use the test network of 2011, which is going away; the same as -chain=test"},
	{Name: "testnet4", Help: "Use the test network of 2024; the same as -chain=testnet4"},
	{
		Name: "vbparams", Arg: "<deployment>:<start>:<end>[:<min_activation_height>]", Flags: debug,
		Help: "Set when and where signalling for <deployment> counts; regtest only",
	},
}
