package indexer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/store/segment"
)

// manyWithoutProbes is from how many filters without probe lines on it is logged that
// they are made: more than a block or a short absence leaves.
const manyWithoutProbes = 10_000

// probeBuilder makes missing probe lines of filters, in the background. Lines are
// missing for new filters, for filters from before there were lines, and where lines
// turned out to be damaged. Filters can be read and matched meanwhile.
type probeBuilder struct {
	cfg      *Config
	ctx      context.Context //nolint:containedctx // the indexer's
	repairer *repairer
	worker   ask.Tasks     // at most one
	woken    chan struct{} // there are new filters
	wakes    atomic.Int64  // how often there were
	seen     int64         // of them, after the last group of lines; the worker's
	auditor  auditor       // the worker's
}

func newProbeBuilder(ctx context.Context, cfg *Config, r *repairer) *probeBuilder {
	woken := make(chan struct{}, 1)
	return &probeBuilder{
		cfg: cfg, ctx: ctx, repairer: r, woken: woken, auditor: auditor{cfg: cfg, ctx: ctx, woken: woken},
	}
}

// startProbes starts the worker, which works when there is work until the indexer ends, or a filter is not its
// block's.
func (i *Indexer) startProbes(c actor.Context) {
	i.probes.worker.Go(c, func() func() {
		wrong := i.probes.run()
		return func() { i.probesEnded(c, wrong) }
	})
}

// wake has the worker look for work.
func (p *probeBuilder) wake() {
	p.wakes.Add(1)
	select {
	case p.woken <- struct{}{}:
	default:
	}
}

// run works whenever there is something to do. Missing lines only make scans slower,
// so a failed attempt is repeated with the next block. It returns a block with
// another filter than it should have.
func (p *probeBuilder) run() (wrong *chainview.Block) {
	for {
		select {
		case <-p.ctx.Done():
			return nil
		case <-p.woken:
		case <-p.cfg.Store.ProbesLost():
		}
		err := p.addProbes()
		if err == nil {
			err = p.fillRanges()
		}
		switch {
		case p.ctx.Err() != nil, errors.Is(err, segment.ErrClosed):
			return nil
		case err != nil:
			p.cfg.Log.Error("index beside the block filters cannot be made, scans do without until it can", "err", err)
			continue
		}
		if wrong, err = p.auditor.run(); wrong != nil {
			return wrong
		}
		if err != nil && p.ctx.Err() == nil {
			p.cfg.Log.Warn("block filters that were built elsewhere cannot be compared now", "err", err)
		}
	}
}

// restFor is how long the worker rests for a time of work while blocks are imported: it takes a
// tenth of one core from the import.
const restFor = 9

// giveWay rests after some work where new filters came meanwhile, as they do while blocks
// are imported. Without lines scans take longer; without rests the import would.
func (p *probeBuilder) giveWay(worked time.Duration) {
	wakes := p.wakes.Load()
	if wakes == p.seen {
		return
	}
	p.seen = wakes
	rest := time.NewTimer(restFor * worked)
	defer rest.Stop()
	select {
	case <-p.ctx.Done():
	case <-rest.C:
	}
}

// addProbes makes all lines that are missing.
func (p *probeBuilder) addProbes() error {
	total, began := p.cfg.Store.WithoutProbes(), time.Now()
	if total >= manyWithoutProbes {
		p.cfg.Log.Info("making probe lines of block filters", "filters", total)
	}
	var progress corelog.Progress
	last := chainhash.Hash{}
	for left := total; left > 0; {
		var err error
		group := time.Now()
		var damage *segment.DamagedError
		switch left, err = p.cfg.Store.AddProbes(p.ctx); {
		case errors.As(err, &damage) && damage.Block != last:
			// Its segment is re-made first; once, or there is no end.
			last, left = damage.Block, 1
			if err := p.repairer.repairFilter(&damage.Block); err != nil {
				return fmt.Errorf("filter without probe lines: %w", err)
			}
		case err != nil:
			return err
		}
		p.giveWay(time.Since(group))
		done := total - left
		if words := progress.Words(time.Now(), int64(done), float64(done)/float64(total), "filters"); words != "" {
			corelog.Printf(p.cfg.Log, slog.LevelInfo,
				"Making probe lines of block filters: %d of %d, %s", done, total, words)
		}
	}
	if total >= manyWithoutProbes {
		p.cfg.Log.Info(
			"probe lines of block filters are complete", "filters", total, "seconds", int(time.Since(began).Seconds()),
		)
	}
	return nil
}
