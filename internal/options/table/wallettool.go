package table

import "github.com/seed61375155/trawl/internal/options"

// WalletCommands returns the commands of trawl-wallet.
func WalletCommands() []string { return []string{"info", "create", "dump", "createfromdump"} }

// walletTool is what trawl-wallet has to find a wallet.
var walletTool = []options.Option{
	{Name: "core", Arg: "<version>", Flags: noNegation | needsValue, Help: "Act as for a node that speaks as Bitcoin " +
		"Core <version>: as 32 it makes no wallets without a name; not with the dialect qbit (default: " +
		DefaultCore + ")"},
	{Name: "datadir", Arg: "<dir>", Flags: noNegation, Help: "Data directory of the daemon (default: ~/.trawl)"},
	{Name: "debug", Arg: "<category>", Flags: debug | unused, Help: "Write lines for developers"},
	{
		Name: "dumpfile", Arg: "<file>", Flags: noNegation,
		Help: "Write the records to <file>, which must not be there yet, with dump; read them from <file> with " +
			"createfromdump",
	},
	{Name: "printtoconsole", Flags: debug | unused, Help: "Write lines for developers to the standard output"},
	{
		Name: "wallet", Arg: "<name>", Flags: networkOnly,
		Help: "Name of the wallet: its folder, absolute or below the wallets directory",
	},
}
