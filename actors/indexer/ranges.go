package indexer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/rangefilter"
	"github.com/seed61375155/trawl/store/segment"
)

// fillRanges makes all range filters that are missing. One whose blocks cannot be
// read, as they were pruned, is left out until the next start.
func (l *layer) fillRanges() error {
	secret, ok := l.cfg.Store.RangeKey()
	if !ok {
		return nil
	}
	key, logged := rangefilter.Key(secret), time.Now()
	for {
		number, blocks, ok := l.cfg.Store.NextRange()
		if !ok {
			return nil
		}
		data, err := l.makeRange(l.ctx, &key, blocks)
		switch {
		case l.ctx.Err() != nil:
			return l.ctx.Err()
		case errors.Is(err, chainview.ErrClosed), errors.Is(err, chainview.ErrNotReady):
			return nil // until there are news
		case err != nil:
			l.cfg.Log.Warn("range filter cannot be made", "range", number, "err", err)
			l.cfg.Store.SkipRange(number)
			continue
		}
		if err := l.cfg.Store.PutRange(number, data); err != nil {
			if errors.Is(err, segment.ErrClosed) {
				return nil
			}
			return err
		}
		if time.Since(logged) > logEvery {
			logged = time.Now()
			l.cfg.Log.Info("making range filters of blocks", "range", number)
		}
	}
}

// makeRange makes the filter of some blocks: of all scripts that a block can be
// found by.
func (l *layer) makeRange(ctx context.Context, key *rangefilter.Key, blocks []chainhash.Hash) ([]byte, error) {
	reader := l.cfg.Chain.Open()
	if reader == nil {
		return nil, chainview.ErrNotReady
	}
	var hashes []uint64
	for i := range blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		raw, err := reader.Raw(&blocks[i])
		if err != nil {
			return nil, err
		}
		err = filters.EachOutputScript(raw, l.cfg.HeaderLen(raw), func(script []byte) bool {
			hashes = append(hashes, key.Hash(script))
			return true
		})
		if err != nil {
			return nil, fmt.Errorf("block %v: %w", blocks[i], err)
		}
		spent, err := reader.SpentScripts(&blocks[i])
		if err != nil {
			return nil, fmt.Errorf("spent outputs of block %v: %w", blocks[i], err)
		}
		for _, script := range spent {
			hashes = append(hashes, key.Hash(script))
		}
	}
	return rangefilter.Build(hashes)
}
