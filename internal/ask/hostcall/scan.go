// Package hostcall has calls of programs that embed a node which take several requests.
package hostcall

import (
	"context"
	"sync"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// reportEvery is how often a scan says how far it is.
const reportEvery = 250 * time.Millisecond

// Scan runs a scan from its reservation to its result. The end of ctx aborts it. Scan returns once the slot is free.
// A zero Stop is the tip of this moment.
//
// The slot becomes free, and an abort reaches the scanner, however long progress takes.
func Scan(
	ctx context.Context, chain, scanner *ask.Ref, q messages.RunScan, progress func(messages.ScanStatus),
) (messages.ScanResult, error) {
	if q.Stop == (chainhash.Hash{}) {
		tip, err := ask.Ask(ctx, chain, messages.GetTip{})
		if err != nil {
			return messages.ScanResult{}, err
		}
		q.Stop = tip.Hash
	}
	slot, err := ask.Ask(ctx, scanner, messages.ReserveScan{})
	if err != nil {
		return messages.ScanResult{}, err
	}
	q.Slot, q.Hold = slot.ID, true // an abort that comes late is not that of another scan
	h := &held{scanner: scanner, ctx: context.WithoutCancel(ctx)}
	defer h.abortAtTheEnd(ctx)()
	answers := make(chan answer, 1)
	go func() { answers <- h.run(q) }()
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	for {
		select {
		case a := <-answers:
			if a.err == nil && !a.result.Completed && ctx.Err() != nil {
				a.err = context.Cause(ctx)
			}
			return a.result, a.err
		case <-tick.C:
			if progress == nil {
				continue
			}
			if status, known := h.status(); known {
				progress(status)
			}
		}
	}
}

type answer struct {
	result messages.ScanResult
	err    error
}

// held is a slot of the scanner that a call holds.
type held struct {
	scanner *ask.Ref
	ctx     context.Context //nolint:containedctx // never ends: without the slot no scan could ever start again

	mu    sync.Mutex
	ended bool // the slot is another's, or nobody's
}

// status returns how far the scan is, unless it has ended.
func (h *held) status() (status messages.ScanStatus, known bool) {
	status, err := ask.Ask(h.ctx, h.scanner, messages.GetScanStatus{})
	return status, err == nil && status.Running
}

// run makes the scan and gives the slot back.
func (h *held) run(q messages.RunScan) (a answer) {
	a.result, a.err = ask.Ask(h.ctx, h.scanner, q)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	_, _ = ask.Ask(h.ctx, h.scanner, messages.ReleaseScan{Slot: q.Slot, Completed: a.err == nil && a.result.Completed})
	return a
}

// abortAtTheEnd has the end of ctx abort the scan while the slot is held. The returned function ends that.
func (h *held) abortAtTheEnd(ctx context.Context) (stop func()) {
	aborted := make(chan struct{})
	leave := context.AfterFunc(ctx, func() {
		defer close(aborted)
		h.mu.Lock()
		defer h.mu.Unlock()
		if !h.ended {
			_, _ = ask.Ask(h.ctx, h.scanner, messages.AbortScan{})
		}
	})
	return func() {
		if !leave() {
			<-aborted
		}
	}
}
