package searches

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// stored gives a state a store of its own.
func stored(t *testing.T, s *Searches) {
	t.Helper()
	store, err := searchdb.Open(searchdb.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s.cfg.Store, s.cfg.Lists = store, store
}

// planned notes whether a round would begin: what is free on the disk is asked for before it does, which is nothing.
func planned(s *Searches) *int {
	asked := new(int)
	s.cfg.Room = func() (free, total uint64, err error) {
		*asked++
		return 0, 1 << 40, nil
	}
	return asked
}

// A round begins where a search needs one, nothing keeps it from being written, and what was found can be read.
func TestWhenARoundBegins(t *testing.T) {
	fetch := func(context.Context, *chainhash.Hash) (f chainview.Fetched, err error) { return f, nil }
	for _, test := range []struct {
		name   string
		change func(*Searches, *job)
		begins bool
	}{
		{"one needs it", func(*Searches, *job) {}, true},
		{"not loaded", func(s *Searches, _ *job) { s.loaded = false }, false},
		{"one goes on", func(s *Searches, _ *job) { s.rounds.running = new(round) }, false},
		{"the store is down", func(s *Searches, _ *job) { s.down = true }, false},
		{"enough waits to be written", func(s *Searches, _ *job) {
			s.writer.change.Entries = make([]searchdb.Entry, maxPending)
		}, true},
		{"too much does", func(s *Searches, _ *job) {
			s.writer.change.Entries = make([]searchdb.Entry, maxPending+1)
		}, false},
		{"pruned, during a write", func(s *Searches, _ *job) { s.cfg.Fetch = fetch }, false},
		{"pruned, before a write", func(s *Searches, _ *job) {
			s.cfg.Fetch, s.writer.running = fetch, false
			s.writer.change.Entries = make([]searchdb.Entry, 1)
		}, false},
		{"pruned, after it", func(s *Searches, _ *job) { s.cfg.Fetch, s.writer.running = fetch, false }, true},
		{"others are made, its first turn", func(s *Searches, _ *job) { s.prep.running = true }, true},
		{"others are made", func(s *Searches, j *job) { s.prep.running, j.served = true, 1 }, false},
		{"others are written", func(s *Searches, j *job) { s.writer.creating, j.served = true, 1 }, false},
		{"it has had a turn", func(_ *Searches, j *job) { j.served = 1 }, true},
		{"it waits for filters", func(_ *Searches, j *job) { j.awaits = true }, false},
		{"it is paused", func(_ *Searches, j *job) { j.Status.Mode = searchdb.Paused }, false},
		{"it is at the tip", func(s *Searches, j *job) {
			j.Status.Done = blockOf(s.cfg.Chain.Open().Active().Tip())
			j.Status.Top = j.Status.Done
		}, false},
		{"one block is left", func(s *Searches, j *job) {
			j.Status.Done = blockOf(s.cfg.Chain.Open().Active().Tip().Parent)
			j.Status.Top = j.Status.Done
		}, true},
		{"there is no chain yet", func(s *Searches, _ *job) { s.cfg.Chain = new(chainview.Current) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				actortest.InBubble(t)
				s, chain := alone(t, 9)
				probe := probed(t, s)
				stored(t, s)
				asked := planned(s)
				j := jobAt(1, 0, -1, 2)
				j.Status.Done = blockOf(chain.Active().At(2))
				j.Status.Top = j.Status.Done
				s.add(j)
				s.loaded, s.writer.running, s.writer.last = true, true, time.Now()
				test.change(s, j)
				s.plan()
				if begins := *asked > 0; begins != test.begins {
					t.Errorf("it begins: %v", begins)
				}
				if s.cfg.Chain.Open() == nil {
					expect[look](probe)
				}
				s.cancel()
				time.Sleep(time.Second)
			})
		})
	}
}

// While others are made it is asked again soon whether to wait, once.
func TestBatchesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		s.prep.running = true
		for range 2 {
			for range 2 {
				if !(planner{s}).batches() {
					t.Error("nobody waits")
				}
			}
			expect[batched](probe)
			time.Sleep(settleTime)
			probe.settle()
			probe.Quiet()
			s.rounds.timer = false
		}
		s.prep.running = false
		s.writer.created = time.Now().Add(-settleTime)
		if (planner{s}).batches() {
			t.Error("they wait for none")
		}
		time.Sleep(time.Second)
		probe.settle()
		probe.Quiet()
	})
}

// A round waits for a store that is behind, and it is looked again once, soon.
func TestPaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		p := planner{s}
		s.rounds.ended = time.Now()
		if p.paces(0) {
			t.Error("it waits for nothing")
		}
		for tables, want := range map[int]time.Duration{1: pauseForTable, 2: 2 * pauseForTable, 100: roundTime} {
			s.rounds.ended = time.Now()
			for range 2 {
				if !p.paces(tables) {
					t.Errorf("it does not wait for %d tables", tables)
				}
			}
			time.Sleep(want - 1)
			probe.settle()
			probe.Quiet()
			expect[paced](probe)
			s.rounds.pacing = false
			time.Sleep(time.Second)
			probe.settle()
			probe.Quiet()
			if p.paces(10) {
				t.Error("it waits for ten tables that long")
			}
		}
	})
}

