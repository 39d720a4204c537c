package e2e_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// gapWallet is a descriptor whose private key is needed for its first steps.
const gapWallet = "wpkh(tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUj" +
	"yEmNUWwx8UbK/84h/1h/0h/0/*)"

// gapRange is what is told of a descriptor with a gap.
type gapRange struct {
	Desc        string
	Range       [2]int
	HighestUsed int `json:"highest_used"`
	Gap         int
	Exhausted   bool
}

// gapAnswer is what a scan or a search with a gap has found.
type gapAnswer struct {
	Blocks      []string `json:"relevant_blocks"`
	Completed   bool
	Descriptors []gapRange
	Receipt     json.RawMessage
	State       string
	Error       string
	Found       int `json:"blocks"`
}

// payIndices mines blocks that pay to indices of the wallet, the highest first: each is behind the range until
// the lower ones have been found.
func payIndices(get caller, indices ...int) {
	for i := range indices {
		index := indices[len(indices)-1-i]
		var address []string
		get(&address, "deriveaddresses", sealedBy(get, gapWallet), []int{index, index})
		get(nil, "generatetoaddress", 1, address[0])
	}
}

// sealedBy returns a descriptor with its checksum.
func sealedBy(get caller, text string) string {
	var info struct{ Checksum string }
	get(&info, "getdescriptorinfo", text)
	return text + "#" + info.Checksum
}

// gapObjects is the wallet with a gap.
func gapObjects(gap int) []map[string]any {
	return []map[string]any{{"desc": gapWallet, "range": 0, "gap": gap}}
}

// wantGap checks what was found up to an index.
func wantGap(t *testing.T, what string, a *gapAnswer, highest, gap int) {
	t.Helper()
	if len(a.Descriptors) != 1 {
		t.Fatalf("%s: %+v", what, a)
	}
	d := a.Descriptors[0]
	if d.Range != [2]int{0, highest + gap} || d.HighestUsed != highest || d.Gap != gap || d.Exhausted ||
		!strings.HasPrefix(d.Desc, "wpkh([") || strings.Contains(d.Desc, "tprv") {
		t.Errorf("%s: %+v", what, d)
	}
}

// scanGap scans with a gap and a receipt.
func scanGap(t *testing.T, get caller, what string, gap, blocks, highest int) *gapAnswer {
	t.Helper()
	a := new(gapAnswer)
	get(a, "scanblocks", "start", gapObjects(gap), 0, nil, "basic", map[string]bool{"receipt": true})
	if !a.Completed || len(a.Blocks) != blocks {
		t.Errorf("%s: %d blocks, want %d, completed %t", what, len(a.Blocks), blocks, a.Completed)
	}
	wantGap(t, what, a, highest, gap)
	return a
}

// searchGap makes a search with a gap, and waits until it is done.
func searchGap(t *testing.T, get caller, what string, gap, blocks, highest int) *gapAnswer {
	t.Helper()
	var made struct{ ID string }
	get(&made, "createsearch", gapObjects(gap), map[string]any{"name": what})
	searched(t, get, made.ID, "done")
	a := new(gapAnswer)
	get(a, "getsearch", made.ID, true)
	if a.Found != blocks {
		t.Errorf("%s: %d blocks, want %d", what, a.Found, blocks)
	}
	wantGap(t, what, a, highest, gap)
	return a
}

// verified has a node verify a receipt.
func verified(t *testing.T, get caller, what string, receipt json.RawMessage) {
	t.Helper()
	var verdict receiptVerdict
	if get(&verdict, "verifyreceipt", receipt); !verdict.Valid {
		t.Errorf("%s: %+v", what, verdict)
	}
}

