package main

import (
	"os"
	"strings"
)

// A step is some of the long tests.
type step struct {
	name string
	what string // a phrase that says what the step tests
	run  string // which tests; empty: all of the packages
	skip string // which not

	packages []string
	needs    string // of mayBeMissing; empty: nothing
	race     bool   // as long as `make test` has them, but under the race detector
}

// steps are all, those that take least first.
var steps = []step{
	{
		name: "models",
		what: "random histories beside simple oracles: chains, scripts, wallets, addresses of peers, filters",
		skip: signatures + "|^TestLive",
		packages: []string{
			"./internal/engine/chainstate", "./internal/engine/follower", "./internal/consensus/script",
			"./actors/cluster", "./actors/corepool", "./actors/wallets", "./internal/corenode/poolcopy",
			"./internal/wallet",
			"./internal/p2p/addrman",
			"./internal/rangefilter",
		},
	},
	{
		name: "signatures", what: "verdicts on signatures, by chance and at the edges of all numbers, beside decred's",
		run: signatures, packages: []string{"./internal/consensus/script"},
	},
	{
		name: "gaps", what: "wallets of all kinds with gaps, looked for by scans and searches beside whole blocks",
		run:      "^Test(Gaps|LargeGaps)$",
		packages: []string{"./rpc/method/chainrpc", "./actors/searches", "./internal/e2e"},
	},
	{
		name: "disks", what: "losses of power and full disks under a running node, on an ext4 of its own",
		run: disks, packages: []string{"./internal/e2e"}, needs: "root",
	},
	{
		name: "actors", what: "panics of every actor over any message that it handles, a thousand each",
		run: "Suite$", packages: []string{ // those of the wallets and of Core's pool are among the models
			"./actors/alerts", "./actors/attach", "./actors/blockindex", "./actors/chain", "./actors/cluster",
			"./actors/coins", "./actors/indexer",
			"./actors/mempool",
			"./actors/notify", "./actors/peers", "./actors/relay", "./actors/scanner", "./actors/searches",
			"./actors/stale",
			"./actors/sync",
			"./actors/txbuilder",
		},
	},
	{
		name: "stores", what: "stores whose process is killed, and whose writes fail",
		packages: []string{
			"./store/chaindb", "./store/scriptindex", "./store/segment", "./store/walletdb", "./internal/engine/qbit",
		},
	},
	{
		name: "kills", what: "kill -9 under a node that works, and bits that flip on its disk",
		skip:     disks + "|" + live + "|" + recorded + "|" + abuse + "|" + clusters + "|^TestLive",
		packages: []string{"./internal/e2e"},
	},
	{
		name: "races",
		what: "nodes, their kills and their clients under the race detector, and packages that callers share",
		skip: disks + "|^TestLive|Live$", race: true,
		packages: []string{
			"./internal/e2e", "./filters", "./store/segment", "./store/searchdb", "./store/walletdb",
			"./internal/chainview", "./internal/consensus/script", "./internal/wallet/vault",
		},
	},
	{
		name: "clusters",
		what: "scans over members that are killed and paused, beside Bitcoin Core's; memory and hostile messages",
		run:  clusters, packages: []string{"./internal/e2e"}, needs: "core",
	},
	{
		name: "abuse",
		what: "a thousand searches of ten thousand scripts, scripts that blocks pay thousands of times, " +
			"a thousand readers that stall",
		run: abuse, packages: []string{"./internal/e2e"},
	},
	{
		name: "recorded", what: "recorded conversations with Bitcoin Core, with every kernel and layout of filters",
		run: recorded, packages: []string{"./internal/e2e"},
	},
	{
		name: "directories",
		what: "data directories and files of peers that Bitcoin Core has written, and that it reads",
		run:  live, packages: []string{"./internal/e2e"}, needs: "core",
	},
	{
		name: "attached", what: "calls of a Bitcoin Core, and calls that are passed on to it, across its restarts",
		run: "^TestLive", needs: "core",
		packages: []string{"./internal/corenode", "./internal/e2e", "./internal/engine/follower", "./rpc/forward"},
	},
	{
		name: "attached-32",
		what: "filters and headers of a node that is attached to a Bitcoin Core 32, across kills and " +
			"reorganisations, pruning, a new index of blocks; its pool",
		run: "^TestLiveAttach(|Reindex|Modes|Pool|Pruned)$", packages: []string{"./internal/e2e"}, needs: later,
	},
	{
		name: "core-32",
		what: "packets of both versions in all roles, wallets and their files, refusals, arguments, the pool, " +
			"evictions and templates, beside a Bitcoin Core 32",
		run: "^Test(PSBT.*|Transactions|Descriptors|Arguments|Wallet(s|Files|Packets|Funding|Refusals)|PaymentRefusals|" +
			"ExportWatchOnly|Templates|TemplateErrors|Fees|Later.*)$",
		packages: []string{"./internal/differ", "./internal/differ/mempool"}, needs: later,
	},
	{
		name: "rest", what: "every REST endpoint in every format, beside Bitcoin Core",
		run: "^TestLive", packages: []string{"./rpc/rest"}, needs: "core",
	},
	{
		name: "published", what: "what ZeroMQ and the log tell, beside Bitcoin Core; subscribers that stall and lie",
		run: "^Test(Published|ManySubscribers|LogLines)$", needs: "core",
		packages: []string{"./internal/differ", "./actors/notify/zmqsink"},
	},
	{
		name: "arguments", what: "what calls with arguments by chance are refused with, beside Bitcoin Core",
		run: "^TestArguments$", packages: []string{"./internal/differ"}, needs: "core",
	},
	{
		name: "texts", what: "descriptors, transactions, PSBTs in all roles, snapshots and help, beside Bitcoin Core",
		run: "Descriptors|Transactions|PSBT|Help|Snapshots", packages: []string{"./internal/differ"}, needs: "core",
	},
	{
		name: "templates", what: "templates of blocks over pools by chance, beside Bitcoin Core",
		run: "Template", packages: []string{"./internal/differ"}, needs: "core",
	},
	{
		name: "blocks", what: "trees of blocks, right and wrong, beside Bitcoin Core",
		skip: "Qbit", packages: []string{"./internal/differ/blocktree"}, needs: "core",
	},
	{
		name: "mempool", what: "transactions and packages in the memory pool, beside Bitcoin Core",
		packages: []string{"./internal/differ/mempool"}, needs: "core",
	},
	{
		name: "spends", what: "verdicts on spends of all kinds, beside Bitcoin Core",
		packages: []string{"./internal/differ/spends"}, needs: "core",
	},
	{
		name: "wallets", what: "wallets that receive, spend, see reorganisations and are migrated, beside Bitcoin Core",
		run: "Wallets|WalletFiles|Migrate|ExportWatchOnly", packages: []string{"./internal/differ"}, needs: "core",
	},
	{
		name: "spending",
		what: "payments between a wallet here and one of Bitcoin Core's, under kills; coins chosen as by Core's",
		run:  "WalletPeers|WalletFunding|WalletRefusals|PaymentRefusals|WalletPackets|Fees", packages: []string{"./internal/differ"},
		needs: "core",
	},
	{
		name: "p2mr",
		what: "blocks, merged mining, spends, packets, payments with P2MR outputs and a network, beside qbit",
		run:  "P2MR|MergedMining|Qbit", needs: "qbit",
		packages: []string{"./internal/differ", "./internal/differ/blocktree"},
	},
	{
		name: "searches", what: "searches for all kinds of descriptors, beside Bitcoin Core's scans",
		run: "Searches", packages: []string{"./internal/differ"}, needs: "core",
	},
	{
		name: "core-suite", what: "Bitcoin Core's own functional tests, without those that its list gives a reason for",
		run: "^TestCoreSuite$", packages: []string{"./internal/soak"}, needs: "core-suite",
	},
	{
		name: "core32-suite", what: "those of Bitcoin Core 31.99, without those that its list gives a reason for",
		run: "^TestCore32Suite$", packages: []string{"./internal/soak"}, needs: "core32-suite",
	},
	{
		name: "qbit-suite", what: "qbit's own functional tests, without those that its list gives a reason for",
		run: "^TestQbitSuite$", packages: []string{"./internal/soak"}, needs: "qbit-suite",
	},
}