// All that run pause while there is too little room, which is written when it begins and ends, and it is looked again.
func TestPausesForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		s.writer.running, s.cfg.LeastRoom = true, 10
		runs, paused := jobAt(1, 0, -1, 2), jobAt(2, 0, -1, 2)
		paused.Status.Mode = searchdb.Paused
		s.add(runs)
		s.add(paused)
		if (planner{s}).pausesAll() {
			t.Error("it pauses, and nobody says what is free")
		}
		for i, step := range []struct {
			free             uint64
			err              error
			pauses, notified bool
		}{
			{10, nil, false, false},
			{0, errors.New("not known"), false, false},
			{9, nil, true, true},
			{9, nil, true, false},
			{10, nil, false, true},
			{11, nil, false, false},
		} {
			s.cfg.Room = func() (free, total uint64, err error) { return step.free, 1 << 40, step.err }
			s.writer.changed, s.writer.urgent = nil, false
			if got := (planner{s}).pausesAll(); got != step.pauses || (s.full != "") != step.pauses {
				t.Errorf("step %d: it pauses: %v, %q", i, got, s.full)
			}
			notified := s.writer.changed[runs.ID] == runs
			if notified != step.notified || s.writer.urgent != step.notified || s.writer.changed[paused.ID] != nil {
				t.Errorf("step %d: notified: %v, %v", i, notified, s.writer.changed)
			}
			if step.pauses {
				expect[look](probe)
				s.rounds.looking = false
			}
			probe.settle()
			probe.Quiet()
		}
	})
}

// After a round the time that it took is noted. A round that failed, was too heavy, or was not wanted any more leaves
// its searches where they were.
func TestRoundHasEnded(t *testing.T) {
	for _, test := range []struct {
		name         string
		err          error
		done         int32
		alone, heavy bool
	}{
		{"well", nil, 8, false, false},
		{"not wanted any more", fmt.Errorf("a: %w", context.Canceled), 2, false, false},
		{"heavy", fmt.Errorf("a: %w", errHeavy), 2, false, true},
		{"failed", chainview.ErrUndo, 2, true, false},
	} {
		s, chain := alone(t, 9)
		s.writer.running = true
		cancelled := false
		r := &round{base: search.Block{Height: 2}, stop: chain.Active().At(8), cancel: func() { cancelled = true }}
		for n := range 2 {
			j := jobAt(n, 0, -1, 2)
			j.alone = test.err == nil
			s.add(j)
			r.members = append(r.members, memberOf(j, r.stop))
		}
		s.rounds.running = r
		all := &mergedQuery{places: map[searchdb.ID]int{}}
		p := &pass{round: r, mergedQuery: all, blocks: 2, weight: maxWeight, built: time.Hour}
		planner{s}.ended(p, time.Hour+roundTime, test.err)
		for _, m := range r.members {
			if m.Status.Done.Height != test.done || m.alone != test.alone || m.Status.Mode != searchdb.Running {
				t.Errorf("%s: at %d, alone %v, mode %v", test.name, m.Status.Done.Height, m.alone, m.Status.Mode)
			}
		}
		if s.rounds.running != nil || !cancelled || s.rounds.ended.IsZero() || len(s.rounds.mergedQueries) != 1 {
			t.Errorf("%s: the round goes on, or its scripts are not kept", test.name)
		}
		want := int64(0)
		switch {
		case test.heavy:
			want = workOf(1, 2)
		case test.err == nil:
			want = workOf(6, 2) // as long as a round is to take, but for what making the merged query took
		}
		if s.rounds.budget.work != want {
			t.Errorf("%s: the next round is of %d, want %d", test.name, s.rounds.budget.work, want)
		}
	}
}

