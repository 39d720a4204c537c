package searches_test

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/actors/searches"
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
	"github.com/seed61375155/trawl/store/segment"
)

// rig is a chain in memory with its filters, and the actor.
type rig struct {
	t       testing.TB
	chain   *chaintest.Chain
	current *chainview.Current
	tip     *ask.Feed[messages.TipChanged]
	store   *segment.Store
	indexer *ask.Ref
	sys     *actortest.System
	dir     string
	rng     *rand.Rand
	limits  searches.Limits
	net     *descriptor.Network
	room    func() (uint64, uint64, error)
	disk    vfs.FS
	fetch   chainview.Fetch
	news    *ask.Feed[messages.News]
	pool    *ask.Ref
	changes *ask.Feed[messages.PoolChanged]
	spawned int
	way     match.Way
	source  func(match.Source) match.Source      // nil: the store's own
	workers int                                  // that match; 0: 2
	lists   func(*searchdb.Store) searches.Lists // nil: the store's own

	ref   *ask.Ref
	kept  *searchdb.Store
	spent map[wire.OutPoint]bool
}

func script(n int) []byte {
	return binary.BigEndian.AppendUint32([]byte{0x00, 0x14, 17: 0}, uint32(n))
}

func newRig(tb testing.TB, seed uint64) *rig {
	tb.Helper()
	r := &rig{
		t: tb, chain: chaintest.New(&chaincfg.RegressionNetParams), current: new(chainview.Current),
		tip: new(ask.Feed[messages.TipChanged]), sys: actortest.New(tb), dir: tb.TempDir(),
		rng: rand.New(rand.NewPCG(seed, 1)), spent: map[wire.OutPoint]bool{},
		way: []match.Way{match.WayFilters, match.WayBlocks}[seed%2],
	}
	r.current.Set(r.chain)
	store, err := segment.Open(segment.Options{Dir: filepath.Join(r.dir, "filters"), SegmentSize: 512})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = store.Close() })
	r.store = store
	r.indexer = r.sys.Spawn("indexer", indexer.New(indexer.Config{
		Store: store, Chain: r.current, Tip: r.tip, HeaderLen: func([]byte) int { return filters.HeaderLen },
		Workers: 1,
		Log:     r.sys.Log, OnFailed: func(err error) { tb.Error(err) },
	}), indexer.Requests...)
	return r
}

// scheduler returns what all passes over the filters run in.
func (r *rig) scheduler() *match.Scheduler {
	source := filter.NewSource(r.store)
	if r.source != nil {
		source = r.source(source)
	}
	return match.NewScheduler(match.SchedulerConfig{
		Source: source, Way: r.way, Workers: cmp.Or(r.workers, 2), Repair: filter.RepairBy(r.indexer), Log: r.sys.Log,
	})
}

// start opens the store of searches and starts the actor.
func (r *rig) start() *ask.Ref {
	r.t.Helper()
	return r.startWith(r.scheduler())
}

func (r *rig) startWith(scheduler *match.Scheduler) *ask.Ref {
	r.t.Helper()
	kept, err := searchdb.Open(searchdb.Options{FS: r.disk, Dir: filepath.Join(r.dir, "searches"), Log: r.sys.Log})
	if err != nil {
		r.t.Fatal(err)
	}
	r.kept = kept
	r.t.Cleanup(func() { _ = kept.Close() })
	lists := searches.Lists(kept)
	if r.lists != nil {
		lists = r.lists(kept)
	}
	r.spawned++
	r.ref = r.sys.Spawn(fmt.Sprintf("searches%d", r.spawned), searches.New(searches.Config{
		Store: kept, Lists: lists, Chain: r.current, Tip: r.tip, Indexer: r.indexer, Limits: r.limits, Fetch: r.fetch,
		Network:   r.net,
		Scheduler: scheduler,
		HeaderLen: func([]byte) int { return filters.HeaderLen }, News: r.news, Room: r.room, Now: time.Now,
		Log: r.sys.Log, Pool: r.pool, Changes: r.changes,
	}), searches.Requests...)
	return r.ref
}

