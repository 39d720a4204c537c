package coins

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/blockfile"
	"github.com/seed61375155/trawl/store/coinfile"
)

// check reads a file for a caller, in a worker that ends with the caller or the actor.
func (s *Coins) check(c actor.Context, call *checkFile) {
	ctx, cancel := context.WithCancel(call.Ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	s.tasks.Go(c, func() func() {
		got, err := s.cfg.checkFile(ctx, call.Req)
		return func() {
			stop()
			cancel()
			call.Answer(got, err)
		}
	})
}

// checkFile reads the beginning of a file, and all of it where the request says at which block
// the set is.
func (cfg *Config) checkFile(ctx context.Context, q messages.CheckCoinFile) (got messages.CoinFile, err error) {
	r, err := coinfile.Open(cfg.FS, q.Path, cfg.Network.Magic, cfg.Network.NetworkOf)
	if err == nil {
		got.Block, got.Coins = r.Block, r.Coins
		if q.At != nil {
			got.Hash, err = cfg.hash(ctx, r, q.At)
		}
		if closed := r.Close(); err == nil {
			err = closed
		}
	}
	var head *coinfile.HeadError
	var content *coinfile.ContentError
	switch {
	case errors.As(err, &head):
		err = &messages.CoinFileError{Reason: head.Text, Head: true}
	case errors.As(err, &content):
		err = &messages.CoinFileError{Reason: content.Text}
	case errors.Is(err, coinfile.ErrOpen):
		err = messages.ErrNotOpened
	}
	return got, err
}

var (
	errOrder = &coinfile.ContentError{Text: "The outputs of the snapshot are not in the order of their transactions"}
	errBlock = &coinfile.ContentError{Text: "The snapshot is of another block now"}
)

// lookEvery is after how many outputs it is looked whether to stop.
const lookEvery = 4096

// hash reads all outputs and hashes them.
func (cfg *Config) hash(ctx context.Context, r *coinfile.Reader, at *messages.Tip) (chainhash.Hash, error) {
	if r.Block != at.Hash {
		return chainhash.Hash{}, errBlock // the file has changed since its beginning was read
	}
	limits := coinfile.Limits{Height: at.Height, MaxMoney: cfg.Network.Rules.MaxMoney}
	sum := coinstats.New(coinstats.Serial)
	var out, last wire.OutPoint
	var coin blockfile.Coin
	inOrder := true
	for n := 1; ; n++ {
		if err := r.Next(&out, &coin, limits); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return chainhash.Hash{}, err
		}
		if n%lookEvery == 0 && ctx.Err() != nil {
			return chainhash.Hash{}, context.Cause(ctx)
		}
		inOrder = inOrder && bytes.Compare(out.Hash[:], last.Hash[:]) >= 0
		last = out
		sum.Add(&coinstats.Coin{
			Out: out, Height: coin.Height, Coinbase: coin.Coinbase, Amount: coin.Amount, Script: coin.Script,
		})
	}
	if !inOrder {
		return chainhash.Hash{}, errOrder
	}
	return sum.Hash(), nil
}
