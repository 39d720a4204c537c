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
