package cluster_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/cluster"
	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// rig is a chain and its filters, which all nodes of a test have, and what is between them.
type rig struct {
	tb      testing.TB
	chain   *chaintest.Chain
	current *chainview.Current
	store   *segment.Store
	sys     *actortest.System

	mu     sync.Mutex
	nodes  map[string]*node
	lose   func() bool // whether a frame is lost
	drop   func(frame []byte) bool
	change func(m *wire.Message) // what is sent
	twice  bool                  // each frame arrives twice
	spawn  int
	each   time.Duration // a filter takes
}

func script(n int) []byte {
	return binary.BigEndian.AppendUint32([]byte{0x00, 0x14, 16: 0}, uint32(n))[:22]
}

const reused = 37 // blocks later a coinbase's script comes again

func newRig(t *testing.T, height int) *rig {
	t.Helper()
	actortest.InBubble(t)
	r := &rig{
		tb: t, chain: chaintest.New(&chaincfg.RegressionNetParams), current: new(chainview.Current),
		sys: actortest.New(t), nodes: make(map[string]*node), each: time.Millisecond,
	}
	for h := 1; h <= height; h++ {
		r.chain.Mine(chaintest.Template{Script: script(h % reused)})
	}
	r.current.Set(r.chain)
	var err error
	r.store, err = segment.Open(segment.Options{Dir: filepath.Join(t.TempDir(), "filters"), SegmentSize: 4096})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.store.Close() })
	ref := r.sys.Spawn("indexer", indexer.New(indexer.Config{
		Store: r.store, Chain: r.current, Tip: new(ask.Feed[messages.TipChanged]),
		HeaderLen: func([]byte) int { return filters.HeaderLen }, Workers: 1, Log: r.sys.Log,
		OnFailed: func(err error) { t.Error(err) },
	}), indexer.Requests...)
	if _, err := ask.Ask(t.Context(), ref, messages.WaitIndexed{Block: r.chain.Active().Tip().Hash}); err != nil {
		t.Fatal(err)
	}
	return r
}

// source is a node's filters, each of which takes a while.
type source struct {
	match.Source
	each  time.Duration
	read  *atomic.Int64 // filters
	fault func(from, to int32) error
	lie   func(batch []filters.Filter)
}

func (s source) View() match.View { return slowView{s.Source.View(), s} }

type slowView struct {
	match.View
	s source
}

func (v slowView) Filters(from int32, active bool, dst []filters.Filter) error {
	time.Sleep(time.Duration(len(dst)) * v.s.each)
	v.s.read.Add(int64(len(dst)))
	if v.s.fault != nil {
		if err := v.s.fault(from, from+int32(len(dst))); err != nil {
			return err
		}
	}
	err := v.View.Filters(from, active, dst)
	if err == nil && v.s.lie != nil {
		v.s.lie(dst)
	}
	return err
}

// setup is what differs between the nodes of a test.
type setup struct {
	options cluster.Options
	fault   func(from, to int32) error
	lie     func(batch []filters.Filter)
	reader  chainview.Reader // default: the rig's chain
	header  func(*chainhash.Hash) (chainhash.Hash, error)
	network string
	resolve func() // called for each name, of which none is found
	log     *slog.Logger
	workers int // default: 1
}

// node is a node of a test, and its link.
type node struct {
	rig       *rig
	address   string
	ref       *ask.Ref
	scheduler *match.Scheduler
	read      atomic.Int64
	frames    map[byte]int // sent, by kind

	mu       sync.Mutex
	frame    func(from string, frame []byte, taken func())
	gone     func(address string)
	watchers map[string]bool
	dead     bool
	paused   []func() // what arrives later; nil: at once
}

func (r *rig) node(s setup) *node {
	r.tb.Helper()
	r.spawn++
	n := &node{
		rig: r, address: fmt.Sprintf("10.0.0.%d:1", r.spawn), watchers: make(map[string]bool),
		frames: make(map[byte]int),
	}
	s.workers = max(s.workers, 1)
	src := source{filter.NewSource(r.store), r.each, &n.read, s.fault, s.lie}
	n.scheduler = match.NewScheduler(match.SchedulerConfig{
		Source: src, Workers: s.workers, Log: r.sys.Log, Helper: filter.HelpBy(func() *ask.Ref { return n.ref }),
	})
	s.options.Link = n
	current := r.current
	if s.reader != nil {
		current = new(chainview.Current)
		current.Set(s.reader)
	}
	if s.header == nil {
		s.header = filter.HeaderOf(r.store)
	}
	if s.log == nil {
		s.log = r.sys.Log
	}
	if s.resolve == nil {
		s.resolve = func() {}
	}
	if s.network == "" {
		s.network = "regtest"
	}
	n.ref = r.sys.Spawn(fmt.Sprint("cluster", r.spawn), cluster.New(cluster.Config{
		Options: s.options, Network: s.network, Build: "test", Workers: s.workers, Scheduler: n.scheduler,
		Chain: current, HeaderLen: func([]byte) int { return filters.HeaderLen }, Header: s.header, Log: s.log,
		Resolve: func(context.Context, string) ([]string, error) {
			s.resolve()
			return nil, errors.New("no such name")
		},
	}), cluster.Requests...)
	if err := cluster.Connect(r.tb.Context(), n, n.ref); err != nil {
		r.tb.Fatal(err)
	}
	r.mu.Lock()
	r.nodes[n.address] = n
	r.mu.Unlock()
	return n
}

