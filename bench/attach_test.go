package bench

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"testing"
	"time"
)

// An attachedTo is the Bitcoin Core that a node is attached to, with the chain spends of
// BenchmarkImport in a directory that stays.
type attachedTo struct {
	*daemon
	dir, port, login string
	blocks           int
}

// startAttachedTo starts it with its filter index or without.
func startAttachedTo(b *testing.B, index bool) *attachedTo {
	b.Helper()
	core := os.Getenv("BITCOIND")
	if core == "" {
		b.Skip("BITCOIND names no bitcoind to attach to")
	}
	chain := importedChains()[1]
	dir, err := filepath.Abs(filepath.Join(*flagData, fmt.Sprintf("attach-%s-%d", chain.name, chain.blocks)))
	if err != nil {
		b.Fatal(err)
	}
	a := &attachedTo{dir: dir, login: filepath.Join(b.TempDir(), "login")}
	if err := os.WriteFile(a.login, []byte("bench:bench"), 0o600); err != nil {
		b.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "regtest", "blocks")); errors.Is(err, os.ErrNotExist) {
		progress("the chain of Bitcoin Core")
		d := startDaemon(b, core, dir, "-loadblock="+chain.file(b))
		d.waitHeight(b, chain.blocks)
		d.stopped(b)
	}
	a.daemon = startDaemon(b, core, dir, "-rest=1", "-blockfilterindex="+map[bool]string{true: "1", false: "0"}[index])
	_, a.port, _ = net.SplitHostPort(a.addr)
	a.blocks = a.waitBlocks(b, chain.blocks)
	for index && a.indexHeight(b) < a.blocks {
		time.Sleep(20 * time.Millisecond)
	}
	return a
}

// attach starts a node on an empty directory that is attached, to the directory or to the
// address alone.
func (a *attachedTo) attach(b *testing.B, own string, remote bool, more ...string) *daemon {
	b.Helper()
	to := []string{"-attach=" + a.dir, "-attachrpc=127.0.0.1:" + a.port}
	if remote {
		to = []string{"-attach=http://127.0.0.1:" + a.port}
	}
	return startDaemon(b, own, b.TempDir(), append(append(to, "-attachlogin="+a.login, "-attachverify=0"), more...)...)
}

// BenchmarkAttach measures attaching to a Bitcoin Core that has a chain: making the first
// index of filters. In turn it is made from Core's block files, over REST by so many
// workers, and from Core's filter files. Core's own index is measured by its log. The
// processor time cpu-ms is of the node, core-cpu-ms of Core meanwhile.
func BenchmarkAttach(b *testing.B) {
	own := buildDaemon(b)
	for _, from := range []struct {
		name          string
		index, remote bool
		args          []string
	}{
		{name: "files"},
		{name: "files-1", args: []string{"-par=1"}},
		{name: "rest-1", remote: true, args: []string{"-par=1"}},
		{name: "rest-4", remote: true, args: []string{"-par=4"}},
		{name: "rest-8", remote: true, args: []string{"-par=8"}},
		{name: "filters", index: true},
	} {
		b.Run("source="+from.name, func(b *testing.B) {
			core := startAttachedTo(b, from.index)
			size := blockBytes(b, core.dir)
			figures := map[string][]float64{}
			for b.Loop() {
				before, _ := processUse(core.program.Process.Pid)
				d := core.attach(b, own, from.remote, from.args...)
				wall := d.waitHeight(b, core.blocks)
				cpu, peak := processUse(d.program.Process.Pid)
				after, _ := processUse(core.program.Process.Pid)
				core.sameFilter(b, d)
				d.stopped(b)
				for name, value := range map[string]float64{
					"ms": milliseconds(wall), "cpu-ms": milliseconds(cpu), "core-cpu-ms": milliseconds(after - before),
					"peak-MB": float64(peak) / 1e6, "MB/s": float64(size) / 1e6 / wall.Seconds(),
					"MB/cpu-s": float64(size) / 1e6 / cpu.Seconds(),
				} {
					figures[name] = append(figures[name], value)
				}
			}
			core.stopped(b)
			reportFigures(b, figures)
		})
	}
	b.Run("source=core", func(b *testing.B) {
		figures := map[string][]float64{}
		for b.Loop() {
			wall, cpu := coreIndex(b)
			figures["ms"] = append(figures["ms"], milliseconds(wall))
			figures["cpu-ms"] = append(figures["cpu-ms"], milliseconds(cpu))
		}
		reportFigures(b, figures)
	})
}

// blockBytes returns the size of Core's block files.
func blockBytes(b *testing.B, dir string) (size int64) {
	b.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "regtest", "blocks", "blk*.dat"))
	for _, path := range files {
		info, failed := os.Stat(path)
		if failed != nil {
			b.Fatal(failed)
		}
		size += info.Size()
	}
	if err != nil || size == 0 {
		b.Fatalf("no block files in %s: %v", dir, err)
	}
	return size
}

