package chainstate

import (
	"context"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/coinstats"
	"github.com/seed61375155/trawl/internal/engine/coincache"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/chaindb"
)

// A setHash hashes a set of unspent outputs as it was stored when the hash was begun, a piece at a
// time: what else there is to do comes between.
type setHash struct {
	coins *coinSet
	none  *coincache.Cache // nothing lies over what is stored
	sum   *coinstats.Sum

	at    uint32 // the first two bytes of the ids that come next; setParts: there are no more
	width uint32 // of the next piece
}

// Two bytes of ids make setParts parts of a set, of which a piece begins with setWidth.
const (
	setParts = 1 << 16
	setWidth = 16
)

// A piece takes more parts if the piece before took less than pieceFast, and fewer if it took
// more than pieceSlow.
const (
	pieceFast = 10 * time.Millisecond
	pieceSlow = 50 * time.Millisecond
)

// newSetHash begins to hash a set, which is at a block, with outputs that are in none; odd is nil
// where these are stored. It is to be released.
func (a assuming) newSetHash(set chaindb.CoinSet, at *chainview.Block, odd *oddOutputs) (*setHash, error) {
	stored, err := a.engine.db.Coins(set)
	if err != nil {
		return nil, err
	}
	none := coincache.New(nil, 0)
	return &setHash{
		coins: &coinSet{stored, none.Changes(), a.engine.tree, at, odd}, none: none,
		sum: coinstats.New(coinstats.Serial), width: setWidth,
	}, nil
}

func (h *setHash) release() {
	h.coins.Release()
	h.none.Close()
}

func (h *setHash) done() bool { return h.at == setParts }

// next hashes a piece. After an error the hash is of no use.
func (h *setHash) next(ctx context.Context) error {
	began := time.Now()
	width := min(h.width, setParts-h.at)
	var c coinstats.Coin
	err := h.coins.Visit(ctx, uint16(h.at), uint16(h.at+width-1), func(s *messages.SetCoin) (err error) {
		c = coinstats.Coin{Out: s.Out, Height: s.Height, Coinbase: s.Coinbase, Amount: s.Amount, Script: c.Script[:0]}
		if c.Script, err = h.coins.Unpack(c.Script, s.Packed); err == nil {
			h.sum.Add(&c)
		}
		return err
	})
	h.at += width
	h.width = nextWidth(h.width, time.Since(began))
	return err
}

// nextWidth returns the width of the next piece by that of the last and its time. The width is at least 1: a piece of
// nothing would never get to the end.
func nextWidth(width uint32, took time.Duration) uint32 {
	switch {
	case took < pieceFast:
		return width * 2
	case took > pieceSlow && width > 1:
		return width / 2
	}
	return width
}

// hash returns the hash of the set, all of which was hashed.
func (h *setHash) hash() chainhash.Hash { return h.sum.Hash() }
