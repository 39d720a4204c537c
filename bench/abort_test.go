package bench

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
	"github.com/seed61375155/trawl/rpc/command"
)

// callers is how many clients call at the same time.
const callers = 64

// The calls that are timed. An end is the answer to the scan's start, counted
// from when the first abort was sent.
const (
	callStart  = "start"
	callStatus = "status"
	callAbort  = "abort"
	scanEnd    = "end"
)

// BenchmarkAbort has 64 clients call scanblocks at once while a scan for 10,000
// scripts runs over the whole chain: a third of them start, status and abort
// each. Starts are refused until the scan has ended.
func BenchmarkAbort(b *testing.B) {
	p := open(b, node(filepath.Join(folder(b), "trawl"), 0))
	long := raw(theChain().Queries(10_000))
	for _, call := range []string{callAbort, callStatus, callStart, scanEnd} {
		b.Run("answer="+call, func(b *testing.B) {
			times := map[string][]time.Duration{}
			for b.Loop() {
				abortRound(b, p, long, times)
			}
			reportQuantiles(b, times[call])
		})
	}
}

func reportQuantiles(b *testing.B, times []time.Duration) {
	b.Helper()
	if len(times) == 0 {
		b.Fatal("every scan ended before it could be aborted: take a longer chain")
	}
	slices.Sort(times)
	b.ReportMetric(float64(len(times)), "answers")
	b.ReportMetric(milliseconds(quantile(times, 0.5)), "p50-ms")
	b.ReportMetric(milliseconds(quantile(times, 0.99)), "p99-ms")
	b.ReportMetric(milliseconds(times[len(times)-1]), "max-ms")
	reportLoad(b)
}

// abortRound starts the long scan, lets all callers go, and adds the times of
// their calls.
func abortRound(b *testing.B, p *peer, long []any, times map[string][]time.Duration) {
	b.Helper()
	ended := make(chan time.Time, 1)
	go func() {
		_ = p.Call(b.Context(), nil, "scanblocks", "start", long) // aborted or not
		ended <- time.Now()
	}()
	if !p.waitScanning(b, ended) {
		return
	}
	var mu sync.Mutex
	var group sync.WaitGroup
	firstAbort := time.Now().Add(time.Hour)
	gate := make(chan struct{})
	for i := range callers {
		kind := []string{callStart, callStatus, callAbort}[i%3]
		group.Go(func() {
			<-gate
			began := time.Now()
			err := p.callScan(b.Context(), kind)
			elapsed := time.Since(began)
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			times[kind] = append(times[kind], elapsed)
			if kind == callAbort && began.Before(firstAbort) {
				firstAbort = began
			}
		})
	}
	close(gate)
	group.Wait()
	times[scanEnd] = append(times[scanEnd], (<-ended).Sub(firstAbort))
}

// waitScanning waits until blocks are being matched. It is false when the scan
// ended before that was seen: the chain is too short then.
func (p *peer) waitScanning(b *testing.B, ended <-chan time.Time) bool {
	b.Helper()
	for {
		var status *struct {
			Height int `json:"current_height"`
		}
		if err := p.Call(b.Context(), &status, "scanblocks", "status"); err != nil {
			b.Fatal(err)
		}
		if status != nil && status.Height > 0 {
			return true
		}
		select {
		case <-ended:
			return false
		default:
		}
	}
}

// callScan makes one call of a kind. A start that finds no scan running has one
// of its own, of one block; to find one is no error.
func (p *peer) callScan(ctx context.Context, kind string) error {
	params := []any{kind}
	if kind == callStart {
		params = append(params, []string{"raw(51)"}, 0, 0)
	}
	err := p.Call(ctx, nil, "scanblocks", params...)
	if jsonrpc.IsError(err, int(command.InvalidParameter)) {
		return nil
	}
	return err
}
