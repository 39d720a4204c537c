package indexer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/rangefilter"
	"github.com/seed61375155/trawl/store/segment"
)

// fillRanges makes all range filters that are missing. It leaves out a range whose blocks
// cannot be read, say as they were pruned, until the next start.
func (p *probeBuilder) fillRanges() error {
	secret, ok := p.cfg.Store.RangeKey()
	if !ok {
		return nil
	}
	key := rangefilter.Key(secret)
	var progress corelog.Progress
	for {
		number, blocks, ok := p.cfg.Store.NextRange()
		if !ok {
			return nil
		}
		data, err := p.makeRange(p.ctx, &key, blocks)
		switch {
		case p.ctx.Err() != nil:
			return p.ctx.Err()
		case errors.Is(err, chainview.ErrClosed), errors.Is(err, chainview.ErrNotReady):
			return nil // until there are new blocks
		case err != nil:
			p.cfg.Log.Warn("range filter cannot be made", "range", number, "err", err)
			p.cfg.Store.SkipRange(number)
			continue
		}
		if err := p.cfg.Store.PutRange(number, data); err != nil {
			if errors.Is(err, segment.ErrClosed) {
				return nil
			}
			return err
		}
		height, _, _ := p.cfg.Store.Tip()
		last := max(int(height)/max(len(blocks), 1), 1)
		share := min(float64(number)/float64(last), 1)
		if words := progress.Words(time.Now(), int64(number), share, "ranges"); words != "" {
			corelog.Printf(p.cfg.Log, slog.LevelInfo,
				"Making range filters of blocks: %d of %d, %s", number, last, words)
		}
	}
}

// makeRange makes the filter of some blocks: of all scripts that a block can be
// found by.
func (p *probeBuilder) makeRange(ctx context.Context, key *rangefilter.Key, blocks []chainhash.Hash) ([]byte, error) {
	reader := p.cfg.Chain.Open()
	if reader == nil {
		return nil, chainview.ErrNotReady
	}
	return rangefilter.Build(func(add func(hash uint64)) error {
		for i := range blocks {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := p.eachScript(reader, &blocks[i], func(script []byte) { add(key.Hash(script)) })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// eachScript visits the scripts of the outputs that a block creates and spends.
func (p *probeBuilder) eachScript(reader chainview.Reader, hash *chainhash.Hash, visit func(script []byte)) error {
	raw, err := reader.Raw(hash)
	if err != nil {
		return err
	}
	err = filters.EachOutputScript(raw, p.cfg.HeaderLen(raw), func(script []byte) bool {
		visit(script)
		return true
	})
	if err != nil {
		return fmt.Errorf("block %v: %w", hash, err)
	}
	spent, err := reader.SpentScripts(hash)
	if err != nil {
		return fmt.Errorf("spent outputs of block %v: %w", hash, err)
	}
	for _, script := range spent {
		visit(script)
	}
	return nil
}
