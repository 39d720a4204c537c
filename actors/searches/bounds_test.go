package searches_test

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/searches"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// Every limit is reported by its name, and what is removed counts no more.
func TestLimits(t *testing.T) {
	r := newRig(t, 1)
	r.grow(10, 0)
	r.limits = searches.Limits{Searches: 3, Scripts: 10, Entries: 1000, Quota: 2}
	r.start()
	create := func(owner string, from, n int) (messages.SearchCreated, error) {
		var list [][]byte
		for i := range n {
			list = append(list, script(from+i))
		}
		q := messages.CreateSearch{Owner: owner, Objects: objects(list), Stop: 5}
		return ask.Ask(t.Context(), r.ref, q)
	}
	refused := func(err error, option string) {
		t.Helper()
		if limit, ok := errors.AsType[*messages.SearchLimitError](err); !ok || limit.Option != option {
			t.Errorf("%v, want the limit %s", err, option)
		}
	}
	_, err := create("a", 100, 11)
	refused(err, "-searchscripts")
	first, err := create("a", 100, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := create("a", 200, 3); err != nil {
		t.Fatal(err)
	}
	_, err = create("a", 300, 1)
	refused(err, "-searchquota")
	if _, err := create("b", 300, 1); err != nil {
		t.Fatal(err)
	}
	_, err = create("c", 400, 1)
	refused(err, "-maxsearches")
	more := objects([][]byte{script(500), script(501), script(502), script(503)})
	_, err = ask.Ask(t.Context(), r.ref, messages.ExtendSearch{ID: first.ID, Objects: more, Start: -1})
	refused(err, "-searchscripts")
	do(t, r.ref, messages.RemoveSearch{ID: first.ID})
	if _, err := create("a", 600, 6); err != nil {
		t.Errorf("after one was removed: %v", err)
	}
}

// A search that looks at nothing any more takes no objects, and is as it was.
func TestExtendEnded(t *testing.T) {
	r := newRig(t, 2)
	r.grow(10, 0)
	r.start()
	made := do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(0)}), Follow: true})
	more := messages.ExtendSearch{ID: made.ID, Objects: objects([][]byte{script(1)}), Start: -1}
	do(t, r.ref, messages.PauseSearch{ID: made.ID})
	do(t, r.ref, more) // goes on with them
	do(t, r.ref, messages.AbortSearch{ID: made.ID})
	before := do(t, r.ref, messages.GetSearch{ID: made.ID})
	more.Objects = objects([][]byte{script(2)})
	if _, err := ask.Ask(t.Context(), r.ref, more); !errors.Is(err, messages.ErrSearchEnded) {
		t.Errorf("extended after an abort: %v", err)
	}
	if after := do(t, r.ref, messages.GetSearch{ID: made.ID}); !reflect.DeepEqual(after, before) {
		t.Errorf("got %+v, before %+v", after, before)
	}
}

// A search that would find more than all may keep pauses and says so, and its reported entries stay.
func TestEntriesLimit(t *testing.T) {
	r := newRig(t, 2)
	r.grow(60, 0)
	r.limits.Entries = 5
	r.start()
	scripts := [][]byte{script(0), script(1), script(2), script(3)}
	made := do(t, r.ref, messages.CreateSearch{Objects: objects(scripts), Stop: -1})
	p := r.reader(made.ID).wait(messages.SearchPaused)
	if !strings.Contains(p.Error, "-searchentries") || p.Height > 30 {
		t.Errorf("%q at height %d", p.Error, p.Height)
	}
}

// While there is too little room on the disk all pause, and go on by themselves.
func TestDiskFull(t *testing.T) {
	r := newRig(t, 3)
	r.grow(30, 0)
	var free atomic.Uint64
	free.Store(1 << 30)
	r.room = func() (uint64, uint64, error) { return free.Load(), 10 << 30, nil }
	r.start()
	scripts := [][]byte{script(1), script(2)}
	made := do(t, r.ref, messages.CreateSearch{Objects: objects(scripts), Follow: true})
	a := r.reader(made.ID)
	if p := a.wait(messages.SearchPaused); p.Error == "" || p.Height != -1 {
		t.Errorf("%q at height %d", p.Error, p.Height)
	}
	free.Store(3 << 30)
	p := a.wait(messages.SearchFollowing)
	a.holds(scripts, 0, p.Height)
}

