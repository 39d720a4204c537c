package chainrpc_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/indexer"
	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

var (
	wallets     = flag.Int("wallets", 200, "wallets of TestWidening")
	walletsSeed = flag.Uint64("wallets-seed", 1, "seed of TestWidening")
	walletsGap  = flag.Int("wallets-gap", 50, "largest gap of TestWidening")
)

// realScanner has scans served by a scanner over an index of the chain.
func (r *rig) realScanner() {
	r.t.Helper()
	store, err := segment.Open(segment.Options{Dir: filepath.Join(r.t.TempDir(), "filters")})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = store.Close() })
	r.deps.Index.Indexer = r.sys.Spawn("index", indexer.New(indexer.Config{
		Store: store, Chain: r.deps.Chain, Tip: new(ask.Feed[messages.TipChanged]), HeaderLen: r.net.HeaderLen,
		Workers: 2, Log: r.sys.Log, OnFailed: func(err error) { r.t.Error(err) },
	}), indexer.Requests...)
	scheduler := match.NewScheduler(match.SchedulerConfig{
		Source: filter.NewSource(store), Workers: 2, Repair: filter.RepairBy(r.deps.Index.Indexer), Log: r.sys.Log,
	})
	r.deps.Index.Scanner = r.sys.Spawn("scan", scanner.New(scanner.Config{
		Scheduler: scheduler, Chain: r.deps.Chain, Indexer: r.deps.Index.Indexer, HeaderLen: r.net.HeaderLen,
		Log: r.sys.Log,
	}), scanner.Requests...)
	r.build()
}

// forms are the script forms of wallets; %s is an extended key.
var forms = []string{
	"pkh(%s/0/*)", "wpkh(%s/0/*)", "sh(wpkh(%s/0/*))", "tr(%s/0/*)", "combo(%s/0/*)", "wsh(multi(1,%[1]s/0/*,%[1]s/1/*))",
	"sh(sortedmulti(1,%[1]s/2/*,%[1]s/3/*))", "wpkh(%s/<0;1>/*)", "tr(%s/<0;1>/*)", "wsh(pk(%s/0/*))",
}

// A wallet is a descriptor with a gap, and the indices of its branches that are used.
type wallet struct {
	object   string // scan object without its end, for gap or range
	branches []*descriptor.Descriptor
	first    int32
	last     int32
	gap      int32
	used     []map[int32]bool
}

// newWallet makes a wallet whose used indices leave gaps, some of them too large.
func (r *rig) newWallet(random *rand.Rand) *wallet {
	t := r.t
	t.Helper()
	seed := make([]byte, 32)
	for i := range seed {
		seed[i] = byte(random.Uint32())
	}
	private, err := hdkeychain.NewMaster(seed, &chaincfg.RegressionNetParams)
	if err != nil {
		t.Fatal(err)
	}
	public, err := private.Neuter()
	if err != nil {
		t.Fatal(err)
	}
	w := &wallet{gap: 1 + random.Int32N(int32(*walletsGap))}
	if random.IntN(4) == 0 {
		w.first = random.Int32N(100)
	}
	w.last = w.first + random.Int32N(10)
	text := fmt.Sprintf(forms[random.IntN(len(forms))], public.String())
	w.object = fmt.Sprintf(`{"desc":"%s","range":[%d,%d]`, text, w.first, w.last)
	if w.branches, err = descriptor.Parse(text, r.net.Descriptors(), descriptor.Options{}); err != nil {
		t.Fatal(err)
	}
	for range w.branches {
		used := map[int32]bool{}
		at := w.first - 1
		for range random.IntN(12) {
			step := 1 + random.Int32N(w.gap)
			if random.IntN(8) == 0 {
				step = w.gap + random.Int32N(3) // on the edge
			}
			if at += step; at >= 0 {
				used[at] = true
			}
		}
		w.used = append(w.used, used)
	}
	return w
}

// least returns the least range of a branch that satisfies the gap, by looking at index after index.
func (w *wallet) least(branch int) (last, highest int32) {
	highest = -1
	unused := int32(0)
	for index := w.first; index <= w.last || unused < w.gap; index++ {
		last, unused = index, unused+1
		if w.used[branch][index] {
			highest, unused = index, 0
		}
	}
	return last, highest
}

// pay adds outputs for all used indices to the blocks to come, in any order, and spends of some.
func (w *wallet) pay(t *testing.T, random *rand.Rand, blocks [][][]byte) {
	t.Helper()
	same := random.IntN(len(blocks))
	together := random.IntN(3) == 0 // all in one block
	for b, used := range w.used {
		for index := range used {
			scripts, err := w.branches[b].Expand(uint32(index))
			if err != nil {
				t.Fatal(err)
			}
			at := same
			if !together {
				at = random.IntN(len(blocks))
			}
			blocks[at] = append(blocks[at], scripts[random.IntN(len(scripts))])
		}
	}
}

