package bench

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
	"github.com/seed61375155/trawl/internal/synth"
)

// BenchmarkScanBlocks calls scanblocks over HTTP for the whole chain on all
// cores. The calls have k scripts or a descriptor of 1,000 keys, with and
// without looking into the blocks that match. The node chooses kernel and
// layout, unless the flags -kernel and -layout name a choice of other machines.
//
// The client's time for the call is measured. The same call for one block
// (fixed-ms) costs the same but for the scan itself; what lies between the two is in
// ns/elt. All calls are made back to back, so that the processor's caches still hold
// data of the call before. The time after-ms is of the same call after another program
// has worked.
func BenchmarkScanBlocks(b *testing.B) {
	x := theIndex()
	rival := core(b)
	p := open(b, node(filepath.Join(folder(b), "trawl"), 0))
	other := startNeighbor(b)
	for _, call := range scanCalls(b) {
		b.Run(call.name, func(b *testing.B) { benchmarkScan(b, x, call, p, rival, other) })
	}
}

// A scanCall is a call to measure, and what the oracle answers.
type scanCall struct {
	name    string
	objects []any
	scripts [][]byte
	check   bool     // filter_false_positives
	hits    []bool   // of the oracle, for each filter
	want    []string // blocks
}

// scanCalls returns all calls.
func scanCalls(b *testing.B) (calls []*scanCall) {
	b.Helper()
	for _, k := range scriptCounts {
		scripts := theChain().Queries(k)
		c := scanCall{name: fmt.Sprintf("k=%d", k), scripts: scripts, objects: raw(scripts)}
		calls = append(calls, c.both(b, strconv.Itoa(k), k)...)
	}
	object, scripts := wallet(b)
	c := scanCall{name: "wpkh=1000", scripts: scripts, objects: []any{object}}
	return append(calls, c.both(b, c.name, 0)...)
}

// both returns the call without and with filter_false_positives. name is that of
// the scripts, of which the first are planted ones.
func (c *scanCall) both(b *testing.B, name string, planted int) []*scanCall {
	b.Helper()
	x := theIndex()
	progress("what btcutil answers for %s", c.name)
	c.hits = x.answer(b, name, c.scripts)
	plain, checked := *c, *c
	plain.name += "/ffp=off"
	checked.name += "/ffp=on"
	checked.check = true
	for height, hit := range c.hits {
		if !hit {
			continue
		}
		hash := x.filters[height].Block.String()
		plain.want = append(plain.want, hash)
		if q := synth.Planted(height); q >= 0 && q < planted {
			checked.want = append(checked.want, hash)
		}
	}
	return []*scanCall{&plain, &checked}
}

// raw returns scan objects for scripts.
func raw(scripts [][]byte) []any {
	objects := make([]any, len(scripts))
	for i, script := range scripts {
		objects[i] = "raw(" + hex.EncodeToString(script) + ")"
	}
	return objects
}

// masterKey is the first master key of BIP32's test vectors, for test networks.
const masterKey = "tpubD6NzVbkrYhZ4XgiXtGrdW5XDAPFCL9h7we1vwNCpn8tGbBcgfVYjXyhWo4E1xkh56hjod1RhGjxbaTLV3X4FyWuejifB9jusQ46QzG87VKp"

