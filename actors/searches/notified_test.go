package searches_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/actors/searches"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// refuses asks and wants an error, and nothing beside it.
func refuses[Q messages.Request[R], R any](t *testing.T, ref *ask.Ref, q Q, want error) {
	t.Helper()
	if got, err := ask.Ask(t.Context(), ref, q); !errors.Is(err, want) || !reflect.ValueOf(&got).Elem().IsZero() {
		t.Errorf("%T: %+v, %v; want %v", q, got, err, want)
	}
}

// While the store takes nothing, what would change or read lists is refused at once, and what is known is answered.
// When it can be opened again, which is tried until it can, all goes on.
func TestStoreIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		r := newRig(t, 14)
		r.grow(5, 0)
		disk := faultfs.New()
		r.disk = disk
		r.start()
		scripts := [][]byte{script(1)}
		q := messages.CreateSearch{Name: "n", Objects: objects(scripts), Follow: true}
		id := do(t, r.ref, q).ID
		r.reader(id).wait(messages.SearchFollowing)
		var tried atomic.Int32
		disk.Inject(func(faultfs.Op) error {
			tried.Add(1)
			return syscall.EIO
		})
		refuses(t, r.ref, messages.PauseSearch{ID: id}, messages.ErrSearchStore)
		for range 2 {
			refuses(t, r.ref, q, messages.ErrSearchStore)
			refuses(t, r.ref, messages.PauseSearch{ID: id}, messages.ErrSearchStore)
			refuses(t, r.ref, messages.ResumeSearch{ID: id}, messages.ErrSearchStore)
			refuses(t, r.ref, messages.AbortSearch{ID: id}, messages.ErrSearchStore)
			refuses(t, r.ref, messages.RemoveSearch{ID: id}, messages.ErrSearchStore)
			refuses(t, r.ref, messages.ExtendSearch{ID: id, Objects: objects(scripts)}, messages.ErrSearchStore)
			refuses(t, r.ref, messages.GetSearchEntries{ID: id, Limit: 1}, messages.ErrSearchStore)
			refuses(t, r.ref, messages.WaitSearch{ID: id, Limit: 1}, messages.ErrSearchStore)
			if st := do(t, r.ref, messages.GetSearch{ID: id}); st.Name != "n" || st.State != messages.SearchFollowing {
				t.Errorf("%+v", st)
			}
			if all := do(t, r.ref, messages.ListSearches{}); len(all) != 1 || all[0].ID != id {
				t.Errorf("listed: %+v", all)
			}
			refuses(t, r.ref, messages.GetSearch{ID: "0"}, messages.ErrSearchNotFound)
			before := tried.Load()
			time.Sleep(time.Minute) // it cannot be opened
			if n := tried.Load() - before; n < 5 {
				t.Errorf("%d tries within a minute", n)
			}
		}
		disk.Inject(nil)
		time.Sleep(10 * time.Second)
		if !do(t, r.ref, messages.PauseSearch{ID: id}) || !do(t, r.ref, messages.ResumeSearch{ID: id}) {
			t.Error("it takes no orders")
		}
		r.grow(2, 0)
		p := r.reader(id).wait(messages.SearchFollowing)
		if p.Height != 7 {
			t.Errorf("follows at height %d", p.Height)
		}
	})
}

