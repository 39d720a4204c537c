// Package hostcall has calls of programs that embed a node which take several requests.
package hostcall

import (
	"context"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// reportEvery is how often a scan says how far it is.
const reportEvery = 250 * time.Millisecond

// Scan runs a scan from its reservation to its result. The end of ctx aborts it. Scan returns once the slot is free.
// A zero Stop is the tip of this moment.
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
	uncut := context.WithoutCancel(ctx) // without the slot no scan could ever start again
	completed := false
	defer func() {
		_, _ = ask.Ask(uncut, scanner, messages.ReleaseScan{Slot: slot.ID, Completed: completed})
	}()
	q.Slot, q.Hold = slot.ID, true // an abort that comes late is not that of another scan
	type answer struct {
		result messages.ScanResult
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		result, err := ask.Ask(uncut, scanner, q)
		answers <- answer{result, err}
	}()
	tick := time.NewTicker(reportEvery)
	defer tick.Stop()
	done := ctx.Done()
	for {
		select {
		case a := <-answers:
			completed = a.err == nil && a.result.Completed
			if a.err == nil && !a.result.Completed && ctx.Err() != nil {
				a.err = context.Cause(ctx)
			}
			return a.result, a.err
		case <-done:
			done = nil // it aborts once
			_, _ = ask.Ask(uncut, scanner, messages.AbortScan{})
		case <-tick.C:
			if progress == nil {
				continue
			}
			if status, err := ask.Ask(uncut, scanner, messages.GetScanStatus{}); err == nil && status.Running {
				progress(status)
			}
		}
	}
}