// wallet returns a scan object of 1,000 keys and their scripts.
func wallet(b *testing.B) (object any, scripts [][]byte) {
	b.Helper()
	const text = "wpkh(" + masterKey + "/0/*)"
	const last = 999
	parsed, err := descriptor.Parse(text, descriptor.NetworkOf(&chaincfg.RegressionNetParams), descriptor.Options{})
	if err != nil {
		b.Fatal(err)
	}
	err = parsed[0].ExpandRange(b.Context(), 0, last, 1, func(_ uint32, s [][]byte) error {
		scripts = append(scripts, s...)
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return map[string]any{"desc": text, "range": last}, scripts
}

func benchmarkScan(b *testing.B, x *index, call *scanCall, p, rival *peer, other *neighbor) {
	b.Helper()
	progress("scanblocks with %s", call.name)
	ours := call.contest(b, p)
	after := ours.whole.after(other)
	all := []*contender{ours.whole, ours.fixed, after}
	var theirs contest
	var theirsAfter *contender
	if rival != nil {
		theirs = call.contest(b, rival)
		theirs.whole.cold = len(call.scripts) >= 1_000 // takes seconds
		theirsAfter = theirs.whole.after(other)
		theirsAfter.calls = 1
		all = append(all, theirs.whole, theirs.fixed, theirsAfter)
	}
	restore := asDaemon()
	measureRounds(b, all)
	restore()
	by := method(b)
	b.Run(fmt.Sprintf("kernel=%s/layout=%s", by.Kernel(), by.Layout()), func(b *testing.B) {
		for b.Loop() {
			continue // was measured with the others
		}
		ours.whole.reportRound(b)
		b.ReportMetric(milliseconds(ours.whole.median()), "ms")
		b.ReportMetric(milliseconds(ours.whole.best()), "best-ms")
		b.ReportMetric(milliseconds(after.median()), "after-ms")
		b.ReportMetric(milliseconds(ours.fixed.median()), "fixed-ms")
		b.ReportMetric(float64(ours.net())/float64(x.elements), "ns/elt")
		b.ReportMetric(float64(x.bytes)/float64(ours.net()), "GB/s")
		b.ReportMetric(float64(x.elements)/1e6, "Melt")
		if rival != nil {
			b.ReportMetric(milliseconds(theirs.whole.median()), "core-ms")
			b.ReportMetric(milliseconds(theirs.fixed.median()), "core-fixed-ms")
			b.ReportMetric(ratio(theirs.net(), ours.net()), "x-core-net")
			ours.whole.reportRatio(b, theirs.whole, "x-core")
			b.ReportMetric(milliseconds(theirsAfter.median()), "core-after-ms")
			b.ReportMetric(ratio(theirsAfter.median(), after.median()), "x-core-after")
		}
	})
}

// A contest is a call over the whole chain and over its last block alone.
type contest struct{ whole, fixed *contender }

func (c *scanCall) contest(b *testing.B, p *peer) contest {
	b.Helper()
	last := len(c.hits) - 1
	all, one := c.encoded(b, 0, last), c.encoded(b, last, last)
	return contest{
		whole: &contender{run: func() error {
			blocks, err := c.scan(b.Context(), p, all, 0, last)
			if err == nil && !slices.Equal(blocks, c.want) {
				return fmt.Errorf("%w: %d blocks, want %d", errWrongAnswer, len(blocks), len(c.want))
			}
			return err
		}},
		fixed: &contender{run: func() error {
			_, err := c.scan(b.Context(), p, one, last, last)
			return err
		}},
	}
}

// net is the time of the scan alone.
func (c contest) net() time.Duration { return max(c.whole.median()-c.fixed.median(), 1) }

// encoded returns the body of the call for a range of heights. The time to make
// the body is not counted as the node's time.
func (c *scanCall) encoded(b *testing.B, from, to int) []byte {
	b.Helper()
	options := map[string]bool{"filter_false_positives": c.check}
	body, err := jsonrpc.Encode("scanblocks", "start", c.objects, from, to, "basic", options)
	if err != nil {
		b.Fatal(err)
	}
	return body
}

// scan makes the call for a range of heights and returns the relevant blocks.
func (c *scanCall) scan(ctx context.Context, p *peer, body []byte, from, to int) ([]string, error) {
	var result struct {
		From      int      `json:"from_height"`
		To        int      `json:"to_height"`
		Blocks    []string `json:"relevant_blocks"`
		Completed bool     `json:"completed"`
	}
	if err := p.CallEncoded(ctx, &result, body); err != nil {
		return nil, err
	}
	if result.From != from || result.To != to || !result.Completed {
		return nil, fmt.Errorf(
			"%w: heights %d to %d, completed %v", errWrongAnswer, result.From, result.To, result.Completed,
		)
	}
	return result.Blocks, nil
}
