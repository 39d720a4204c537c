package bench

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/e2e"
)

const (
	// publishedBlocks are connected while their transactions are published.
	publishedBlocks = 20

	// restCallers ask at a time, each the next as soon as it has the last answer.
	restCallers = 16

	// quietTime is how long no message comes when all have come.
	quietTime = 2 * time.Second
)

// BenchmarkPublish asks how long it takes until so many subscribers have all messages about
// blocks that are connected at once: the hash of each transaction, the transaction, the block
// and its hash. BITCOIND names a bitcoind with ZMQ that does the same, in turn.
func BenchmarkPublish(b *testing.B) {
	own := buildDaemon(b)
	for _, subscribers := range []int{1, 10} {
		b.Run(fmt.Sprintf("subscribers=%d", subscribers), func(b *testing.B) {
			figures := map[string][]float64{}
			for b.Loop() {
				inTurn(b, own, func(prefix, binary string) {
					messages, took, cpu := publishing(b, binary, prefix, subscribers)
					for name, value := range map[string]float64{
						"messages/s": float64(messages) / took.Seconds(),
						"ms":         milliseconds(took),
						"cpu-ms":     milliseconds(cpu),
					} {
						figures[prefix+name] = append(figures[prefix+name], value)
					}
				})
			}
			reportFigures(b, figures)
			reportRatio(b, figures, "messages/s", "cpu-ms")
		})
	}
}

// reportRatio says how many times as much as Core does is done in the same time, and how many
// times its processor time Core needs.
func reportRatio(b *testing.B, figures map[string][]float64, rate, cpu string) {
	b.Helper()
	if rival := figures["core-"+rate]; len(rival) > 0 {
		b.ReportMetric(median(figures[rate])/median(rival), "x-core")
		b.ReportMetric(median(figures["core-"+cpu])/median(figures[cpu]), "x-cpu-core")
	}
}

// publishing has a program connect blocks, and returns how many messages that made for all
// subscribers, how long it took until they had them, and the program's processor time.
func publishing(b *testing.B, binary, prefix string, subscribers int) (int64, time.Duration, time.Duration) {
	b.Helper()
	chain := importedChains()[1]
	dir := loadedDir(b, binary, prefix+"publish-"+chain.name, &chain, nil)
	address := "tcp://127.0.0.1:" + freePort(b)
	args := []string{"-maxtipage=1000000000"} // so that it is not the initial download
	for _, topic := range []string{"hashblock", "hashtx", "rawblock", "rawtx"} {
		args = append(args, "-zmqpub"+topic+"="+address, "-zmqpub"+topic+"hwm=0")
	}
	d := startDaemon(b, binary, dir, args...)
	d.waitHeight(b, chain.blocks)
	var first, tip string
	d.must(b, &first, "getblockhash", chain.blocks-publishedBlocks+1)
	d.must(b, &tip, "getbestblockhash")
	d.must(b, nil, "invalidateblock", first)

	var messages atomic.Int64
	var reading sync.WaitGroup
	for range subscribers {
		s, err := e2e.DialZMQ(address, "")
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		reading.Go(func() { readUntil(b, s, tip, &messages) })
	}
	time.Sleep(quietTime) // the subscriptions have arrived, and what is left of the blocks that were taken back
	earlier := messages.Load()
	before, _ := processUse(d.program.Process.Pid)
	began := time.Now()
	d.must(b, nil, "reconsiderblock", first)
	reading.Wait()
	took := time.Since(began)
	after, _ := processUse(d.program.Process.Pid)
	d.stopped(b)
	return messages.Load() - earlier, took, after - before
}

// readUntil counts messages up to the block that is the tip.
func readUntil(b *testing.B, s *e2e.ZMQSubscriber, tip string, n *atomic.Int64) {
	b.Helper()
	for {
		m, err := s.Next(patience)
		if err != nil {
			b.Error(err)
			return
		}
		n.Add(1)
		if m.Topic == "hashblock" {
			hash := chainhash.Hash(m.Body)
			slices.Reverse(hash[:])
			if hash.String() == tip {
				return
			}
		}
	}
}

