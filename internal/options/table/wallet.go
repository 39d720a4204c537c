package table

import "github.com/seed61375155/trawl/internal/options"

// wallet is about keys, coins and fees.
var wallet = []options.Option{
	{Name: "addresstype", Help: "Kind of new addresses: legacy, p2sh-segwit, bech32 or bech32m (default: bech32)"},
	{Name: "avoidpartialspends", Help: "Spend all coins of an address together"},
	{Name: "changetype", Help: "Kind of change addresses (default: that of -addresstype)"},
	{
		Name: "consolidatefeerate", Arg: "<amt>",
		Help: "Spend more coins than needed below this fee rate, in BTC per kvB",
	},
	{Name: "disablewallet", Help: "Run without wallets"},
	{
		Name: "discardfee", Arg: "<amt>",
		Help: "Fee rate, in BTC per kvB, at which change is not worth keeping",
	},
	{
		Name: "fallbackfee", Arg: "<amt>",
		Help: "Fee rate, in BTC per kvB, when there is no estimate; 0: wallets do not pay then (default: 0, " +
			"in dialect qbit 0.0000025)",
	},
	{Name: "keypool", Arg: "<n>", Help: "Keys to derive ahead for each descriptor"},
	{Name: "maxapsfee", Arg: "<n>", Help: "Extra fee, in BTC, that avoiding partial spends may cost"},
	{Name: "mintxfee", Arg: "<amt>", Help: "Lowest fee rate, in BTC per kvB, to pay"},
	{
		Name: "paytxfee", Arg: "<amt>", Until: 31,
		Help: "Fee rate, in BTC per kvB, to pay; not with -core=32",
	},
	{
		Name: "signer", Arg: "<cmd>",
		Help: "Program that speaks to signing devices, with its arguments between single spaces; no shell sees it",
	},
	{Name: "signertimeout", Arg: "<n>", Help: "Seconds that the program of -signer may take (default: 300)"},
	{Name: "spendzeroconfchange", Help: "Spend unconfirmed change"},
	{Name: "txconfirmtarget", Arg: "<n>", Help: "Pay enough to be confirmed within <n> blocks"},
	{Name: "wallet", Arg: "<path>", Flags: networkOnly, Help: "Load this wallet at start; may be repeated"},
	{Name: "walletbroadcast", Help: "Send transactions of wallets to peers (default: 1)"},
	{Name: "walletdir", Arg: "<dir>", Help: "Keep wallets below <dir> (default: wallets in the network's folder)"},
	{Name: "walletnotify", Arg: "<cmd>", Help: "Run the shell command <cmd> when a transaction of a wallet changes; " +
		"%s is replaced by its id, %w by the wallet's name, %b by the hash of its block or \"unconfirmed\", %h by " +
		"the height of it or -1"},
	{Name: "walletpqcparallel", Arg: "<0|1>", Help: "Sign several inputs at once (default: 1); dialect qbit only"},
	{
		Name: "walletpqcsignthreads", Arg: "<n>",
		Help: "Inputs to sign at once at most (default: 0, as many as there are cores); dialect qbit only",
	},
	{Name: "walletrbf", Help: "Make transactions of wallets replaceable"},
}

var walletDebug = []options.Option{
	{Name: "unsafesqlitesync", Flags: debug, Help: "Do not wait for the disk when a wallet is written"},
	{Name: "walletcrosschain", Flags: debug, Help: "Allow wallets of another network"},
	{
		Name: "walletrejectlongchains", Flags: debug,
		Help: "Refuse transactions that the memory pool's limits on chains refuse",
	},
}