// Ranges widen to the same on a node that has pruned, where blocks come from a peer, and each verifies the receipt of
// the other. The activity in pruned blocks is refused.
func TestGapPruned(t *testing.T) {
	t.Parallel()
	full := startPeer(t, "-blockfilterindex=1")
	payIndices(full.Get, 15, 34, 50, 69)
	full.mine(t, 700)
	pruned := startPeer(t, "-blockfilterindex=1", "-prune=1", "-fastprune=1", "-searchroom=1")
	pruned.connect(t, full.peer)
	agree(t, "the chain", full, pruned)
	pruned.WaitTip(full.best(t), 704, true)
	pruned.Get(nil, "pruneblockchain", 400)
	var hash string
	pruned.Get(&hash, "getblockhash", 2)
	if err := pruned.Call(t.Context(), nil, "getblock", hash); err == nil {
		t.Fatal("nothing was pruned")
	}
	const gap = 20
	whole := scanGap(t, full.Get, "full", gap, 4, 69)
	some := scanGap(t, pruned.Get, "pruned", gap, 4, 69)
	if string(whole.Receipt) != string(some.Receipt) {
		t.Errorf("full   %s\npruned %s", whole.Receipt, some.Receipt)
	}
	verified(t, pruned.Get, "pruned", whole.Receipt)
	search := searchGap(t, pruned.Get, "pruned", gap, 4, 69)
	verified(t, full.Get, "full", search.Receipt)
	var answer json.RawMessage
	err := pruned.Call(t.Context(), &answer, "scanblocks", "start", gapObjects(gap), 0, nil, "basic",
		map[string]bool{"activity": true, "receipt": true})
	if err == nil || !strings.Contains(err.Error(), "pruned data") {
		t.Errorf("activity of pruned blocks: %s, %v", answer, err)
	}
	// Alone it waits for a peer, and tells that.
	pruned.disconnect(t, full.peer)
	var made struct{ ID string }
	pruned.Get(&made, "createsearch", gapObjects(gap), map[string]any{"name": "alone"})
	e2e.Eventually(t, time.Minute, "it waits", func() bool {
		var st gapAnswer
		pruned.Get(&st, "getsearch", made.ID)
		return st.State == "paused" && strings.Contains(st.Error, "no peer has given it")
	})
	pruned.connect(t, full.peer)
	searched(t, pruned.Get, made.ID, "done")
}

// Worker nodes look for the further indices, too: with and without them a scan and a search find the same.
func TestGapOverCluster(t *testing.T) {
	t.Parallel()
	l := newLongCluster(t, 2)
	var before int
	l.lone.Get(&before, "getblockcount")
	const gap = 3000
	payIndices(l.lone.Get, 2900, 5000, 7999)
	for h := before + 1; h <= before+3; h++ {
		var hash, raw string
		l.lone.Get(&hash, "getblockhash", h)
		l.lone.Get(&raw, "getblock", hash, 0)
		for _, d := range append(l.workerNodes, l.coordinator) {
			d.Get(nil, "submitblock", raw)
		}
	}
	for _, d := range append(l.workerNodes, l.coordinator, l.lone) {
		l.await(d, before+3)
	}
	units := func() (n uint64) {
		for _, m := range l.info().Members {
			n += m.Units
		}
		return n
	}
	alone := scanGap(t, l.lone.Get, "alone", gap, 3, 7999)
	was := units()
	together := scanGap(t, l.coordinator.Get, "together", gap, 3, 7999)
	if string(alone.Receipt) != string(together.Receipt) {
		t.Errorf("alone    %s\ntogether %s", alone.Receipt, together.Receipt)
	}
	if units() == was {
		t.Error("the worker nodes have not worked")
	}
	verified(t, l.coordinator.Get, "together", alone.Receipt)
	search := searchGap(t, l.coordinator.Get, "together", gap, 3, 7999)
	verified(t, l.lone.Get, "alone", search.Receipt)
}

// On a chain that pays to P2MR outputs a scan widens, since the call has the private keys; a search, which keeps none,
// refuses the gap. Receipts are verified by other nodes, with the scan objects where only private keys derive.
func TestGapOfP2MR(t *testing.T) {
	t.Parallel()
	a := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-dialect=qbit", "-blockfilterindex=1"}})
	b := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-dialect=qbit", "-blockfilterindex=1"}})
	const text = "mr(pk(pqc(tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUc" +
		"MRvmDUjyEmNUWwx8UbK/87h/1h/0h/0/*)))"
	for _, index := range []int{3, 1} {
		var address []string
		a.Get(&address, "deriveaddresses", sealedBy(a.Get, text), []int{index, index})
		a.Get(nil, "generatetoaddress", 1, address[0])
	}
	copyChain(a, b)
	objects := []map[string]any{{"desc": text, "range": 0, "gap": 2}}
	var got gapAnswer
	a.Get(&got, "scanblocks", "start", objects, 0, nil, "basic", map[string]bool{"receipt": true, "activity": true})
	if len(got.Blocks) != 2 || len(got.Descriptors) != 1 || got.Descriptors[0].Range != [2]int{0, 5} ||
		strings.Contains(fmt.Sprint(got.Descriptors, string(got.Receipt)), "tprv") {
		t.Errorf("%+v %s", got, got.Receipt)
	}
	var verdict receiptVerdict
	fixed := []map[string]any{{"desc": text, "range": 5}}
	if b.Get(&verdict, "verifyreceipt", got.Receipt, fixed); !verdict.Valid {
		t.Errorf("with the scan objects: %+v", verdict)
	}
	err := b.Call(t.Context(), &verdict, "verifyreceipt", got.Receipt)
	if err == nil || !strings.Contains(err.Error(), "tells no descriptors") {
		t.Errorf("without: %+v, %v", verdict, err)
	}
	err = a.Call(t.Context(), nil, "createsearch", objects)
	if err == nil || !strings.Contains(err.Error(), "gap cannot be given for mr(") {
		t.Errorf("a search: %v", err)
	}
	a.Get(nil, "createsearch", fixed, map[string]string{"name": "fixed"})
	searched(t, a.Get, "fixed", "done")
	var search gapAnswer
	if a.Get(&search, "getsearch", "fixed", true); search.Found != 2 {
		t.Errorf("%+v", search)
	}
	if b.Get(&verdict, "verifyreceipt", search.Receipt, fixed); !verdict.Valid {
		t.Errorf("of a search: %+v", verdict)
	}
}

