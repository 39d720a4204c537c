package arch

import (
	"slices"
	"strings"
	"testing"
)

// mayImport lists, for each room, the rooms that it may import beside itself.
// A room is a folder with its subfolders, except for subfolders that are rooms
// of their own.
var mayImport = map[string][]string{
	// Messages, and pure packages.
	"messages":           nil,
	"internal/nodemsg":   {"messages"},
	"descriptor":         {"internal/cores", "internal/curve", "internal/p2mr", "internal/slhdsa"},
	"filters":            {"internal/asm", "internal/siphash"},
	"internal/asm":       nil,
	"internal/chainview": nil,
	"internal/clock":     nil,
	"internal/coinstats": nil,
	"internal/consensus": {"messages", "internal/chainview", "internal/curve"},
	"internal/cores":     nil,
	"internal/corelog":   nil,
	"internal/curve":     nil,
	"internal/discover": {
		"descriptor", "filters", "messages", "internal/chainview", "internal/dialect", "internal/discover/bip39",
		"internal/search",
	},
	"internal/discover/bip39": nil,
	"internal/dialect": {
		"descriptor", "internal/chainview", "internal/consensus", "internal/p2mr", "internal/rawtx", "internal/slhdsa", "internal/txpool",
	},
	"internal/headersync":  {"internal/consensus"},
	"internal/jsontree":    nil,
	"internal/options":     nil,
	"internal/match":       {"messages", "filters", "internal/chainview", "internal/cores"},
	"internal/bip322":      {"internal/consensus", "internal/rawtx"},
	"internal/p2mr":        {"internal/slhdsa"},
	"internal/p2mr/pow":    {"internal/chainview", "internal/consensus"},
	"internal/p2p":         {"descriptor", "internal/siphash"},
	"internal/rangefilter": {"internal/siphash"},
	"internal/receipt":     {"internal/jsontree"},
	"internal/siphash":     nil,
	"internal/search":      {"filters", "internal/chainview"},
	"internal/rawtx": {
		"descriptor", "internal/consensus", "internal/cores", "internal/curve",
		"internal/p2mr", "internal/slhdsa",
	},
	"internal/poolview":           {"messages", "internal/ask"},
	"internal/slhdsa":             {"internal/asm", "internal/cores"},
	"internal/txpool/feeestimate": {},
	"internal/txpool/linear":      {},
	"internal/txpool": {
		"descriptor", "messages", "internal/consensus", "internal/chainview", "internal/txpool/feeestimate",
		"internal/txpool/linear",
	},
	"internal/txjson":      {"descriptor", "internal/chainview", "internal/consensus", "internal/jsontree"},
	"internal/version":     nil,
	"internal/versionbits": {"internal/chainview", "internal/dialect"},
	"internal/wallet": {
		"descriptor", "messages", "internal/dialect", "internal/rawtx", "internal/search", "internal/txpool",
		"internal/wallet", "internal/walletfile",
	},
	"internal/wallet/poolorder": {"messages", "internal/chainview"},
	"internal/wallet/codes":     {"messages"},
	"internal/wallet/rescan":    {"messages", "internal/chainview", "internal/wallet", "internal/walletfile"},
	"internal/wallet/signing": {
		"descriptor", "messages", "internal/cores", "internal/p2mr", "internal/rawtx", "internal/slhdsa", "internal/wallet",
	},
	"internal/wallet/spend": {
		"descriptor", "internal/dialect", "messages", "internal/wallet/codes", "internal/wallet/coinselect",
		"internal/wallet/txs",
	},
	"internal/wallet/coinselect": nil,
	"internal/wallet/records":    {"internal/walletfile"},
	"internal/wallet/vault": {
		"descriptor", "messages", "internal/slhdsa", "internal/wallet/codes", "internal/wallet/records",
		"internal/walletfile",
	},
	"internal/wallet/book": {
		"descriptor", "messages", "internal/wallet/codes", "internal/wallet/records", "internal/walletfile",
	},
	"internal/wallet/keys": {
		"descriptor", "messages", "internal/cores", "internal/dialect", "internal/p2mr", "internal/slhdsa",
		"internal/search", "internal/wallet/book", "internal/wallet/codes", "internal/wallet/records",
		"internal/wallet/vault", "internal/walletfile",
	},
	"internal/wallet/txs": {
		"descriptor", "messages", "internal/wallet/book", "internal/wallet/codes", "internal/wallet/records",
		"internal/walletfile",
	},
	"internal/walletfile": {"descriptor", "internal/consensus", "internal/cores", "internal/curve"},

	// The disk.
	"internal/vfs":    nil,
	"store/blockfile": {"internal/vfs"},
	"store/coinfile":  {"internal/vfs", "store/blockfile"},
	"store/chaindb":   {"store/blockfile", "store/internal", "internal/vfs"},
	"store/datadir": {
		"internal/vfs", "store/blockfile", "store/blockrows", "store/chaindb", "store/internal",
		"store/scriptindex", "store/segment", "store/spenders", "store/txindex",
	},
	"store/internal":    {"internal/vfs"},
	"store/nodefiles":   {"internal/corelog", "internal/p2p", "internal/rawtx", "internal/txpool/feeestimate", "internal/vfs"},
	"store/segment":     {"store/internal", "internal/vfs"},
	"store/blockrows":   {"store/internal", "internal/vfs"},
	"store/attachdb":    {"store/internal", "internal/vfs"},
	"store/searchdb":    {"store/internal", "internal/search", "internal/vfs"},
	"store/corefiles":   {"store/blockfile", "internal/cores"},
	"store/txindex":     {"store/internal", "internal/vfs"},
	"store/scriptindex": {"store/internal", "internal/cores", "internal/corelog", "internal/siphash", "internal/vfs"},
	"store/spenders":    {"store/internal", "internal/siphash", "internal/vfs"},
	"store/walletdb":    {"internal/walletfile", "internal/vfs"},
	"store/walletdir":   {"internal/vfs", "store/walletdb"},

	// Actors, the owners of state. No actor knows another.
	"internal/ask":    {"messages"},
	"internal/part":   {"messages", "internal/ask"},
	"internal/follow": {"messages", "internal/nodemsg", "internal/ask", "internal/chainview"},

	// The contents of indexes, and how they are read.
	"internal/index": {"messages", "internal/ask", "internal/chainview", "internal/follow"},
	"internal/index/blocks": {
		"messages", "filters", "store/blockrows", "store/scriptindex", "store/spenders", "store/txindex", "internal/ask",
		"internal/chainview", "internal/coinstats", "internal/consensus", "internal/cores", "internal/dialect",
		"internal/index", "internal/search",
	},
	"internal/index/filter": {
		"messages", "filters", "store/segment", "internal/ask", "internal/chainview",
		"internal/corelog", "internal/index", "internal/match", "internal/rangefilter",
	},

	"internal/engine/follower": {
		"filters", "messages", "store/attachdb", "store/blockfile", "store/corefiles",
		"internal/chainview", "internal/consensus", "internal/corenode", "internal/dialect", "internal/engine",
		"internal/nodemsg", "internal/vfs",
	},
	"internal/engine/opener": {
		"messages", "store", "internal/clock", "internal/corelog", "internal/cores",
		"internal/dialect", "internal/engine", "internal/vfs",
	},
	"internal/p2p/netsetup":      {"messages", "internal/corelog", "internal/p2p", "internal/vfs"},
	"internal/corenode":          {"internal/corenode/rpcauth", "internal/options"},
	"internal/corenode/rpcauth":  nil,
	"internal/corenode/poolcopy": {"messages", "internal/consensus"},
	"internal/engine": {
		"messages", "internal/nodemsg", "store", "internal/chainview", "internal/clock",
		"internal/coinstats", "internal/consensus", "internal/cores", "internal/corelog", "internal/dialect", "internal/p2mr",
		"internal/rawtx", "internal/slhdsa", "internal/versionbits", "internal/vfs",
	},
	"actors/alerts":       append([]string{"internal/dialect", "internal/versionbits"}, actor...),
	"actors/attach":       append([]string{"internal/consensus", "internal/dialect"}, actor...),
	"actors/chain":        append([]string{"internal/cores", "internal/corelog", "internal/dialect", "internal/engine"}, actor...),
	"actors/cluster":      append([]string{"internal/match", "actors/cluster/wire"}, actor...),
	"actors/cluster/link": nil,
	"actors/cluster/wire": nil,
	"actors/coins": append([]string{
		"internal/coinstats", "internal/vfs", "store/blockfile", "store/coinfile",
	}, actor...),
	"actors/corepool": append([]string{"internal/corenode", "internal/corenode/poolcopy"}, actor...),
	"actors/discovery": append([]string{
		"internal/cores", "internal/dialect", "internal/discover", "internal/search",
	}, actor...),
	"actors/events":         actor,
	"actors/indexer":        append([]string{"internal/corelog", "internal/cores", "internal/rangefilter"}, actor...),
	"actors/mempool":        append([]string{"internal/corelog", "internal/dialect", "internal/txpool"}, actor...),
	"actors/notify":         actor,
	"actors/notify/zmqsink": {"internal/vfs"},
	"actors/peers":          append([]string{"internal/corelog", "internal/dialect", "internal/p2p"}, actor...),
	"actors/relay":          append([]string{"internal/corelog", "internal/dialect", "internal/p2p", "internal/poolview"}, actor...),
	"actors/stale":          append([]string{"internal/corelog"}, actor...),
	"actors/searches":       append([]string{"internal/cores", "internal/match", "internal/search", "internal/poolview"}, actor...),
	"actors/scanner":        append([]string{"internal/match"}, actor...),
	"actors/blockindex":     append([]string{"internal/corelog", "internal/index"}, actor...),
	"actors/sync": append([]string{
		"internal/consensus", "internal/corelog", "internal/dialect", "internal/headersync", "internal/p2p", "internal/poolview",
	}, actor...),
	"actors/txbuilder": append([]string{
		"internal/rawtx",
	}, actor...),
	"actors/wallets/device": {"messages"},
	"actors/wallets/internal/files": {
		"messages", "actors/wallets/device", "descriptor", "filters", "internal/chainview", "internal/corelog",
		"internal/dialect", "internal/match", "internal/vfs", "internal/wallet", "internal/walletfile", "store/walletdb",
		"store/walletdir",
	},
	"actors/wallets": append([]string{
		"actors/wallets/device", "actors/wallets/internal/files", "internal/cores", "internal/corelog",
		"internal/dialect", "internal/match", "internal/p2mr", "internal/rawtx", "internal/slhdsa",
		"internal/poolview", "internal/txpool", "internal/wallet", "internal/walletfile",
	}, actor...),

	// How the outside asks. No part knows an actor or the disk.
	"rpc": {
		"rpc/command", "rpc/rest", "internal/corenode/rpcauth", "internal/cores", "internal/dialect",
		"internal/jsontree", "internal/p2p/netaddr", "internal/vfs",
	},
	"rpc/command": {"internal/jsontree"},
	"rpc/rest":    {"rpc/command", "internal/jsontree"},
	"rpc/web":     {"rpc", "rpc/web/chart", "internal/cores", "internal/vfs"},
	"rpc/forward/attachment": {
		"messages", "internal/ask", "internal/nodemsg", "internal/vfs", "rpc", "rpc/command",
		"rpc/forward", "store/corefiles", "internal/corenode",
	},
	"rpc/forward":           {"rpc/command", "internal/corenode", "internal/jsontree"},
	"rpc/eventstream":       {"messages", "internal/chainview", "internal/jsontree", "rpc", "rpc/method/searchrpc"},
	"rpc/method/internal":   {"messages", "rpc/command", "descriptor", "internal/jsontree"},
	"rpc/method/chainrpc":   append([]string{"internal/bip322", "internal/receipt"}, method...),
	"rpc/method/controlrpc": method,
	"rpc/method/mempoolrpc": method,
	"rpc/method/miningrpc":  append([]string{"internal/corelog"}, method...),
	"rpc/method/netrpc":     method,
	"rpc/method/rawtxrpc":   method,
	"rpc/method/searchrpc":  append([]string{"internal/receipt"}, method...),
	"rpc/method/utilrpc":    method,
	"rpc/method/walletrpc":  append([]string{"internal/bip322", "internal/receipt"}, method...),

	// The node, which puts the parts together, and programs outside.
	".": {
		"messages", "descriptor", "filters", "actors", "rpc", "store", "internal/ask", "internal/chainview",
		"internal/clock", "internal/corenode", "internal/cores", "internal/dialect", "internal/engine", "internal/follow",
		"internal/index", "internal/jsontree", "internal/nodemsg",
		"internal/match", "internal/metrics/nodestats", "internal/p2p", "internal/part", "internal/txpool",
		"internal/version", "internal/vfs", "internal/wallet",
	},
	"internal/metrics": {"messages", "rpc"},
	"internal/metrics/nodestats": {
		"messages", "internal/ask", "internal/chainview", "internal/match", "internal/nodemsg",
	},
	"cmd/trawld": {
		".", "actors/cluster/link", "actors/notify/zmqsink", "filters", "messages", "rpc", "internal/cores",
		"internal/corelog", "internal/dialect", "internal/metrics", "internal/options", "internal/part",
		"internal/version", "internal/vfs", "store/nodefiles",
	},
	"cmd/trawl-cli": {"internal/jsontree", "internal/options", "internal/version", "rpc/client"},
	"cmd/trawl-wallet": {
		"internal/dialect", "internal/options", "internal/version", "internal/vfs", "internal/wallet", "internal/walletfile",
		"store/walletdb", "store/walletdir",
	},
	"cmd/trawl-load":  {"internal/jsontree", "internal/load", "internal/options", "internal/version"},
	"internal/load":   {"internal/jsontree", "rpc/client"},
	"internal/demo":   nil,
	"internal/mutate": nil,
	"deploy/release":  nil,
	"deploy/grafana":  nil,
	"deploy/image":    nil,
	"deploy/validate": nil,
	"internal/soak":   nil,
	"bench":           {".", "messages", "filters", "descriptor", "store", "actors", "internal"},

	// Help for tests.
	"internal/actortest":  {"messages", "internal/ask"},
	"internal/arch":       nil,
	"internal/chaintest":  {"descriptor", "internal/chainview", "internal/consensus", "internal/dialect"},
	"internal/differ":     {"descriptor", "filters", "internal/consensus", "internal/e2e"},
	"internal/e2e":        {"filters", "internal/jsontree"},
	"internal/synth":      {"internal/consensus"},
	"internal/enginetest": {"store", "internal/clock", "internal/dialect", "internal/engine"},
}