// mine makes blocks that pay to scripts; each block spends what the one before has paid.
func (r *rig) mine(blocks [][][]byte) {
	r.t.Helper()
	funding := r.chain.MineN(1)
	var before *wire.MsgTx
	for _, scripts := range blocks {
		tx := r.spend(funding, 0)
		tx.TxOut = nil
		if before != nil {
			id := before.TxHash()
			for n := range before.TxOut {
				tx.AddTxIn(wire.NewTxIn(wire.NewOutPoint(&id, uint32(n)), nil, nil))
			}
		}
		for _, script := range scripts {
			tx.AddTxOut(wire.NewTxOut(1000, script))
		}
		if len(scripts) == 0 {
			tx.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
		}
		before = tx
		funding = r.chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{tx}})
	}
	r.chain.Mine(chaintest.Template{})
}

type widenedAnswer struct {
	Blocks      json.RawMessage `json:"relevant_blocks"`
	Activity    json.RawMessage `json:"activity"`
	Completed   bool            `json:"completed"`
	Descriptors []struct {
		Range       [2]int32 `json:"range"`
		HighestUsed *int32   `json:"highest_used"`
		Gap         int32    `json:"gap"`
		Exhausted   bool     `json:"exhausted"`
	} `json:"descriptors"`
}

func (r *rig) widened(method, params string) (a widenedAnswer) {
	r.t.Helper()
	text := r.call(method, params)
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		r.t.Fatal(text, err)
	}
	return a
}

// TestWidening makes wallets with gaps, and holds scans with a gap against the least range, found index after index,
// and scans of that range.
func TestWidening(t *testing.T) {
	const group = 20 // wallets of a chain
	for n := 0; n < *wallets; n += group {
		random := rand.New(rand.NewPCG(*walletsSeed, uint64(n)))
		r := newRig(t, "regtest")
		blocks := make([][][]byte, 30)
		all := make([]*wallet, group)
		for i := range all {
			all[i] = r.newWallet(random)
			all[i].pay(t, random, blocks)
		}
		blocks[7] = append(blocks[7], []byte{0x52})
		r.mine(blocks)
		r.realScanner()
		for len(all) > 0 {
			some := all[:min(1+random.IntN(3), len(all))]
			all = all[len(some):]
			r.checkWidened(some)
		}
	}
}

func (r *rig) checkWidened(some []*wallet) {
	t := r.t
	t.Helper()
	var gaps, ranges []string
	type told struct {
		last, highest int32
		w             *wallet
	}
	var want []told
	for _, w := range some {
		gaps = append(gaps, fmt.Sprintf(`%s,"gap":%d}`, w.object, w.gap))
		for b, branch := range w.branches {
			last, highest := w.least(b)
			want = append(want, told{last, highest, w})
			ranges = append(ranges, fmt.Sprintf(`{"desc":"%s","range":[%d,%d]}`, branch.String(), w.first, last))
		}
	}
	gaps, ranges = append(gaps, `"raw(52)"`), append(ranges, `"raw(52)"`)
	scan := func(objects []string) widenedAnswer {
		return r.widened("scanblocks", fmt.Sprintf(
			`["start",[%s],0,null,"basic",{"activity":true}]`, strings.Join(objects, ",")))
	}
	got, slow := scan(gaps), scan(ranges)
	if !got.Completed || string(got.Blocks) != string(slow.Blocks) || string(got.Activity) != string(slow.Activity) {
		t.Fatalf("%s:\ngot  %s %s\nwant %s %s", gaps, got.Blocks, got.Activity, slow.Blocks, slow.Activity)
	}
	check := func(got widenedAnswer) {
		t.Helper()
		if len(got.Descriptors) != len(want) {
			t.Fatalf("%d descriptors, want %d", len(got.Descriptors), len(want))
		}
		for i, d := range got.Descriptors {
			highest := int32(-1)
			if d.HighestUsed != nil {
				highest = *d.HighestUsed
			}
			o := want[i]
			if d.Range != [2]int32{o.w.first, o.last} || highest != o.highest || d.Gap != o.w.gap || d.Exhausted {
				t.Fatalf("%s, branch %d: got %+v, want %+v", gaps, i, d, o)
			}
		}
	}
	check(got)
	var hashes []string
	for h := range r.chain.Active().Height() + 1 {
		hashes = append(hashes, fmt.Sprintf("%q", r.chain.Active().At(h).Hash.String()))
	}
	slices.Reverse(hashes)
	activity := r.widened("getdescriptoractivity", fmt.Sprintf(`[[%s],[%s],false]`,
		strings.Join(hashes, ","), strings.Join(gaps, ",")))
	if string(activity.Activity) != string(slow.Activity) {
		t.Fatalf("%s:\ngot  %s\nwant %s", gaps, activity.Activity, slow.Activity)
	}
	check(activity)
}

