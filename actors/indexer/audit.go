package indexer

import (
	"context"
	"errors"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/store/segment"
)

// An auditor builds filters that the chain has given from their blocks, and compares. It
// is part of the worker that makes the probe lines, which come first.
type auditor struct {
	cfg   *Config
	ctx   context.Context //nolint:containedctx // the indexer's
	woken chan struct{}   // there is other work

	next  int32 // height to go on from
	maker filterMaker
}

// auditRest is how long the auditor rests for a time of work.
const auditRest = 3

// run goes on until all filters are compared, there is other work, or a filter is wrong, whose
// block it returns. Unreadable data is tried again with the next block.
func (a *auditor) run() (wrong *chainview.Block, err error) {
	reader, ok := a.cfg.Chain.Open().(chainview.FilterAuditor)
	if !ok || !a.cfg.Audit {
		return nil, nil
	}
	for {
		stored, _, ok := a.cfg.Store.Tip()
		if !ok || a.next > min(stored, reader.Active().Height()) {
			return nil, nil
		}
		blocks, next, err := reader.Unaudited(a.next, stored)
		if err != nil {
			return nil, err
		}
		for _, b := range blocks {
			began := time.Now()
			same, err := a.same(reader, b)
			switch {
			case errors.Is(err, chainview.ErrPruned):
			case errors.Is(err, segment.ErrNotFound), errors.Is(err, chainview.ErrNotYet):
				return nil, nil
			case err != nil:
				return nil, err
			case !same:
				return b, nil
			default:
				if err := reader.Audited(b); err != nil {
					return nil, err
				}
			}
			a.next = b.Height + 1
			if !a.rest(auditRest * time.Since(began)) {
				return nil, nil
			}
		}
		a.next = next
	}
}

// same reports whether the stored filter of a block equals the filter built from the block.
func (a *auditor) same(reader chainview.Reader, b *chainview.Block) (bool, error) {
	stored, err := a.cfg.Store.Header(&b.Hash)
	if err != nil {
		return false, err
	}
	filter, _, err := a.maker.build(a.cfg, reader, &b.Hash)
	return err == nil && filters.Hash(filter) == stored.FilterHash, err
}

// rest rests, and reports whether there is nothing else to do.
func (a *auditor) rest(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-a.ctx.Done():
		return false
	case <-timer.C:
		return len(a.woken) == 0
	}
}

// wrongFilter is a filter that is not its block's.
type wrongFilter struct {
	block  *chainview.Block // nil: none
	worker ask.Tasks        // at most one, which drops it
}

// probesEnded has a wrong filter dropped as soon as no filters are being stored; nil: the indexer ends.
func (i *Indexer) probesEnded(c actor.Context, wrong *chainview.Block) {
	if wrong == nil {
		return
	}
	i.cfg.Log.Error("a block filter that was built elsewhere is wrong: it and all after it are built anew, "+
		"and none is taken from there any more", "block", wrong.Hash, "height", wrong.Height)
	i.wrong.block = wrong
	i.follower.Wake(c)
}

// dropWrong drops a wrong filter, if there is any, and all filters after it, as their headers
// commit to the wrong filter.
func (i *Indexer) dropWrong(c actor.Context) (begun bool) {
	if i.wrong.block == nil || i.wrong.worker.Len() > 0 || i.stale.worker.Len() > 0 {
		return false
	}
	hash := i.wrong.block.Hash
	reader, _ := i.cfg.Chain.Open().(chainview.FilterAuditor)
	i.wrong.worker.Go(c, func() func() {
		err := chainview.ErrClosed
		if reader != nil {
			err = reader.RefuseFilters()
		}
		if err == nil {
			err = i.cfg.Store.DropFrom(&hash)
		}
		return func() { i.wrongDropped(c, err) }
	})
	return true
}

// wrongDropped goes on after the worker.
func (i *Indexer) wrongDropped(c actor.Context, err error) {
	switch {
	case errors.Is(err, chainview.ErrClosed):
		return // the chain's actor opens it again, and announces its tip then
	case err != nil:
		i.failed(err)
		return
	}
	i.wrong.block = nil
	i.probes.auditor.next = 0
	i.startProbes(c)
	i.follower.Wake(c)
}
