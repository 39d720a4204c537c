package searches_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/searches"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// Searches for a script that every block pays thousands of times have all payments, though a round finds
// more than may wait for the disk, of many blocks and of one.
func TestManyPayments(t *testing.T) {
	r := newRig(t, 11)
	const blocks, outputs, readers = 6, 1000, 13
	at := r.chain.Active().Tip()
	for range blocks {
		tx := wire.NewMsgTx(2)
		if at.Height > 0 {
			block, _ := r.chain.Block(&at.Hash)
			tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: block.Transactions[0].TxHash()}})
			for n := range outputs {
				tx.AddTxOut(wire.NewTxOut(int64(n), script(1)))
			}
		}
		template := chaintest.Template{Script: script(1)}
		if at.Height > 0 {
			template.Txs = []*wire.MsgTx{tx}
		}
		at = r.chain.MineOn(at, template)
	}
	r.tip.Publish(messages.TipChanged{})
	r.start()
	scripts := make([][][]byte, readers)
	ids := make([]string, readers)
	for i := range ids {
		scripts[i] = [][]byte{script(1), script(100 + i)}
		ids[i] = do(t, r.ref, messages.CreateSearch{Objects: objects(scripts[i]), Follow: true}).ID
	}
	for i, id := range ids {
		a := r.reader(id)
		p := a.follow()
		if i == 0 || i == len(ids)/2 { // the oracle is slow
			a.holds(scripts[i], 0, p.Height)
		}
		const found = blocks + (blocks-1)*(outputs+1) // the spent one of each block, too
		if st := do(t, r.ref, messages.GetSearch{ID: id}); st.Found != found || st.Blocks != blocks {
			t.Errorf("%d entries in %d blocks", st.Found, st.Blocks)
		}
	}
}

// follow reads large pages until the search is at the tip.
func (a *reader) follow() messages.SearchPage {
	a.r.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		p := do(a.r.t, a.r.ref, messages.WaitSearch{ID: a.id, Cursor: a.cursor, Limit: 10_000, Timeout: time.Second})
		a.add(p)
		if p.State == messages.SearchFollowing && p.Height == a.r.chain.Active().Tip().Height && !p.More {
			return p
		}
		if time.Now().After(deadline) {
			a.r.t.Fatalf("%s at height %d", p.State, p.Height)
		}
	}
}

// A caller that asks for a search that another call is making is answered only after the write, here
// with its error.
func TestMadeTwiceAtOnce(t *testing.T) {
	r := newRig(t, 12)
	r.grow(5, 0)
	disk := faultfs.New()
	r.disk = disk
	r.start()
	hold, held := make(chan struct{}), make(chan struct{})
	var once sync.Once
	disk.Inject(func(op faultfs.Op) error {
		if op.Kind != faultfs.Sync {
			return nil
		}
		once.Do(func() { close(held) })
		<-hold
		return syscall.EIO
	})
	q := messages.CreateSearch{Name: "n", Objects: objects([][]byte{script(1)}), Stop: -1}
	answers := make(chan error, 2)
	create := func() {
		_, err := ask.Ask(t.Context(), r.ref, q)
		answers <- err
	}
	go create()
	<-held
	go create()
	do(t, r.ref, messages.ListSearches{})
	select {
	case err := <-answers:
		t.Error("answered before it was on the disk: ", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(hold)
	for range 2 {
		if err := <-answers; err == nil {
			t.Error("a search is made that could not be written")
		}
	}
	disk.Inject(nil)
}

// A call that waits for a search while the store fails is answered when the store is open again.
func TestWaitOverFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		r := newRig(t, 14)
		r.grow(5, 0)
		disk := faultfs.New()
		r.disk = disk
		r.start()
		made := do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(1)}), Follow: true})
		at := r.reader(made.ID).wait(messages.SearchFollowing)
		answer := make(chan error, 1)
		go func() {
			p, err := ask.Ask(t.Context(), r.ref, messages.WaitSearch{ID: made.ID, Cursor: at.Cursor, Limit: 1})
			if err == nil && p.Cursor == "" {
				err = errors.New("no page")
			}
			answer <- err
		}()
		synctest.Wait() // a later call would get the failure
		disk.Inject(func(op faultfs.Op) error {
			if op.Kind == faultfs.Sync {
				return syscall.ENOSPC
			}
			return nil
		})
		q := messages.CreateSearch{Objects: objects([][]byte{script(2)}), Follow: true}
		if _, err := ask.Ask(t.Context(), r.ref, q); !errors.Is(err, messages.ErrSearchStore) {
			t.Errorf("on a full disk: %v", err)
		}
		if _, err := ask.Ask(t.Context(), r.ref, q); !errors.Is(err, messages.ErrSearchStore) {
			t.Errorf("after that: %v", err)
		}
		disk.Inject(nil)
		select {
		case err := <-answer:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("not answered")
		}
	})
}