// sameFilter compares the last filter header, which commits to all filters, if Core has it.
func (a *attachedTo) sameFilter(b *testing.B, d *daemon) {
	b.Helper()
	var best string
	var got, want struct{ Header string }
	if err := a.Call(b.Context(), &best, "getbestblockhash"); err != nil {
		b.Fatal(err)
	}
	if err := d.Call(b.Context(), &got, "getblockfilter", best); err != nil {
		b.Fatal(err)
	}
	if err := a.Call(b.Context(), &want, "getblockfilter", best); err == nil && want != got {
		b.Fatalf("filter header %s, Bitcoin Core has %s", got.Header, want.Header)
	}
}

// coreIndex has Core build its index anew, and returns how long its log says it took, and
// the processor time from its start on.
func coreIndex(b *testing.B) (wall, cpu time.Duration) {
	b.Helper()
	core := startAttachedTo(b, false)
	core.stopped(b)
	net := filepath.Join(core.dir, "regtest")
	log := filepath.Join(net, "debug.log")
	if err := errors.Join(os.RemoveAll(filepath.Join(net, "indexes")), os.RemoveAll(log)); err != nil {
		b.Fatal(err)
	}
	core = startAttachedTo(b, true)
	cpu, _ = processUse(core.program.Process.Pid)
	core.stopped(b)
	text, err := os.ReadFile(log)
	if err != nil {
		b.Fatal(err)
	}
	began, err := lineTime(beganLine, text)
	done, failed := lineTime(doneLine, text)
	if err := errors.Join(err, failed); err != nil {
		b.Fatal(err)
	}
	return done.Sub(began), cpu
}

// BenchmarkAttached measures how an attached node answers. The benchmark call=news
// measures the delay from Bitcoin Core's answer to a call that makes a block until the
// node has answered with the block's filter. The benchmark call=forwarded measures how
// much longer a forwarded call takes than at Core itself, of calls in turn. The
// benchmark call=scan measures a scan of the whole chain for 120 scripts through the
// node and by Core.
func BenchmarkAttached(b *testing.B) {
	own := buildDaemon(b)
	b.Run("call=scan", func(b *testing.B) {
		core, d := startPair(b, own)
		var objects []string
		for i := range 120 {
			objects = append(objects, fmt.Sprintf("raw(5120%064x)", i+1))
		}
		var ours, theirs []time.Duration
		for b.Loop() {
			var got, want struct {
				Blocks []string `json:"relevant_blocks"`
			}
			ours = append(ours, timed(b, d.peer, &got, "scanblocks", "start", objects))
			theirs = append(theirs, timed(b, core.peer, &want, "scanblocks", "start", objects))
			if !reflect.DeepEqual(got, want) {
				b.Fatalf("%v, Bitcoin Core finds %v", got, want)
			}
		}
		b.ReportMetric(milliseconds(median(ours)), "ms")
		b.ReportMetric(milliseconds(median(theirs)), "core-ms")
		b.ReportMetric(ratio(median(theirs), median(ours)), "x-core")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("call=forwarded", func(b *testing.B) {
		core, d := startPair(b, own)
		var ours, theirs []time.Duration
		for b.Loop() {
			for range 2000 {
				var got map[string]any
				ours = append(ours, timed(b, d.peer, &got, "getmempoolinfo"))
				theirs = append(theirs, timed(b, core.peer, &got, "getmempoolinfo"))
			}
		}
		reportDelays(b, "", ours)
		reportDelays(b, "core-", theirs)
	})
	b.Run("call=news", func(b *testing.B) {
		core, d := startPair(b, own)
		var delays []time.Duration
		for b.Loop() {
			for range 300 {
				var made []string
				timed(b, core.peer, &made, "generatetodescriptor", 1, "raw(51)#8lvh9jxk")
				var filter map[string]string
				delays = append(delays, timed(b, d.peer, &filter, "getblockfilter", made[0]))
			}
		}
		reportDelays(b, "", delays)
	})
}

// startPair starts Bitcoin Core with its index, and a node that is attached and has its own.
func startPair(b *testing.B, own string) (*attachedTo, *daemon) {
	b.Helper()
	core := startAttachedTo(b, true)
	d := core.attach(b, own, false)
	d.waitHeight(b, core.blocks)
	b.Cleanup(func() {
		d.stopped(b)
		core.stopped(b)
	})
	return core, d
}

func timed(b *testing.B, p *peer, result any, method string, params ...any) time.Duration {
	b.Helper()
	began := time.Now()
	if err := p.Call(b.Context(), result, method, params...); err != nil {
		b.Fatalf("%s: %v", method, err)
	}
	return time.Since(began)
}

func reportDelays(b *testing.B, prefix string, times []time.Duration) {
	b.Helper()
	slices.Sort(times)
	b.ReportMetric(0, "ns/op")
	for _, q := range []int{50, 99} {
		b.ReportMetric(milliseconds(quantile(times, float64(q)/100)), prefix+"p"+strconv.Itoa(q)+"-ms")
	}
}