// A pause of all searches for lack of room is reported at once, not only at the next look.
func TestDiskFullIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		r := newRig(t, 3)
		r.grow(30, 0)
		var free atomic.Uint64
		free.Store(3 << 30)
		r.room = func() (uint64, uint64, error) { return free.Load(), 10 << 30, nil }
		r.start()
		id := do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(900)}), Follow: true}).ID
		a := r.reader(id)
		a.wait(messages.SearchFollowing)
		time.Sleep(10 * time.Second)
		free.Store(1 << 30)
		began := time.Now()
		time.AfterFunc(time.Second, func() { r.grow(1, 0) })
		p := do(t, r.ref, messages.WaitSearch{ID: id, Cursor: a.cursor, Limit: 1, Timeout: time.Minute})
		took := time.Since(began)
		if took > 1100*time.Millisecond || p.State != messages.SearchPaused || p.Error == "" {
			t.Errorf("%s (%q) after %v", p.State, p.Error, took)
		}
	})
}

// A search of a range that has left the chain before it was looked at ends all the same, with the
// entries that are there.
func TestRangeLeavesChain(t *testing.T) {
	r := newRig(t, 15)
	r.grow(30, 0)
	var free atomic.Uint64
	free.Store(1 << 30)
	r.room = func() (uint64, uint64, error) { return free.Load(), 10 << 30, nil }
	r.start()
	scripts := [][]byte{script(1), script(2)}
	stop := r.chain.Active().Tip()
	made := do(t, r.ref, messages.CreateSearch{Objects: objects(scripts), Stop: -1})
	r.grow(3, 6)
	do(t, r.indexer, messages.WaitIndexed{Block: r.chain.Active().Tip().Hash})
	free.Store(3 << 30)
	a := r.reader(made.ID)
	if p := a.wait(messages.SearchDone); p.Block != stop.Hash || p.Height != stop.Height || a.read == 0 {
		t.Errorf("done at %v of height %d with %d entries", p.Block, p.Height, a.read)
	}
}

// A waiting call is answered when something changes, when its time is over, and when the search
// is removed.
func TestWait(t *testing.T) {
	r := newRig(t, 4)
	r.grow(10, 0)
	r.start()
	made := do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(900)}), Follow: true})
	r.reader(made.ID).wait(messages.SearchFollowing)
	began := time.Now()
	p := do(t, r.ref, messages.WaitSearch{ID: made.ID, Limit: 1, Timeout: 30 * time.Millisecond})
	if took := time.Since(began); took < 30*time.Millisecond || len(p.Entries) != 0 {
		t.Errorf("answered after %v with %d entries", took, len(p.Entries))
	}
	answers := make(chan error, 1)
	wait := func(ctx context.Context) {
		_, err := ask.Ask(ctx, r.ref, messages.WaitSearch{ID: made.ID, Limit: 1})
		answers <- err
	}
	go wait(t.Context())
	time.Sleep(10 * time.Millisecond)
	r.grow(1, 0)
	if err := <-answers; err != nil {
		t.Errorf("after a block: %v", err)
	}
	gone, leave := context.WithCancel(t.Context())
	go wait(gone)
	time.Sleep(10 * time.Millisecond)
	leave()
	<-answers
	go wait(t.Context())
	time.Sleep(10 * time.Millisecond)
	do(t, r.ref, messages.RemoveSearch{ID: made.ID})
	if err := <-answers; !errors.Is(err, messages.ErrSearchNotFound) {
		t.Errorf("after it was removed: %v", err)
	}
	if _, err := ask.Ask(t.Context(), r.ref, messages.GetSearchEntries{ID: made.ID}); !errors.Is(
		err, messages.ErrSearchNotFound,
	) {
		t.Errorf("of one that was removed: %v", err)
	}
	made = do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(900)}), Follow: true})
	_, err := ask.Ask(t.Context(), r.ref, messages.GetSearchEntries{ID: made.ID, Cursor: "12"})
	if !errors.Is(err, messages.ErrBadCursor) {
		t.Errorf("a cursor that is none: %v", err)
	}
}

func taproot(n byte) []byte { return []byte{0: txscript.OP_1, 1: 32, 33: n} }

