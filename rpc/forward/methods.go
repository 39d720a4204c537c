package forward

// set makes a set of names.
func set(names ...string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}

// reads are the methods of Core's that change nothing and show nothing of a wallet. With
// methods of the node itself, for where it serves few of its own.
var reads = set(
	"getbestblockhash", "getblock", "getblockchaininfo", "getblockcount", "getblockfilter", "getblockhash",
	"getblockheader", "getblockstats", "getchainstates", "getchaintips", "getchaintxstats",
	"getdeploymentinfo", "getdescriptoractivity", "getdifficulty", "getindexinfo", "gettxout",
	"gettxoutproof", "gettxoutsetinfo", "gettxspendingprevout", "scanblocks", "scantxoutset",
	"verifytxoutproof", "waitforblock", "waitforblockheight", "waitfornewblock", "getmempoolancestors",
	"getmempooldescendants", "getmempoolentry", "getmempoolinfo", "getorphantxs", "getrawmempool",
	"testmempoolaccept", "getblocktemplate", "getmininginfo", "getnetworkhashps",
	"getprioritisedtransactions", "estimaterawfee", "estimatesmartfee", "getaddednodeinfo",
	"getaddrmaninfo", "getconnectioncount", "getnettotals", "getnetworkinfo", "getnodeaddresses",
	"getpeerinfo", "getrawaddrman", "getzmqnotifications", "listbanned", "getrawtransaction",
	"analyzepsbt", "combinepsbt", "combinerawtransaction", "converttopsbt", "createmultisig", "createpsbt",
	"createrawtransaction", "decodepsbt", "decoderawtransaction", "decodescript", "deriveaddresses",
	"finalizepsbt", "getdescriptorinfo", "joinpsbts", "utxoupdatepsbt", "validateaddress", "verifymessage",
)

// state are methods about what Core has and a node that follows it has not: unspent
// outputs, the pool, peers, mining. Core answers them although the node knows them.
var state = set(
	"getblockchaininfo", "getchaintips", "getchaintxstats", "getchainstates", "getdeploymentinfo",
	"gettxout", "gettxoutsetinfo", "gettxspendingprevout", "scantxoutset", "verifychain", "gettxoutproof",
	"verifytxoutproof", "dumptxoutset", "loadtxoutset", "invalidateblock", "reconsiderblock",
	"preciousblock", "pruneblockchain", "getblockfrompeer", "syncwithvalidationinterfacequeue",
	"getmempoolancestors", "getmempooldescendants", "getmempoolentry", "getmempoolinfo", "getorphantxs",
	"getrawmempool", "importmempool", "savemempool", "prioritisetransaction", "getprioritisedtransactions",
	"sendrawtransaction", "submitpackage", "testmempoolaccept", "getrawtransaction", "generate",
	"generateblock", "generatetoaddress", "generatetodescriptor", "getblocktemplate", "getmininginfo",
	"getnetworkhashps", "submitblock", "submitheader", "setmocktime", "mockscheduler", "estimaterawfee",
	"estimatesmartfee", "addconnection", "addnode", "addpeeraddress", "clearbanned", "disconnectnode",
	"getaddednodeinfo", "getaddrmaninfo", "getconnectioncount", "getnettotals", "getnetworkinfo",
	"getnodeaddresses", "getpeerinfo", "getrawaddrman", "listbanned", "ping",
	"sendmsgtopeer", "setban", "setnetworkactive",
)

// moves are the methods after which Core's tip may be another.
var moves = set(
	"generate", "generateblock", "generatetoaddress", "generatetodescriptor", "invalidateblock",
	"loadtxoutset", "preciousblock", "reconsiderblock", "submitblock", "submitheader",
)

// sends are the methods after which Core's pool may have another transaction.
var sends = set(
	"bumpfee", "send", "sendall", "sendmany", "sendrawtransaction", "sendtoaddress", "submitpackage",
	"invalidateblock",
)

// atTip are the methods of the node whose answers depend on its tip: a client that has
// just seen Core move it sees what it saw.
var atTip = set(
	"getbestblockhash", "getblockcount", "getdifficulty", "scanblocks", "waitforblockheight", "waitfornewblock",
)

// ofBlocks are the methods of the node about a block that it may not know yet.
var ofBlocks = set(
	"getblock", "getblockfilter", "getblockhash", "getblockheader", "getblockstats", "getdescriptoractivity",
	"scanblocks",
)

// elsewhere are those of them that Core answers for blocks that the node does not know.
var elsewhere = set("getblock", "getblockheader", "getblockstats")

// walletRegistry are the methods about the wallets of this node as a whole.
var walletRegistry = set(
	"createwallet", "createwalletdescriptor", "listwalletdir", "listwallets", "loadwallet",
	"migratewallet", "previewrestore", "restorewallet", "unloadwallet",
)

// ownOnly are methods that Core does not have: who may scan may call them.
var ownOnly = set("getattachinfo", "getopenrpcinfo")

// blockReads are the methods of the node that read blocks and what is made of them.
var blockReads = set(
	"getbestblockhash", "getblock", "getblockcount", "getblockfilter", "getblockhash", "getblockheader",
	"getblockstats", "getdescriptoractivity",
)

// few are the methods that the node keeps where it serves few of its own.
var few = set("getblockfilter", "getindexinfo", "scanblocks")

// always are the methods of the node that never go elsewhere: they are about the program.
var always = set("getattachinfo", "getopenrpcinfo", "getrpcinfo", "help", "stop", "uptime")