// A search over blocks that the chain does not have is refused, as is what is asked of a search that is not there.
func TestWhatIsNotThere(t *testing.T) {
	r := newRig(t, 3)
	r.grow(20, 0)
	r.start()
	o := objects([][]byte{script(1)})
	for _, q := range []messages.CreateSearch{
		{Objects: o, Start: 21, Stop: -1},
		{Objects: o, Start: 21, Follow: true},
		{Objects: o, Start: 3, Stop: 2},
		{Objects: o, Start: 0, Stop: 21},
		{Objects: o, Start: -1, Stop: 2},
	} {
		refuses(t, r.ref, q, messages.ErrBlockNotFound)
	}
	for _, q := range []messages.CreateSearch{
		{Objects: o, Start: 20, Stop: -1}, {Objects: o, Start: 20, Follow: true}, {Objects: o, Start: 2, Stop: 2},
	} {
		do(t, r.ref, q)
	}
	const id = "0123456789abcdef"
	refuses(t, r.ref, messages.ExtendSearch{ID: id, Objects: o}, messages.ErrSearchNotFound)
	refuses(t, r.ref, messages.PauseSearch{ID: id}, messages.ErrSearchNotFound)
	refuses(t, r.ref, messages.ResumeSearch{ID: id}, messages.ErrSearchNotFound)
	refuses(t, r.ref, messages.AbortSearch{ID: id}, messages.ErrSearchNotFound)
	refuses(t, r.ref, messages.RemoveSearch{ID: id}, messages.ErrSearchNotFound)
	refuses(t, r.ref, messages.WaitSearch{ID: id, Limit: 1}, messages.ErrSearchNotFound)
	refuses(t, r.ref, messages.GetSearchEntries{ID: id, Limit: 1}, messages.ErrSearchNotFound)
	if list := do(t, r.ref, messages.ListSearches{}); len(list) != 3 {
		t.Errorf("%d searches", len(list))
	}
}

// The same scripts once more change nothing, and an extension at the tip is looked at from there on.
func TestExtendedByNothing(t *testing.T) {
	r := newRig(t, 3)
	r.grow(20, 0)
	r.start()
	o := objects([][]byte{script(1)})
	id := do(t, r.ref, messages.CreateSearch{Objects: o, Follow: true}).ID
	r.reader(id).wait(messages.SearchFollowing)
	before := do(t, r.ref, messages.GetSearch{ID: id})
	if after := do(t, r.ref, messages.ExtendSearch{ID: id, Objects: o, Start: -1}); !reflect.DeepEqual(after, before) {
		t.Errorf("got %+v, before %+v", after, before)
	}
	refuses(t, r.ref, messages.ExtendSearch{ID: id, Objects: o, Start: 21}, messages.ErrBlockNotFound)
	more := messages.ExtendSearch{ID: id, Objects: objects([][]byte{script(2)}), Start: 20}
	if st := do(t, r.ref, more); st.Height != 19 || st.Scripts != 2 {
		t.Errorf("%d scripts, done up to %d", st.Scripts, st.Height)
	}
}

// A search that is done goes on with what joins, and is done again.
func TestExtendDone(t *testing.T) {
	r := newRig(t, 3)
	r.grow(40, 0)
	r.start()
	scripts := [][]byte{script(1), script(2)}
	id := do(t, r.ref, messages.CreateSearch{Objects: objects(scripts[:1]), Start: 3, Stop: 30}).ID
	a := r.reader(id)
	a.wait(messages.SearchDone)
	more := objects(scripts)
	more.Scripts = more.Scripts[1:]
	st := do(t, r.ref, messages.ExtendSearch{ID: id, Objects: more, Start: -1})
	if st.State == messages.SearchDone || st.Height != 2 {
		t.Errorf("%s, done up to %d", st.State, st.Height)
	}
	a.wait(messages.SearchDone)
	a.sorted()
	for _, list := range a.blocks {
		for i := range list {
			list[i].Object = "" // of those that joined there are more
		}
	}
	if got := do(t, r.ref, messages.GetSearch{ID: id}); got.Found != uint64(a.read) || got.Height != 30 {
		t.Errorf("%d entries up to height %d, %d were read", got.Found, got.Height, a.read)
	}
}

