package e2e_test

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
	"github.com/seed61375155/trawl/internal/synth"
)

// A longCluster is nodes with the same long chain.
type longCluster struct {
	*testing.T
	secret string
	file   string // of blocks, all but those that pay raw(51)
	source string // data directory that is copied
	blocks int

	lone, coordinator *e2e.Daemon
	workerNodes       []*e2e.Daemon
	at                []string               // addresses of the worker nodes
	metrics           map[*e2e.Daemon]string // addresses of the metrics of nodes of this version
}

const (
	clusterBlocks  = 1500
	clusterOutputs = 50
	ownBlocks      = 30 // that pay raw(51)
)

// ownDescriptor has scripts that nothing pays to.
const ownDescriptor = "wpkh(tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhysw" +
	"J76uZPStJRJCTKvosUCJZL5B/0/*)"

// slow are options by which filters take long, so that others can take part.
var slow = []string{"-filterkernel=portable", "-filterlayout=plain", "-par=1"}

// newLongCluster starts a lone node, worker nodes, and a coordinator that leases heights at once and leaves all
// work to the worker nodes.
func newLongCluster(t *testing.T, workerNodes int, coordinatorArgs ...string) *longCluster {
	t.Helper()
	l := &longCluster{
		T: t, secret: filepath.Join(t.TempDir(), "secret"), blocks: longChain.Blocks + ownBlocks,
		metrics: map[*e2e.Daemon]string{},
	}
	longChain.prepare(l)
	l.lone = l.node()
	args := append([]string{"-clusterlocal=0", "-clusterafter=1", "-clusteraudit=0"}, coordinatorArgs...)
	for range workerNodes {
		m, at := l.clustered()
		l.workerNodes, l.at = append(l.workerNodes, m), append(l.at, at)
		args = append(args, "-clusternode="+at)
	}
	l.coordinator, _ = l.clustered(args...)
	l.up(workerNodes)
	return l
}

// clusterChain is a chain that is made once, for all clusters that have it.
type clusterChain struct {
	synth.Chain

	making       sync.Mutex
	file, source string
}

var longChain = clusterChain{Chain: synth.Chain{Seed: 21, Blocks: clusterBlocks, Outputs: clusterOutputs}}

// prepare makes the files of a cluster's chain, unless they are there.
func (c *clusterChain) prepare(l *longCluster) {
	l.Helper()
	c.making.Lock()
	defer c.making.Unlock()
	if c.source == "" {
		dir := e2e.SharedDir(l)
		c.file = writeChain(l, dir, c.Chain)
		d := l.loaded("", c.file, c.Blocks)
		d.Get(nil, "generatetodescriptor", ownBlocks, "raw(51)")
		l.await(d, l.blocks)
		d.Stop()
		source := filepath.Join(dir, "node")
		if err := os.Rename(d.Dir, source); err != nil {
			l.Fatal(err)
		}
		c.source = source
	}
	l.file, l.source = c.file, c.source
}

// writeChain writes a chain to a file.
func writeChain(tb testing.TB, dir string, chain synth.Chain) (path string) {
	tb.Helper()
	path = filepath.Join(dir, "chain.dat")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriter(f)
	_, err = chain.WriteTo(w)
	if err := errors.Join(err, w.Flush(), f.Close()); err != nil {
		tb.Fatal(err)
	}
	return path
}

// node starts a node with a copy of the chain.
func (l *longCluster) node(args ...string) *e2e.Daemon {
	l.Helper()
	return l.start("", args...)
}

// start is node with a trawld of another version; empty: of this one.
func (l *longCluster) start(program string, args ...string) *e2e.Daemon {
	l.Helper()
	dir := l.TempDir()
	if err := os.CopyFS(dir, os.DirFS(l.source)); err != nil {
		l.Fatal(err)
	}
	for _, name := range []string{".cookie", ".lock", "bitcoind.pid"} {
		_ = os.Remove(filepath.Join(dir, "regtest", name))
	}
	config := e2e.Config{
		Chain: "regtest", Dir: dir, Program: program,
		Args: append(append([]string{"-blockfilterindex=1"}, slow...), args...),
	}
	at := e2e.FreeAddr(l)
	if program == "" {
		config.Args = append(config.Args, "-prometheus="+at)
	}
	d := e2e.Start(l, config)
	l.metrics[d] = at
	l.await(d, l.blocks)
	return d
}

