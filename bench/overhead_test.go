package bench

import (
	"encoding/hex"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkOverhead measures what a call costs besides its work: the round trips
// of small calls, one after the other over a connection that is kept. The
// smallest scan is among them, which looks for one script in one block, and the
// same with a descriptor of 1,000 keys that was looked for before.
func BenchmarkOverhead(b *testing.B) {
	p := open(b, node(filepath.Join(folder(b), "trawl"), 0))
	rival := core(b)
	script := "raw(" + hex.EncodeToString(theChain().Queries(1)[0]) + ")"
	keys, _ := wallet(b)
	for _, call := range []struct {
		name, method string
		params       []any
		repeat       int
	}{
		{"getblockcount", "getblockcount", nil, 1_000},
		{"getblockhash", "getblockhash", []any{1}, 1_000},
		{"scanstatus", "scanblocks", []any{"status"}, 1_000},
		{"scan1", "scanblocks", []any{"start", []any{script}, 1, 1}, 1_000},
		{"scan1-wpkh=1000", "scanblocks", []any{"start", []any{keys}, 1, 1}, 20},
	} {
		b.Run("call="+call.name, func(b *testing.B) {
			repeat := func(p *peer, times *[]time.Duration) *contender {
				return &contender{run: func() error {
					for range call.repeat {
						began := time.Now()
						if err := p.Call(b.Context(), nil, call.method, call.params...); err != nil {
							return err
						}
						*times = append(*times, time.Since(began))
					}
					return nil
				}}
			}
			var ours, theirs []time.Duration
			all := []*contender{repeat(p, &ours)}
			if rival != nil {
				all = append(all, repeat(rival, &theirs))
			}
			compete(b, all...)
			reportTimes(b, "", ours)
			if rival != nil {
				reportTimes(b, "core-", theirs)
			}
		})
	}
}

// reportTimes reports the median and the 99th percentile of times, which it
// sorts.
func reportTimes(b *testing.B, prefix string, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(milliseconds(quantile(times, 0.5)), prefix+"p50-ms")
	b.ReportMetric(milliseconds(quantile(times, 0.99)), prefix+"p99-ms")
}