// restart stops the actor and starts another.
func (r *rig) restart() {
	r.t.Helper()
	if err := r.ref.Stop(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	if err := r.kept.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.start()
}

// mine puts a block on another, with payments to and spends from some scripts.
func (r *rig) mine(parent *chainview.Block) *chainview.Block {
	t := chaintest.Template{
		Script: script(r.rng.IntN(8)), Time: parent.Time().Add(time.Duration(1+r.rng.IntN(900)) * time.Second),
	}
	if back := parent.Ancestor(max(parent.Height-int32(r.rng.IntN(4)), 1)); parent.Height > 0 && r.rng.IntN(2) == 0 {
		block, _ := r.chain.Block(&back.Hash)
		out := wire.OutPoint{Hash: block.Transactions[0].TxHash()}
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: out, Sequence: r.rng.Uint32()})
		for range 1 + r.rng.IntN(3) {
			tx.AddTxOut(wire.NewTxOut(r.rng.Int64N(1e8), script(r.rng.IntN(8))))
		}
		tx.AddTxOut(wire.NewTxOut(0, []byte{0x6a, 1, 7}))
		t.Txs = append(t.Txs, tx)
	}
	return r.chain.MineOn(parent, t)
}

// grow mines blocks on the tip, or, where back is more than 0, on a block before it, and
// announces them.
func (r *rig) grow(n, back int) {
	at := r.chain.Active().Tip()
	at = at.Ancestor(max(at.Height-int32(back), 0))
	for range n + back {
		at = r.mine(at)
	}
	r.tip.Publish(messages.TipChanged{})
}

// oracle returns the entries of the active chain from one height to another.
func (r *rig) oracle(scripts [][]byte, from, to int32) (all []messages.SearchEntry) {
	r.t.Helper()
	has := func(s []byte) int {
		return slices.IndexFunc(scripts, func(o []byte) bool { return string(o) == string(s) })
	}
	for h := from; h <= to; h++ {
		b := r.chain.Active().At(h)
		block, err := r.chain.Block(&b.Hash)
		if err != nil {
			r.t.Fatal(err)
		}
		spent, err := r.chain.Spent(&b.Hash)
		if err != nil {
			r.t.Fatal(err)
		}
		var list []messages.SearchEntry
		found := false
		add := func(n int, e messages.SearchEntry) {
			e.Height, e.Block, e.Time, e.Index = h, b.Hash, b.Time(), int32(n)
			e.Script, e.Object = scripts[n], fmt.Sprintf("object %d", n%2)
			list = append(list, e)
			found = found || e.Script[0] != 0x6a
		}
		for i, tx := range block.Transactions {
			id := tx.TxHash()
			for n, in := range tx.TxIn {
				if i == 0 {
					break
				}
				if s := has(spent[i-1][n].Script); s >= 0 {
					add(s, messages.SearchEntry{
						Type: messages.SearchSpend, Amount: int64(spent[i-1][n].Value), TxID: id, N: uint32(n),
						PrevTxID: in.PreviousOutPoint.Hash, PrevVout: in.PreviousOutPoint.Index,
					})
				}
			}
			for n, out := range tx.TxOut {
				if s := has(out.PkScript); s >= 0 {
					add(s, messages.SearchEntry{
						Type: messages.SearchReceive, Amount: out.Value, TxID: id, N: uint32(n),
					})
				}
			}
		}
		if found {
			all = append(all, list...)
		}
	}
	return all
}

// objects returns scan objects with some scripts.
func objects(scripts [][]byte) messages.SearchObjects {
	o := messages.SearchObjects{Texts: []string{"object 0", "object 1"}}
	for i, s := range scripts {
		o.Scripts = append(o.Scripts, messages.SearchScript{Script: s, Object: i % 2, Index: int32(i)})
	}
	return o
}

