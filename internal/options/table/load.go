package table

import (
	"slices"

	"github.com/seed61375155/trawl/internal/options"
)

// Load returns the options of trawl-load.
func Load() []options.Option {
	return append(
		slices.Clone(load),
		slices.DeleteFunc(CLI(), func(o options.Option) bool { return !slices.Contains(shared, o.Name) })...,
	)
}

// shared are the options of trawl-load that are the same as in trawl-cli.
var shared = []string{
	"conf", "datadir", "includeconf", "rpcclienttimeout", "rpcconnect", "rpccookiefile", "rpcpassword", "rpcport",
	"rpcuser",
	"?", "h", "help", "version", "chain", "regtest", "signet", "testnet", "testnet4",
}

var load = []options.Option{
	{Name: "allowremote", Help: "Call a node on another machine, which must be yours"},
	{Name: "callers", Arg: "<n>", Help: "Number of callers, each with a connection of its own (default: 1000)"},
	{Name: "count", Arg: "<n>", Help: "End after <n> calls; 0 for no limit (default: 0)"},
	{Name: "descriptors", Arg: "<file>", Help: "Scan for what is in <file>: a JSON array of scan objects, or " +
		"descriptors, one a line (default: wpkh keys of a public test key)"},
	{
		Name: "duration", Arg: "<time>",
		Help: "End after <time>, such as 90s or 5m; 0 for no limit (default: 30s, or no limit with -count)",
	},
	{Name: "html", Arg: "<file>", Help: "Write a page with the table and the histograms to <file>"},
	{Name: "json", Arg: "<file>", Help: "Write the figures as JSON to <file>"},
	{
		Name: "keys", Arg: "<n>",
		Help: "Number of keys to scan for without -descriptors, at most 1000000 (default: 1000)",
	},
	{Name: "mix", Arg: "<calls>", Help: "What to call, as name:weight or name[params]:weight, with commas between; " +
		"start, status and abort are those of scanblocks, search is one from createsearch to removesearch " +
		"(default: start:1,status:8,abort:1)"},
	{Name: "rate", Arg: "<n>", Help: "Make <n> calls per second altogether, whatever the node does (open loop); 0 " +
		"lets each caller call as soon as it has its reply (default: 0)"},
	{Name: "seed", Arg: "<n>", Help: "Seed of everything that is chosen at random (default: 1)"},
}