// Tests of internal/e2e that have a step of their own.
const (
	abuse    = "ManySearches|DenseSearches|StalledReaders"
	clusters = "^TestCluster"
	disks    = "PowerLoss|FullDisk"
	live     = "Live$"
	recorded = "Golden"
)

// signatures are tests of internal/consensus/script that have a step of their own.
const signatures = "BesideDecred"

// lacks says why a thing of mayBeMissing is not here; empty: it is here, or nothing is needed.
func lacks(thing string, mayMount bool) string {
	variable := map[string]string{
		"core":         "BITCOIND names no bitcoind of Bitcoin Core 30",
		later:          "BITCOIND32 names no bitcoind of Bitcoin Core 32",
		"core-suite":   "CORE_BUILD names no build folder of Bitcoin Core 30.2",
		"core32-suite": "CORE32_BUILD names no build folder of Bitcoin Core 31.99",
		"qbit":         "QBITD names no qbitd of qbit 1.0",
		"qbit-suite":   "QBIT_BUILD names no build folder of qbit 1.0.0",
	}
	if thing == "root" && !mayMount {
		return "only root may mount a disk, on Linux"
	}
	name, _, _ := strings.Cut(variable[thing], " ")
	if name == "" || os.Getenv(name) != "" {
		return ""
	}
	return variable[thing]
}
