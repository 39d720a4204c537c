package chainrpc

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// loadedSet is what loadtxoutset returns.
type loadedSet struct {
	Coins  uint64         `json:"coins_loaded"`
	Tip    chainhash.Hash `json:"tip_hash"`
	Height int32          `json:"base_height"`
	Path   string         `json:"path"`
}

func loadTxOutSet(d *Deps) command.Command {
	return command.Command{
		Name:     "loadtxoutset",
		Category: command.Blockchain,
		About:    command.State, Effect: command.MovesTip,
		Summary: "Begins the chain with a set of unspent outputs from a file, as dumptxoutset writes it, whose\n" +
			"hash is known. The node can be used as of its block at once; the blocks before are validated in\n" +
			"the background.",
		Params: []command.Param{{
			Name: "path", Type: command.String,
			Help: "the file; relative to the network's data directory",
		}},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "coins_loaded", Help: "outputs in the file"},
			{Type: command.Hex, Key: "tip_hash", Help: "hash of the block that the set is of"},
			{Type: command.Number, Key: "base_height", Help: "its height"},
			{Type: command.String, Key: "path", Help: "the whole path of the file"},
		}}},
		Examples: []string{`["utxo.dat"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			path, err := a.String(0)
			if err != nil {
				return nil, err
			}
			if path != "" && !filepath.IsAbs(path) {
				path = filepath.Join(d.Dir, path)
			}
			got, err := d.loadSnapshot(ctx, path)
			var refused *messages.SnapshotError
			switch {
			case errors.Is(err, messages.ErrNotOpened):
				return nil, command.Errorf(command.InvalidParameter, "Couldn't open file %s for reading.", path)
			case errors.As(err, &refused) && refused.Head:
				return nil, command.Errorf(command.DeserializationError, "Unable to parse metadata: %s", refused.Reason)
			case errors.As(err, &refused):
				return nil, command.Errorf(
					command.InternalError, "Unable to load UTXO snapshot: %s. (%s)", refused.Reason, path,
				)
			case err != nil:
				return nil, err
			}
			return loadedSet{got.Coins, got.Block.Hash, got.Block.Height, path}, nil
		},
	}
}

// loadSnapshot looks at the file, and at the memory pool, before all of it is read.
func (d *Deps) loadSnapshot(ctx context.Context, path string) (got messages.LoadedSnapshot, err error) {
	got, err = ask.Ask(ctx, d.Actor, messages.LoadSnapshot{Path: path, Only: true})
	if err != nil {
		return got, err
	}
	if !d.Pool.IsAbsent() {
		info, err := ask.Ask(ctx, d.Pool, messages.GetPoolInfo{})
		if err != nil {
			return got, err
		}
		if info.Size > 0 {
			return got, &messages.SnapshotError{Reason: "Can't activate a snapshot when mempool not empty"}
		}
	}
	return ask.Ask(ctx, d.Actor, messages.LoadSnapshot{Path: path})
}
