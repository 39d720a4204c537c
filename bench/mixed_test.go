package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// mixedCallers call at a time, each the next call as soon as it has the last answer.
const mixedCallers = 64

// A mixedCall is a method, how many of 100 calls of the mix ask for it, and the
// parameters of a call for a block.
type mixedCall struct {
	method string
	weight int
	params func(block *readBlock, n int) []any
}

// mixedCalls read blocks, headers, filters, transactions, a wallet and the sums over all
// coins, which an index keeps.
var mixedCalls = []mixedCall{
	{"getblockheader", 40, func(block *readBlock, _ int) []any { return []any{block.Hash} }},
	{"getrawtransaction", 30, func(block *readBlock, n int) []any { return []any{block.Tx[n%len(block.Tx)], 1} }},
	{"getblockfilter", 14, func(block *readBlock, _ int) []any { return []any{block.Hash} }},
	{"listtransactions", 10, func(*readBlock, int) []any { return []any{"*", 20} }},
	{"gettxoutsetinfo", 4, func(block *readBlock, _ int) []any { return []any{"muhash", block.Hash} }},
	{"getblock", 2, func(block *readBlock, _ int) []any { return []any{block.Hash, 2} }},
}

// A readBlock is what calls need to know of a block.
type readBlock struct {
	Hash string   `json:"hash"`
	Tx   []string `json:"tx"`
}

// BenchmarkMixed asks how many calls that read a node answers to 64 callers, each method
// alone and all of them mixed. BITCOIND names a bitcoind that answers the same calls, in
// turn. The data directories stay in the folder data.
func BenchmarkMixed(b *testing.B) {
	own := buildDaemon(b)
	for _, method := range append([]string{"mix"}, methodNames()...) {
		b.Run(fmt.Sprintf("call=%s/callers=%d", method, mixedCallers), func(b *testing.B) {
			figures := map[string][]float64{}
			for b.Loop() {
				inTurn(b, own, func(prefix, binary string) {
					d, blocks := mixedNode(b, binary, prefix)
					d.callMixed(b, requests(b, method, blocks[:8]), time.Second) // to warm it
					bodies := requests(b, method, blocks)
					before, _ := processUse(d.program.Process.Pid)
					times, took := d.callMixed(b, bodies, fairnessLasts)
					after, peak := processUse(d.program.Process.Pid)
					d.stopped(b)
					for name, value := range map[string]float64{
						"calls/s": float64(len(times)) / took.Seconds(),
						"cpu-us":  float64((after - before).Microseconds()) / float64(max(len(times), 1)),
						"p50-ms":  milliseconds(quantile(times, 0.5)),
						"p99-ms":  milliseconds(quantile(times, 0.99)),
						"peak-MB": float64(peak) / 1e6,
					} {
						figures[prefix+name] = append(figures[prefix+name], value)
					}
				})
			}
			reportFigures(b, figures)
			if rival := figures["core-calls/s"]; len(rival) > 0 {
				b.ReportMetric(median(figures["calls/s"])/median(rival), "x-calls")
				b.ReportMetric(median(figures["core-cpu-us"])/median(figures["cpu-us"]), "x-cpu-core")
				b.ReportMetric(median(figures["p99-ms"])/median(figures["core-p99-ms"]), "p99-of-core's")
			}
		})
	}
}

func methodNames() (names []string) {
	for _, call := range mixedCalls {
		names = append(names, call.method)
	}
	return names
}

// mixedNode starts a program over a chain with all indexes and a wallet, and returns
// what it has of the blocks with many transactions.
func mixedNode(b *testing.B, binary, prefix string) (*daemon, []*readBlock) {
	b.Helper()
	chain := importedChains()[1]
	args := []string{"-txindex=1", "-coinstatsindex=1", "-wallet=mixed", "-rpcworkqueue=256"}
	dir := loadedDir(b, binary, prefix+"mixed-"+chain.name, &chain, func(d *daemon) {
		d.makeWatching(b, d.readBlocks(b, chain.blocks-20, chain.blocks))
	}, args[:2]...)
	d := startDaemon(b, binary, dir, args...)
	d.waitHeight(b, chain.blocks)
	d.waitIndexes(b, chain.blocks, 3)
	return d, d.readBlocks(b, chain.blocks-200, chain.blocks)
}

// loadedDir returns a data directory in the folder data that has a chain. The first time a
// program makes it, with more arguments, and prepare has it do something else then.
func loadedDir(
	b *testing.B, binary, name string, chain *importedChain, prepare func(d *daemon), args ...string,
) string {
	b.Helper()
	dir, err := filepath.Abs(filepath.Join(*flagData, name))
	if err != nil {
		b.Fatal(err)
	}
	mark := filepath.Join(dir, "loaded")
	if _, err := os.Stat(mark); err == nil {
		return dir
	}
	progress("loading %d blocks into %s", chain.blocks, dir)
	d := startDaemon(b, binary, dir, append([]string{"-loadblock=" + chain.file(b)}, args...)...)
	d.waitHeight(b, chain.blocks)
	if prepare != nil {
		prepare(d)
	}
	d.stopped(b)
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	return dir
}

