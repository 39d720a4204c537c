package searches_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/searches"
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// A widened is a descriptor with a gap, and the indices that a test has paid.
type widened struct {
	r       *rig
	text    string
	gap     int
	scripts [][]byte // by index
	used    map[int]bool
}

// widened returns a descriptor of a key of its own.
func (r *rig) widened(gap int) *widened {
	r.t.Helper()
	net, err := dialect.Bitcoin("regtest")
	if err != nil {
		r.t.Fatal(err)
	}
	r.net = net.Descriptors()
	seed := make([]byte, 32)
	for i := range seed {
		seed[i] = byte(r.rng.Uint32())
	}
	key, err := hdkeychain.NewMaster(seed, &chaincfg.RegressionNetParams)
	if err == nil {
		key, err = key.Neuter()
	}
	if err != nil {
		r.t.Fatal(err)
	}
	w := &widened{r: r, text: "wpkh(" + key.String() + "/0/*)", gap: gap, used: map[int]bool{}}
	branches, err := descriptor.Parse(w.text, r.net, descriptor.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	for index := range 400 {
		scripts, err := branches[0].Expand(uint32(index))
		if err != nil {
			r.t.Fatal(err)
		}
		w.scripts = append(w.scripts, scripts[0])
	}
	return w
}

// objects are the scan object with the indices up to one.
func (w *widened) objects(last int) messages.SearchObjects {
	o := messages.SearchObjects{Texts: []string{w.text}, Gaps: []int32{int32(w.gap)}}
	for index := range last + 1 {
		o.Scripts = append(o.Scripts, messages.SearchScript{Script: w.scripts[index], Index: int32(index)})
	}
	return o
}

// last returns the last index of the least range, and the highest used one in it, by looking at each.
func (w *widened) last(given int) (last, highest int) {
	highest = -1
	for index, unused := 0, 0; index <= given || unused < w.gap; index++ {
		if last, unused = index, unused+1; w.used[index] {
			highest, unused = index, 0
		}
	}
	return last, highest
}

// pay mines a block on another that pays to some indices, each by an output of a transaction.
func (w *widened) pay(parent *chainview.Block, indices ...int) *chainview.Block {
	w.r.t.Helper()
	funding := w.r.chain.MineOn(parent, chaintest.Template{Script: []byte{0x53}})
	block, err := w.r.chain.Block(&funding.Hash)
	if err != nil {
		w.r.t.Fatal(err)
	}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: block.Transactions[0].TxHash()}})
	for _, index := range indices {
		tx.AddTxOut(wire.NewTxOut(int64(1000+index), w.scripts[index]))
		w.used[index] = true
	}
	return w.r.chain.MineOn(funding, chaintest.Template{Script: []byte{0x53}, Txs: []*wire.MsgTx{tx}})
}

// announce tells of a new tip.
func (r *rig) announce() { r.tip.Publish(messages.TipChanged{}) }

// check waits until a search has what the chain has, by looking at whole blocks.
func (w *widened) check(a *reader, state messages.SearchState, given int) {
	r := w.r
	r.t.Helper()
	a.wait(state)
	last, highest := w.last(given)
	want := messages.SearchDescriptor{
		Desc: w.text, Last: int32(last), HighestUsed: int32(highest), Known: true, Gap: int32(w.gap),
	}
	if d := do(r.t, r.ref, messages.GetSearch{ID: a.id}).Descriptors; len(d) != 1 || d[0] != want {
		r.t.Fatalf("it is %s, and has %+v; want %+v", state, d, want)
	}
	found := map[string]int{}
	for _, list := range a.blocks {
		for _, e := range list {
			found[fmt.Sprintf("%d %s %v %d %x", e.Height, e.Type, e.TxID, e.N, e.Script)]++
		}
	}
	all := r.oracle(w.scripts[:last+1], 0, r.chain.Active().Height())
	for _, e := range all {
		if n := found[fmt.Sprintf("%d %s %v %d %x", e.Height, e.Type, e.TxID, e.N, e.Script)]; n != 1 {
			r.t.Fatalf("%+v was found %d times", e, n)
		}
	}
	if len(found) != len(all) {
		r.t.Fatalf("%d entries, want %d", len(found), len(all))
	}
	if st := do(r.t, r.ref, messages.GetSearch{ID: a.id}); st.Blocks != uint64(len(a.heights)) {
		r.t.Fatalf("%d blocks, want %d", st.Blocks, len(a.heights))
	}
}

// TestWidens finds all that a gap lets find, in blocks of the past and of the future, in one block, in branches that
// leave the chain, and over restarts.
func TestWidens(t *testing.T) {
	for seed := range uint64(6) {
		r := newRig(t, seed)
		w := r.widened(1 + r.rng.IntN(12))
		given := r.rng.IntN(10)
		at, edge := r.chain.MineN(3), -1
		step := func() (indices []int) {
			for range 1 + r.rng.IntN(4) {
				edge += 1 + r.rng.IntN(w.gap)
				if r.rng.IntN(6) == 0 {
					edge += w.gap
				}
				if edge < 300 {
					indices = append(indices, edge)
				}
			}
			r.rng.Shuffle(len(indices), func(i, j int) { indices[i], indices[j] = indices[j], indices[i] })
			return indices
		}
		var blocks [][]int
		for range 6 {
			blocks = append(blocks, step())
		}
		for i := range blocks { // the later blocks have the lower indices
			at = w.pay(at, blocks[len(blocks)-1-i]...)
		}
		r.start()
		made := do(t, r.ref, messages.CreateSearch{Objects: w.objects(given), Stop: -1})
		follow := do(t, r.ref, messages.CreateSearch{Objects: w.objects(given), Stop: -1, Follow: true})
		fixed, follows := r.reader(made.ID), r.reader(follow.ID)
		w.check(fixed, messages.SearchDone, given)
		w.check(follows, messages.SearchFollowing, given)
		for range 4 {
			branch := at
			at = w.pay(at, step()...)
			if r.rng.IntN(2) == 0 {
				r.restart()
			} else {
				r.announce()
			}
			if r.rng.IntN(2) == 0 {
				w.check(follows, messages.SearchFollowing, given)
				for range 3 { // what is used in a branch that has left counts
					branch = r.chain.MineOn(branch, chaintest.Template{Script: []byte{0x53}})
				}
				at = branch
				r.announce()
			}
			w.check(follows, messages.SearchFollowing, given)
		}
	}
}