// alias has a node reached by another address than it says, too: one of a network.
func (n *node) alias(network string) (address string) {
	n.rig.mu.Lock()
	defer n.rig.mu.Unlock()
	address = network + strings.TrimPrefix(n.address, "10.0.0")
	n.rig.nodes[address] = n
	return address
}

// coordinator starts a node that leases to others.
func (r *rig) coordinator(local bool, audit float64, workerNodes ...*node) *node {
	o := cluster.Options{Local: local, Audit: audit}
	for _, m := range workerNodes {
		o.Nodes = append(o.Nodes, m.address)
	}
	n := r.node(setup{options: o})
	n.await(len(workerNodes))
	return n
}

func (r *rig) workerNode() *node { return r.node(setup{options: cluster.Options{Serve: true}}) }

// await waits until so many worker nodes are up.
func (n *node) await(up int) {
	for range 1000 {
		count := 0
		for _, m := range n.state().Members {
			if m.State == "up" {
				count++
			}
		}
		if count == up {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	n.rig.tb.Fatal("the worker nodes are not up")
}

func (n *node) state() messages.Cluster {
	s, err := ask.Ask(n.rig.tb.Context(), n.ref, messages.GetCluster{})
	if err != nil {
		n.rig.tb.Fatal(err)
	}
	return s
}

// Open implements cluster.Link.
func (n *node) Open(frame func(string, []byte, func()), gone func(string)) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.frame, n.gone = frame, gone
	return nil
}

func (n *node) Close() error            { return nil }
func (n *node) State() (string, uint64) { return n.address, 0 }

// Send implements cluster.Link: a frame takes a millisecond, and may be lost.
func (n *node) Send(address string, frame []byte) {
	n.rig.mu.Lock()
	to, lost := n.rig.nodes[address], n.rig.lose != nil && n.rig.lose() || n.rig.drop != nil && n.rig.drop(frame)
	if n.rig.change != nil {
		m, err := wire.Parse(frame)
		if err != nil {
			n.rig.tb.Error(err)
		}
		n.rig.change(m)
		frame = m.Append(nil)
	}
	times := 1
	if n.rig.twice {
		times++
	}
	n.rig.mu.Unlock()
	n.mu.Lock()
	dead := n.dead
	n.frames[frame[1]]++
	n.mu.Unlock()
	if to == nil || lost || dead {
		return
	}
	for range times {
		time.AfterFunc(time.Millisecond, func() { to.arrive(func() { to.frame(n.address, frame, func() {}) }) })
	}
}

func (n *node) arrive(f func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.dead:
	case n.paused != nil:
		n.paused = append(n.paused, f)
	default:
		go f()
	}
}

// Watch implements cluster.Link.
func (n *node) Watch(address string) {
	n.rig.mu.Lock()
	to := n.rig.nodes[address]
	n.rig.mu.Unlock()
	if to == nil {
		return
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	to.watchers[n.address] = true
}

// kill ends a node as the end of its process does.
func (n *node) kill() {
	n.mu.Lock()
	n.dead = true
	watchers := n.watchers
	n.watchers = make(map[string]bool)
	n.mu.Unlock()
	n.rig.mu.Lock()
	defer n.rig.mu.Unlock()
	for address := range watchers {
		w := n.rig.nodes[address]
		go w.gone(n.address)
	}
}

// revive has a node answer again.
func (n *node) revive() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dead = false
}

// pause has nothing arrive at a node until it goes on.
func (n *node) pause(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range n.paused {
		go f()
	}
	n.paused = nil
	if on {
		n.paused = []func(){}
	}
}

// scan runs a pass on a node.
func (n *node) scan(ctx context.Context, cfg match.Config) ([]int32, error) {
	pass := n.scheduler.NewPass(cfg)
	err := n.scheduler.Run(ctx, pass)
	hits, _ := pass.Hits()
	list := make([]int32, len(hits))
	for i, h := range hits {
		list[i] = h.Height
		if n.rig.chain.Active().At(h.Height).Hash != h.Block {
			n.rig.tb.Errorf("another block at height %d", h.Height)
		}
	}
	return list, err
}

// all looks for some scripts in all blocks.
func (r *rig) all(scripts ...int) match.Config {
	var list [][]byte
	for _, n := range scripts {
		list = append(list, script(n))
	}
	return match.Config{Query: filters.NewQuery(list), Stop: r.chain.Active().Tip()}
}

// expected are the heights of the coinbases that pay to some scripts.
func (r *rig) expected(scripts ...int) (list []int32) {
	for h := int32(1); h <= r.chain.Active().Tip().Height; h++ {
		if slices.Contains(scripts, int(h)%reused) {
			list = append(list, h)
		}
	}
	return list
}

// rounds is how often a test tries what is left to chance: in long runs as often as many says.
func rounds(few, many uint64) uint64 {
	if os.Getenv("TRAWL_SOAK") != "" {
		return many
	}
	return few
}
