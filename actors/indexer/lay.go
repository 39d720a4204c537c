package indexer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/store/segment"
)

// manyUnlaid is from how many filters without probe lines on the log is told that
// they are made: more than a block or a short absence leaves.
const manyUnlaid = 10_000

// layer makes the probe lines of filters that have none, in the background: of
// new filters, of those that were stored before there were lines, and where they
// turned out to be damaged. Filters can be read and matched meanwhile.
type layer struct {
	cfg    *Config
	ctx    context.Context //nolint:containedctx // the indexer's
	healer *healer
	worker *ask.Worker
	news   chan struct{} // there are new filters
}

// laid tells the indexer that its worker has ended.
type laid struct{}

func newLayer(ctx context.Context, cfg *Config, h *healer) *layer {
	return &layer{cfg: cfg, ctx: ctx, healer: h, news: make(chan struct{}, 1)}
}

// start starts the worker, which works when there is work until the indexer ends.
func (l *layer) start(c actor.Context) {
	l.worker = ask.Go(c, func() any { l.run(); return laid{} })
}

// wake has the worker look for work.
func (l *layer) wake() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}

// run works whenever there is something to do. Without lines scans take longer, and
// that is all: what fails is tried again with the next block.
func (l *layer) run() {
	for {
		select {
		case <-l.ctx.Done():
			return
		case <-l.news:
		case <-l.cfg.Store.LinesLost():
		}
		err := l.lay()
		if err == nil {
			err = l.fillRanges()
		}
		switch {
		case l.ctx.Err() != nil, errors.Is(err, segment.ErrClosed):
			return
		case err != nil:
			l.cfg.Log.Error("index beside the block filters cannot be made, scans do without until it can", "err", err)
		}
	}
}

// lay makes all lines that are missing.
func (l *layer) lay() error {
	total, began := l.cfg.Store.Unlaid(), time.Now()
	if total >= manyUnlaid {
		l.cfg.Log.Info("making probe lines of block filters", "filters", total)
	}
	logged, healed := began, chainhash.Hash{}
	for left := total; left > 0; {
		var err error
		var damage *segment.DamagedError
		switch left, err = l.cfg.Store.Lay(l.ctx); {
		case errors.As(err, &damage) && damage.Block != healed:
			// Its segment is re-made first; once, or there is no end.
			healed, left = damage.Block, 1
			if err := l.healer.heal(&damage.Block); err != nil {
				return fmt.Errorf("filter without probe lines: %w", err)
			}
		case err != nil:
			return err
		}
		if time.Since(logged) > logEvery {
			logged = time.Now()
			l.cfg.Log.Info("making probe lines of block filters", "left", left, "of", total)
		}
	}
	if total >= manyUnlaid {
		l.cfg.Log.Info("probe lines of block filters are complete", "filters", total, "seconds", int(time.Since(began).Seconds()))
	}
	return nil
}