// reader reads the list of a search as a customer does, and adds it up.
type reader struct {
	r       *rig
	id      string
	cursor  string
	blocks  map[chainhash.Hash][]messages.SearchEntry
	heights map[chainhash.Hash]int32
	read    int // entries
}

func (r *rig) reader(id string) *reader {
	return &reader{
		r: r, id: id, blocks: map[chainhash.Hash][]messages.SearchEntry{}, heights: map[chainhash.Hash]int32{},
	}
}

func (a *reader) add(p messages.SearchPage) {
	a.r.t.Helper()
	for _, e := range p.Entries {
		if e.Type == messages.SearchDisconnect {
			delete(a.blocks, e.Block)
			continue
		}
		a.blocks[e.Block] = append(a.blocks[e.Block], e)
		a.heights[e.Block] = e.Height
	}
	a.read += len(p.Entries)
	a.cursor = p.Cursor
}

// all reads all that there is, and returns the last page.
func (a *reader) all() messages.SearchPage {
	a.r.t.Helper()
	for {
		p, err := ask.Ask(
			a.r.t.Context(), a.r.ref, messages.GetSearchEntries{ID: a.id, Cursor: a.cursor, Limit: 1 + a.r.rng.IntN(9)},
		)
		if err != nil {
			a.r.t.Fatal(err)
		}
		a.add(p)
		if !p.More {
			return p
		}
	}
}

// wait reads until the search is in a state, at the tip where it follows.
func (a *reader) wait(state messages.SearchState) messages.SearchPage {
	a.r.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		p := a.all()
		tip := a.r.chain.Active().Tip()
		if p.State == state && (state != messages.SearchFollowing || p.Height == tip.Height && p.Block == tip.Hash) {
			return p
		}
		if time.Now().After(deadline) {
			a.r.t.Fatalf("state is %s (%s) at height %d of %d, want %s", p.State, p.Error, p.Height, tip.Height, state)
		}
		p, err := ask.Ask(a.r.t.Context(), a.r.ref, messages.WaitSearch{
			ID: a.id, Cursor: a.cursor, Limit: 3, Timeout: 50 * time.Millisecond,
		})
		if err != nil {
			a.r.t.Fatal(err)
		}
		a.add(p)
	}
}

// holds reports what was added up against the chain.
func (a *reader) holds(scripts [][]byte, from, to int32) {
	a.r.t.Helper()
	want := map[chainhash.Hash][]messages.SearchEntry{}
	for _, e := range a.r.oracle(scripts, from, to) {
		want[e.Block] = append(want[e.Block], e)
	}
	for hash, list := range want {
		if !reflect.DeepEqual(a.blocks[hash], list) {
			a.r.t.Fatalf("block %v at height %d:\n got %+v\nwant %+v", hash, list[0].Height, a.blocks[hash], list)
		}
	}
	for hash := range a.blocks {
		if want[hash] == nil {
			a.r.t.Fatalf("block %v at height %d was found, and has none of the scripts", hash, a.heights[hash])
		}
	}
}

func do[Q messages.Request[R], R any](tb testing.TB, ref *ask.Ref, q Q) R {
	tb.Helper()
	got, err := ask.Ask(tb.Context(), ref, q)
	if err != nil {
		tb.Fatalf("%T: %v", q, err)
	}
	return got
}

// sorted puts the entries of each block into the order of the block: those of objects that
// joined later were added later.
func (a *reader) sorted() *reader {
	for hash, list := range a.blocks {
		block, err := a.r.chain.Block(&hash)
		if err != nil {
			a.r.t.Fatal(err)
		}
		at := func(e messages.SearchEntry) int {
			n := slices.IndexFunc(block.Transactions, func(tx *wire.MsgTx) bool { return tx.TxHash() == e.TxID }) << 20
			if e.Type == messages.SearchReceive {
				n |= 1 << 19
			}
			return n | int(e.N)
		}
		slices.SortStableFunc(list, func(x, y messages.SearchEntry) int { return at(x) - at(y) })
	}
	return a
}