// A node that is attached to a Bitcoin Core widens, and verifies receipts, as others do.
func TestLiveGapAttached(t *testing.T) {
	t.Parallel()
	c := startBitcoind(t)
	payIndices(c.get, 15, 34, 50, 69)
	var tip string
	c.get(&tip, "getbestblockhash")
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-attach=" + c.dir, "-searchroom=1"}})
	other := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=1"}})
	for h := 1; h <= 4; h++ {
		var hash, raw string
		c.get(&hash, "getblockhash", h)
		c.get(&raw, "getblock", hash, 0)
		other.Get(nil, "submitblock", raw)
	}
	d.WaitTip(tip, 4, true)
	const gap = 20
	attached := scanGap(t, d.Get, "attached", gap, 4, 69)
	alone := scanGap(t, other.Get, "alone", gap, 4, 69)
	if string(attached.Receipt) != string(alone.Receipt) {
		t.Errorf("attached %s\nalone    %s", attached.Receipt, alone.Receipt)
	}
	verified(t, d.Get, "attached", alone.Receipt)
	search := searchGap(t, d.Get, "attached", gap, 4, 69)
	verified(t, other.Get, "alone", search.Receipt)
}

// A search that widens is what it was after each kill: on its way, paused at the limit of scripts, extended, at the
// tip.
func TestKill9Widening(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 5))
	const gap = 9
	indices, expected := []int{}, 0
	for index := 5; index < 300; index += 1 + random.IntN(gap) {
		indices = append(indices, index)
		expected = index
	}
	start := func(scripts int) []string {
		return []string{"-blockfilterindex=1", "-searchroom=1", fmt.Sprintf("-searchscripts=%d", scripts)}
	}
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: start(100)})
	payIndices(d.Get, indices...)
	var st gapAnswer
	state := func(id string) gapAnswer {
		st = gapAnswer{}
		d.Get(&st, "getsearch", id)
		return st
	}
	kill := func() {
		d.Kill()
		d.Restart()
	}
	waitFor := func(id, state string) {
		t.Helper()
		e2e.Eventually(t, time.Minute, id+" is "+state, func() bool {
			st = gapAnswer{}
			d.Get(&st, "getsearch", id)
			return st.State == state
		})
	}
	d.Get(nil, "createsearch", gapObjects(gap), map[string]any{"name": "w", "follow": true})
	for range count(t, "TRAWL_SOAK", 3) {
		time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
		kill()
	}
	waitFor("w", "paused")
	const limit = "Limit of -searchscripts is reached"
	paused := st
	kill()
	if now := state("w"); now.State != "paused" || now.Error != limit ||
		fmt.Sprint(now.Descriptors) != fmt.Sprint(paused.Descriptors) || now.Found != paused.Found {
		t.Fatalf("paused as %+v, after a kill %+v", paused, now)
	}
	if !paused.Descriptors[0].Exhausted {
		t.Errorf("%+v", paused)
	}
	d.Kill()
	d = e2e.Start(t, e2e.Config{Chain: "regtest", Dir: d.Dir, Args: start(100_000)})
	d.Get(nil, "resumesearch", "w")
	time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
	kill()
	waitFor("w", "following")
	wantGap(t, "after the kills", &st, expected, gap)
	if st.Found != len(indices) {
		t.Errorf("%d blocks, want %d", st.Found, len(indices))
	}
	d.Get(nil, "extendsearch", "w", []string{"raw(51)"})
	kill()
	waitFor("w", "following")
	wantGap(t, "extended", &st, expected, gap)
	payIndices(d.Get, expected+gap, expected+2*gap)
	kill()
	waitFor("w", "following")
	wantGap(t, "at the tip", &st, expected+2*gap, gap)
	if st.Found != len(indices)+2 {
		t.Errorf("%d blocks, want %d", st.Found, len(indices)+2)
	}
	list, _ := searched(t, d.Get, "w", "following")
	if len(list) != len(indices)+2 {
		t.Errorf("%d entries, want %d", len(list), len(indices)+2)
	}
}
