// Package trawl is a Bitcoin node to embed in a program: a validated chain, an
// index of its BIP158 block filters, scans over it, and JSON-RPC methods, each
// concern an actor.
//
//	node, err := trawl.Open(ctx, trawl.Config{Dir: dir, Chain: "main", BlockFilterIndex: true})
//	...
//	tip, err := trawl.Ask(ctx, node.Chain(), messages.GetTip{})
//	...
//	err = node.Wait(ctx) // until ctx ends or a part of the node fails for good
//	err = node.Close(context.Background())
//
// A Node writes below Config.Dir only, logs to Config.Log only, starts no
// listener of its own, and leaves signals and flags to its host; cmd/trawld
// is such a host. ARCHITECTURE.md says how the parts work together.
package trawl