// TestWidensToTheLimit pauses a search that needs more scripts than all may have, says so, and goes on with more room.
func TestWidensToTheLimit(t *testing.T) {
	r := newRig(t, 1)
	w := r.widened(20)
	w.pay(r.chain.MineN(2), 19, 30)
	r.limits = searches.Limits{Scripts: 45}
	r.start()
	made := do(t, r.ref, messages.CreateSearch{Objects: w.objects(0), Stop: -1})
	a := r.reader(made.ID)
	const reason = "Limit of -searchscripts is reached"
	if p := a.wait(messages.SearchPaused); p.Error != reason {
		t.Errorf("paused with %q", p.Error)
	}
	used := messages.SearchDescriptor{
		Desc: w.text, Last: 39, HighestUsed: 30, Known: true, Gap: 20, Exhausted: true,
	}
	r.waitUsed(made.ID, used)
	if !do(t, r.ref, messages.ResumeSearch{ID: made.ID}) {
		t.Error("not resumed")
	}
	if p := a.wait(messages.SearchPaused); p.Error != reason {
		t.Errorf("paused again with %q", p.Error)
	}
	r.limits.Scripts = 51
	r.restart()
	do(t, r.ref, messages.ResumeSearch{ID: made.ID})
	w.check(a, messages.SearchDone, 0)
}

// TestSharedScripts refuses a gap where another object's scripts would hide which indices are used.
func TestSharedScripts(t *testing.T) {
	r := newRig(t, 1)
	w := r.widened(5)
	r.chain.MineN(2)
	r.start()
	o := messages.SearchObjects{
		Texts: []string{"other"}, Scripts: []messages.SearchScript{{Script: w.scripts[2], Index: -1}},
	}
	both := func(first, second messages.SearchObjects) messages.SearchObjects {
		for _, s := range second.Scripts {
			s.Object += len(first.Texts)
			first.Scripts = append(first.Scripts, s)
		}
		gaps := append(first.Gaps, make([]int32, len(first.Texts)-len(first.Gaps))...)
		first.Texts = append(first.Texts, second.Texts...)
		first.Gaps = append(gaps, append(second.Gaps, make([]int32, len(second.Texts)-len(second.Gaps))...)...)
		return first
	}
	shared := func(err error) bool {
		_, ok := errors.AsType[*messages.SharedScriptsError](err)
		return ok
	}
	before := messages.CreateSearch{Objects: both(o, w.objects(4)), Stop: -1}
	if _, err := ask.Ask(t.Context(), r.ref, before); !shared(err) {
		t.Errorf("created: %v", err)
	}
	made := do(t, r.ref, messages.CreateSearch{Objects: both(w.objects(4), o), Stop: -1})
	r.reader(made.ID).wait(messages.SearchDone)
	// The same object changes nothing, with or without its checksum.
	same := w.objects(4)
	same.Texts = []string{descriptor.AddChecksum(w.text)}
	st := do(t, r.ref, messages.ExtendSearch{ID: made.ID, Objects: same, Start: -1})
	if st.State != messages.SearchDone || st.Scripts != 5 {
		t.Errorf("extended by the same: %+v", st)
	}
	// More of the same would hide what is used, with a gap and without.
	more := messages.ExtendSearch{ID: made.ID, Objects: w.objects(9), Start: -1}
	if _, err := ask.Ask(t.Context(), r.ref, more); !shared(err) {
		t.Errorf("extended with a gap: %v", err)
	}
	more.Objects.Gaps = nil
	if _, err := ask.Ask(t.Context(), r.ref, more); !shared(err) {
		t.Errorf("extended without a gap: %v", err)
	}
	// Scripts that are shared later end the search: nothing says which indices are used.
	o.Scripts[0].Script = w.scripts[7]
	later := do(t, r.ref, messages.CreateSearch{Objects: both(w.objects(4), o), Stop: -1, Follow: true})
	a := r.reader(later.ID)
	a.wait(messages.SearchFollowing)
	w.pay(r.chain.Active().Tip(), 4)
	r.announce()
	if p := a.wait(messages.SearchFailed); p.Error == "" {
		t.Error("failed without a reason")
	}
}

// TestWidensAfterStop has a search that a stopped node was about to widen go on.
func TestWidensAfterStop(t *testing.T) {
	r := newRig(t, 2)
	w := r.widened(7)
	at := r.chain.MineN(1)
	for n := range 12 {
		at = w.pay(at, 80-7*n, 3)
	}
	r.start()
	made := do(t, r.ref, messages.CreateSearch{Objects: w.objects(0), Stop: -1})
	a := r.reader(made.ID)
	for range 10 {
		do(t, r.ref, messages.WaitSearch{ID: made.ID, Cursor: a.cursor, Limit: 1, Timeout: time.Millisecond})
		r.restart()
	}
	w.check(a, messages.SearchDone, 0)
}
