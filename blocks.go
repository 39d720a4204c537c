package trawl

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/follow"
	"github.com/seed61375155/trawl/messages"
)

// Blocks are the blocks that a node knows, of all branches. They are read where they lie: no call waits for an actor.
// Errors can be told apart with errors.Is: [messages.ErrBlockNotFound], [messages.ErrBlockNotYet],
// [messages.ErrBlockPruned], [ErrClosed]; any other is about the disk.
type Blocks struct{ host *follow.Host }

// A Header is a block's header and what the node knows of the block.
type Header struct {
	messages.BlockID
	wire.BlockHeader

	Active bool // the block is part of the active chain
	Stored bool // the block can be read; else it has not come yet, or was pruned
}

// Blocks returns the blocks that the node knows.
func (n *Node) Blocks() Blocks {
	fetch := n.fetch(func() *Ref { return n.set.Ref(n.fetchPart()) })
	return Blocks{&follow.Host{Chain: n.view, Tip: n.tip, Fetch: fetch, Ended: n.set.Ended(), Err: n.set.Err}}
}

// Tip returns the last block of the active chain; after Close, that of then.
func (b Blocks) Tip() messages.BlockID { return b.host.Last() }

// At returns the block of the active chain at a height.
func (b Blocks) At(height int32) (messages.BlockID, error) { return b.host.At(height) }

// Header returns the header of a block of any branch.
func (b Blocks) Header(hash chainhash.Hash) (Header, error) {
	h, err := b.host.Header(&hash)
	return Header(h), err
}

// Read returns a block of any branch, not to be written to. A pruned block is fetched
// from a peer, which takes as long as the network does. The data between the header and
// the transactions of a merge-mined block is left out.
func (b Blocks) Read(ctx context.Context, hash chainhash.Hash) (*wire.MsgBlock, error) {
	return b.host.Read(ctx, &hash)
}

// Follow calls f with the blocks that have left the active chain since from, and with the
// blocks that have joined it, in order and without gaps. It does so until the tip is
// reached, and again whenever the tip changes. It calls f in the goroutine of its caller,
// one call at a time. A call has 100 blocks of each kind at most, and none is connected
// while there are more to disconnect. The node does not wait for f, however slow f is.
//
// The block from is known to the caller, and need not be in the active chain: it is the
// Last of a step that was saved in an earlier run, say. The zero value has the genesis
// block connected first. The height of from is not looked at.
//
// It returns the error of f, that of ctx, [messages.ErrBlockNotFound] for a block that
// the node does not know, or [ErrClosed].
func (n *Node) Follow(ctx context.Context, from messages.BlockID, f func(messages.ChainStep) error) error {
	return n.Blocks().host.Follow(ctx, from, f)
}
