package chainrpc_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest/walletgen"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// turning is a source of filters that does something when a view is made.
type turning struct {
	match.Source
	views atomic.Int32
	at    int32 // at which view; 0: never
	do    func()
}

func (s *turning) View() match.View {
	if s.views.Add(1) == s.at {
		s.do()
	}
	return s.Source.View()
}

// realScanner has scans served by a scanner over an index of the chain.
func (r *rig) realScanner() (source *turning, tip *ask.Feed[messages.TipChanged]) {
	r.t.Helper()
	store, err := segment.Open(segment.Options{Dir: filepath.Join(r.t.TempDir(), "filters")})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = store.Close() })
	tip = new(ask.Feed[messages.TipChanged])
	r.deps.Index.Indexer = r.sys.Spawn("index", indexer.New(indexer.Config{
		Store: store, Chain: r.deps.Chain, Tip: tip, HeaderLen: r.net.HeaderLen,
		Workers: 2, Log: r.sys.Log, OnFailed: func(err error) { r.t.Error(err) },
	}), indexer.Requests...)
	source = &turning{Source: filter.NewSource(store)}
	scheduler := match.NewScheduler(match.SchedulerConfig{
		Source: source, Workers: 2, Repair: filter.RepairBy(r.deps.Index.Indexer), Log: r.sys.Log,
	})
	r.deps.Index.Scanner = r.sys.Spawn("scan", scanner.New(scanner.Config{
		Scheduler: scheduler, Chain: r.deps.Chain, Indexer: r.deps.Index.Indexer, HeaderLen: r.net.HeaderLen,
		Log: r.sys.Log,
	}), scanner.Requests...)
	r.build()
	return source, tip
}

// TestGaps holds scans with a gap against whole blocks, for wallets of all kinds. Some gaps find everything. Others are
// too small: their answers tell the least range, and the gap that would have been needed finds everything. Meanwhile
// the chain moves to other branches.
func TestGaps(t *testing.T) {
	const few = 64
	cases := walletgen.Cases(t, few)
	cfg := walletgen.Config{Sources: 28, Masters: 1, Accounts: 3, Gap: 50, Used: 8}
	if cases > few {
		cfg.Sources, cfg.Masters = 220, 5
	}
	all := gapsOf(t, cfg, cases)
	if all.found == 0 || all.short == 0 || all.exhausted == 0 || all.turned == 0 {
		t.Error("not all cases came")
	}
}

// TestLargeGaps is TestGaps for gaps of thousands.
func TestLargeGaps(t *testing.T) {
	const few = 400
	cases := walletgen.Cases(t, few)
	cfg := walletgen.Config{Sources: 4, Gap: 500, Used: 3}
	if cases > few {
		cfg = walletgen.Config{Sources: 32, Masters: 1, Accounts: 2, Gap: 5000, Used: 4}
	}
	gapsOf(t, cfg, cases/100)
}

// gapsOf looks for so many wallets.
func gapsOf(t *testing.T, cfg walletgen.Config, cases int) (all tally) {
	t.Helper()
	net := newRig(t, "regtest").net
	cfg.Random, cfg.Network, cfg.Params = walletgen.Random(t), net.Descriptors(), net.Params
	g := walletgen.New(cfg)
	for n := 0; all.wallets < cases && !t.Failed(); n++ {
		t.Run(strconv.Itoa(n), func(t *testing.T) { newGapRig(t, g).check(&all) })
	}
	t.Logf("%+v", all)
	return all
}

// tally counts what came.
type tally struct {
	wallets, descriptors, found int
	short                       int // a gap was too small
	exhausted                   int // there were no higher indices
	turned                      int // the chain moved during a scan
	entries                     int
}

// gapRig is a chain with payments to wallets.
type gapRig struct {
	*rig
	*tally
	random  *rand.Rand
	miner   *walletgen.Miner
	gen     *walletgen.Generator
	plan    [][][]byte
	wallets []*walletgen.Wallet
	source  *turning
	tip     *ask.Feed[messages.TipChanged]
	seen    *walletgen.Seen
}

func newGapRig(t *testing.T, g *walletgen.Generator) *gapRig {
	t.Helper()
	r := &gapRig{rig: newRig(t, "regtest"), random: g.Random, gen: g, wallets: g.Wallets()}
	r.miner = &walletgen.Miner{Chain: r.chain, Random: g.Random}
	r.plan = g.Plan(r.wallets, 20+g.Random.IntN(20))
	r.miner.Mine(r.chain.MineN(1), r.plan)
	r.source, r.tip = r.realScanner()
	r.look()
	return r
}

