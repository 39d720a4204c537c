package table

import "github.com/seed61375155/trawl/internal/options"

// zmq is what is published by ZeroMQ.
var zmq = []options.Option{
	{Name: "zmqpubhashblock", Arg: "<address>", Help: publish("the hash of each new best block")},
	{Name: "zmqpubhashblockhwm", Arg: "<n>", Flags: debug, Help: waiting("zmqpubhashblock")},
	{Name: "zmqpubhashtx", Arg: "<address>", Help: publish("the ids of transactions that come into the memory " +
		"pool or are in blocks that join the chain or leave it")},
	{Name: "zmqpubhashtxhwm", Arg: "<n>", Flags: debug, Help: waiting("zmqpubhashtx")},
	{Name: "zmqpubrawblock", Arg: "<address>", Help: publish("each new best block")},
	{Name: "zmqpubrawblockhwm", Arg: "<n>", Flags: debug, Help: waiting("zmqpubrawblock")},
	{Name: "zmqpubrawtx", Arg: "<address>", Help: publish("the transactions of -zmqpubhashtx")},
	{Name: "zmqpubrawtxhwm", Arg: "<n>", Flags: debug, Help: waiting("zmqpubrawtx")},
	{Name: "zmqpubsequence", Arg: "<address>", Help: publish("each step of the chain and of the memory pool in order")},
	{Name: "zmqpubsequencehwm", Arg: "<n>", Flags: debug, Help: waiting("zmqpubsequence")},
}

func publish(what string) string {
	return "Publish " + what + " by ZeroMQ at <address>: tcp://<ip>:<port> or unix:<path>. Who can reach it needs no " +
		"login; may be repeated"
}

func waiting(option string) string {
	return "How many messages of -" + option + " may wait for a subscriber before it misses some; 0: any number " +
		"(default: 1000)"
}

// rpc is the daemon's JSON-RPC server.
var rpc = []options.Option{
	{Name: "prometheus", Arg: "<addr>[:port]", Flags: networkOnly, Help: "Show metrics to Prometheus at " +
		"http://<addr>:<port>/metrics, without a login; 1, or a port alone, is on 127.0.0.1 (default: 0; port: 1000 " +
		"above that of calls)"},
	{Name: "rest", Help: "Answer public REST requests, which need no login (default: 0)"},
	{Name: "rpcallowip", Arg: "<ip>", Help: "Answer calls from <ip>: an address, or a network as " +
		"1.2.3.4/255.255.255.0 or 1.2.3.4/24; may be repeated"},
	{Name: "rpcallowhost", Arg: "<name>", Help: "Answer browsers that call this node by <name>, as in " +
		"http://<name>:8332/; may be repeated (default: addresses and localhost alone)"},
	{
		Name: "rpcauth", Arg: "<userpw>", Flags: sensitive,
		Help: "User name and hashed password, <user>:<salt>$<hash>; may be repeated",
	},
	{Name: "rpcbind", Arg: "<addr>[:port]", Flags: networkOnly, Help: "Listen for calls on this address; ignored " +
		"without -rpcallowip; may be repeated (default: 127.0.0.1 and ::1)"},
	{Name: "rpccookiefile", Arg: "<loc>", Help: "Put the cookie, a fresh password for each run, into <loc>, relative " +
		"to the network's folder (default: .cookie); -norpccookiefile for none"},
	{
		Name: "rpccookieperms", Arg: "<readable-by>",
		Help: "Who may read the cookie: owner, group or all (default: owner)",
	},
	{Name: "rpccheckorigin", Help: "Refuse calls that web pages make: those with a foreign Origin, or with a Host " +
		"that is neither an address nor localhost (default: 0)"},
	{
		Name: "rpcdoccheck", Flags: debug,
		Help: "Fail calls whose result is not as the method's help says (default: 0)",
	},
	{
		Name: "rpcmaxconnections", Arg: "<n>",
		Help: "Serve at most <n> connections at a time (default: 12000, fewer where files are scarce)",
	},
	{Name: "rpcpassword", Arg: "<pw>", Flags: sensitive, Help: "Password for calls"},
	{Name: "rpcport", Arg: "<port>", Flags: networkOnly, Help: "Listen for calls on <port> (default: 8332, testnet: " +
		"18332, testnet4: 48332, signet: 38332, regtest: 18443)"},
	{
		Name: "rpcservertimeout", Arg: "<n>", Flags: debug,
		Help: "Close silent connections after <n> seconds (default: 30)",
	},
	{Name: "rpcthreads", Arg: "<n>", Help: "Calls to serve at the same time (default: 16)"},
	{
		Name: "rpctls", Arg: "<cert>,<key>",
		Help: "Answer calls over TCP by TLS 1.3 alone, with the certificate (with its chain) and the key of these " +
			"PEM files, relative to the network's folder; SIGHUP reads them again",
	},
	{Name: "rpcunix", Arg: "<path>", Help: "Answer calls on a socket in the file system too, at <path>, relative to " +
		"the network's folder; only its owner may use it, with the same logins"},
	{Name: "rpcuser", Arg: "<user>", Flags: sensitive, Help: "User name for calls"},
	{
		Name: "rpcwhitelist", Arg: "<whitelist>",
		Help: "Methods a user may call, <user>:<method>,<method>; several for one user are intersected",
	},
	{
		Name: "rpcwhitelistdefault",
		Help: "Refuse everything to users without -rpcwhitelist (default: 1 if any user has one)",
	},
	{Name: "rpcworkqueue", Arg: "<n>", Help: "Calls that may wait (default: 64)"},
	{Name: "webui", Help: "Show a page to browsers at the address of calls, which asks for a login; while it is " +
		"on, calls that browsers make for pages of other sites are refused (default: 1)"},
	{Name: "server", Help: "Answer JSON-RPC calls (default: 1)"},
}
