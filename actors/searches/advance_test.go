package searches

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// heights returns entries at some heights.
func heights(list ...int32) (found []search.Entry) {
	for _, h := range list {
		found = append(found, search.Entry{Kind: search.Receive, Height: h})
	}
	return found
}

// A round's entries have their places in the order of the blocks, and the search has come to the end of the round.
func TestAdvanced(t *testing.T) {
	s, chain := alone(t, 9)
	s.found = 100
	j := jobAt(1, 0, -1, 2)
	j.lacks, j.Status.Epoch, j.Used, j.began = "a block", 3, searchdb.Used{}, time.Unix(1, 0)
	s.add(j)
	m := memberOf(j, chain.Active().At(8))
	m.found, m.used, m.known = heights(3, 3, 3, 5, 5, 7), searchdb.Used{1: 2}, new(outputs)
	r := &round{base: j.Status.Done, stop: chain.Active().At(7), members: []*member{m}}
	planner{s}.advance(r, m)
	if n := len(s.writer.change.Entries); n != len(m.found) {
		t.Fatalf("%d entries", n)
	}
	for i, want := range []searchdb.Place{
		{Epoch: 3, Block: true, Height: 3},
		{Epoch: 3, Block: true, Height: 3, Sequence: 1},
		{Epoch: 3, Block: true, Height: 3, Sequence: 2},
		{Epoch: 3, Block: true, Height: 5},
		{Epoch: 3, Block: true, Height: 5, Sequence: 1},
		{Epoch: 3, Block: true, Height: 7},
	} {
		if e := s.writer.change.Entries[i]; e.Place != want || e.ID != j.ID || e.Entry != m.found[i] {
			t.Errorf("entry %d is at %+v, want %+v", i, e.Place, want)
		}
	}
	if j.Status.Done != blockOf(r.stop) || j.Status.Found != 6 || s.found != 106 || j.lacks != "" ||
		j.known != m.known || j.Used[1] != 2 {
		t.Errorf("done up to %v with %d entries of %d, used %v", j.Status.Done, j.Status.Found, s.found, j.Used)
	}
	if s.writer.changed[j.ID] != j || s.writer.used[j.ID] != j || s.writer.urgent {
		t.Errorf("to be written is %+v", s.writer)
	}
	planner{s}.advance(r, m)
	if len(s.writer.change.Entries) != 6 || j.Status.Found != 6 {
		t.Errorf("%d entries after the same round once more", len(s.writer.change.Entries))
	}
}

// Where a round ends, a search goes on, waits for new blocks, is done, pauses or fails.
func TestAfterARound(t *testing.T) {
	for _, test := range []struct {
		name        string
		follows     bool
		last, stop  int32
		limit       uint64
		err         error
		mode        searchdb.Mode
		done        int32
		urgent, has bool
	}{
		{"on the way", true, 9, 8, 0, nil, searchdb.Running, 8, false, true},
		{"at the tip", true, 9, 9, 0, nil, searchdb.Running, 9, true, true},
		{"in its range", false, 8, 7, 0, nil, searchdb.Running, 7, false, true},
		{"at its end", false, 8, 8, 0, nil, searchdb.Done, 8, true, true},
		{"behind its end", false, 6, 8, 0, nil, searchdb.Done, 6, true, true},
		{"without room", true, 9, 8, 1, nil, searchdb.Paused, 2, true, false},
		{"failed", true, 9, 8, 0, chainview.ErrPruned, searchdb.Failed, 2, true, false},
	} {
		s, chain := alone(t, 9)
		s.cfg.Limits.Entries = test.limit
		stop := int32(-1)
		if !test.follows {
			stop = test.last
		}
		j := jobAt(1, 0, stop, 2)
		s.add(j)
		m := memberOf(j, chain.Active().At(test.last))
		m.found, m.err = heights(3, 4), test.err
		planner{s}.advance(&round{base: j.Status.Done, stop: chain.Active().At(test.stop), members: []*member{m}}, m)
		if j.Status.Mode != test.mode || j.Status.Done.Height != test.done || s.writer.urgent != test.urgent ||
			(len(s.writer.change.Entries) == 2) != test.has || s.writer.changed[j.ID] != j {
			t.Errorf("%s: mode %v at %d, urgent %v, %d entries", test.name, j.Status.Mode, j.Status.Done.Height,
				s.writer.urgent, len(s.writer.change.Entries))
		}
		if (j.Status.Reason != "") != (test.mode == searchdb.Paused || test.mode == searchdb.Failed) {
			t.Errorf("%s: for the reason %q", test.name, j.Status.Reason)
		}
	}
}

