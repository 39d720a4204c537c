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

// healer finds damaged segments and has them re-made. It is part of the
// indexer, and works beside the building of new filters: one repair and one
// check of the whole index at a time.
type healer struct {
	cfg *Config
	ctx context.Context //nolint:containedctx // the indexer's

	repairing *ask.Worker // nil when idle
	repairs   []*repair   // the first one is being served

	verifying *ask.Worker // nil when idle
	verifies  []*verify   // served by the present check; empty at the one after start
	queued    []*verify   // wait for the next check
}

// healed tells the indexer that a repair has ended.
type healed struct{ err error }

// verified tells the indexer that a check has ended.
type verified struct {
	result messages.VerifyResult
	err    error
}

func (h *healer) repair(c actor.Context, call *repair) {
	h.repairs = append(h.repairs, call)
	h.nextRepair(c)
}

func (h *healer) nextRepair(c actor.Context) {
	if h.repairing != nil || len(h.repairs) == 0 {
		return
	}
	block := h.repairs[0].Req.Block
	h.repairing = ask.Go(c, func() any { return healed{h.heal(&block)} })
}

func (h *healer) healed(c actor.Context, m healed) {
	h.repairing = nil
	h.repairs[0].Answer(messages.Done{}, m.err)
	h.repairs = h.repairs[1:]
	h.nextRepair(c)
}

// heal re-makes the segment of a block's filter, if that filter is damaged: an
// earlier repair may have healed it with others.
func (h *healer) heal(block *chainhash.Hash) error {
	_, err := h.cfg.Store.ByHash(block)
	var damage *segment.DamagedError
	if !errors.As(err, &damage) {
		return err
	}
	h.cfg.Log.Warn("block filter is damaged, making its segment anew", "segment", damage.Segment, "err", err)
	// Another filter of the segment that cannot be made is not the concern of
	// whoever needs this one.
	rebuildErr := h.rebuild(damage.Segment)
	if _, err := h.cfg.Store.ByHash(block); err != nil {
		return errors.Join(err, rebuildErr)
	}
	return nil
}

func (h *healer) rebuild(number int) error {
	reader := h.cfg.Chain.Open()
	if reader == nil {
		return errors.New("the chain is not open")
	}
	var maker filterMaker
	return h.cfg.Store.Rebuild(h.ctx, number, func(_ context.Context, block *chainhash.Hash) ([]byte, error) {
		filter, _, err := maker.make(h.cfg, reader, block)
		return filter, err
	})
}

// verify starts a check of the whole index; call is nil for the one after the
// start.
func (h *healer) verify(c actor.Context, call *verify) {
	switch {
	case h.verifying != nil && call != nil:
		h.queued = append(h.queued, call) // what the present check has read may have changed since
		return
	case h.verifying != nil:
		return
	case call != nil:
		h.verifies = append(h.verifies, call)
	}
	deep := call != nil
	h.verifying = ask.Go(c, func() any {
		result, err := h.check(deep)
		return verified{result, err}
	})
}

func (h *healer) verified(c actor.Context, m verified) {
	h.verifying = nil
	if m.err != nil && h.ctx.Err() == nil {
		h.cfg.Log.Error("block filter index is damaged", "err", m.err)
	}
	for _, call := range h.verifies {
		call.Answer(m.result, m.err)
	}
	h.verifies = nil
	queued := h.queued
	h.queued = nil
	for _, call := range queued {
		h.verify(c, call)
	}
}

// check verifies every segment and re-makes those that are damaged.
func (h *healer) check(deep bool) (messages.VerifyResult, error) {
	var result messages.VerifyResult
	var errs []error
	for _, info := range h.cfg.Store.Segments() {
		if h.ctx.Err() != nil {
			return result, h.ctx.Err()
		}
		result.Segments++
		err := h.cfg.Store.Verify(h.ctx, info.Number, deep)
		var damage *segment.DamagedError
		if !errors.As(err, &damage) {
			errs = append(errs, err)
			continue
		}
		h.cfg.Log.Warn("block filter segment is damaged, making it anew", "segment", info.Number, "err", err)
		if err := h.rebuild(info.Number); err != nil {
			errs = append(errs, fmt.Errorf("segment %d: %w", info.Number, err))
			continue
		}
		result.Rebuilt++
	}
	errs = append(errs, h.cfg.Store.VerifyLines(h.ctx))
	return result, errors.Join(errs...)
}

func (h *healer) close() {
	h.repairing.Drop()
	h.verifying.Drop()
}
