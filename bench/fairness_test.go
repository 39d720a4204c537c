package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	// fairnessLasts is how long calls are measured, and fairnessPause how long a
	// caller waits between two.
	fairnessLasts = 5 * time.Second
	fairnessPause = 4 * time.Millisecond
)

// BenchmarkFairness measures how long small calls take while scans run back to
// back over the whole chain: with no scan, and with scans for 1, 1,000 and 10,000
// scripts. The calls ask for the number of blocks, for a header, and for what a
// wallet may spend. peak-MB is the most memory
// that the node had meanwhile.
func BenchmarkFairness(b *testing.B) {
	v := loadedVictim(b, trawld(b))
	hash := ""
	v.must(b, &hash, "getbestblockhash")
	for _, k := range []int{0, 1, 1_000, 10_000} {
		scans := make([]any, 0, k)
		if k > 0 {
			scans = raw(theChain().Queries(k))
		}
		for _, call := range []struct {
			method string
			params []any
		}{
			{"getblockcount", nil}, {"getblockheader", []any{hash}}, {"listunspent", nil},
		} {
			b.Run(fmt.Sprintf("scan=%d/call=%s", k, call.method), func(b *testing.B) {
				v.resetPeak()
				for b.Loop() {
					ctx, stop := context.WithTimeout(b.Context(), fairnessLasts)
					var group sync.WaitGroup
					done := 0
					if k > 0 {
						group.Go(func() { done = v.scanBackToBack(ctx, b, scans) })
					}
					times := v.callUntil(ctx, b, call.method, call.params)
					stop()
					group.Wait()
					reportQuantiles(b, times)
					b.ReportMetric(float64(done)/fairnessLasts.Seconds(), "scans/s")
				}
				b.ReportMetric(v.peakMemory()/1e6, "peak-MB")
			})
		}
	}
}

// loadedVictim starts the daemon on the loaded chain, with a wallet.
func loadedVictim(b *testing.B, binary string) *victim {
	b.Helper()
	dir := filepath.Join(folder(b), "trawl")
	loaded(b, node(dir, 0)).stop()
	const name = "fairness"
	if err := os.RemoveAll(filepath.Join(dir, "wallets", name)); err != nil {
		b.Fatal(err)
	}
	data := b.TempDir()
	if err := os.Symlink(dir, filepath.Join(data, "regtest")); err != nil {
		b.Fatal(err)
	}
	backup := makeBackup(b)
	v := startVictim(b, binary, data, "-blockfilterindex=1")
	v.must(b, nil, "restorewallet", name, backup)
	return v
}

// scanBackToBack scans the whole chain again and again until ctx ends, and
// returns how often it did.
func (v *victim) scanBackToBack(ctx context.Context, b *testing.B, objects []any) (done int) {
	b.Helper()
	for ctx.Err() == nil {
		var result struct{ Completed bool }
		err := v.Call(context.WithoutCancel(ctx), &result, "scanblocks", "start", objects)
		if err != nil || !result.Completed {
			b.Errorf("scan: %v, completed %v", err, result.Completed)
			return done
		}
		done++
	}
	return done
}

// callUntil makes calls, with a pause between two, until ctx ends, and returns how
// long each took.
func (v *victim) callUntil(ctx context.Context, b *testing.B, method string, params []any) (times []time.Duration) {
	b.Helper()
	ticker := time.NewTicker(fairnessPause)
	defer ticker.Stop()
	for ctx.Err() == nil {
		began := time.Now()
		if err := v.Call(context.WithoutCancel(ctx), nil, method, params...); err != nil {
			b.Errorf("%s: %v", method, err)
			return times
		}
		times = append(times, time.Since(began))
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
	return times
}

// BenchmarkWalletFairness measures how long calls to a wallet take while ranges of
// 1,000 and of 20,000 keys are imported into it one after the other.
func BenchmarkWalletFairness(b *testing.B) {
	v := newVictim(b, trawld(b))
	for _, keys := range []int{0, 1_000, 20_000} {
		for _, call := range []string{"getbalances", "getwalletinfo"} {
			b.Run(fmt.Sprintf("import=%d/call=%s", keys, call), func(b *testing.B) {
				name := strings.ReplaceAll(b.Name(), "/", "-")
				v.must(b, nil, "createwallet", name, true, true)
				for b.Loop() {
					ctx, stop := context.WithTimeout(b.Context(), fairnessLasts)
					var group sync.WaitGroup
					done := 0
					if keys > 0 {
						group.Go(func() { done = v.importBackToBack(ctx, b, keys) })
					}
					times := v.callUntil(ctx, b, call, nil)
					stop()
					group.Wait()
					reportQuantiles(b, times)
					b.ReportMetric(float64(done)/fairnessLasts.Seconds(), "imports/s")
				}
				v.must(b, nil, "unloadwallet", name)
			})
		}
	}
}

// importBackToBack imports one range after the other until ctx ends, and returns
// how many it did.
func (v *victim) importBackToBack(ctx context.Context, b *testing.B, keys int) (done int) {
	b.Helper()
	for ; ctx.Err() == nil; done++ {
		var info struct{ Descriptor string }
		patient := context.WithoutCancel(ctx)
		err := v.Call(patient, &info, "getdescriptorinfo", fmt.Sprintf("wpkh(%s/%d/*)", masterKey, done))
		if err != nil {
			b.Error(err)
			return done
		}
		var results []struct{ Success bool }
		request := map[string]any{"desc": info.Descriptor, "timestamp": "now", "range": keys - 1}
		err = v.Call(patient, &results, "importdescriptors", []any{request})
		if err != nil || !results[0].Success {
			b.Errorf("import: %v, %v", err, results)
			return done
		}
	}
	return done
}
