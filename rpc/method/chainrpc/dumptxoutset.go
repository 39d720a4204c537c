package chainrpc

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// dumped is what dumptxoutset returns.
type dumped struct {
	Coins  uint64         `json:"coins_written"`
	Base   chainhash.Hash `json:"base_hash"`
	Height int32          `json:"base_height"`
	Path   string         `json:"path"`
	Hash   chainhash.Hash `json:"txoutset_hash"`
	Txs    int64          `json:"nchaintx"`
}

func dumpTxOutSet(d *Deps) command.Command {
	txs := new(txCounter)
	return command.Command{
		Name:     "dumptxoutset",
		Category: command.Blockchain,
		About:    command.State,
		Summary: "Writes the set of unspent outputs into a file that loadtxoutset of Bitcoin Core reads.\n" +
			"For an earlier block, the blocks after it are taken back in memory (-dbcache bounds how many): the\n" +
			"chain stays where it is, and new blocks wait only until that is done.",
		Params: []command.Param{
			{
				Name: "path", Type: command.String,
				Help: "the file, which must not be there yet; relative to the network's data directory",
			},
			{
				Name: "type", Type: command.String, Default: `""`,
				Help: "latest: as of the tip; rollback: as of the block that the option names, or else of the last " +
					"one whose set is known to be right by its hash",
			},
			{Name: "options", Type: command.NamedOptions, Optional: true, Help: "options", Inner: []command.Param{
				{
					Name: "rollback", Type: command.Number, TypeText: "string or numeric", AnyType: true,
					Optional: true, Help: "height or hash of an earlier block",
				},
				{
					Name: "in_memory", Type: command.Bool, Default: "false", Since: 31,
					Help: "has no effect: blocks are always taken back in memory",
				},
			}},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "coins_written", Help: "outputs in the file"},
			{Type: command.Hex, Key: "base_hash", Help: "hash of the block that the set is of"},
			{Type: command.Number, Key: "base_height", Help: "its height"},
			{Type: command.String, Key: "path", Help: "the whole path of the file"},
			{Type: command.Hex, Key: "txoutset_hash", Help: "hash of the set"},
			{Type: command.Number, Key: "nchaintx", Help: "transactions of the chain up to the block"},
		}}},
		Examples: []string{`["utxo.dat", "latest"]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			name, err := a.String(0)
			if err != nil {
				return nil, err
			}
			reader, err := d.open()
			if err != nil {
				return nil, err
			}
			at, err := d.dumpedBlock(reader, a)
			if err != nil {
				return nil, err
			}
			path := name
			if !filepath.IsAbs(path) {
				path = filepath.Join(d.Dir, path)
			}
			return d.dump(ctx, reader, txs, at, path)
		},
	}
}

// dumpedBlock reads as of which block the set is wanted; nil: the tip.
func (d *Deps) dumpedBlock(reader chainview.Reader, a *command.Args) (*chainview.Block, error) {
	kind, err := a.StringOr(1, "")
	if err != nil {
		return nil, err
	}
	var at *jsontree.Value
	if a.Has(2) {
		options, err := a.Object(2)
		if err != nil {
			return nil, err
		}
		at = options.Get("rollback")
		if inMemory := options.Get("in_memory"); inMemory != nil {
			if _, err := inMemory.AsBool(); err != nil {
				return nil, err
			}
		}
	}
	active := reader.Active()
	switch {
	case at != nil && kind != "" && kind != "rollback":
		return nil, command.Errorf(
			command.InvalidParameter, "Invalid snapshot type \"%s\" specified with rollback option", kind,
		)
	case at != nil:
		return rollbackBlock(reader, active, at)
	case kind == "rollback":
		heights := d.Network.Snapshots
		if len(heights) == 0 {
			return nil, command.Error{Code: command.MiscError, Message: "No set of unspent outputs is known"}
		}
		return atHeight(active, heights[len(heights)-1].Height)
	case kind == "latest":
		return nil, nil //nolint:nilnil // the tip, whichever that is then
	}
	return nil, command.Errorf(command.InvalidParameter,
		"Invalid snapshot type \"%s\" specified. Please specify \"rollback\" or \"latest\"", kind)
}

// rollbackBlock reads a height or a hash.
func rollbackBlock(reader chainview.Reader, active *chainview.Chain, v *jsontree.Value) (*chainview.Block, error) {
	if v.Kind() == jsontree.Number {
		height, err := v.AsInt32()
		if err != nil {
			return nil, err
		}
		return atHeight(active, height)
	}
	hash, err := arg.Hash(v, "hash_or_height")
	if err != nil {
		return nil, err
	}
	return lookup(reader, &hash)
}

func atHeight(active *chainview.Chain, height int32) (*chainview.Block, error) {
	if height < 0 {
		return nil, command.Errorf(command.InvalidParameter, "Target block height %d is negative", height)
	}
	if tip := active.Height(); height > tip {
		return nil, command.Errorf(
			command.InvalidParameter, "Target block height %d after current tip %d", height, tip,
		)
	}
	return active.At(height), nil
}

func (d *Deps) dump(
	ctx context.Context, reader chainview.Reader, txs *txCounter, at *chainview.Block, path string,
) (any, error) {
	request := messages.DumpCoins{Path: path}
	if at != nil && !at.Is(reader.Active().Tip()) {
		if d.Pruning != nil && prunedHeight(reader.Active())+1 > at.Height {
			return nil, command.Error{
				Code:    command.MiscError,
				Message: "Could not roll back to requested height since necessary block data is already pruned.",
			}
		}
		request.At = &at.Hash
	}
	got, err := ask.Ask(ctx, d.Coins, request)
	switch {
	case errors.Is(err, messages.ErrFileExists):
		return nil, command.Error{
			Code:    command.InvalidParameter,
			Message: path + " already exists. If you are sure this is what you want, move it out of the way first",
		}
	case errors.Is(err, messages.ErrNotCreated):
		return nil, command.Errorf(
			command.InvalidParameter, "Couldn't open file %s.incomplete for writing.", path,
		)
	case errors.Is(err, messages.ErrNoRollback):
		return nil, command.Error{Code: command.MiscError, Message: "Could not roll back to requested height."}
	case err != nil:
		return nil, err
	}
	b := reader.Lookup(&got.Block.Hash)
	if b == nil {
		return nil, chainview.ErrClosed
	}
	count, err := txsTo(reader, txs, b)
	return dumped{got.Coins, b.Hash, b.Height, path, got.Hash, count}, err
}

// txsTo counts the transactions up to a block, which may have left the active chain since.
func txsTo(reader chainview.Reader, txs *txCounter, b *chainview.Block) (int64, error) {
	active := reader.Active()
	fork := active.ForkHeight(b)
	n, _, err := txs.upTo(reader, active, active.At(fork))
	if err != nil {
		return 0, err
	}
	more, err := sumTxs(reader, b, fork)
	return n + more, err
}
