package follow

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/nodemsg"
)

// FetchBy returns what gets pruned blocks from an actor that serves [nodemsg.FetchBlock], and parses them by read. The
// actor may start later, and be absent: then there is no source.
func FetchBy(from func() *ask.Ref, read func(raw []byte) (*wire.MsgBlock, int, error)) chainview.Fetch {
	return func(ctx context.Context, hash *chainhash.Hash) (got chainview.Fetched, err error) {
		got.Raw, err = ask.Ask(ctx, from(), nodemsg.FetchBlock{Hash: *hash})
		if errors.Is(err, ask.ErrAbsent) {
			return got, nodemsg.ErrNoSource
		}
		if err != nil {
			return got, err
		}
		got.Block, _, err = read(got.Raw)
		return got, err
	}
}