// Changes since the page of a cursor are reported at once: nothing is missed between two calls.
func TestWaitKnowsWhatWasReported(t *testing.T) {
	r := newRig(t, 13)
	r.grow(3, 0)
	r.start()
	made := do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(900)}), Follow: true})
	before := r.reader(made.ID).wait(messages.SearchFollowing)
	r.grow(1, 0)
	after := r.reader(made.ID).wait(messages.SearchFollowing)
	p := do(t, r.ref, messages.WaitSearch{ID: made.ID, Cursor: before.Cursor, Limit: 1})
	if p.Height != after.Height || p.Cursor == before.Cursor {
		t.Errorf("height %d, want %d", p.Height, after.Height)
	}
	do(t, r.ref, messages.PauseSearch{ID: made.ID})
	p = do(t, r.ref, messages.WaitSearch{ID: made.ID, Cursor: p.Cursor, Limit: 1})
	if p.State != messages.SearchPaused {
		t.Error(p.State)
	}
	began := time.Now()
	do(t, r.ref, messages.WaitSearch{ID: made.ID, Cursor: p.Cursor, Limit: 1, Timeout: 20 * time.Millisecond})
	if took := time.Since(began); took < 20*time.Millisecond {
		t.Errorf("answered after %v, and nothing has changed", took)
	}
	at := p.Cursor
	for _, wrong := range []string{at[:30], at + "00", at[:34] + "07", at[:8] + "05" + at[10:]} {
		_, err := ask.Ask(t.Context(), r.ref, messages.WaitSearch{ID: made.ID, Cursor: wrong, Limit: 1, Timeout: 1})
		if !errors.Is(err, messages.ErrBadCursor) {
			t.Error(fmt.Sprint(wrong, ": ", err))
		}
	}
	other := do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(901)}), Follow: true})
	r.reader(other.ID).wait(messages.SearchFollowing)
	for _, q := range []messages.GetSearchEntries{
		{ID: other.ID, Cursor: at}, // of another search
		{ID: made.ID, Cursor: do(t, r.ref, messages.GetSearch{ID: other.ID}).Cursor},
		{ID: made.ID, Cursor: "0000000501" + at[10:26]}, // a place that is not there yet
	} {
		if _, err := ask.Ask(t.Context(), r.ref, q); !errors.Is(err, messages.ErrBadCursor) {
			t.Errorf("%s of %s: %v", q.Cursor, q.ID, err)
		}
	}
	for _, earlier := range []string{at[:36], at[:26]} { // of earlier versions
		do(t, r.ref, messages.GetSearchEntries{ID: made.ID, Cursor: earlier})
	}
	more := objects([][]byte{script(7)})
	_, err := ask.Ask(t.Context(), r.ref, messages.ExtendSearch{ID: made.ID, Objects: more, Start: 5})
	if !errors.Is(err, messages.ErrBlockNotFound) {
		t.Error("extended above the tip: ", err)
	}
}

