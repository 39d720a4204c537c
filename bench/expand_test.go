package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
)

// expandedKeys is the number of keys of a range.
const expandedKeys = 1_000

// BenchmarkExpand expands ranges of 1,000 keys, on one core and on all, with no
// key known before. It also asks over HTTP for the addresses of such a range, of
// a new range and of a range that was asked for before.
func BenchmarkExpand(b *testing.B) {
	net := descriptor.NetworkOf(&chaincfg.RegressionNetParams)
	for _, kind := range []string{"wpkh(%s/0/*)", "tr(%s/0/*)", "wsh(sortedmulti(2,%[1]s/0/*,%[1]s/1/*,%[1]s/2/*))"} {
		for _, threads := range threadCounts() {
			name, _, _ := strings.Cut(kind, "(")
			b.Run(fmt.Sprintf("of=%s/threads=%d", name, threads), func(b *testing.B) {
				parsed, err := descriptor.Parse(fmt.Sprintf(kind, masterKey), net, descriptor.Options{})
				if err != nil {
					b.Fatal(err)
				}
				ours := &contender{run: func() error {
					return parsed[0].ExpandRange(
						b.Context(), 0, expandedKeys-1, threads, func(uint32, [][]byte) error { return nil },
					)
				}}
				compete(b, ours)
				b.ReportMetric(milliseconds(ours.median()), "ms")
			})
		}
	}
	p := open(b, node(filepath.Join(folder(b), "trawl"), 0))
	rival := core(b)
	for _, known := range []bool{false, true} {
		b.Run(fmt.Sprintf("of=deriveaddresses,known=%v/threads=%d", known, runtime.GOMAXPROCS(0)), func(b *testing.B) {
			ours := &contender{run: deriving(b, p, known)}
			all := []*contender{ours}
			if rival != nil {
				all = append(all, &contender{run: deriving(b, rival, known)})
			}
			compete(b, all...)
			b.ReportMetric(milliseconds(ours.median()), "ms")
			if rival != nil {
				b.ReportMetric(milliseconds(all[1].median()), "core-ms")
				ours.reportRatio(b, all[1], "x-core")
			}
		})
	}
}

// deriving asks a node for the addresses of a range: always the same range if
// known, else a new range each time.
func deriving(b *testing.B, p *peer, known bool) func() error {
	b.Helper()
	round := 0
	describe := func(ctx context.Context) (string, error) {
		var info struct{ Descriptor string }
		err := p.Call(ctx, &info, "getdescriptorinfo", fmt.Sprintf("wpkh(%s/%d/*)", masterKey, round))
		return info.Descriptor, err
	}
	return func() error {
		if !known {
			round++
		}
		text, err := describe(b.Context())
		if err != nil {
			return err
		}
		var addresses []string
		if err := p.Call(b.Context(), &addresses, "deriveaddresses", text, expandedKeys-1); err != nil {
			return err
		}
		if len(addresses) != expandedKeys {
			return fmt.Errorf("%w: %d addresses", errWrongAnswer, len(addresses))
		}
		return nil
	}
}
