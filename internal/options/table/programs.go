package table

import "github.com/seed61375155/trawl/internal/options"

// The programs whose options are here, as -help and the manual pages describe them. They
// are functions, since what is described is nobody's to change.

// DaemonProgram describes trawld.
func DaemonProgram() *options.Program {
	return &options.Program{
		Name: "trawld", Title: "Trawl daemon", Purpose: "a Bitcoin node that searches the chain by output descriptors",
		About: `trawld keeps a copy of the block chain with an index of its block filters and
answers questions about it over JSON-RPC. trawl-cli asks them.
`,
		Usage: []string{"[options]"},
	}
}

// WalletToolProgram describes trawl-wallet.
func WalletToolProgram() *options.Program {
	return &options.Program{
		Name: "trawl-wallet", Title: "Trawl wallet tool", Purpose: "makes, shows and dumps wallet files offline",
		About: `trawl-wallet makes wallet files, and tells what is in them, while no node has them open.

The commands are:
  info            show what kind of wallet it is and how much it holds
  create          make a new wallet with its keys
  dump            write all records of a wallet to -dumpfile, in hex
  createfromdump  make a new wallet of the records in -dumpfile

By default it acts on wallets of the main chain in the data directory of trawld.
-datadir, -wallet and the options that select the chain name another wallet.
A dump holds the private keys of the wallet: whoever has it has the coins.
`,
		Usage: []string{"[options] <command>"},
	}
}

// CLIProgram describes trawl-cli.
func CLIProgram() *options.Program {
	return &options.Program{
		Name: "trawl-cli", Title: "Trawl RPC client", Purpose: "calls a method of a running trawld",
		About: `trawl-cli calls a method of a running trawld and prints the result.

The method "help" lists all methods; "help <method>" describes one.
With -named, parameters are given as <name>=<value>, in any order.
`,
		Usage: []string{
			"[options] <method> [params]", "[options] -named <method> [name=value]...",
			"[options] help", "[options] help <method>",
		},
	}
}
