package searches_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// ends notes which searches are reported to go on after they were reported to be aborted.
type ends struct {
	mu        sync.Mutex
	aborted   map[string]bool
	undone    []messages.SearchStatus
	listening chan struct{}
}

func (e *ends) listen(r *rig) {
	e.aborted, e.listening = map[string]bool{}, make(chan struct{})
	r.news = new(ask.Feed[messages.News])
	r.sys.Spawn("listener", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *actor.Started:
				r.news.Subscribe(c)
				close(e.listening)
			case messages.SearchChanged:
				e.mu.Lock()
				defer e.mu.Unlock()
				if now := m.State == messages.SearchAborted; now {
					e.aborted[m.ID] = true
				} else if e.aborted[m.ID] {
					e.undone = append(e.undone, m.SearchStatus)
				}
			}
		})
	})
	<-e.listening
}

func (e *ends) check(t *testing.T, aborted int) {
	t.Helper()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.aborted) != aborted || len(e.undone) > 0 {
		t.Errorf("%d searches are reported aborted, want %d; then reported are %+v", len(e.aborted), aborted, e.undone)
	}
}

// Clients that pause, resume or end a search, or ask for it, are answered while entries are being written. Their
// answers hold however the program ends.
func TestOrdersWaitForNoEntries(t *testing.T) {
	for _, lost := range []bool{false, true} {
		r := newRig(t, 21)
		r.grow(30, 0)
		var notified ends
		notified.listen(r)
		disk := newSlowDisk()
		r.disk = disk
		r.start()
		scripts := [][]byte{script(1), script(2)}
		ids := make([]string, 4)
		for i := range ids {
			made := do(t, r.ref, messages.CreateSearch{Objects: objects(scripts), Follow: true})
			ids[i] = made.ID
			r.reader(ids[i]).wait(messages.SearchFollowing)
		}
		disk.stop()
		r.grow(2, 3)
		<-disk.held // what the new blocks have is being written
		for _, id := range ids {
			if !do(t, r.ref, messages.PauseSearch{ID: id}) || do(t, r.ref, messages.PauseSearch{ID: id}) {
				t.Error("pausing one that follows, and again, is not true and false")
			}
		}
		if !do(t, r.ref, messages.ResumeSearch{ID: ids[1]}) || do(t, r.ref, messages.ResumeSearch{ID: ids[1]}) {
			t.Error("resuming one that is paused, and again, is not true and false")
		}
		for _, id := range ids[2:] {
			if !do(t, r.ref, messages.AbortSearch{ID: id}) || do(t, r.ref, messages.AbortSearch{ID: id}) ||
				do(t, r.ref, messages.ResumeSearch{ID: id}) || do(t, r.ref, messages.PauseSearch{ID: id}) {
				t.Error("ending one is not true, and anything after that false")
			}
		}
		states := func() (list []messages.SearchState) {
			for _, id := range ids {
				list = append(list, do(t, r.ref, messages.GetSearch{ID: id}).State)
			}
			if got := do(t, r.ref, messages.ListSearches{}); len(got) != len(ids) || got[0].State != list[0] {
				t.Errorf("listed: %+v", got)
			}
			return list
		}
		if got := states(); got[0] != messages.SearchPaused || got[1] == messages.SearchPaused ||
			got[2] != messages.SearchAborted || got[3] != messages.SearchAborted {
			t.Fatalf("while it is written: %v", got)
		}
		if lost {
			disk.goOn(syscall.EIO)
			_ = r.ref.Stop(t.Context())
			_ = r.kept.Close()
			disk.mu.Lock()
			disk.fail = nil
			disk.mu.Unlock()
			r.start()
		} else {
			disk.goOn(nil)
		}
		r.reader(ids[1]).wait(messages.SearchFollowing)
		for range 2 {
			if got := states(); got[0] != messages.SearchPaused || got[1] != messages.SearchFollowing ||
				got[2] != messages.SearchAborted || got[3] != messages.SearchAborted {
				t.Errorf("what was found then is lost: %v; states %v", lost, got)
			}
			r.restart()
		}
		do(t, r.ref, messages.ResumeSearch{ID: ids[0]})
		for _, id := range ids[:2] {
			a := r.reader(id)
			p := a.wait(messages.SearchFollowing)
			a.holds(scripts, 0, p.Height)
		}
		notified.check(t, 2)
	}
}

// Orders that come while others are being written are written after them, and then all are as they were answered.
func TestOrdersWaitForOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		r := newRig(t, 25)
		r.grow(30, 0)
		disk := newSlowDisk()
		r.disk = disk
		r.start()
		ids := make([]string, 3)
		for i := range ids {
			ids[i] = do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(1)}), Follow: true}).ID
			r.reader(ids[i]).wait(messages.SearchFollowing)
		}
		disk.stop()
		r.grow(2, 3)
		<-disk.held // what is shown from now on are the orders
		disk.modes.stop()
		answers := make(chan bool, len(ids))
		for i, id := range ids {
			go func() { answers <- do(t, r.ref, messages.PauseSearch{ID: id}) }()
			if i == 0 {
				<-disk.modes.held
			}
		}
		again := make(chan bool, 1) // an order that changes nothing waits for the same write
		go func() { again <- do(t, r.ref, messages.PauseSearch{ID: ids[0]}) }()
		synctest.Wait()
		disk.modes.goOn(nil)
		if <-again {
			t.Error("pausing a search that is being paused is true")
		}
		for range ids {
			if !<-answers {
				t.Error("pausing one that follows is not true")
			}
		}
		for _, id := range ids {
			if got := do(t, r.ref, messages.GetSearch{ID: id}); got.State != messages.SearchPaused {
				t.Errorf("%s is %s after it was paused", id, got.State)
			}
		}
		disk.goOn(nil)
	})
}