// restTargets are those of a block: %s is its hash, %d its height, %t the id of a transaction in it.
var restTargets = []struct{ name, path string }{
	{"block.bin", "block/%s.bin"},
	{"block.json", "block/%s.json"},
	{"notxdetails.json", "block/notxdetails/%s.json"},
	{"headers.bin", "headers/%s.bin?count=100"},
	{"headers.json", "headers/%s.json?count=10"},
	{"blockfilter.hex", "blockfilter/basic/%s.hex"},
	{"blockfilterheaders.bin", "blockfilterheaders/basic/%s.bin?count=100"},
	{"spenttxouts.bin", "spenttxouts/%s.bin"},
	{"spenttxouts.json", "spenttxouts/%s.json"},
	{"tx.bin", "tx/%t.bin"},
	{"tx.json", "tx/%t.json"},
	{"getutxos.bin", "getutxos/checkmempool/%t-0/%t-1.bin"},
	{"getutxos.json", "getutxos/%t-0/%t-1.json"},
	{"blockhashbyheight.hex", "blockhashbyheight/%d.hex"},
	{"chaininfo.json", "chaininfo.json"},
	{"deploymentinfo.json", "deploymentinfo/%s.json"},
	{"mempool/info.json", "mempool/info.json"},
}

// BenchmarkREST asks how many public requests a node answers to 16 clients. BITCOIND names a
// bitcoind that answers the same, in turn.
func BenchmarkREST(b *testing.B) {
	own := buildDaemon(b)
	for _, target := range restTargets {
		b.Run("target="+target.name, func(b *testing.B) {
			figures := map[string][]float64{}
			for b.Loop() {
				inTurn(b, own, func(prefix, binary string) {
					d, targets := restNode(b, binary, prefix, target.path)
					d.get(b, targets[:8], time.Second) // to warm it
					before, _ := processUse(d.program.Process.Pid)
					times := d.get(b, targets, fairnessLasts)
					after, _ := processUse(d.program.Process.Pid)
					d.stopped(b)
					for name, value := range map[string]float64{
						"requests/s": float64(len(times)) / fairnessLasts.Seconds(),
						"cpu-us":     float64((after - before).Microseconds()) / float64(max(len(times), 1)),
						"p99-ms":     milliseconds(quantile(times, 0.99)),
					} {
						figures[prefix+name] = append(figures[prefix+name], value)
					}
				})
			}
			reportFigures(b, figures)
			reportRatio(b, figures, "requests/s", "cpu-us")
		})
	}
}

// restNode starts a program over a chain, and returns it with targets for its last blocks.
func restNode(b *testing.B, binary, prefix, path string) (d *daemon, targets []string) {
	b.Helper()
	chain := importedChains()[1]
	dir := loadedDir(b, binary, prefix+"publish-"+chain.name, &chain, nil)
	d = startDaemon(b, binary, dir, "-rest=1", "-rpcworkqueue=256", "-txindex=1")
	d.waitHeight(b, chain.blocks)
	d.waitIndexes(b, chain.blocks, 2)
	for height := chain.blocks - 150; height < chain.blocks-100; height++ {
		var block struct {
			Hash string
			Tx   []string
		}
		d.must(b, &block.Hash, "getblockhash", height)
		d.must(b, &block, "getblock", block.Hash)
		filled := strings.NewReplacer("%s", block.Hash, "%d", strconv.Itoa(height), "%t", block.Tx[len(block.Tx)/2])
		targets = append(targets, "http://"+d.addr+"/rest/"+filled.Replace(path))
	}
	return d, targets
}

// get asks for targets for so long, and returns how long each answer took, in order of size.
func (d *daemon) get(b *testing.B, targets []string, lasts time.Duration) (times []time.Duration) {
	b.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: restCallers}}
	defer client.CloseIdleConnections()
	start := time.Now()
	var mu sync.Mutex
	var group sync.WaitGroup
	for caller := range restCallers {
		group.Go(func() {
			var own []time.Duration
			for n := caller; ; n++ {
				began := time.Now()
				if began.Sub(start) > lasts {
					break
				}
				if err := getOnce(client, targets[n%len(targets)]); err != nil {
					b.Error(err)
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
	slices.Sort(times)
	return times
}

// getOnce reads an answer, which must be one.
func getOnce(client *http.Client, target string) error {
	answer, err := client.Get(target)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, answer.Body)
	if err == nil && (answer.StatusCode != http.StatusOK || n == 0) {
		err = fmt.Errorf("%w: %s: status %d", errWrongAnswer, target, answer.StatusCode)
	}
	return err
}