// A page has no more than its 16 MiB, whatever limit it is asked for, but all that fit into them, and
// the pages have all entries.
func TestPageBytes(t *testing.T) {
	r := newRig(t, 13)
	const blocks, inBlock, size, most = 3, 300, 9000, 16 << 20
	const outputs = blocks * inBlock
	long := append([]byte{txscript.OP_1}, bytes.Repeat([]byte{txscript.OP_NOP}, size-1)...)
	last := r.chain.Mine(chaintest.Template{Script: script(1)})
	for i := range blocks {
		block, _ := r.chain.Block(&last.Hash)
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: block.Transactions[0].TxHash()}})
		for n := range inBlock {
			tx.AddTxOut(wire.NewTxOut(int64(i*inBlock+n), long))
		}
		last = r.chain.Mine(chaintest.Template{Script: script(2), Txs: []*wire.MsgTx{tx}})
	}
	r.tip.Publish(messages.TipChanged{})
	r.start()
	id := do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{long}), Stop: -1}).ID
	a := r.reader(id)
	a.wait(messages.SearchDone)
	read, pages := 0, 0
	for at := ""; ; pages++ {
		p := do(t, r.ref, messages.GetSearchEntries{ID: id, Cursor: at, Limit: 10 * outputs})
		written := 0
		for i := range p.Entries {
			e := &p.Entries[i]
			if e.Amount != int64(read+i) {
				t.Fatalf("entry %d has the amount %d", read+i, e.Amount)
			}
			written += 2*len(e.Script) + len("OP_NOP ")*len(e.Script) // hexadecimal, and in words
		}
		if read, at = read+len(p.Entries), p.Cursor; written > most {
			t.Errorf("page %d has %d bytes", pages, written)
		}
		if !p.More {
			break
		}
		if written < most/8 {
			t.Errorf("page %d has %d entries of %d bytes only", pages, len(p.Entries), written)
		}
	}
	if read != outputs || pages < 2 {
		t.Errorf("%d entries in %d pages", read, pages)
	}
}

// heldLists has what is read of lists wait.
type heldLists struct {
	searches.Lists

	held chan struct{} // has one for each that waits
	goOn chan struct{}
}

func (h *heldLists) Entries(
	id searchdb.ID, after, to searchdb.Place, visit func(searchdb.Place, *search.Entry) bool,
) error {
	if h.held != nil {
		h.held <- struct{}{}
		<-h.goOn
	}
	return h.Lists.Entries(id, after, to, visit)
}

// A page of entries that is read while its search is being removed is refused: never has it only what is not deleted
// yet.
func TestPageDuringRemoval(t *testing.T) {
	r := newRig(t, 15)
	const outputs = 6000 // more than is deleted in one step
	first := r.chain.Mine(chaintest.Template{Script: script(1)})
	block, _ := r.chain.Block(&first.Hash)
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: block.Transactions[0].TxHash()}})
	for n := range outputs {
		tx.AddTxOut(wire.NewTxOut(int64(n), script(1)))
	}
	r.chain.Mine(chaintest.Template{Script: script(2), Txs: []*wire.MsgTx{tx}})
	r.tip.Publish(messages.TipChanged{})
	lists := new(heldLists)
	r.lists = func(kept *searchdb.Store) searches.Lists {
		lists.Lists = kept
		return lists
	}
	r.start()
	made := do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(1)}), Stop: -1})
	r.reader(made.ID).wait(messages.SearchDone)
	page := messages.GetSearchEntries{ID: made.ID, Limit: 10_000}
	if whole := do(t, r.ref, page); len(whole.Entries) != outputs+2 {
		t.Fatalf("%d entries, want %d", len(whole.Entries), outputs+2)
	}
	lists.held, lists.goOn = make(chan struct{}), make(chan struct{})
	type answer struct {
		messages.SearchPage
		err error
	}
	answers := make(chan answer)
	go func() {
		p, err := ask.Ask(t.Context(), r.ref, page)
		answers <- answer{p, err}
	}()
	<-lists.held
	go func() {
		p, err := ask.Ask(t.Context(), r.ref, messages.WaitSearch{ID: made.ID, Limit: 10_000})
		answers <- answer{p, err}
	}()
	<-lists.held
	do(t, r.ref, messages.RemoveSearch{ID: made.ID})
	if more, err := r.kept.Sweep(t.Context()); err != nil || !more {
		t.Fatalf("after a step of the removal there is more: %v, %v", more, err)
	}
	close(lists.goOn)
	for range 2 {
		a := <-answers
		if !errors.Is(a.err, messages.ErrSearchNotFound) || len(a.Entries) != 0 {
			t.Errorf("%d entries, more is %v, %v", len(a.Entries), a.More, a.err)
		}
	}
}
