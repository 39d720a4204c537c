package chain

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func loadTxOutSet(d *Deps) command.Command {
	return command.Command{
		Name:     "loadtxoutset",
		Category: command.Blockchain,
		Summary: "Reads a file of unspent outputs, as dumptxoutset writes it, and holds it against the hash that is\n" +
			"known of the set. This node does not begin with such a set: it validates the chain from its first\n" +
			"block on, and refuses a file that is right, too, after it has checked it.",
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
			if !filepath.IsAbs(path) {
				path = filepath.Join(d.Dir, path)
			}
			return nil, d.checkCoinFile(ctx, path)
		},
	}
}

// checkCoinFile says why a file is refused, in the order in which Core looks.
func (d *Deps) checkCoinFile(ctx context.Context, path string) error {
	reader, err := d.open()
	if err != nil {
		return err
	}
	head, err := ask.Ask(ctx, d.Coins, messages.CheckCoinFile{Path: path})
	if err != nil {
		return coinFileError(path, err)
	}
	known, base, err := d.snapshotBase(reader, &head.Block)
	if err == nil {
		err = d.emptyPool(ctx)
	}
	if err != nil {
		return coinFileError(path, err)
	}
	if reader.Active().Tip().CompareWork(base) >= 0 {
		return coinFileError(path, wrongFile("Population failed: Work does not exceed active chainstate"))
	}
	got, err := ask.Ask(ctx, d.Coins, messages.CheckCoinFile{
		Path: path, At: &messages.Tip{Hash: base.Hash, Height: base.Height},
	})
	var wrong *messages.CoinFileError
	switch {
	case errors.As(err, &wrong) && !wrong.Head:
		err = wrongFile("Population failed: %s", wrong.Reason)
	case err == nil && got.Hash != known.Hash:
		err = wrongFile("Population failed: Bad snapshot content hash: expected %v, got %v", known.Hash, got.Hash)
	case err == nil:
		err = wrongFile("The snapshot is right, but this node does not begin with one: it validates all blocks")
	}
	return coinFileError(path, err)
}

// wrongFile is a refusal of what was read.
func wrongFile(format string, args ...any) error {
	return &messages.CoinFileError{Reason: fmt.Sprintf(format, args...)}
}

// snapshotBase finds what is known of the set of a block, and the block.
func (d *Deps) snapshotBase(
	reader chainview.Reader, hash *chainhash.Hash,
) (known dialect.Snapshot, base *chainview.Block, err error) {
	list := d.Network.Snapshots
	at := slices.IndexFunc(list, func(s dialect.Snapshot) bool { return s.Block == *hash })
	if at < 0 {
		heights := make([]string, len(list))
		for i, s := range list {
			heights[i] = strconv.Itoa(int(s.Height))
		}
		return known, nil, wrongFile("assumeutxo block hash in snapshot metadata not recognized (hash: %v). The "+
			"following snapshot heights are available: %s", hash, strings.Join(heights, ", "))
	}
	base = reader.Lookup(hash)
	switch {
	case base == nil:
		return known, nil, wrongFile("The base block header (%v) must appear in the headers chain. Make sure all "+
			"headers are syncing, and call loadtxoutset again", hash)
	case base.Status().Invalid():
		return known, nil, wrongFile("The base block header (%v) is part of an invalid chain", hash)
	case chainview.BestHeader(reader, reader.Active()).Ancestor(base.Height) != base:
		return known, nil, wrongFile("A forked headers-chain with more work than the chain with the snapshot base " +
			"block header exists. Please proceed to sync without AssumeUtxo.")
	}
	return list[at], base, nil
}

func (d *Deps) emptyPool(ctx context.Context) error {
	if d.Pool.IsAbsent() {
		return nil
	}
	info, err := ask.Ask(ctx, d.Pool, messages.GetPoolInfo{})
	if err == nil && info.Size > 0 {
		err = wrongFile("Can't activate a snapshot when mempool not empty")
	}
	return err
}

// coinFileError is what a caller is told of a file.
func coinFileError(path string, err error) error {
	var wrong *messages.CoinFileError
	switch {
	case errors.Is(err, messages.ErrNotOpened):
		return command.Errorf(command.InvalidParameter, "Couldn't open file %s for reading.", path)
	case !errors.As(err, &wrong):
		return err
	case wrong.Head:
		return command.Errorf(command.DeserializationError, "Unable to parse metadata: %s", wrong.Reason)
	}
	return command.Errorf(command.InternalError, "Unable to load UTXO snapshot: %s. (%s)", wrong.Reason, path)
}