// actor is what every actor may import.
var actor = []string{
	"messages", "internal/nodemsg", "internal/ask", "internal/chainview", "internal/follow", "filters", "descriptor", "store",
	"internal/vfs",
}

// method is what every group of methods may import.
var method = []string{
	"messages", "descriptor", "filters", "internal/nodemsg", "rpc/command", "rpc/method/internal", "internal/ask",
	"internal/chainview", "internal/cores",
	"internal/coinstats", "internal/dialect", "internal/index", "internal/jsontree", "internal/p2mr", "internal/rawtx",
	"internal/search", "internal/slhdsa", "internal/txjson",
	"internal/version", "internal/versionbits",
}

func TestImports(t *testing.T) {
	for _, f := range folders(t) {
		from := room(f.name)
		if from == "" {
			t.Errorf("%s is in no room: add one to mayImport", f.name)
			continue
		}
		for _, imported := range f.imports() {
			to, ok := ours(imported)
			if !ok || room(to) == from {
				continue
			}
			if !slices.ContainsFunc(mayImport[from], func(allowed string) bool { return within(to, allowed) }) {
				t.Errorf("%s imports %s: the row of %s in mayImport allows only %v", f.name, to, from, mayImport[from])
			}
		}
	}
}

// room returns the room that a folder is part of, empty if there is none.
func room(folder string) string {
	for at := folder; ; at = at[:strings.LastIndexByte(at, '/')] {
		if _, ok := mayImport[at]; ok {
			return at
		}
		if !strings.Contains(at, "/") {
			return ""
		}
	}
}