// A search that does not run any more is not ended again.
func TestEndedOnce(t *testing.T) {
	s, _ := alone(t, 9)
	j := jobAt(1, 0, -1, 2)
	s.end(j, searchdb.Done, "reason")
	if j.Status.Mode != searchdb.Done || j.Status.Reason != "reason" || j.Status.Changes != 1 || !s.writer.urgent {
		t.Errorf("%+v", j.Status)
	}
	s.writer = writer{}
	s.end(j, searchdb.Failed, "other")
	if j.Status.Mode != searchdb.Done || j.Status.Changes != 1 || s.writer.urgent || len(s.writer.changed) > 0 {
		t.Errorf("%+v", j.Status)
	}
}

// A failed round is tried again later if blocks cannot be read just now. Otherwise several searches go on each for
// itself, and a single search fails, or waits for a block that a peer may give.
func TestFailedRounds(t *testing.T) {
	fetch := func(context.Context, *chainhash.Hash) (f chainview.Fetched, err error) { return f, nil }
	for _, test := range []struct {
		name    string
		err     error
		fetch   chainview.Fetch
		members int
		want    string
	}{
		{"closed", chainview.ErrClosed, nil, 1, "later"},
		{"not ready", fmt.Errorf("a: %w", chainview.ErrNotReady), nil, 2, "later"},
		{"not yet", chainview.ErrNotYet, nil, 1, "later"},
		{"several", chainview.ErrPruned, fetch, 2, "alone"},
		{"one", chainview.ErrPruned, nil, 1, "failed"},
		{"one that is not pruned", chainview.ErrUndo, fetch, 1, "failed"},
		{"one of a pruned block", chainview.ErrPruned, fetch, 1, "lacks"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, chain := alone(t, 9)
				probe := probed(t, s)
				s.cfg.Fetch = test.fetch
				r := &round{stop: chain.Active().Tip()}
				for n := range test.members {
					j := jobAt(n, 0, -1, 2)
					s.add(j)
					r.members = append(r.members, memberOf(j, r.stop))
				}
				planner{s}.failed(r, test.err)
				for _, m := range r.members {
					got := map[string]bool{
						"later":  m.awaits && m.lacks == "",
						"alone":  m.alone,
						"failed": m.Status.Mode == searchdb.Failed,
						"lacks":  m.awaits && m.lacks != "",
					}
					for what, is := range got {
						if is != (what == test.want) {
							t.Errorf("%s is %v", what, is)
						}
					}
				}
				if test.want == "later" {
					time.Sleep(lookAgain - 1)
					probe.settle()
					probe.Quiet()
					if m := expect[indexed](probe); m.err != nil || m.stop != nil {
						t.Errorf("%+v", m)
					}
				}
				s.cancel()
				probe.settle()
				probe.Quiet()
			})
		})
	}
}

// A block that is lacking is asked for again in a while, once for all searches; it is said once, and those that lack
// nothing are left alone.
func TestAsksAgainForWhatLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		one, two, other := jobAt(1, 0, -1, 2), jobAt(2, 0, -1, 2), jobAt(3, 0, -1, 2)
		for _, j := range []*job{one, two, other} {
			s.add(j)
		}
		other.awaits = true
		p := planner{s}
		for range 2 {
			p.lack(one, chainview.ErrPruned)
			p.lack(two, chainview.ErrPruned)
			if len(s.writer.changed) != 2 || !s.writer.urgent || one.lacks == "" || !one.awaits {
				t.Errorf("%d have changed, and lack %q", len(s.writer.changed), one.lacks)
			}
			s.writer = writer{}
			p.lack(one, chainview.ErrPruned)
			if len(s.writer.changed) > 0 || s.writer.urgent {
				t.Error("it is said again")
			}
			time.Sleep(fetchAgain - 1)
			probe.settle()
			probe.Quiet()
			expect[askAgain](probe)
			probe.settle()
			probe.Quiet()
			p.askAgain()
			if one.awaits || two.awaits || !other.awaits || one.lacks == "" {
				t.Errorf("they wait: %v, %v, %v", one.awaits, two.awaits, other.awaits)
			}
			one.lacks, two.lacks = "", ""
		}
	})
}

