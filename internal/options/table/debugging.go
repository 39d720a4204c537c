package table

import "github.com/seed61375155/trawl/internal/options"

// logging is what goes to the log, and how.
var logging = []options.Option{
	{Name: "debug", Arg: "<category>", Help: "Log details of <category>; no category, 1 or all means all; 0 or none " +
		"forgets those before it; may be repeated"},
	{Name: "debugexclude", Arg: "<category>", Help: "Leave <category> out of what -debug asks for; may be repeated"},
	{Name: "logips", Help: "Name peers, and who calls, by their addresses in the log (default: 0)"},
	{
		Name: "loglevel", Arg: "<level>|<category>:<level>", Flags: noNegation | needsValue | debug,
		Help: "How much of the categories of -debug to log: info, debug or trace, for all or for one of them " +
			"(default: debug); may be repeated",
	},
	{Name: "loglevelalways", Help: "Log category and level of every line (default: 0)"},
	{
		Name: "logratelimit", Flags: debug,
		Help: "Write no more than 1 MiB an hour of one place of the program to the log file (default: 1)",
	},
	{Name: "logsourcelocations", Help: "Log the file, line and function of every line (default: 0)"},
	{Name: "logthreadnames", Help: "Log which part of the program a line comes from (default: 0)"},
	{Name: "logtimemicros", Flags: debug, Help: "Log times to the microsecond (default: 0)"},
	{Name: "logtimestamps", Help: "Log the time of every line (default: 1)"},
	{Name: "printtoconsole", Help: "Log to the standard output too (default: 1)"},
	{Name: "shrinkdebugfile", Help: "Cut a log file that has grown beyond 11 MB at start (default: 1 without -debug)"},
}

// debugging is for tests and developers.
var debugging = []options.Option{
	{
		Name: "acceptstalefeeestimates", Flags: debug,
		Help: "Read fee estimates however old they are; on regtest alone (default: 0)",
	},
	{Name: "capturemessages", Flags: debug, Help: "Write all messages of peers to files"},
	{
		Name: "checkaddrman", Arg: "<n>", Flags: debug,
		Help: "Check the table of addresses every <n> operations",
	},
	{Name: "checkblockindex", Flags: debug | unused, Help: "Check the tree of blocks now and then"},
	{Name: "checkblocks", Arg: "<n>", Flags: debug, Help: "Check the last <n> blocks at start (default: 6, 0 = all)"},
	{
		Name: "checklevel", Arg: "<n>", Flags: debug,
		Help: "How thoroughly -checkblocks checks, 0 to 4, as verifychain does (default: 3)",
	},
	{Name: "checkmempool", Arg: "<n>", Flags: debug | unused, Help: "Check the memory pool every <n> transactions"},
	{Name: "deprecatedrpc", Arg: "<method>", Flags: debug, Help: "Allow a call, or a use of one, that is going away: " +
		"emptyoutputs has createrawtransaction and createpsbt make transactions without outputs; may be repeated"},
	{Name: "fastprune", Flags: debug, Help: "Use small block files, for tests of pruning"},
	{Name: "filterkernel", Arg: "<name>", Flags: debug, Help: "Match block filters with this kernel, one of " +
		"portable, avx2, avx512 and neon, and not the fastest that the processor has"},
	{Name: "help-debug", Help: "Show this help with the options for developers, and exit"},
	{
		Name: "limitancestorcount", Arg: "<n>", Flags: debug,
		Help: "Most unconfirmed ancestors of a transaction, itself included (default: 25)",
	},
	{
		Name: "limitancestorsize", Arg: "<n>", Flags: debug,
		Help: "Largest size of a transaction with its unconfirmed ancestors, in kvB (default: 101)",
	},
	{
		Name: "limitclustercount", Arg: "<n>", Flags: debug,
		Help: "Most transactions of a cluster of the memory pool, at most 64; with -core=32 (default: 64)",
	},
	{
		Name: "limitclustersize", Arg: "<n>", Flags: debug,
		Help: "Largest size of a cluster of the memory pool in kvB, 101 if not given; with -core=32",
	},
	{
		Name: "limitdescendantcount", Arg: "<n>", Flags: debug,
		Help: "Most unconfirmed descendants of a transaction, itself included (default: 25)",
	},
	{
		Name: "limitdescendantsize", Arg: "<n>", Flags: debug,
		Help: "Largest size of a transaction with its unconfirmed descendants, in kvB (default: 101)",
	},
	{Name: "maxsigcachesize", Arg: "<n>", Flags: debug | unused, Help: "Use up to <n> MiB for remembered signatures"},
	{
		Name: "maxtipage", Arg: "<n>", Flags: debug,
		Help: "Age in seconds of the best block beyond which the node is not up to date",
	},
	{Name: "maxtxfee", Arg: "<amt>", Help: "Highest fee in BTC of a transaction sent from here"},
	{
		Name: "mocktime", Arg: "<n>", Flags: debug,
		Help: "Take <n>, in seconds since 1970, for the time (default: 0, the clock)",
	},
	{
		Name: "printpriority", Flags: debug,
		Help: "Log the fee rate of the transactions of blocks and templates that are made (default: 0)",
	},
	{Name: "stopafterblockimport", Flags: debug, Help: "Stop once the blocks of -loadblock are loaded (default: 0)"},
	{Name: "stopatheight", Flags: debug, Help: "Stop once the chain has this height (default: 0, never)"},
	{
		Name: "test", Arg: "<option>", Flags: debug,
		Help: "Set an option for tests on a regtest; bip94: the rules of testnet4 against time warps hold",
	},
	{Name: "uacomment", Arg: "<cmt>", Help: "Add a comment to the name that peers see; may be repeated"},
}
