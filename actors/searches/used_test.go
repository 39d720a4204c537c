package searches_test

import (
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// ranged returns a scan object of the scripts with some numbers.
func ranged(text string, first, last int) messages.SearchObjects {
	o := messages.SearchObjects{Texts: []string{text}}
	for n := first; n <= last; n++ {
		o.Scripts = append(o.Scripts, messages.SearchScript{Script: script(n), Index: int32(n)})
	}
	return o
}

// highest returns the highest number of a script that the blocks pay to.
func (r *rig) highest() int32 {
	highest := int32(-1)
	var scripts [][]byte
	for n := range 8 {
		scripts = append(scripts, script(n))
	}
	for _, e := range r.oracle(scripts, 0, r.chain.Active().Height()) {
		highest = max(highest, e.Index)
	}
	return highest
}

// waitUsed waits until the search reports a descriptor.
func (r *rig) waitUsed(id string, want messages.SearchDescriptor) {
	r.t.Helper()
	var got []messages.SearchDescriptor
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		st := do(r.t, r.ref, messages.GetSearch{ID: id})
		if got = st.Descriptors; len(got) == 1 && got[0] == want {
			return
		}
		do(r.t, r.ref, messages.WaitSearch{ID: id, Cursor: st.Cursor, Limit: 1, Timeout: 20 * time.Millisecond})
	}
	r.t.Fatalf("got %+v, want %+v", got, want)
}

// TestUsed tells how much of a range is used, after a start, too, and when it is used up.
func TestUsed(t *testing.T) {
	for _, blocksOnly := range []bool{false, true} {
		r := newRig(t, 5)
		r.news = new(ask.Feed[messages.News])
		notified := make(chan messages.SearchExhausted, 100)
		listening := make(chan struct{})
		r.sys.Spawn("listener", func() actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				switch m := c.Message().(type) {
				case *actor.Started:
					r.news.Subscribe(c)
					close(listening)
				case messages.SearchExhausted:
					notified <- m
				}
			})
		})
		<-listening
		r.grow(60, 0)
		r.start()
		short := do(t, r.ref, messages.CreateSearch{
			Objects: ranged("short", 0, 26), Stop: -1, Follow: true, BlocksOnly: blocksOnly,
		})
		long := do(t, r.ref, messages.CreateSearch{
			Objects: ranged("long", 0, 27), Stop: -1, Follow: true, BlocksOnly: blocksOnly,
		})
		none := do(t, r.ref, messages.CreateSearch{Objects: ranged("none", 100, 103), Stop: -1, Follow: true})
		if n := r.highest(); n != 7 {
			t.Fatalf("the highest script is %d", n)
		}
		used := messages.SearchDescriptor{Desc: "short", Last: 26, HighestUsed: 7, Known: true, Exhausted: true}
		enough := messages.SearchDescriptor{Desc: "long", Last: 27, HighestUsed: 7, Known: true}
		unused := messages.SearchDescriptor{Desc: "none", First: 100, Last: 103, HighestUsed: -1, Known: true}
		for range 2 {
			r.waitUsed(short.ID, used)
			r.waitUsed(long.ID, enough)
			r.waitUsed(none.ID, unused)
			r.restart()
		}
		if m := <-notified; m.ID != short.ID || m.Descriptor.Desc != "short" || !m.Descriptor.Exhausted {
			t.Errorf("notified of %+v", m)
		}
		if len(notified) > 0 {
			t.Errorf("notified again, of %+v", <-notified)
		}
		// The same descriptor with more is one, and has enough.
		do(t, r.ref, messages.ExtendSearch{ID: short.ID, Objects: ranged("short#checksum", 20, 40), Start: -1})
		used.Last, used.Exhausted = 40, false
		r.waitUsed(short.ID, used)
		if err := r.ref.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUsedOfEarlier finds the used indices of a search that an earlier version has kept among its entries.
func TestUsedOfEarlier(t *testing.T) {
	r := newRig(t, 4)
	r.grow(10, 0)
	r.start()
	made := do(t, r.ref, messages.CreateSearch{Objects: ranged("old", 0, 9), Stop: -1})
	r.reader(made.ID).wait(messages.SearchDone)
	r.restart()
	n := &searchdb.Search{ID: 7, Objects: []searchdb.Object{"old"}}
	n.Name, n.Number, n.Stop = "old", 99, 3
	tip := r.chain.Active().At(3)
	n.StopBlock = tip.Hash
	for i := range 10 {
		n.Scripts = append(n.Scripts, searchdb.Script{Script: script(i), Index: int32(i)})
	}
	n.Status.State = search.NewState(search.Block{Height: -1})
	entries := []search.Entry{
		{Kind: search.Receive, Height: 2, Block: r.chain.Active().At(2).Hash, Script: 4},
		{Kind: search.Spend, Height: 2, Block: r.chain.Active().At(2).Hash, Script: 6},
		{Kind: search.Receive, Height: 3, Block: tip.Hash, Script: 5},
	}
	n.Status.Advance(search.Block{Height: 3, Hash: tip.Hash}, entries, never)
	n.Status.Mode = searchdb.Done
	change := searchdb.Change{Create: []*searchdb.Search{n}}
	for i := range entries {
		change.Entries = append(change.Entries, searchdb.Entry{
			ID: n.ID, Entry: entries[i],
			Place: searchdb.Place{Block: true, Height: uint32(entries[i].Height), Sequence: uint32(i)},
		})
	}
	if err := r.kept.Commit(&change); err != nil {
		t.Fatal(err)
	}
	r.restart()
	want := messages.SearchDescriptor{Desc: "old", Last: 9, HighestUsed: 6, Known: true, Exhausted: true}
	for range 2 {
		r.waitUsed(n.ID.String(), want)
		r.restart()
	}
}