// Searches that are read from the disk again replace all others: waiting calls are answered, requests that came
// meanwhile are served once, and the data of removed searches is deleted.
func TestLoadedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		s, _ := alone(t, 9)
		probe := probed(t, s)
		stored(t, s)
		asked := planned(s)
		s.cfg.Pool, s.cfg.Changes = probe.Ref, new(ask.Feed[messages.PoolChanged])
		stays, gone := rangedJob(1), jobAt(2, 0, -1, 5)
		removed := jobAt(3, 0, -1, 5).Search
		removed.Objects, removed.Scripts = []searchdb.Object{"o"}, []searchdb.Script{{Script: []byte{1}}}
		entry := searchdb.Entry{ID: 3, Place: searchdb.Place{Block: true, Height: 1}, Entry: heights(1)[0]}
		for _, c := range []searchdb.Change{
			{Create: []*searchdb.Search{removed}, Entries: []searchdb.Entry{entry}}, {Remove: []searchdb.ID{3}},
		} {
			if err := s.cfg.Store.Commit(&c); err != nil {
				t.Fatal(err)
			}
		}
		s.add(stays)
		s.add(gone)
		const many = 10
		var kept, lost []*coming[messages.SearchPage]
		wait := func(j *job) *coming[messages.SearchPage] {
			q, answers := called(t.Context(), probe, messages.WaitSearch{ID: j.ID.String(), Limit: 1})
			reading{s}.wait(q)
			probe.settle()
			return answers
		}
		for range many {
			kept, lost = append(kept, wait(stays)), append(lost, wait(gone))
		}
		gone.Mempool = true
		released := 0
		gone.whenKnown = []func(){func() { released++ }}
		u := &s.unconfirmed
		tx, found := inPoolOf(1, 1)
		mempool{s}.found(gone, []*poolview.Tx{tx}, []poolEntries{found})
		u.cut = true
		early, answers := called(t.Context(), probe, messages.ListSearches{})
		s.receive(early)
		fresh := *stays.Search
		fresh.Mempool = true
		s.have([]*searchdb.Search{&fresh}, nil)
		if !s.loaded || s.early != nil || released != 1 || u.entries != 0 || u.cut || len(u.holders) > 0 {
			t.Errorf("loaded %v, %d early, %d released, %d unconfirmed", s.loaded, len(s.early), released, u.entries)
		}
		if a := answered(t, answers); len(a.val) != 1 || a.val[0].ID != stays.ID.String() {
			t.Errorf("listed are %+v", a.val)
		}
		pool := expect[*ask.Call[messages.GetPoolTxs, messages.PoolTxs]](probe)
		for i := range many {
			unanswered(t, kept[i]) // it waits for the pool
			if a := answered(t, lost[i]); !errors.Is(a.err, messages.ErrSearchNotFound) {
				t.Errorf("of one that is gone: %+v", a)
			}
		}
		pool.Answer(messages.PoolTxs{}, nil)
		mempool{s}.contents(expect[poolContents](probe))
		coins := expect[*ask.Call[messages.GetPoolCoins, []*messages.Coin]](probe)
		coins.Answer(nil, nil)
		mempool{s}.haveCoins(expect[poolCoins](probe))
		for i := range many {
			if a := answered(t, kept[i]); a.err != nil || a.val.Height != 5 {
				t.Errorf("of one that stays: %+v", a)
			}
		}
		if len(s.waiters.of) > 0 || *asked == 0 || s.jobs[1].Used == nil || s.writer.sweeping {
			t.Errorf("%d wait, looked %d times, used %v", len(s.waiters.of), *asked, s.jobs[1].Used)
		}
		left := 0
		end := searchdb.LastOf(9, 9)
		err := s.cfg.Store.Entries(3, searchdb.Place{}, end, func(searchdb.Place, *search.Entry) bool {
			left++
			return true
		})
		if err != nil || left > 0 {
			t.Errorf("%d entries are left, %v", left, err)
		}
		s.cancel()
		time.Sleep(time.Minute)
	})
}

// Searches that cannot be read are not taken for none.
func TestNotLoaded(t *testing.T) {
	s, _ := alone(t, 9)
	defer func() {
		if recover() == nil || s.loaded {
			t.Error("it goes on with no searches")
		}
	}()
	s.have(nil, errors.New("lost"))
}

// An actor that stops leaves nothing that listens, works or waits.
func TestStopsAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		s.cfg.Tip, s.cfg.Changes = new(ask.Feed[messages.TipChanged]), new(ask.Feed[messages.PoolChanged])
		s.cfg.Lists = listOf{}
		s.cfg.Tip.SubscribeLatest(s.c)
		s.cfg.Changes.Subscribe(s.c)
		s.unconfirmed.view = poolview.New()
		j := jobAt(1, 0, -1, 9)
		s.add(j)
		q, answers := called(t.Context(), probe, messages.WaitSearch{ID: j.ID.String(), Limit: 1, Timeout: time.Second})
		reading{s}.wait(q)
		probe.settle()
		done := false
		s.tasks.Go(s.c, func() func() {
			<-s.ctx.Done()
			return func() { done = true }
		})
		s.after(time.Second, look{})
		s.stop(s.c)
		s.cfg.Tip.Publish(messages.TipChanged{})
		s.cfg.Changes.Publish(messages.PoolChanged{})
		time.Sleep(time.Minute)
		probe.settle()
		probe.Quiet()
		if unanswered(t, answers); done || len(s.waiters.of) > 0 || s.ctx.Err() == nil {
			t.Errorf("work was done: %v, %d wait", done, len(s.waiters.of))
		}
	})
}
