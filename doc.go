// Package trawl is a Bitcoin node to embed in a program: a validated chain, an
// index of its BIP158 block filters, scans over it, and JSON-RPC methods, each
// concern an actor.
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
// [Node.Blocks] reads blocks and [Node.Follow] hears of each that joins the chain or leaves
// it; [Node.Subscribe] tells of what cannot be read later; [Node.Call] calls the JSON-RPC
// methods without a port; [Ask] sends the requests of package messages to the actors. Errors
// can be told apart with errors.Is and errors.As: each says which it wraps.
//
// A Node writes below Config.Dir, and where BlocksDir and the folders and files of
// Wallets are elsewhere, there. It logs to Config.Log only. It listens for peers only
// where Peers says so, and never for callers: that, signals and flags it leaves to its
// host; cmd/trawld is such a host. What of it is off is absent: asked, it answers
// [ErrAbsent]. ARCHITECTURE.md says how the parts work together.
package trawl
