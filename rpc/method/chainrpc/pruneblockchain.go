package chainrpc

import (
	"context"
	"errors"
	"sort"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// A Pruning says how the node deletes old blocks.
type Pruning struct {
	Target int64 // bytes that block files may take; 0: by request only
	After  int32 // height of the chain from which on blocks may be deleted
}

const (
	// keptBlocks is how many blocks below the tip are never deleted.
	keptBlocks = 288

	// leastTime is the least argument that is a time instead of a height.
	leastTime = 1_000_000_000

	// timeBuffer is how much later than a given time blocks are still left,
	// since their own times may be off by as much, in seconds.
	timeBuffer = 2 * 60 * 60
)

func pruneBlockchain(d *Deps) command.Command {
	return command.Command{
		Name:     "pruneblockchain",
		Category: command.Blockchain,
		About:    command.State,
		Summary: "Deletes old blocks and their undo data, as far as they may be deleted (needs -prune).\n" +
			"Whole files are deleted, so that some blocks below the given height may stay.",
		Params: []command.Param{{
			Name: "height", Type: command.Number,
			Help: "height of the last block to delete, or a time: then blocks go that are two hours older",
		}},
		Results: []command.Result{
			{Type: command.Number, Help: "height of the last block that is deleted, -1 if none is"},
		},
		Examples: []string{`[1000]`},
		Run:      d.prune,
	}
}

func (d *Deps) prune(ctx context.Context, a *command.Args) (any, error) {
	if d.Pruning == nil {
		return nil, command.Error{
			Code: command.MiscError, Message: "Cannot prune blocks because node is not in prune mode.",
		}
	}
	active, err := d.active()
	if err != nil {
		return nil, err
	}
	height, err := a.Int32(0)
	if err != nil {
		return nil, err
	}
	if height < 0 {
		return nil, command.Error{Code: command.InvalidParameter, Message: "Negative block height."}
	}
	if height > leastTime {
		if height, err = earliest(active, int64(height)-timeBuffer); err != nil {
			return nil, err
		}
	}
	switch tip := active.Height(); {
	case tip < d.Pruning.After:
		return nil, command.Error{Code: command.MiscError, Message: "Blockchain is too short for pruning."}
	case height > tip:
		return nil, command.Error{
			Code: command.InvalidParameter, Message: "Blockchain is shorter than the attempted prune height.",
		}
	case height > tip-keptBlocks:
		height = max(tip-keptBlocks, 0)
	}
	_, err = ask.Ask(ctx, d.Actor, messages.PruneBlocks{Height: height})
	if errors.Is(err, messages.ErrNotPruning) {
		return nil, command.Error{
			Code: command.MiscError, Message: "Cannot prune blocks because node is not in prune mode.",
		}
	}
	if err != nil {
		return nil, err
	}
	if active, err = d.active(); err != nil {
		return nil, err
	}
	return prunedHeight(active), nil
}

// earliest returns the height of the first block from which on the chain has
// reached a time, in seconds since 1970: Core compares the greatest time up to each
// block.
func earliest(active *chainview.Chain, seconds int64) (int32, error) {
	greatest := make([]int64, active.Height()+1)
	for h := range greatest {
		greatest[h] = active.At(int32(h)).Time().Unix()
		if h > 0 {
			greatest[h] = max(greatest[h], greatest[h-1])
		}
	}
	h := sort.Search(len(greatest), func(h int) bool { return greatest[h] >= seconds })
	if h == len(greatest) {
		return 0, command.Error{
			Code: command.InvalidParameter, Message: "Could not find block with at least the specified timestamp.",
		}
	}
	return int32(h), nil
}

// prunedHeight returns the height of the last block of the chain that was deleted, or whose undo data was; -1 when there
// is none. Blocks that have yet to come below a snapshot count as deleted, the genesis block does not.
func prunedHeight(active *chainview.Chain) int32 {
	for b := active.Tip(); b.Height > 0; b = b.Parent {
		if s := b.Status(); s&chainview.HasData == 0 || s&(chainview.Pruned|chainview.NoUndo) != 0 {
			return b.Height
		}
	}
	return -1
}
