package follow

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
)

// Plan returns the way from a block to the tip of a chain: the blocks to disconnect,
// highest first, then the blocks to connect, ascending. Each list has at most limit blocks,
// and there is none to connect while there are more to disconnect. A nil block stands for
// the position before the genesis block.
func Plan(active *chainview.Chain, at *chainview.Block, limit int) (disconnect, connect []*chainview.Block) {
	return planTo(active.Tip(), at, limit)
}

// planTo is [Plan] for a way that ends at any block.
func planTo(to, at *chainview.Block, limit int) (disconnect, connect []*chainview.Block) {
	fork := int32(-1)
	if at != nil {
		fork = to.ForkHeight(at)
		for b := range at.Above(fork) {
			if len(disconnect) == limit {
				return disconnect, nil
			}
			disconnect = append(disconnect, b)
		}
	}
	last := to.Ancestor(fork + int32(min(limit, int(to.Height-fork))))
	connect = slices.Collect(last.Above(fork))
	slices.Reverse(connect)
	return disconnect, connect
}

// present returns the first blocks of connect that are there: a chain that begins with a snapshot
// of unspent outputs lacks blocks before it, or has yet to validate them.
func present(reader chainview.Reader, active *chainview.Chain, connect []*chainview.Block) []*chainview.Block {
	assumed := chainview.AssumedOf(reader)
	for i, b := range connect {
		if assumed.Lacks(b, active) {
			return connect[:i]
		}
	}
	return connect
}

// Hold keeps the blocks from a height on, under a name that [Config.Name] is to be, until
// the follower says how far it is. It is called before any block is pruned, and does nothing
// where locks is absent: no block is pruned then. The error wraps [chainview.ErrPruned]
// where some of the blocks are gone already.
func Hold(ctx context.Context, locks *ask.Ref, reader chainview.Reader, name string, from int32) error {
	if locks.IsAbsent() {
		return nil
	}
	active := reader.Active()
	for b := active.At(from); b != nil; b = active.Next(b) {
		if b.Status()&(chainview.Pruned|chainview.NoUndo) != 0 {
			return fmt.Errorf("%s: block at height %d: %w", name, b.Height, chainview.ErrPruned)
		}
	}
	if _, err := ask.Ask(ctx, locks, nodemsg.SetPruneLock{Name: name, Height: max(from-1, 0)}); err != nil {
		return fmt.Errorf("prune lock of %s: %w", name, err)
	}
	return nil
}

// Next returns the height of the first block that a target has yet to connect. A position
// that the chain does not know is reset before. It is for [Hold], while nothing else uses
// the target.
func Next(reader chainview.Reader, target Target) (int32, error) {
	at, ok := target.Position()
	if ok && reader.Lookup(&at.Hash) == nil {
		apply, err := target.Reset(reader, ErrUnknown)
		if err == nil && apply != nil {
			err = apply()
		}
		if err != nil {
			return 0, err
		}
		at, ok = target.Position()
	}
	if !ok {
		return 0, nil
	}
	b := reader.Lookup(&at.Hash)
	if b == nil {
		return 0, ErrUnknown
	}
	return reader.Active().ForkHeight(b) + 1, nil
}