// look looks at the blocks of the active chain.
func (r *gapRig) look() {
	var err error
	if r.seen, err = walletgen.Look(r.chain, r.chain.Active().Tip()); err != nil {
		r.t.Fatal(err)
	}
}

// turn moves the chain to another branch, which pays to some of the scripts, in other blocks.
func (r *gapRig) turn() {
	tip := r.chain.Active().Tip()
	back := 1 + r.random.Int32N(min(8, tip.Height-1))
	plan := make([][][]byte, back+1)
	for _, scripts := range r.plan[len(r.plan)-int(min(back, int32(len(r.plan)))):] {
		for _, script := range scripts {
			if at := r.random.IntN(len(plan) + 1); at < len(plan) {
				plan[at] = append(plan[at], script)
			}
		}
	}
	r.miner.Mine(tip.Ancestor(tip.Height-back), plan)
	r.tip.Publish(messages.TipChanged{})
}

// check looks for all wallets, in groups.
func (r *gapRig) check(all *tally) {
	r.tally = all
	for rest := r.wallets; len(rest) > 0; {
		n := min(1+r.random.IntN(3), len(rest))
		q := query{gap: func(o *walletgen.Object) int32 { return o.Gap }, wallets: rest[:n]}
		q.in = walletgen.Heights{To: r.chain.Active().Height()}
		if r.random.IntN(4) == 0 {
			q.in.From = r.random.Int32N(q.in.To + 1)
			q.in.To = q.in.From + r.random.Int32N(q.in.To-q.in.From+1)
		}
		q.activity = r.random.IntN(4) == 0
		if r.random.IntN(8) == 0 { // a descriptor twice
			twice := *q.wallets[0].Objects[0]
			twice.Gap, twice.Last = 1+r.random.Int32N(twice.Gap), twice.First
			q.wallets = append(slices.Clone(q.wallets), &walletgen.Wallet{Objects: []*walletgen.Object{&twice}})
		}
		r.scan(&q)
		r.tally.wallets += n
		rest = rest[n:]
	}
}

// A query is what is looked for in one scan.
type query struct {
	wallets  []*walletgen.Wallet
	gap      func(*walletgen.Object) int32
	in       walletgen.Heights
	activity bool
	again    bool // gaps are as large as necessary
}

// objects returns the scan objects of a query.
func (q *query) objects() string {
	var list []string
	for _, w := range q.wallets {
		for _, o := range w.Objects {
			list = append(list, fmt.Sprintf(
				`{"desc":"%s","range":[%d,%d],"gap":%d}`, o.Text, o.First, o.Last, q.gap(o)))
		}
	}
	return strings.Join(list, ",")
}

// scan makes a scan, during which the chain may move to another branch, and holds its answer against the blocks.
func (r *gapRig) scan(q *query) {
	r.t.Helper()
	if r.random.IntN(24) == 0 {
		r.source.do, r.source.at = r.turn, r.source.views.Load()+1+r.random.Int32N(5)
	}
	before := r.chain.Active().Tip()
	got := r.widened("scanblocks", fmt.Sprintf(
		`["start",[%s],%d,%d,"basic",{"activity":%v}]`, q.objects(), q.in.From, q.in.To, q.activity))
	r.source.at = 0
	turned := !r.chain.Active().Tip().Is(before)
	if !got.Completed || got.From != q.in.From || got.To != q.in.To {
		r.t.Fatalf("%s: got %+v", q.objects(), got)
	}
	want := r.seenBy(q)
	want.hold(r, q, &got, q.activity)
	switch {
	case turned:
		r.turned++
		r.look()
	case r.random.IntN(16) == 0:
		var hashes []string
		for h := q.in.From; h <= q.in.To; h++ {
			hashes = append(hashes, fmt.Sprintf("%q", before.Ancestor(h).Hash.String()))
		}
		r.random.Shuffle(len(hashes), func(i, j int) { hashes[i], hashes[j] = hashes[j], hashes[i] })
		got := r.widened("getdescriptoractivity", fmt.Sprintf(
			`[[%s],[%s],false]`, strings.Join(hashes, ","), q.objects()))
		got.Blocks = nil
		want.hold(r, q, &got, true)
	}
	if need := want.need; need != nil && !turned && !q.again && r.random.IntN(2) == 0 {
		more := *q
		more.again, more.gap = true, func(o *walletgen.Object) int32 { return max(need[o], o.Gap) }
		r.scan(&more)
	}
}