// Searches that wait for filters go on when the filters are there. If the filters cannot be had, the actor looks
// again, once.
func TestWaitForFilters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, chain := alone(t, 9)
		probe := probed(t, s)
		j := jobAt(1, 0, -1, 2)
		s.add(j)
		for range 2 {
			j.awaits = true
			planner{s}.indexed(indexed{err: messages.ErrBlockNotFound, stop: chain.Active().Tip()})
			s.lookLater()
			if j.awaits || s.rounds.indexed != (chainhash.Hash{}) {
				t.Errorf("it waits: %v, and the filters of %v are there", j.awaits, s.rounds.indexed)
			}
			time.Sleep(lookAgain - 1)
			probe.settle()
			probe.Quiet()
			expect[look](probe)
			probe.settle()
			probe.Quiet()
			s.rounds.looking = false
		}
		j.awaits = true
		planner{s}.indexed(indexed{stop: chain.Active().Tip()})
		planner{s}.indexed(indexed{})
		if j.awaits || s.rounds.indexed != chain.Active().Tip().Hash || s.rounds.looking {
			t.Errorf("it waits: %v, and the filters of %v are there", j.awaits, s.rounds.indexed)
		}
	})
}

// A removed search leaves nothing: no scripts for later rounds, nothing that waits for it, nothing to be written.
func TestRemovedLeavesNothing(t *testing.T) {
	s, _ := alone(t, 9)
	s.writer.running = true
	j, other := jobAt(1, 0, -1, 2), jobAt(2, 0, -1, 2)
	s.add(j)
	s.add(other)
	s.dirty(j)
	s.dirty(other)
	u := &mergedQuery{places: map[searchdb.ID]int{other.ID: 0}}
	s.rounds.mergedQueries = mergedQueries{{places: map[searchdb.ID]int{j.ID: 0}}, u}
	released := 0
	j.whenKnown = []func(){func() { released++ }}
	tx, found := inPoolOf(1, 1)
	mempool{s}.found(j, []*poolview.Tx{tx}, []poolEntries{found})
	s.remove(&ask.Call[messages.RemoveSearch, bool]{Req: messages.RemoveSearch{ID: j.ID.String()}})
	if s.jobs[j.ID] != nil || !slices.Equal(s.rounds.mergedQueries, mergedQueries{u}) || released != 1 ||
		s.unconfirmed.entries != 0 {
		t.Errorf("%d merged queries, %d released, %d unconfirmed",
			len(s.rounds.mergedQueries), released, s.unconfirmed.entries)
	}
	w := &s.writer
	if !w.urgent || len(w.then) != 1 || len(w.changed) != 1 || !slices.Equal(w.change.Remove, []searchdb.ID{j.ID}) {
		t.Errorf("to be written is %+v", w)
	}
}

// Blocks that have left the chain are reported with their times and in their order, behind earlier entries.
func TestDisconnectedEntries(t *testing.T) {
	s, chain := alone(t, 9)
	j := jobAt(1, 0, -1, 8)
	left := []*chainview.Block{chain.Active().At(8), chain.Active().At(7), chain.Active().At(6)}
	j.Status.Done, j.Status.Epoch, j.known = blockOf(left[0]), 2, new(outputs)
	j.Status.Top = j.Status.Done
	s.add(j)
	at := chain.Active().At(5)
	for n := range 6 {
		at = chain.MineOn(at, chaintest.Template{Script: []byte{byte(n)}})
	}
	reader := s.cfg.Chain.Open()
	if !(planner{s}).disconnect(reader, reader.Active(), j) {
		t.Error("it fails")
	}
	if len(s.writer.change.Entries) != len(left) {
		t.Fatalf("%d entries", len(s.writer.change.Entries))
	}
	for i, b := range left {
		want := searchdb.Entry{ID: j.ID, Place: searchdb.Place{Epoch: 3, Height: uint32(i)}, Entry: search.Entry{
			Kind: search.Disconnect, Height: b.Height, Block: b.Hash, Time: uint32(b.Time().Unix()),
		}}
		if got := s.writer.change.Entries[i]; got != want {
			t.Errorf("entry %d: %+v, want %+v", i, got, want)
		}
	}
	if j.known != nil || s.writer.changed[j.ID] != j || j.Status.Done.Height != 5 {
		t.Errorf("done up to %d, written is %v", j.Status.Done.Height, s.writer.changed)
	}
	lost := jobAt(2, 0, -1, 8)
	lost.Status.Top = search.Block{Height: 8, Hash: chainhash.Hash{7}}
	if (planner{s}).disconnect(reader, reader.Active(), lost) || lost.Status.Mode != searchdb.Failed {
		t.Errorf("of a block that nobody knows: mode %v", lost.Status.Mode)
	}
	none := jobAt(3, 0, -1, -1)
	none.Status.Top.Height = -1
	if !(planner{s}).disconnect(reader, reader.Active(), none) || none.Status.Mode != searchdb.Running {
		t.Errorf("of none: mode %v", none.Status.Mode)
	}
}