// New entries of a search that follows are reported when they can be read, in the order of its list, with a cursor
// behind them. Entries of a search that is far behind are not reported. The removal of a search is.
func TestNewsOfSearches(t *testing.T) {
	r := newRig(t, 7)
	r.news = new(ask.Feed[messages.News])
	found, removed := make(chan messages.SearchFound, 1000), make(chan messages.SearchChanged, 10)
	listening := make(chan struct{})
	r.sys.Spawn("listener", func() actor.Actor {
		return actor.ReceiveFunc(func(c actor.Context) {
			switch m := c.Message().(type) {
			case *actor.Started:
				r.news.Subscribe(c)
				close(listening)
			case messages.SearchFound:
				found <- m
			case messages.SearchChanged:
				if m.Removed {
					removed <- m
				}
			}
		})
	})
	<-listening
	r.grow(150, 0)
	r.start()
	scripts := [][]byte{script(0), script(1), script(2), script(3), script(4), script(5), script(6), script(7)}
	id := do(t, r.ref, messages.CreateSearch{Name: "n", Objects: objects(scripts), Follow: true}).ID
	ranged := do(t, r.ref, messages.CreateSearch{Name: "range", Objects: objects(scripts), Stop: 150}).ID
	a := r.reader(id)
	a.wait(messages.SearchFollowing)
	r.reader(ranged).wait(messages.SearchDone)
	after := a.cursor
	for range 6 {
		r.grow(1, r.rng.IntN(3))
		a.wait(messages.SearchFollowing)
	}
	var notified []messages.SearchEntry
	for m := range found {
		if m.ID != id || m.Name != "n" {
			t.Fatalf("notified of %s, %s", m.ID, m.Name)
		}
		if len(m.Entries) == 0 || m.Entries[0].Height < 50 && m.Entries[0].Type != messages.SearchDisconnect {
			t.Errorf("notified of %d entries from %+v", len(m.Entries), m.Entries)
		}
		if m.Entries[0].Height > 148 || len(notified) > 0 { // of the blocks that came later
			notified = append(notified, m.Entries...)
		}
		page := do(t, r.ref, messages.GetSearchEntries{ID: id, Cursor: m.Cursor, Limit: 1000})
		if len(page.Entries) == 0 {
			break // that was the last
		}
	}
	p := do(t, r.ref, messages.GetSearchEntries{ID: id, Cursor: after, Limit: 1000})
	if n := len(p.Entries); n == 0 || len(notified) < n || !reflect.DeepEqual(notified[len(notified)-n:], p.Entries) {
		t.Errorf("reported are %+v, listed %+v", notified, p.Entries)
	}
	do(t, r.ref, messages.RemoveSearch{ID: id})
	if m := <-removed; m.ID != id || m.Height != r.chain.Active().Height() {
		t.Errorf("reported as removed: %+v", m)
	}
}

// The store's own lists are read where no others are set.
func TestListsOfTheStore(t *testing.T) {
	r := newRig(t, 3)
	r.grow(20, 0)
	r.lists = func(*searchdb.Store) searches.Lists { return nil }
	r.start()
	scripts := [][]byte{script(1), script(2)}
	a := r.reader(do(t, r.ref, messages.CreateSearch{Objects: objects(scripts), Stop: -1}).ID)
	p := a.wait(messages.SearchDone)
	a.holds(scripts, 0, p.Height)
}

// A search that stops at a block that nobody knows any more, or has looked at such blocks, fails and says which.
func TestBlocksNotKnown(t *testing.T) {
	r := newRig(t, 3)
	r.grow(10, 0)
	r.start()
	gone := chainhash.Hash{7}
	var c searchdb.Change
	for id := range searchdb.ID(2) {
		n := &searchdb.Search{ID: id + 1, Objects: []searchdb.Object{"o"}}
		n.Scripts = []searchdb.Script{{Script: script(1)}}
		n.Name, n.Number, n.Stop, n.StopBlock = id.String(), uint64(id)+1, 5, gone
		n.Status.State = search.NewState(search.Block{Height: -1})
		if id == 1 {
			n.Stop = -1
			n.Status.Advance(search.Block{Height: 3, Hash: gone}, nil, never)
		}
		c.Create = append(c.Create, n)
	}
	if err := r.kept.Commit(&c); err != nil {
		t.Fatal(err)
	}
	r.restart()
	for _, n := range c.Create {
		p := r.reader(n.ID.String()).wait(messages.SearchFailed)
		if want := fmt.Sprintf("Block %v is not known any more", gone); p.Error != want {
			t.Errorf("%q, want %q", p.Error, want)
		}
	}
}

func never(int32) bool { return false }
