package table

import "github.com/seed61375155/trawl/internal/options"

// general is the daemon's data, storage and start-up.
var general = []options.Option{
	{
		Name: "alertnotify", Arg: "<cmd>",
		Help: "Run the shell command <cmd> when there is a warning; %s is replaced by its text",
	},
	{Name: "allowignoredconf", Help: "Only warn about a configuration file in the data directory that is not read " +
		"because another one is (default: 0)"},
	{Name: "assumevalid", Arg: "<hex>", Help: "Skip script checks in ancestors of this block while it is in the best " +
		"chain (0: check all; default: a block of the network)"},
	{Name: "attach", Arg: "<dir|url>", Help: "Attach to the Bitcoin Core whose data directory is <dir>, or " +
		"whose RPC server is at <url>: its chain is followed and validated by it alone, filters are indexed " +
		"here, calls that it answers are passed on to it. Nothing is written to <dir>. Implies " +
		"-blockfilterindex; there are no peers, and calls are answered on the network's port plus 10"},
	{Name: "attachca", Arg: "<file>", Help: "Certificates (PEM) of those who may vouch for an https address of " +
		"-attach (default: the system's)"},
	{Name: "attachcookie", Arg: "<file>", Help: "Log in to Bitcoin Core with its cookie <file> (default: as its " +
		"configuration says)"},
	{Name: "attachforward", Arg: "<calls>", Help: "Which calls are passed on to Bitcoin Core: all; read, those that " +
		"change nothing; none (default: what Bitcoin Core allows its own users, and read and sendrawtransaction for " +
		"others)"},
	{Name: "attachfrom", Arg: "<height>", Help: "Index from the block at <height> on, where Bitcoin Core has pruned " +
		"those below and keeps no filters; scans below are refused (default: 0)"},
	{Name: "attachinsecure", Help: "Send logins to another machine's Bitcoin Core over plain HTTP (default: 0)"},
	{Name: "attachlogin", Arg: "<file>", Help: "Log in to Bitcoin Core with the user:password in <file>, which only " +
		"its owner may read"},
	{Name: "attachrpc", Arg: "<host:port>", Help: "Where the RPC server of -attach=<dir> is (default: as its " +
		"configuration says)"},
	{Name: "attachserve", Arg: "<calls>", Help: "Which calls are answered here while attached: all that can be, or " +
		"min, only those of the filter index (default: all)"},
	{Name: "attachverify", Help: "Build block filters that came from Bitcoin Core also from their blocks, in the " +
		"background, and compare (default: 1)"},
	{
		Name: "blockfilterindex", Arg: "<type>",
		Help: "Keep an index of BIP158 block filters: basic, 1 for all types, 0 for none (default: 0)",
	},
	{Name: "blocknotify", Arg: "<cmd>", Help: "Run the shell command <cmd> when the best block changes, but not " +
		"during the first download of the chain; %s is replaced by its hash"},
	{
		Name: "blockreconstructionextratxn", Arg: "<n>", Flags: unused,
		Help: "Extra transactions to keep for rebuilding compact blocks",
	},
	{Name: "blocksdir", Arg: "<dir>", Help: "Keep the block files below <dir> (default: the data directory)"},
	{Name: "blocksonly", Help: "Reject transactions from peers but those with the relay permission (default: 0)"},
	{Name: "blocksxor", Help: "XOR the block files of a new data directory with a random key (default: 1)"},
	{Name: "check", Help: "Say what -attach would do, change nothing, and end (default: 0)"},
	{Name: "coinstatsindex", Help: "Keep an index of statistics of the set of unspent outputs (default: 0)"},
	{Name: "conf", Arg: "<file>", Help: "Read the configuration from <file>, relative to the data directory; command " +
		"line only (default: trawl.conf, or else bitcoin.conf)"},
	{Name: "core", Arg: "<version>", Flags: noNegation | needsValue, Help: "Speak as Bitcoin Core <version> does: 30 " +
		"(30.2) or 32; not with the dialect qbit (default: " + DefaultCore + "; attached: as the Bitcoin Core " +
		"beside it)"},
	{Name: "daemon", Help: "Run in the background (default: 0)"},
	{Name: "daemonwait", Help: "Run in the background, and return when the node serves or has failed to start; " +
		"implies -daemon (default: 0)"},
	{
		Name: "datadir", Arg: "<dir>", Flags: noNegation,
		Help: "Keep all data below <dir>, which must exist (default: ~/.trawl)",
	},
	{
		Name: "clusteradvertise", Arg: "<host:port>",
		Help: "Where other nodes of the cluster reach this one (default: where -clusterlisten says)",
	},
	{
		Name: "clusterafter", Arg: "<n>", Flags: debug,
		Help: "Lend of what takes longer than <n> milliseconds (default: 100)",
	},
	{
		Name: "clusteraudit", Arg: "<percent>",
		Help: "Hold this part of what members answer against this node's own answer; a difference fails the scan " +
			"(default: 0.5)",
	},
	{Name: "clusterca", Arg: "<file>", Help: "Certificate of the authority whose nodes belong to the cluster, in " +
		"place of -clustersecret; with -clustercert and -clusterkey"},
	{Name: "clustercert", Arg: "<file>", Help: "This node's certificate for the cluster, for the name trawl-cluster"},
	{Name: "clusterkey", Arg: "<file>", Help: "The key of -clustercert"},
	{Name: "clusterlisten", Arg: "<host:port>", Help: "Scan together with other nodes, which reach this one here; a " +
		"secret or a certificate is needed (default: none)"},
	{Name: "clusterlocal", Help: "Have this node work on its own scans beside the members; it does in any case " +
		"while there are none (default: 1)"},
	{Name: "clustermem", Arg: "<n>", Help: "Keep scripts of other nodes' scans in up to <n> MiB (default: 1024)"},
	{Name: "clusternode", Arg: "<host:port>", Help: "Lend work to this member; a name stands for all addresses " +
		"that it has; may be repeated"},
	{Name: "clustersecret", Arg: "<file>", Help: "File with the secret of the cluster, 64 hexadecimal digits, made " +
		"if it is missing, relative to the network's folder; a second one is accepted too, so that it can be changed"},
	{Name: "clusterserve", Help: "Work for other nodes of the cluster (default: 1)"},
	{Name: "clusterthreads", Arg: "<n>", Help: "Work for other nodes with up to <n> threads, beside those of the " +
		"node's own scans (default: with those, in turn)"},
	{Name: "checkpoints", Flags: hidden},
	{Name: "choosedatadir", Flags: hidden | unused},
	{
		Name: "dbbatchsize", Arg: "<n>", Flags: debug,
		Help: "Bytes of unspent outputs between two chances of -dbcrashratio (default: 16777216)",
	},
	{Name: "dbcache", Arg: "<n>", Help: "Use up to <n> MiB of memory for the cache of unspent outputs (default: 450)"},
	{Name: "dbcrashratio", Arg: "<n>", Flags: hidden},
	{Name: "debuglogfile", Arg: "<file>", Help: "Write the log to <file>, relative to the network's folder (default: " +
		"debug.log); -nodebuglogfile for none"},
	{Name: "forcecompactdb", Flags: hidden | unused},
	{Name: "lang", Arg: "<lang>", Flags: hidden | unused},
	{Name: "filterlayout", Arg: "<layout>", Help: "What to keep beside block filters to find few scripts many times " +
		"as fast, in 28 % more space: auto or probe an index of their elements, which probe uses for many scripts " +
		"too; plain nothing (default: auto)"},
	{
		Name: "includeconf", Arg: "<file>",
		Help: "Read <file> too, relative to the data directory; in configuration files only, not in an included one",
	},
	{
		Name: "loadblock", Arg: "<file>",
		Help: "Load blocks from <file>, in the form of a blk file, at start; may be repeated",
	},
	{Name: "maxmempool", Arg: "<n>", Help: "Keep the memory pool below <n> MB (default: 300)"},
	{
		Name: "maxorphantx", Arg: "<n>", Until: 31,
		Help: "Has no effect any more: the orphanage bounds itself by what peers send; not with -core=32",
	},
	{Name: "maxsearches", Arg: "<n>", Help: "Searches that are kept at most (default: 1000)"},
	{Name: "min", Flags: hidden | unused},
	{Name: "resetguisettings", Flags: hidden | unused},
	{Name: "splash", Flags: hidden | unused},
	{Name: "uiplatform", Flags: hidden | unused},
	{Name: "mempoolexpiry", Arg: "<n>", Help: "Drop transactions from the memory pool after <n> hours (default: 336)"},
	{Name: "minimumchainwork", Arg: "<hex>", Flags: debug, Help: "Work below which a chain is taken for incomplete"},
	{
		Name: "par", Arg: "<n>",
		Help: "Threads for checking scripts; 0 for all cores, less than 0 to leave as many free (default: 0)",
	},
	{Name: "persistmempool", Help: "Save the memory pool at shutdown and load it at start (default: 1)"},
	{Name: "persistmempoolv1", Help: "Save the memory pool in the format of old versions (default: 0)"},
	{
		Name: "pid", Arg: "<file>",
		Help: "Write the process number to <file>, relative to the network's folder (default: bitcoind.pid)",
	},
	{
		Name: "prevoutfetchthreads", Arg: "<n>", Flags: debug,
		Help: "Threads that read outputs ahead which blocks spend, 0 or more; without effect",
	},
	{
		Name: "prune", Arg: "<n>",
		Help: "Delete old block files, to keep below <n> MiB; 1 for pruning by hand, 0 for none (default: 0)",
	},
	{
		Name: "prunewitnesses",
		Help: "Remove the witnesses of old blocks, 1000 or more below the tip, from the block files; dialect qbit " +
			"only (default: 0)",
	},
	{Name: "rangefilters", Help: "Keep a filter of all scripts of every 2,048 blocks beside the block filter index, " +
		"so that rescans of wallets and scanblocks with filter_false_positives pass over most of the chain, in some " +
		"40 % more space (default: 0)"},
	{Name: "reindex", Help: "Build the chain state and the indexes again from the block files"},
	{Name: "reindex-chainstate", Help: "Build the chain state again from the block files"},
	{Name: "scriptindex", Help: "Keep an index of the blocks of each output script, for getscripthistory and " +
		"getscriptbalance, of some 10 GB on the main chain (default: 0)"},
	{Name: "searchentries", Arg: "<n>", Help: "Entries that all searches keep at most (default: 100000000)"},
	{Name: "searchquota", Arg: "<n>", Help: "Searches that one login may keep (default: no limit)"},
	{
		Name: "searchroom", Arg: "<n>",
		Help: "Searches pause with less than <n> MiB free on the disk (default: 2048, or 5 % of it if that is more)",
	},
	{Name: "searchscripts", Arg: "<n>", Help: "Scripts that all searches look for at most (default: 10000000)"},
	{Name: "settings", Arg: "<file>", Help: "File of the settings that calls change (default: settings.json)"},
	{Name: "shutdownnotify", Arg: "<cmd>", Help: "Run the shell command <cmd> when shutdown begins; may be repeated"},
	{Name: "startupnotify", Arg: "<cmd>", Help: "Run the shell command <cmd> once the node is ready"},
	{Name: "txindex", Help: "Keep an index of all transactions (default: 0)"},
	{Name: "txospenderindex", Help: "Keep an index of the spenders of outputs, for gettxspendingprevout (default: 0)"},
}