// In pruned blocks, which are fetched, spends of outputs found before are reported with their
// amounts. If a block may spend an unknown output, the search fails.
func TestPruned(t *testing.T) {
	r := newRig(t, 5)
	public := []byte{0: 2, 32: 7}
	segwit := append([]byte{txscript.OP_0, 20}, btcutil.Hash160(public)...)
	spend := func(b *chainview.Block, witness wire.TxWitness) *wire.MsgTx {
		block, err := r.chain.Block(&b.Hash)
		if err != nil {
			t.Fatal(err)
		}
		tx := wire.NewMsgTx(2)
		out := wire.OutPoint{Hash: block.Transactions[0].TxHash()}
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: out, Witness: witness})
		tx.AddTxOut(wire.NewTxOut(1, script(50)))
		return tx
	}
	one := r.chain.Mine(chaintest.Template{Script: segwit})
	two := r.chain.Mine(chaintest.Template{Script: taproot(2)})
	r.chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{spend(one, wire.TxWitness{make([]byte, 71), public})}})
	r.chain.Mine(chaintest.Template{Txs: []*wire.MsgTx{spend(two, wire.TxWitness{make([]byte, 64)})}})
	r.chain.MineN(2)
	r.tip.Publish(messages.TipChanged{})
	tip := r.chain.Active().Tip()
	do(t, r.indexer, messages.WaitIndexed{Block: tip.Hash})

	scripts := [][]byte{segwit, taproot(2)}
	want := r.oracle(scripts, 0, 6)
	raws := map[chainhash.Hash]chainview.Fetched{}
	for h := int32(1); h <= 6; h++ {
		b := r.chain.Active().At(h)
		raw, _ := r.chain.Raw(&b.Hash)
		block, _ := r.chain.Block(&b.Hash)
		raws[b.Hash] = chainview.Fetched{Raw: raw, Block: block}
	}
	for h := range int32(6) {
		r.chain.Fail(r.chain.Active().At(h+1), chainview.ErrPruned)
	}
	r.fetch = func(_ context.Context, hash *chainhash.Hash) (chainview.Fetched, error) { return raws[*hash], nil }
	r.start()
	made := do(t, r.ref, messages.CreateSearch{Objects: objects(scripts), Stop: -1})
	a := r.reader(made.ID)
	a.wait(messages.SearchDone)
	var got []messages.SearchEntry
	for h := range int32(7) {
		got = append(got, a.blocks[r.chain.Active().At(h).Hash]...)
	}
	if len(want) != 4 || len(got) != 4 {
		t.Fatalf("%d entries, want %d of 4", len(got), len(want))
	}
	for i := range got {
		if got[i].Type != want[i].Type || got[i].Amount != want[i].Amount || got[i].TxID != want[i].TxID ||
			got[i].Index != want[i].Index || !bytes.Equal(got[i].Script, want[i].Script) {
			t.Errorf("entry %d: %+v, want %+v", i, got[i], want[i])
		}
	}
	for i, from := range []int32{2, 3} { // the output of one of the spends is not known
		made := do(t, r.ref, messages.CreateSearch{Objects: objects(scripts[i : i+1]), Start: from, Stop: -1})
		if p := r.reader(made.ID).wait(messages.SearchFailed); !strings.Contains(
			p.Error, "not available (pruned data)",
		) {
			t.Errorf("from %d on: %q", from, p.Error)
		}
	}
	made = do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(777)}), Start: 2, Stop: -1})
	r.reader(made.ID).wait(messages.SearchDone)

	// Which blocks it are can be said of what shows itself when it is spent, and of nothing else.
	for _, from := range []int32{0, 2} {
		q := messages.CreateSearch{Objects: objects(scripts[:1]), Start: from, Stop: -1, BlocksOnly: true}
		made = do(t, r.ref, q)
		a = r.reader(made.ID)
		a.wait(messages.SearchDone)
		var heights []int32
		for _, h := range a.heights {
			heights = append(heights, h)
		}
		if slices.Sort(heights); !slices.Equal(heights, map[int32][]int32{0: {1, 3}, 2: {3}}[from]) {
			t.Errorf("blocks from %d on are at %v", from, heights)
		}
	}
	made = do(t, r.ref, messages.CreateSearch{Objects: objects(scripts[1:]), Stop: -1, BlocksOnly: true})
	r.reader(made.ID).wait(messages.SearchFailed)
}

// Progress is of all that is to be looked at, of objects too that joined from below the first block on.
func TestProgress(t *testing.T) {
	r := newRig(t, 3)
	r.grow(100, 0)
	r.start()
	made := do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(1)}), Start: 60, Follow: true})
	r.reader(made.ID).wait(messages.SearchFollowing)
	do(t, r.ref, messages.PauseSearch{ID: made.ID})
	st := do(t, r.ref, messages.ExtendSearch{ID: made.ID, Objects: objects([][]byte{script(2)}), Start: 11})
	if st.Progress != 0 || st.Height != 10 {
		t.Errorf("progress is %v at height %d", st.Progress, st.Height)
	}
}
