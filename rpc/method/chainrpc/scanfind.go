package chainrpc

import (
	"context"
	"errors"
	"strings"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// search looks for scan objects with a slot that the call holds.
func (s *scan) search(
	ctx context.Context, slot messages.ScanSlot, objects *jsontree.Value, order *scanOrder,
) (*scanResult, error) {
	h := s.holder(ctx, slot)
	if gapped(objects) {
		h.begin(derivingShare)
	}
	w, err := newWidening(ctx, s.deps, h, s.net, objects, order)
	if errors.Is(err, errAborted) {
		return order.empty(), nil
	}
	if err != nil {
		return nil, err
	}
	answer := order.empty()
	sought, err := s.find(ctx, w, slot.ID, order, answer)
	if err != nil {
		return nil, err
	}
	if order.activity {
		if w.widens() {
			h.begin(1)
		}
		if err := s.addActivity(ctx, h, sought, order, answer); err != nil {
			return nil, err
		}
	}
	if order.receipt && answer.Completed {
		answer.Receipt, err = s.receipt(ctx, w, sought, order, answer)
		if errors.Is(err, errAborted) {
			answer.Completed, err = false, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// Shares of the work that is left, of a scan whose ranges widen: how many passes it takes is seen at its end.
const (
	derivingShare = 0.1
	passShare     = 0.5
)

// gapped reports whether a scan object has a gap.
func gapped(objects *jsontree.Value) bool {
	for _, v := range objects.Elements() {
		if v.Kind() == jsontree.String && !strings.Contains(v.Text(), "gl=") {
			continue // as most are that come in thousands
		}
		if _, a, err := arg.Annotated(v); err == nil {
			if gap, err := arg.Gap(v, a); err == nil && gap > 0 {
				return true
			}
		}
	}
	return false
}

// find makes the scan, into an answer, and returns the scripts that it has looked for.
func (s *scan) find(
	ctx context.Context, w *widening, slot uint64, order *scanOrder, answer *scanResult,
) (*filters.Query, error) {
	look := func(q *filters.Query) (passed, error) {
		run := messages.RunScan{
			Slot: slot, Set: q, Hold: true, Uses: w.widens(), Start: order.start, Stop: order.stop.Hash,
			CheckBlocks: order.checkBlocks || order.activity || order.receipt || w.widens(),
		}
		if w.widens() {
			w.passes++
			run.Pass, run.Part = w.passes, w.x.holder.begin(passShare)
		}
		result, err := ask.Ask(ctx, s.deps.Index.Scanner, run)
		if err != nil {
			return passed{}, scanFailure(err)
		}
		answer.From, answer.To, answer.Blocks = result.From, result.To, result.Blocks
		return passed{result.Blocks, result.Uses, result.Completed}, nil
	}
	if w.widens() {
		return s.widened(ctx, w, answer, look)
	}
	sought := w.rounds.Query()
	found, err := look(sought)
	answer.Completed = found.completed
	return sought, err
}

// widened looks for scan objects of which some have a gap. It returns the scripts that were found. After an abort the
// result ends where the present round has ended.
func (s *scan) widened(
	ctx context.Context, w *widening, answer *scanResult, look func(*filters.Query) (passed, error),
) (sought *filters.Query, err error) {
	completed, err := w.all(ctx, look, func() { answer.To = answer.From })
	if err != nil {
		return nil, err
	}
	reader, err := s.deps.open()
	if err != nil {
		return nil, err
	}
	answer.Completed, answer.Blocks, answer.Ranges = completed, w.blocks(reader, answer.To), w.ranges(completed)
	return w.sought(), nil
}

// empty is the result of a scan that was aborted before its first block.
func (o *scanOrder) empty() *scanResult {
	result := &scanResult{From: o.start, To: o.start}
	if o.activity {
		result.Activity = &[]any{}
	}
	return result
}

// addActivity adds what happened in the blocks found. After an abort the result ends
// before the first block that was not read.
func (s *scan) addActivity(
	ctx context.Context, h *holder, query *filters.Query, order *scanOrder, result *scanResult,
) error {
	reader, err := s.deps.open()
	if err != nil {
		return err
	}
	found := activities{printer: s.printer, sought: query, events: []any{}}
	result.Activity, result.sum = &found.events, &found.sum
	if order.sumOnly {
		found.events = nil // there may be more of them than memory holds
	}
	for i := range result.Blocks {
		b, err := lookup(reader, &result.Blocks[i])
		if err != nil {
			return err
		}
		if err := h.ended(ctx); errors.Is(err, errAborted) {
			result.Blocks, result.Completed = result.Blocks[:i], false
			result.To = max(b.Height-1, result.From)
			return nil
		} else if err != nil {
			return err
		}
		if err := found.addBlock(reader, b); err != nil {
			return err
		}
		h.report(float64(i+1) / float64(len(result.Blocks)))
	}
	return nil
}