// A search that has come to its end can be ended by its user until the end is on the disk; either state stays.
func TestEndedTwice(t *testing.T) {
	r := newRig(t, 22)
	r.grow(30, 0)
	disk := newSlowDisk()
	r.disk = disk
	r.start()
	made := do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(1)}), Stop: 20})
	r.reader(made.ID).wait(messages.SearchDone)
	var other messages.SearchCreated
	for written := true; written; { // that it is done
		other = do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(1)}), Start: 2, Stop: 20})
		disk.stop()
		done := func() bool { return do(t, r.ref, messages.GetSearch{ID: other.ID}).State == messages.SearchDone }
		if written = !disk.waits(done); written {
			disk.goOn(nil)
		}
	}
	before := do(t, r.ref, messages.GetSearch{ID: other.ID})
	answered := do(t, r.ref, messages.AbortSearch{ID: other.ID})
	disk.goOn(nil)
	for range 2 {
		want := messages.SearchAborted
		if before.State == messages.SearchDone {
			want = messages.SearchDone
		}
		got := do(t, r.ref, messages.GetSearch{ID: other.ID})
		if answered != (want == messages.SearchAborted) || got.State != want {
			t.Errorf("it was %s, ending it was %v, and it is %s", before.State, answered, got.State)
		}
		r.restart()
	}
}

// A client that changes a search again and again does not hold up another search in the same round, whose blocks
// are looked into once.
func TestOthersKeepTheirRound(t *testing.T) {
	r := newRig(t, 23)
	r.grow(10, 0)
	do(t, r.indexer, messages.WaitIndexed{Block: r.chain.Active().Tip().Hash})
	raws := map[chainhash.Hash]chainview.Fetched{}
	for h := int32(1); h <= 10; h++ {
		b := r.chain.Active().At(h)
		raw, _ := r.chain.Raw(&b.Hash)
		block, _ := r.chain.Block(&b.Hash)
		raws[b.Hash] = chainview.Fetched{Raw: raw, Block: block}
		r.chain.Fail(b, chainview.ErrPruned)
	}
	asked, goOn := make(chan chainhash.Hash, 100), make(chan struct{})
	ended := make(chan error, 100)
	r.fetch = func(ctx context.Context, hash *chainhash.Hash) (chainview.Fetched, error) {
		asked <- *hash
		select {
		case <-goOn:
			return raws[*hash], nil
		case <-ctx.Done():
			ended <- ctx.Err()
			return chainview.Fetched{}, ctx.Err()
		}
	}
	r.start()
	scripts := [][]byte{script(1), script(2)}
	create := func(name string) string {
		q := messages.CreateSearch{Name: name, Objects: objects(scripts), Follow: true}
		return do(t, r.ref, q).ID
	}
	first := create("first")
	<-asked
	one, other := create("one"), create("other")
	do(t, r.ref, messages.AbortSearch{ID: first})
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	<-asked // by a round of the two
	for range 5 {
		do(t, r.ref, messages.PauseSearch{ID: one})
		do(t, r.ref, messages.ResumeSearch{ID: one})
	}
	do(t, r.ref, messages.RemoveSearch{ID: one})
	select {
	case err := <-ended:
		t.Fatal("the round of the other one has ended: ", err)
	default:
	}
	do(t, r.ref, messages.AbortSearch{ID: other})
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	close(goOn)
}

// The data of removed searches is deleted soon, for all searches together.
func TestSweptTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		r := newRig(t, 24)
		r.grow(40, 0)
		r.start()
		ids := make([]searchdb.ID, 3)
		for i := range ids {
			made := do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(1)}), Stop: -1})
			r.reader(made.ID).wait(messages.SearchDone)
			n, err := strconv.ParseUint(made.ID, 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			ids[i] = searchdb.ID(n)
		}
		left := func() (sum int) {
			for _, id := range ids {
				count := func(searchdb.Place, *search.Entry) bool {
					sum++
					return true
				}
				err := r.kept.Entries(id, searchdb.Place{}, searchdb.LastOf(9, 99), count)
				if err != nil {
					t.Fatal(err)
				}
			}
			return sum
		}
		before := left()
		for _, id := range ids {
			do(t, r.ref, messages.RemoveSearch{ID: id.String()})
			time.Sleep(100 * time.Millisecond)
		}
		if now := left(); before == 0 || now != before {
			t.Errorf("of %d entries %d are left while searches are removed", before, now)
		}
		time.Sleep(3 * time.Second)
		if now := left(); now != 0 {
			t.Errorf("%d entries are left of searches that were removed", now)
		}
		made := do(t, r.ref, messages.CreateSearch{Objects: objects([][]byte{script(1)}), Stop: -1})
		r.reader(made.ID).wait(messages.SearchDone)
		n, _ := strconv.ParseUint(made.ID, 16, 64)
		ids = []searchdb.ID{searchdb.ID(n)}
		do(t, r.ref, messages.RemoveSearch{ID: made.ID})
		time.Sleep(3 * time.Second)
		if now := left(); now != 0 {
			t.Errorf("%d entries are left of one that was removed later", now)
		}
	})
}
