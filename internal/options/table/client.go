package table

import "github.com/seed61375155/trawl/internal/options"

// client is what trawl-cli has to find and call a daemon.
var client = []options.Option{
	{
		Name: "color", Arg: "<when>", Flags: noNegation,
		Help: "Colour the output of -getinfo: always, auto (on a terminal) or never (default: auto)",
	},
	{
		Name: "completion", Arg: "<shell>", Flags: noNegation | needsValue,
		Help: "Print a script that completes command lines of this program in bash, zsh or fish, and exit",
	},
	{Name: "conf", Arg: "<file>", Help: "Read the configuration from <file>, relative to the data directory " +
		"(default: trawl.conf, or else bitcoin.conf)"},
	{Name: "csv", Help: "Print the entries of a search as comma-separated values, with a first line that names them; " +
		"for createsearch and getsearchentries (default: 0)"},
	{Name: "datadir", Arg: "<dir>", Flags: noNegation, Help: "Data directory of the daemon (default: ~/.trawl)"},
	{Name: "follow", Help: "Print the entries of a search as they come, until it ends; for createsearch and " +
		"getsearchentries. An interrupt leaves the search as it is (default: 0)"},
	{Name: "includeconf", Arg: "<file>", Flags: hidden},
	{Name: "json", Help: "Print the entries of a search as JSON, one a line; for createsearch and getsearchentries " +
		"(default: 0)"},
	{Name: "named", Help: "Give parameters by name, as <name>=<value> (default: 0)"},
	{Name: "rpcclienttimeout", Arg: "<n>", Help: "Give up on an answer after <n> seconds; 0 for never (default: 900)"},
	{Name: "rpcconnect", Arg: "<ip>", Help: "Call the daemon on this host, with or without :port (default: 127.0.0.1)"},
	{
		Name: "rpccookiefile", Arg: "<loc>",
		Help: "Read the cookie from <loc>, relative to the network's folder (default: .cookie)",
	},
	{
		Name: "rpcid", Arg: "<id>", Flags: noNegation | needsValue,
		Help: "Identify a call by this text, which the daemon's log shows (default: 1)",
	},
	{Name: "rpcpassword", Arg: "<pw>", Flags: sensitive, Help: "Password for calls"},
	{Name: "rpcport", Arg: "<port>", Flags: networkOnly, Help: "Call the daemon on <port> (default: 8332, testnet: " +
		"18332, testnet4: 48332, signet: 38332, regtest: 18443)"},
	{
		Name: "rpctlscert", Arg: "<file>", Flags: needsValue,
		Help: "Call by TLS, and trust the certificates of this PEM file alone: that of a daemon with -rpctls, or " +
			"of who signed it. It must be for the host of -rpcconnect. Relative to the network's folder",
	},
	{
		Name: "rpcunix", Arg: "<path>",
		Help: "Call the daemon on its socket at <path>, relative to the network's folder, unless -rpcconnect is given",
	},
	{Name: "rpcuser", Arg: "<user>", Flags: sensitive, Help: "User name for calls"},
	{Name: "rpcwait", Help: "Wait for a daemon that is not up yet"},
	{Name: "rpcwaittimeout", Arg: "<n>", Help: "End -rpcwait after <n> seconds; 0 for never (default: 0)"},
	{Name: "rpcwallet", Arg: "<walletname>", Help: "Call on this wallet of the daemon"},
	{Name: "stdin", Help: "Read further arguments from the standard input, one a line; together with -stdinrpcpass " +
		"the password comes first"},
	{
		Name: "stdinrpcpass",
		Help: "Read the password from the standard input, which keeps it out of the list of processes",
	},
	{
		Name: "stdinwalletpassphrase",
		Help: "Read the wallet's passphrase from the standard input, for walletpassphrase and walletpassphrasechange",
	},
	{
		Name: "stdinwords",
		Help: "Read from the standard input, for discoveraccounts, words, a key or a descriptor in the first line, " +
			"and the passphrase of the words in the second",
	},
}

// clientCommands are answers made of several calls.
var clientCommands = []options.Option{
	{Name: "addrinfo", Help: "Count the addresses of peers that the node knows, by network"},
	{Name: "generate", Help: "Make blocks that pay a new address of the wallet; arguments are how many (default: 1) " +
		"and how often to try (default: 1000000)"},
	{
		Name: "getinfo",
		Help: "Show the state of the node in short. It comes from several calls, between which the state may change",
	},
	{Name: "getsearch", Help: "Show how far a search is, for people; the argument is its name or its id"},
	{Name: "netinfo", Help: "Show the connections of the node; an argument from 0 to 4 asks for more or less " +
		"(default: 0), \"help\" describes them"},
	{Name: "previewrestore", Help: "Show what is in a backup of a wallet and what restorewallet would do with it; " +
		"arguments are its path at the daemon and, if one is wanted, a name for the wallet. The exit status is 0 " +
		"only if all of the backup can be restored now"},
}