// TestGapRefused refuses wrong gaps, gaps for methods that do not widen, and ranges beyond the limit.
func TestGapRefused(t *testing.T) {
	r := newRig(t, "regtest")
	r.realScanner()
	const key = `tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76u` +
		`ZPStJRJCTKvosUCJZL5B`
	object := func(rest string) string { return `[{"desc":"wpkh(` + key + `/0/*)"` + rest + `}]` }
	start := func(objects string) string { return `["start",` + objects + `]` }
	const badGap = "-8 gap must be between 1 and 100000"
	r.check("scanblocks", [][2]string{
		{start(object(`,"gap":0`)), badGap},
		{start(object(`,"gap":-1`)), badGap},
		{start(object(`,"gap":100001`)), badGap},
		{start(object(`,"gap":"20"`)), "-3 JSON value of type string is not of expected type number"},
		{start(object(`,"gap":1.5`)), "-1 JSON integer out of range"},
		{
			start(`[{"desc":"raw(51)","gap":20}]`),
			`{"from_height":0,"to_height":0,"relevant_blocks":[],"completed":true}`,
		},
		{start(`[{"desc":"wpkh(` + key + `/0h/*h)","gap":20}]`),
			"-5 Cannot derive script without private keys: 'wpkh(" + key + "/0h/*h)'"},
	})
	r.check("getdescriptoractivity", [][2]string{{`[[],` + object(`,"gap":0`) + `]`, badGap}})
	coins := r.sys.Probe("coins")
	r.deps.Coins = coins.Ref
	r.build()
	done := r.start("scantxoutset", start(object(`,"gap":20`)))
	type reserve = ask.Call[messages.ReserveCoinScan, messages.ScanSlot]
	type release = ask.Call[messages.ReleaseCoinScan, messages.Done]
	actortest.Expect[*reserve](coins).Answer(messages.ScanSlot{ID: slot}, nil)
	actortest.Expect[*release](coins).Answer(messages.Done{}, nil)
	if got := <-done; got != "-8 gap cannot be given to this method: take scanblocks or createsearch" {
		t.Error(got)
	}
	r.deps.ScriptLimit = 1000
	r.build()
	r.check("scanblocks", [][2]string{
		{start(object(`,"gap":1001,"range":0`)), "-8 Limit of -searchscripts is reached"},
		{
			start(object(`,"gap":1000,"range":0`)),
			`{"from_height":0,"to_height":0,"relevant_blocks":[],"completed":true,"descriptors":[{"desc":"wpkh(` + key +
				`/0/*)","range":[0,999],"gap":1000,"exhausted":false}]}`,
		},
	})
}

// TestWideningAborted aborts a scan in its second round: nothing says that it is complete.
func TestWideningAborted(t *testing.T) {
	r := newRig(t, "regtest")
	w := r.newWallet(rand.New(rand.NewPCG(5, 5)))
	r.chain.MineN(9)
	done := r.start("scanblocks", fmt.Sprintf(`["start",[%s,"gap":%d}]]`, w.object, w.gap))
	aborted := make(chan struct{})
	r.reserve(aborted)
	call := r.expectRun()
	if !call.Req.Uses || !call.Req.CheckBlocks {
		t.Errorf("asked for %+v", call.Req)
	}
	at := r.chain.Active()
	call.Answer(messages.ScanResult{
		To: 9, Completed: true, Blocks: []chainhash.Hash{at.At(3).Hash, at.At(7).Hash},
		Uses: [][]uint32{{0}, {uint32(call.Req.Set.Len()) - 1}},
	}, nil)
	call = r.expectRun()
	call.Answer(messages.ScanResult{To: 5}, nil)
	r.expectRelease()
	got := <-done
	var a widenedAnswer
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Fatal(got, err)
	}
	if a.Completed || string(a.Blocks) != fmt.Sprintf(`["%v"]`, at.At(3).Hash) ||
		!strings.Contains(got, `"to_height":5,`) {
		t.Errorf("got %s", got)
	}
	for _, d := range a.Descriptors {
		if !d.Exhausted {
			t.Errorf("got %s", got)
		}
	}
}