// Whole blocks have these payments of a query.
type sighted struct {
	ranges  []widenedRange
	entries []walletgen.Entry
	need    map[*walletgen.Object]int32 // gaps that are too small
}

// widenedRange is what an answer tells of a descriptor.
type widenedRange struct {
	Desc        string
	Range       [2]int32
	HighestUsed *int32 `json:"highest_used"`
	Gap         int32
	Exhausted   bool
}

// seenBy looks at index after index in whole blocks, and says that a gap finds everything if it has to.
func (r *gapRig) seenBy(q *query) (s sighted) {
	for _, w := range q.wallets {
		for _, o := range w.Objects {
			for i, branch := range o.Branches {
				least := r.seen.Range(o, i, q.gap(o), q.in)
				told := widenedRange{
					Desc: branch.String(), Range: [2]int32{o.First, least.Last}, Gap: q.gap(o),
					Exhausted: least.Exhausted,
				}
				if len(o.Branches) == 1 {
					told.Desc = o.Text
				}
				if least.Highest >= 0 {
					told.HighestUsed = &least.Highest
				}
				s.ranges = append(s.ranges, told)
				s.entries = append(s.entries, r.seen.Entries(o, i, least.Last, q.in)...)
				highest, need := r.seen.Need(o, i, q.in)
				r.descriptors++
				switch {
				case need > q.gap(o):
					r.short++
					if s.need == nil {
						s.need = map[*walletgen.Object]int32{}
					}
					s.need[o] = max(s.need[o], need)
				case highest == least.Highest:
					r.found++
				default:
					r.t.Fatalf("%s, branch %d: index %d is not to be found with a gap of %d", o.Text, i, highest, need)
				}
				if least.Exhausted {
					r.exhausted++
				}
			}
		}
	}
	s.entries = walletgen.Sorted(s.entries)
	r.entries += len(s.entries)
	return s
}

// hold holds an answer against the blocks.
func (s *sighted) hold(r *gapRig, q *query, got *widenedAnswer, activity bool) {
	r.t.Helper()
	if !reflect.DeepEqual(got.Descriptors, s.ranges) {
		r.t.Fatalf("%s in %+v:\ngot  %+v\nwant %+v", q.objects(), q.in, got.Descriptors, s.ranges)
	}
	if got.Blocks != nil && !slices.Equal(*got.Blocks, hashes(walletgen.Blocks(s.entries))) {
		r.t.Fatalf("%s in %+v:\ngot  %v\nwant %v", q.objects(), q.in, *got.Blocks, walletgen.Blocks(s.entries))
	}
	if !activity {
		return
	}
	if len(got.Activity) != len(s.entries) {
		r.t.Fatalf("%s in %+v: %d entries, want %d", q.objects(), q.in, len(got.Activity), len(s.entries))
	}
	for i, e := range s.entries {
		want := activityEntry{Type: "receive", Height: e.Height, TxID: e.TxID.String(), Vout: e.N}
		if e.Spend {
			want = activityEntry{Type: "spend", Height: e.Height, SpendTxID: e.TxID.String(), SpendVin: e.N}
		}
		if got.Activity[i] != want {
			r.t.Fatalf("%s in %+v, entry %d:\ngot  %+v\nwant %+v", q.objects(), q.in, i, got.Activity[i], want)
		}
	}
}

func hashes(blocks []chainhash.Hash) []string {
	list := make([]string, len(blocks))
	for i := range blocks {
		list[i] = blocks[i].String()
	}
	return list
}

// widenedAnswer is the answer of a method that widens.
type widenedAnswer struct {
	From        int32           `json:"from_height"`
	To          int32           `json:"to_height"`
	Blocks      *[]string       `json:"relevant_blocks"`
	Activity    []activityEntry `json:"activity"`
	Completed   bool            `json:"completed"`
	Descriptors []widenedRange  `json:"descriptors"`
}

type activityEntry struct {
	Type      string `json:"type"`
	Height    int32  `json:"height"`
	TxID      string `json:"txid"`
	Vout      uint32 `json:"vout"`
	SpendTxID string `json:"spend_txid"`
	SpendVin  uint32 `json:"spend_vin"`
}

func (r *rig) widened(method, params string) (a widenedAnswer) {
	r.t.Helper()
	text := r.call(method, params)
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		r.t.Fatal(text, err)
	}
	return a
}
