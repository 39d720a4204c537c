package chainrpc

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func getBlockFromPeer(d *Deps) command.Command {
	return command.Command{
		Name:     "getblockfrompeer",
		Category: command.Blockchain,
		About:    command.State,
		Summary: "Asks a peer for a block whose header is known, and returns without waiting for it.\n" +
			"The block is stored when it comes, whatever branch it is on.",
		Params: []command.Param{
			{Name: "blockhash", Type: command.Hex, Help: "hash of the block"},
			{Name: "peer_id", Type: command.Number, Help: "number of the peer, from getpeerinfo"},
		},
		Results:  []command.Result{{Type: command.Object, Help: "empty"}},
		Examples: []string{`["00000000c937983704a73af28acdec37b049d214adbda81d7e2a3dd146f6ed09", 0]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			hash, err := arg.Hash(a.Value(0), "blockhash")
			if err != nil {
				return nil, err
			}
			peer, err := a.Int64(1)
			if err != nil {
				return nil, err
			}
			return struct{}{}, d.blockFromPeer(ctx, &hash, peer)
		},
	}
}

func (d *Deps) blockFromPeer(ctx context.Context, hash *chainhash.Hash, peer int64) error {
	reader, err := d.open()
	if err != nil {
		return err
	}
	switch b := reader.Lookup(hash); {
	case b == nil:
		return command.Error{Code: command.MiscError, Message: "Block header missing"}
	case d.Pruning != nil && b.Height > reader.Active().Height():
		return command.Error{
			Code: command.MiscError,
			Message: "In prune mode, only blocks that the node has already synced previously can be fetched from a " +
				"peer",
		}
	case b.Status()&chainview.HasData != 0 && b.Status()&chainview.Pruned == 0:
		return command.Error{Code: command.MiscError, Message: "Block already downloaded"}
	case d.Sync.IsAbsent():
		return command.Error{Code: command.MiscError, Message: "Peer does not exist"}
	}
	_, err = ask.Ask(ctx, d.Sync, nodemsg.FetchBlockFrom{Hash: *hash, Peer: peer})
	for _, known := range []struct {
		err  error
		text string
	}{
		{nodemsg.ErrNoPeer, "Peer does not exist"},
		{nodemsg.ErrPreSegwitPeer, "Pre-SegWit peer"},
		{nodemsg.ErrLittleWork, "Block does not meet minimum chain work"},
		{nodemsg.ErrAlreadyRequested, "Already requested from this peer"},
		{nodemsg.ErrImporting, "Loading blocks ..."},
		{messages.ErrBlockNotFound, "Block header missing"},
	} {
		if errors.Is(err, known.err) {
			return command.Error{Code: command.MiscError, Message: known.text}
		}
	}
	return err
}
