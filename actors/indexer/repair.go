package indexer

import (
	"context"
	"errors"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// repairer finds damaged segments and has them re-made. It is part of the
// indexer, and works beside the building of new filters: one repair and one
// check of the whole index at a time.
type repairer struct {
	cfg *Config
	ctx context.Context //nolint:containedctx // the indexer's

	repairing ask.Tasks // at most one
	repairs   []*repair // the first one is being served

	verifying ask.Tasks // at most one
	verifies  []*verify // served by the present check; empty at the one after start
	queued    []*verify // wait for the next check
}

func (r *repairer) repair(c actor.Context, call *repair) {
	r.repairs = append(r.repairs, call)
	r.nextRepair(c)
}

func (r *repairer) nextRepair(c actor.Context) {
	if r.repairing.Len() > 0 {
		return
	}
	for len(r.repairs) > 0 && r.repairs[0].Ctx.Err() != nil { // nobody waits for it
		r.repairs = r.repairs[1:]
	}
	if len(r.repairs) == 0 {
		return
	}
	block := r.repairs[0].Req.Block
	r.repairing.Go(c, func() func() {
		err := r.repairFilter(&block)
		return func() { r.repaired(c, err) }
	})
}

func (r *repairer) repaired(c actor.Context, err error) {
	r.repairs[0].Answer(messages.Done{}, err)
	r.repairs = r.repairs[1:]
	r.nextRepair(c)
}

// repairFilter re-makes the segment of a block's filter, if that filter is damaged: an
// earlier repair may have mended it with others.
func (r *repairer) repairFilter(block *chainhash.Hash) error {
	_, err := r.cfg.Store.ByHash(block)
	var damage *segment.DamagedError
	if !errors.As(err, &damage) {
		return err
	}
	r.cfg.Log.Warn("block filter is damaged, making its segment anew", "segment", damage.Segment, "err", err)
	// Another filter of the segment that cannot be made is not the concern of
	// whoever needs this one.
	rebuildErr := r.rebuild(damage.Segment)
	if _, err := r.cfg.Store.ByHash(block); err != nil {
		return errors.Join(err, rebuildErr)
	}
	return nil
}

func (r *repairer) rebuild(number int) error {
	reader := r.cfg.Chain.Open()
	if reader == nil {
		return errors.New("the chain is not open")
	}
	var maker filterMaker
	return r.cfg.Store.Rebuild(r.ctx, number, func(_ context.Context, block *chainhash.Hash) ([]byte, error) {
		filter, _, err := maker.make(r.cfg, reader, block)
		return filter, err
	})
}

// verify starts a check of the whole index; call is nil for the one after the
// start.
func (r *repairer) verify(c actor.Context, call *verify) {
	switch {
	case r.verifying.Len() > 0 && call != nil:
		r.queued = append(r.queued, call) // what the present check has read may have changed since
		return
	case r.verifying.Len() > 0:
		return
	case call != nil:
		r.verifies = append(r.verifies, call)
	}
	deep := call != nil
	r.verifying.Go(c, func() func() {
		result, err := r.check(deep)
		return func() { r.verified(c, result, err) }
	})
}

func (r *repairer) verified(c actor.Context, result messages.VerifyResult, err error) {
	if err != nil && r.ctx.Err() == nil {
		r.cfg.Log.Error("block filter index is damaged", "err", err)
	}
	for _, call := range r.verifies {
		call.Answer(result, err)
	}
	r.verifies = nil
	queued := r.queued
	r.queued = nil
	for _, call := range queued {
		r.verify(c, call)
	}
}

// check verifies every segment and re-makes those that are damaged.
func (r *repairer) check(deep bool) (messages.VerifyResult, error) {
	var result messages.VerifyResult
	var errs []error
	for _, info := range r.cfg.Store.Segments() {
		if r.ctx.Err() != nil {
			return result, r.ctx.Err()
		}
		result.Segments++
		err := r.cfg.Store.Verify(r.ctx, info.Number, deep)
		var damage *segment.DamagedError
		if !errors.As(err, &damage) {
			errs = append(errs, err)
			continue
		}
		r.cfg.Log.Warn("block filter segment is damaged, making it anew", "segment", info.Number, "err", err)
		if err := r.rebuild(info.Number); err != nil {
			errs = append(errs, fmt.Errorf("segment %d: %w", info.Number, err))
			continue
		}
		result.Rebuilt++
	}
	errs = append(errs, r.cfg.Store.VerifyLines(r.ctx))
	return result, errors.Join(errs...)
}

func (r *repairer) close() {
	r.repairing.Drop()
	r.verifying.Drop()
}