// clustered starts a node of the cluster.
func (l *longCluster) clustered(args ...string) (d *e2e.Daemon, at string) {
	l.Helper()
	at = e2e.FreeAddr(l)
	return l.node(append(args, "-clusterlisten="+at, "-clustersecret="+l.secret)...), at
}

// loaded starts a node, of another program where one is named, that has loaded blocks from a file.
func (l *longCluster) loaded(program, file string, height int, args ...string) *e2e.Daemon {
	l.Helper()
	d := e2e.Start(l, e2e.Config{
		Chain: "regtest", Program: program, Blocks: []string{file},
		Args: append([]string{"-blockfilterindex=1"}, args...),
	})
	l.await(d, height)
	return d
}

// finish gives a node the blocks that pay raw(51).
func (l *longCluster) finish(d *e2e.Daemon) {
	l.Helper()
	for height := l.blocks - ownBlocks + 1; height <= l.blocks; height++ {
		var hash, block string
		l.lone.Get(&hash, "getblockhash", height)
		l.lone.Get(&block, "getblock", hash, 0)
		d.Get(nil, "submitblock", block)
	}
	l.await(d, l.blocks)
}

// await waits for a height of the chain and of the filter index.
func (l *longCluster) await(d *e2e.Daemon, height int) {
	l.Helper()
	e2e.Eventually(l, 2*time.Minute, "the chain is indexed", func() bool {
		var info map[string]struct {
			Synced bool `json:"synced"`
			Height int  `json:"best_block_height"`
		}
		d.Get(&info, "getindexinfo", "basic block filter index")
		i := info["basic block filter index"]
		return i.Synced && i.Height == height
	})
}

func (l *longCluster) info() (info clusterReply) {
	l.Helper()
	l.coordinator.Get(&info, "getclusterinfo")
	return info
}

// up waits until so many worker nodes are up.
func (l *longCluster) up(n int) {
	l.Helper()
	e2e.Eventually(l, time.Minute, fmt.Sprintf("%d worker nodes are up", n), func() bool {
		info := l.info()
		return info.up() == n
	})
}

// units is how many ranges worker nodes have answered.
func (l *longCluster) units() (n uint64) {
	l.Helper()
	for _, m := range l.info().Members {
		n += m.Units
	}
	return n
}

// same has both the lone node and the coordinator do something, which has to give the same, with work of
// worker nodes.
func (l *longCluster) same(what string, do func(d *e2e.Daemon) any) {
	l.Helper()
	want := do(l.lone)
	before := l.units()
	if got := do(l.coordinator); !reflect.DeepEqual(got, want) {
		l.Errorf("%s: got\n%.600v\nand a lone node\n%.600v", what, got, want)
	}
	if l.units() == before {
		l.Errorf("%s: the worker nodes have done nothing: %+v", what, l.info())
	}
}

// scanner returns what scans for the same objects on any node.
func scanner(objects []string, from, to int, options any) func(d *e2e.Daemon) any {
	return func(d *e2e.Daemon) any {
		var got any
		d.Get(&got, "scanblocks", "start", objects, from, to, "basic", options)
		return got
	}
}

