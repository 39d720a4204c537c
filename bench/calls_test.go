package bench

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
)

// BenchmarkCalls measures how many calls a node answers per second, and how
// long each takes, with one and with 64 callers that call as fast as they can.
// The calls are getblockcount, createrawtransaction with 500 outputs, and
// batches of 1,000 getblockcount.
func BenchmarkCalls(b *testing.B) {
	const lasts = 5 * time.Second
	for name, path := range victims(b) {
		v := newVictim(b, path)
		for _, callers := range []int{1, 64} {
			for _, method := range []string{"getblockcount", "createrawtransaction"} {
				b.Run(fmt.Sprintf("call=%s/callers=%d/node=%s", method, callers, name), func(b *testing.B) {
					params := ""
					if method == "createrawtransaction" {
						params = manyOutputs(b, 500)
					}
					for b.Loop() {
						r := finish(b, v.calls(b, method+params, callers, 0, lasts))
						h := r.Rows[0].Times
						b.ReportMetric(float64(h.Count())/r.Elapsed.Seconds(), "calls/s")
						b.ReportMetric(milliseconds(h.Quantile(0.5)), "p50-ms")
						b.ReportMetric(milliseconds(h.Quantile(0.99)), "p99-ms")
						b.ReportMetric(float64(refused(r)), "refused")
					}
					reportLoad(b)
				})
			}
			b.Run(fmt.Sprintf("call=batch/callers=%d/node=%s", callers, name), func(b *testing.B) {
				for b.Loop() {
					times := v.batches(b, 1000, callers, lasts)
					b.ReportMetric(float64(1000*len(times))/lasts.Seconds(), "calls/s")
					b.ReportMetric(milliseconds(quantile(times, 0.5)), "p50-ms")
					b.ReportMetric(milliseconds(quantile(times, 0.99)), "p99-ms")
				}
				reportLoad(b)
			})
		}
	}
}

// manyOutputs returns the parameters of a transaction to n addresses.
func manyOutputs(tb testing.TB, n int) string {
	tb.Helper()
	outputs := make([]map[string]string, n)
	for i := range outputs {
		program := binary.BigEndian.AppendUint64(make([]byte, 12), uint64(i))
		address, err := btcutil.NewAddressWitnessPubKeyHash(program, &chaincfg.RegressionNetParams)
		if err != nil {
			tb.Fatal(err)
		}
		outputs[i] = map[string]string{address.String(): "0.00012345"}
	}
	text, err := json.Marshal([]any{[]any{}, outputs})
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

// batches returns how long each of the batches of n calls took that callers
// made, in order of size.
func (v *victim) batches(tb testing.TB, n, callers int, d time.Duration) (times []time.Duration) {
	tb.Helper()
	body := []byte("[" + strings.Repeat(oneCall+",", n-1) + oneCall + "]")
	end := time.Now().Add(d)
	var mu sync.Mutex
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for began := time.Now(); began.Before(end); began = time.Now() {
				got, err := v.Post(tb.Context(), "/", body)
				if err != nil || got.Status != http.StatusOK || strings.Count(got.Body, `"result"`) != n {
					tb.Errorf("HTTP %d, %v, %.80s", got.Status, err, got.Body)
					return
				}
				mu.Lock()
				times = append(times, time.Since(began))
				mu.Unlock()
			}
		})
	}
	group.Wait()
	slices.Sort(times)
	return times
}
