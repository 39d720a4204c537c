package table

import "github.com/seed61375155/trawl/internal/options"

// connection is about peers.
var connection = []options.Option{
	{Name: "addnode", Arg: "<ip>", Flags: networkOnly, Help: "Stay connected to the peer <ip>; may be repeated"},
	{
		Name: "asmap", Arg: "<file>",
		Help: "Spread connections over the networks that <file> maps addresses to",
	},
	{Name: "bantime", Arg: "<n>", Help: "Ban misbehaving peers for <n> seconds by default"},
	{
		Name: "bind", Arg: "<addr>[:<port>][=onion]", Flags: networkOnly,
		Help: "Listen for peers on this address; may be repeated",
	},
	{Name: "cjdnsreachable", Help: "This host reaches the CJDNS network"},
	{
		Name: "connect", Arg: "<ip>", Flags: networkOnly,
		Help: "Connect to these peers and no others; -noconnect for none; may be repeated",
	},
	{
		Name: "connectarchive", Arg: "<ip>", Flags: networkOnly,
		Help: "Stay connected to this peer as with -addnode, as long as it gives all blocks with their witnesses; " +
			"may be repeated; dialect qbit only",
	},
	{Name: "discover", Help: "Find out the own addresses"},
	{Name: "dns", Help: "Look up names of peers in the DNS"},
	{Name: "dnsseed", Help: "Find peers through DNS seeds"},
	{Name: "externalip", Arg: "<ip>", Help: "Own address as seen from outside; may be repeated"},
	{Name: "fixedseeds", Help: "Use built-in addresses when no others are known (default: 1)"},
	{Name: "forcednsseed", Help: "Ask DNS seeds at every start"},
	{Name: "i2pacceptincoming", Help: "Accept peers over I2P"},
	{Name: "i2psam", Arg: "<ip:port>", Help: "SAM proxy of I2P"},
	{
		Name: "inboundrelaypercent", Arg: "<n>",
		Help: "Let peers that take part in the relay of transactions have at most <n> % of the connections from " +
			"outside (default: 50; with -core=30 or the dialect qbit: 100)",
	},
	{Name: "listen", Help: "Accept peers from outside"},
	{Name: "listenonion", Help: "Make an onion service for peers"},
	{
		Name: "maxconnections", Arg: "<n>",
		Help: "Keep at most <n> automatic connections to peers (default: 200; with -core=30 or the dialect qbit: 125)",
	},
	{Name: "maxreceivebuffer", Arg: "<n>", Help: "Receive buffer of a connection, in 1000 bytes"},
	{Name: "maxsendbuffer", Arg: "<n>", Help: "Send buffer of a connection, in 1000 bytes"},
	{
		Name: "maxuploadtarget", Arg: "<n>",
		Help: "Try to send no more than this a day, in MiB or with a unit; 0 for no limit",
	},
	{Name: "natpmp", Flags: unused, Help: "Open the port at the router by PCP or NAT-PMP"},
	{Name: "networkactive", Help: "Be on the network from the start"},
	{Name: "onion", Arg: "<ip:port|path>", Help: "SOCKS5 proxy for onion services"},
	{
		Name: "onlynet", Arg: "<net>",
		Help: "Make connections over <net> only (ipv4, ipv6, onion, i2p, cjdns); may be repeated",
	},
	{Name: "peerblockfilters", Help: "Serve BIP157 block filters to peers"},
	{Name: "peerbloomfilters", Help: "Serve bloom filters to peers"},
	{Name: "peertimeout", Arg: "<n>", Flags: debug, Help: "Disconnect a silent peer after <n> seconds"},
	{Name: "port", Arg: "<port>", Flags: networkOnly, Help: "Listen for peers on <port>"},
	{Name: "proxy", Arg: "<ip>[:<port>]|unix:<path>[=<network>]", Help: "Connect through this SOCKS5 proxy"},
	{Name: "proxyrandomize", Help: "Use other proxy credentials for each connection"},
	{Name: "seednode", Arg: "<ip>", Help: "Ask this peer for addresses, then leave it; may be repeated"},
	{Name: "timeout", Arg: "<n>", Help: "Give up connecting after <n> milliseconds"},
	{Name: "torcontrol", Arg: "<ip>:<port>", Help: "Control port of Tor"},
	{Name: "torpassword", Arg: "<pass>", Flags: sensitive, Help: "Password of Tor's control port"},
	{Name: "txreconciliation", Flags: debug, Help: "Announce transactions by reconciliation (BIP330)"},
	{Name: "v2transport", Help: "Speak the encrypted transport of BIP324"},
	{Name: "whitebind", Arg: "<[permissions@]addr>", Help: "Listen on this address and give its peers permissions"},
	{
		Name: "whitelist", Arg: "<[permissions@]IP address or network>",
		Help: "Give peers from these addresses permissions; may be repeated",
	},
}
