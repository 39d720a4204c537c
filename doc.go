// Package trawl is a Bitcoin node to embed in a program. It has a validated
// chain, an index of its BIP158 block filters, scans over that index, and
// JSON-RPC methods. Each concern is an actor. Open a node and ask its actors:
//
//	node, err := trawl.Open(ctx, trawl.Config{Dir: dir, Chain: "main", BlockFilterIndex: true})
//	...
//	tip, err := trawl.Ask(ctx, node.Chain(), messages.GetTip{})
//	...
//	err = node.Follow(ctx, last, func(step messages.ChainStep) error { ... }) // every block
//	...
//	err = node.Wait(ctx) // until ctx ends or a part of the node fails for good
//	err = node.Close(context.Background())
//
// [Node.Blocks] reads blocks, and [Node.Follow] visits each block that joins the chain or
// leaves it. [Node.Subscribe] returns events that cannot be read later. [Node.Call] calls
// the JSON-RPC methods without a port. [Ask] sends the requests of package messages to the
// actors. Errors can be told apart with errors.Is and errors.As: each says which it wraps.
//
// A Node writes below Config.Dir, and where BlocksDir and the folders and files of
// Wallets are elsewhere, there. It logs to Config.Log only. It listens for peers only
// where Peers says so, and never for callers: that, signals and flags it leaves to its
// host; cmd/trawld is such a host. A part that is off is absent: requests to it fail
// with [ErrAbsent]. ARCHITECTURE.md says how the parts work together.
package trawl