// waitIndexes waits until there are so many indexes and all have the last block.
func (d *daemon) waitIndexes(b *testing.B, blocks, indexes int) {
	b.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		var state map[string]struct {
			Height int `json:"best_block_height"`
		}
		d.must(b, &state, "getindexinfo")
		behind := len(state) < indexes
		for _, index := range state {
			behind = behind || index.Height < blocks
		}
		if !behind {
			return
		}
		if <-ticker.C; time.Since(d.began) > loadPatience {
			b.Fatalf("%s does not make its indexes", d.program.Path)
		}
	}
}

// makeWatching makes the wallet, which knows outputs of blocks.
func (d *daemon) makeWatching(b *testing.B, blocks []*readBlock) {
	b.Helper()
	d.must(b, nil, "createwallet", "mixed", true, true)
	var imports []map[string]any
	for _, block := range blocks {
		for _, txid := range block.Tx[1:6] {
			var tx struct {
				Vout []struct {
					ScriptPubKey struct{ Hex string }
				}
			}
			d.must(b, &tx, "getrawtransaction", txid, 1)
			var info struct{ Descriptor string }
			d.must(b, &info, "getdescriptorinfo", "raw("+tx.Vout[0].ScriptPubKey.Hex+")")
			imports = append(imports, map[string]any{"desc": info.Descriptor, "timestamp": 0})
		}
	}
	var results []struct{ Success bool }
	d.must(b, &results, "importdescriptors", imports)
	for i, result := range results {
		if !result.Success {
			b.Fatalf("descriptor %v is not imported", imports[i])
		}
	}
}

// readBlocks returns blocks in a range of heights, the last one apart.
func (d *daemon) readBlocks(b *testing.B, from, to int) (blocks []*readBlock) {
	b.Helper()
	for height := from; height < to; height++ {
		var hash string
		d.must(b, &hash, "getblockhash", height)
		block := new(readBlock)
		d.must(b, block, "getblock", hash)
		blocks = append(blocks, block)
	}
	return blocks
}

// requests returns the bodies of the calls of a method, or of the mix, over blocks.
func requests(b *testing.B, method string, blocks []*readBlock) (bodies [][]byte) {
	b.Helper()
	for n, block := range blocks {
		for i := range 100 {
			call := chosen(method, i*37+n) // of the mix each of 100, in another order for each block
			body, err := json.Marshal(map[string]any{
				"jsonrpc": "2.0", "id": 1, "method": call.method, "params": call.params(block, n*100+i),
			})
			if err != nil {
				b.Fatal(err)
			}
			bodies = append(bodies, body)
		}
	}
	return bodies
}

// chosen returns a method, or the one of the mix that a number chooses.
func chosen(method string, n int) *mixedCall {
	left := n % 100
	return &mixedCalls[slices.IndexFunc(mixedCalls, func(c mixedCall) bool {
		left -= c.weight
		return c.method == method || method == "mix" && left < 0
	})]
}

// callMixed makes the calls again and again, and returns how long each took that began
// in a time, in order of size, and all together. So none is paid for and not counted:
// the longest ones are under way when the time is over. Answers are read and thrown away.
func (d *daemon) callMixed(
	b *testing.B, bodies [][]byte, lasts time.Duration,
) (times []time.Duration, took time.Duration) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: mixedCallers}}
	defer client.CloseIdleConnections()
	start := time.Now()
	var mu sync.Mutex
	var group sync.WaitGroup
	for caller := range mixedCallers {
		group.Go(func() {
			var own []time.Duration
			buf := make([]byte, 64<<10)
			for n := caller * len(bodies) / mixedCallers; ; n++ {
				began := time.Now()
				if began.Sub(start) > lasts {
					break
				}
				if err := d.callOnce(client, bodies[n%len(bodies)], buf); err != nil {
					b.Errorf("%s: %v", bodies[n%len(bodies)], err)
					break
				}
				own = append(own, time.Since(began))
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, own...)
		})
	}
	group.Wait()
	took = time.Since(start)
	slices.Sort(times)
	return times, took
}

// callOnce makes a call and reads the answer, which must be a result.
func (d *daemon) callOnce(client *http.Client, body, buf []byte) error {
	request, err := http.NewRequest(http.MethodPost, "http://"+d.addr, bytes.NewReader(body))
	if err != nil {
		return err
	}
	user, password, _ := strings.Cut(login, ":")
	request.SetBasicAuth(user, password)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	n, err := io.ReadFull(response.Body, buf)
	if response.StatusCode != http.StatusOK || !bytes.HasPrefix(buf[:n], []byte(`{"jsonrpc":"2.0","result":`)) {
		return fmt.Errorf("HTTP %d: %.200s", response.StatusCode, buf[:n])
	}
	for err == nil {
		_, err = response.Body.Read(buf)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