// blockCreation is about the blocks that generate calls make.
var blockCreation = []options.Option{
	{
		Name: "auxpowtemplatecachelimit", Arg: "<n>",
		Help: "Blocks of createauxblock to keep at most, 0 for any number (default: 1024); dialect qbit only",
	},
	{
		Name: "auxpowtemplateexpiry", Arg: "<n>",
		Help: "Minutes to keep a block of createauxblock, 0 for ever (default: 60); dialect qbit only",
	},
	{Name: "blockmaxweight", Arg: "<n>", Flags: debug, Help: "Largest weight of a block made here (default: 4000000)"},
	{
		Name: "blockmintxfee", Arg: "<amt>",
		Help: "Lowest fee rate, in BTC per kvB, of transactions in a block made here (default: 0.00000001)",
	},
	{
		Name: "blockreservedweight", Arg: "<n>",
		Help: "Weight to keep free for the header and the coinbase transaction (default: 8000)",
	},
	{Name: "blockversion", Arg: "<n>", Flags: debug, Help: "Version of blocks made here; regtest only"},
}

// relay is about transactions on their way.
var relay = []options.Option{
	{
		Name: "acceptnonstdtxn", Flags: debug,
		Help: "Relay and mine transactions that are not standard; test networks only (default: 0)",
	},
	{Name: "bytespersigop", Help: "Virtual bytes that a signature operation counts for (default: 20)"},
	{Name: "datacarrier", Help: "Relay and mine transactions that carry data (default: 1)"},
	{
		Name: "datacarriersize",
		Help: "Largest size in bytes of the scripts by which a transaction carries data (default: 100000)",
	},
	{
		Name: "dustrelayfee", Arg: "<amt>", Flags: debug,
		Help: "Fee rate, in BTC per kvB, that defines dust (default: 0.00003)",
	},
	{
		Name: "incrementalrelayfee", Arg: "<amt>", Flags: debug,
		Help: "Fee rate, in BTC per kvB, that a replacement must add (default: 0.000001)",
	},
	{
		Name: "minrelaytxfee", Arg: "<amt>",
		Help: "Lowest fee rate, in BTC per kvB, of transactions to relay (default: 0.000001)",
	},
	{Name: "permitbaremultisig", Help: "Relay transactions with bare multisig outputs (default: 1)"},
	{
		Name: "privatebroadcast",
		Help: "Hand transactions of sendrawtransaction to a few nodes over Tor or I2P, by connections that do not " +
			"tell where they come from, instead of putting them into the pool (default: 0)",
	},
	{
		Name: "txsendrate", Arg: "<n>", Flags: debug,
		Help: "Announce <n> transactions a second, 1 to 1000, to all peers who connected here together, and 2.5 " +
			"times as many to others (default: 14)",
	},
	{Name: "whitelistforcerelay", Help: "Give whitelisted peers the permission forcerelay by default"},
	{Name: "whitelistrelay", Help: "Give whitelisted peers the permission relay by default"},
}