// mayUse lists the libraries that few may know, and who.
var mayUse = map[string][]string{
	"github.com/asynkron/protoactor-go/actor": {
		".", "actors", "internal/ask", "internal/actortest", "internal/follow", "internal/part", "internal/poolview",
		"bench",
	},
	"github.com/asynkron/protoactor-go/ctxext": {"internal/ask"},
	"github.com/asynkron/protoactor-go":        nil, // remote, cluster, …
	"google.golang.org/grpc":                   nil,
	"github.com/syndtr/goleveldb":              {"store/internal", "store/chaindb", "store/segment"},
	"github.com/btcsuite/btcd/blockchain":      nil, // tests hold ours against it
	"github.com/btcsuite/btcd/database":        {"internal/engine", "store/chaindb"},
	"github.com/btcsuite/btcd/btcutil/v2":      nil, // its Hash is another type
	"github.com/btcsuite/btcd/chainhash":       nil,
	"github.com/stretchr/testify":              nil,
	"pgregory.net/rapid":                       nil,
	"go.uber.org/goleak":                       {"internal/actortest"},
	"github.com/prometheus/client_golang":      {"internal/metrics"},
	"net/http": {
		"rpc", "internal/corenode", "internal/metrics", "cmd", "internal/load",
		"internal/demo", "internal/e2e",
	},
	"C": nil,
}

func TestLibraries(t *testing.T) {
	for _, f := range folders(t) {
		for _, imported := range f.imports() {
			library := longest(imported)
			if library == "" {
				continue
			}
			if !slices.ContainsFunc(mayUse[library], f.in) {
				t.Errorf("%s imports %s, which is for %v", f.name, imported, mayUse[library])
			}
		}
	}
}

// longest returns the entry of mayUse that says most about an import path.
func longest(imported string) (library string) {
	for entry := range mayUse {
		if within(imported, entry) && len(entry) > len(library) {
			library = entry
		}
	}
	return library
}