// Every method that looks for scripts uses the worker nodes, and gives the result of a lone node: scans with
// and without a look into the blocks, searches, and rescans of wallets. Damaged filters of a worker node do
// not change the result.
func TestClusterMethods(t *testing.T) {
	t.Parallel()
	l := newLongCluster(t, 2)
	objects := append(manyScripts(rand.New(rand.NewPCG(1, 1)), 20_000), "raw(51)")
	l.same("scanblocks", scanner(objects, 0, l.blocks, nil))
	checked := scanner(objects, 0, l.blocks, map[string]bool{"filter_false_positives": true})
	l.same("scanblocks with a look into the blocks", checked)
	l.same("createsearch", func(d *e2e.Daemon) any { return foundBySearch(l, d, objects[10_000:]) })
	l.same("importdescriptors", func(d *e2e.Daemon) any { return rescanned(l, d) })
	workerNode := l.workerNodes[0]
	workerNode.Kill()
	l.damage(workerNode, 64<<10, 4<<10)
	workerNode.Restart()
	l.up(2)
	l.same("a scan with damaged filters at a worker node", checked)
	l.damage(workerNode, 0, 1<<30)
	l.same("a scan while all filters of a worker node are overwritten", checked)
	if log := workerNode.Log(); !strings.Contains(log, "damaged") {
		t.Errorf("the worker node has not seen the damage:\n%s", workerNode.LogTail())
	}
}

// foundBySearch returns what a search finds.
func foundBySearch(l *longCluster, d *e2e.Daemon, objects []string) any {
	l.Helper()
	var made struct{ ID string }
	d.Get(&made, "createsearch", objects)
	e2e.Eventually(l, 2*time.Minute, "the search ends", func() bool {
		var info struct{ State string }
		d.Get(&info, "getsearch", made.ID)
		return info.State == "done"
	})
	var page struct {
		Entries []map[string]any
	}
	d.Get(&page, "getsearchentries", made.ID)
	if len(page.Entries) != ownBlocks {
		l.Errorf("%d entries, want %d", len(page.Entries), ownBlocks)
	}
	return page.Entries
}

// rescanned returns the coins of a wallet after a rescan for many scripts.
func rescanned(l *longCluster, d *e2e.Daemon) any {
	l.Helper()
	d.Get(nil, "createwallet", "watching", true, true)
	var info struct{ Descriptor string }
	d.Get(&info, "getdescriptorinfo", ownDescriptor)
	_, sum, _ := strings.Cut(info.Descriptor, "#")
	var imported []struct{ Success bool }
	d.Get(&imported, "importdescriptors", []any{
		map[string]any{"desc": ownDescriptor + "#" + sum, "timestamp": 0, "range": 20_000},
		map[string]any{"desc": "raw(51)#8lvh9jxk", "timestamp": 0},
	})
	if len(imported) != 2 || !imported[0].Success || !imported[1].Success {
		l.Fatalf("%+v", imported)
	}
	var coins []map[string]any
	d.Get(&coins, "listunspent", 0)
	var balances struct {
		Mine struct{ Immature float64 }
	}
	d.Get(&balances, "getbalances")
	if balances.Mine.Immature == 0 {
		l.Errorf("the wallet has %+v", balances)
	}
	return []any{balances, coins}
}

// damage overwrites a part of the first segment of a worker node's filters, as far as there is one, with random bytes.
func (l *longCluster) damage(d *e2e.Daemon, from, size int64) {
	l.Helper()
	files, err := filepath.Glob(filepath.Join(d.NetDir, "indexes/blockfilter/basic/fltr*.dat"))
	if err != nil || len(files) == 0 {
		l.Fatal(files, err)
	}
	f, err := os.OpenFile(files[0], os.O_RDWR, 0)
	if err != nil {
		l.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		l.Fatal(err)
	}
	noise := make([]byte, min(size, info.Size()-from))
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	_, err = f.WriteAt(noise, from)
	if err := errors.Join(err, f.Close()); err != nil {
		l.Fatal(err)
	}
}

// differ brings a worker node to another branch.
func (l *longCluster) differ(d *e2e.Daemon) {
	l.Helper()
	var hash string
	d.Get(&hash, "getblockhash", l.blocks-5)
	d.Get(nil, "invalidateblock", hash)
	d.Get(nil, "generatetodescriptor", 6, "raw(52)")
	l.await(d, l.blocks)
}
