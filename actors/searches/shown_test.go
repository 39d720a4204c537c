package searches

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// Searches that are read from the disk again replace the searches in memory, and count
// once.
func TestReadAgain(t *testing.T) {
	s, _ := alone(t, 0)
	var list []*searchdb.Search
	for n := range 3 {
		list = append(list, jobAt(n+1, 0, -1, 5).Search)
		list[n].Scripts, list[n].Status.Found = make([]searchdb.Script, 2), 10
	}
	list[0].Used = searchdb.Used{1: 2}
	s.reset(list)
	s.reset(list[:2])
	if len(s.jobs) != 2 || len(s.names) != 2 || s.scripts != 4 || s.found != 20 || s.numbers != 2 {
		t.Errorf("%d searches, %d names, %d scripts, %d entries, number %d",
			len(s.jobs), len(s.names), s.scripts, s.found, s.numbers)
	}
	j := s.jobs[1]
	j.Used.Merge(searchdb.Used{1: 9})
	j.Status.Advance(search.Block{Height: 9}, make([]search.Entry, 1), never)
	if j.shown.Done.Height != 5 || j.shown.Found != 10 || j.shownUsed[1] != 2 {
		t.Errorf("what is on the disk has become %+v, %v", j.shown, j.shownUsed)
	}
	if other := s.jobs[2]; other.shownUsed != nil || other.fresh == nil {
		t.Errorf("indices that are not known are %v", other.shownUsed)
	}
}

// A status waits for a while, but not where somebody waits for it, nor where there are entries.
func TestWhenItIsWritten(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*Searches, *job)
		waits  bool
	}{
		"a status":      {func(*Searches, *job) {}, true},
		"urgent":        {func(s *Searches, _ *job) { s.writer.urgent = true }, false},
		"after a while": {func(s *Searches, _ *job) { s.writer.last = time.Now().Add(-writeEvery) }, false},
		"before that":   {func(s *Searches, _ *job) { s.writer.last = time.Now().Add(1 - writeEvery) }, true},
		"with an entry": {func(s *Searches, j *job) {
			s.writer.change.Entries = []searchdb.Entry{{ID: j.ID}}
		}, false},
		"during a write":    {func(s *Searches, _ *job) { s.writer.urgent, s.writer.running = true, true }, true},
		"nothing is there":  {func(s *Searches, _ *job) { s.writer.urgent, s.writer.changed = true, nil }, true},
		"used indices, too": {func(s *Searches, j *job) { s.writer.urgent = true; usage{s}.usedChanged(j) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				actortest.InBubble(t)
				s, _ := alone(t, 0)
				probe := probed(t, s)
				store, err := searchdb.Open(searchdb.Options{Dir: t.TempDir()})
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				s.cfg.Store = store
				j := jobAt(1, 0, -1, 5)
				j.Used = searchdb.Used{1: 7}
				s.add(j)
				s.writer.last = time.Now()
				before := s.writer.last
				s.dirty(j)
				j.Status.Reason = "new"
				test.change(s, j)
				idle := len(s.writer.changed) == 0 || s.writer.running
				s.flush()
				s.flush()
				probe.settle()
				if waits := j.shown.Reason == ""; waits != test.waits {
					t.Fatalf("it waits: %v", waits)
				}
				if j.Status.Updated != s.cfg.Now() {
					t.Errorf("it is of %v", j.Status.Updated)
				}
				if !test.waits {
					w := &s.writer
					if w.running || w.urgent || len(w.changed)+len(w.used)+len(w.then) > 0 || !w.change.Empty() {
						t.Errorf("is to be written still: %+v", w)
					}
					if !w.last.After(before) && w.last != time.Now() || s.writes != 0 || w.creating {
						t.Errorf("written at %v, %d writes go on", w.last, s.writes)
					}
					probe.Quiet()
					return
				}
				if idle {
					time.Sleep(time.Minute)
					probe.settle()
					probe.Quiet()
					return
				}
				for range 2 { // of each two one
					expect[flushNow](probe)
					s.writer.timer, s.writer.last = false, time.Now()
					s.flush()
					s.flush()
				}
				expect[flushNow](probe)
				time.Sleep(time.Minute)
				probe.settle()
				probe.Quiet()
			})
		})
	}
}

// Written changes are shown and reported, each for its search; nothing is shown or reported of
// a search that was removed meanwhile.
func TestWrittenIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		s.cfg.News = new(ask.Feed[messages.News])
		s.cfg.News.Subscribe(s.c)
		const many = 30
		change, changed := searchdb.Change{Status: map[searchdb.ID]searchdb.Status{}}, map[searchdb.ID]*job{}
		news := map[searchdb.ID]*messages.SearchFound{}
		for n := range many {
			j := jobAt(n, 0, -1, 5)
			if n%3 > 0 { // the others are removed
				s.add(j)
			}
			j.Status.Done.Height = 7
			changed[j.ID], change.Status[j.ID] = j, j.Status
		}
		change.Used = map[searchdb.ID]searchdb.Used{1: {3: 4}}
		news[2] = &messages.SearchFound{ID: "two"}
		changed[4].shownUsed = searchdb.Used{5: 6}
		called := errors.New("not yet")
		s.writer.running, s.writer.creating = true, true
		s.written(&change, changed, news, []func(error){func(err error) { called = err }})
		if called != nil || s.writer.running || s.writer.creating || s.writer.last.IsZero() ||
			s.writer.created != s.writer.last {
			t.Errorf("afterwards: %v, %+v", called, s.writer)
		}
		notified := map[string]int{}
		for n := range many {
			j := changed[searchdb.ID(n)]
			if shown := j.shown.Done.Height == 7; shown != (n%3 > 0) {
				t.Errorf("%d is shown: %v", n, shown)
			}
			if n%3 > 0 {
				notified[j.ID.String()] = 1
			}
		}
		notified["two"] = 1
		if changed[1].shownUsed[3] != 4 || changed[4].shownUsed[5] != 6 {
			t.Errorf("used are %v, %v", changed[1].shownUsed, changed[4].shownUsed)
		}
		for range len(notified) {
			switch m := expect[messages.News](probe).(type) {
			case messages.SearchChanged:
				notified[m.ID]--
			case messages.SearchFound:
				if notified[m.ID]--; m.Name != "2" {
					t.Errorf("notified of %q", m.Name)
				}
			}
		}
		for id, n := range notified {
			if n != 0 {
				t.Errorf("%s is reported %d times", id, 1-n)
			}
		}
		s.writer.created = time.Time{}
		if s.written(&searchdb.Change{}, nil, nil, nil); !s.writer.created.IsZero() {
			t.Error("none was made")
		}
		probe.settle()
		probe.Quiet()
	})
}

// The entries of up to 100 new blocks are reported, of searches that follow and are on the disk.
func TestWhatIsAnnounced(t *testing.T) {
	s, _ := alone(t, 9)
	near, far, stops, fresh := jobAt(1, 0, -1, 5), jobAt(2, 0, -1, 5), jobAt(3, 0, 500, 5), jobAt(4, 0, -1, 5)
	fresh.shown = nil
	change := &searchdb.Change{Status: map[searchdb.ID]searchdb.Status{}}
	changed := map[searchdb.ID]*job{}
	for _, j := range []*job{near, far, stops, fresh} {
		j.Objects, j.Scripts = []searchdb.Object{"o"}, []searchdb.Script{{Script: []byte{1}}}
		j.Status.Done.Height = 5 + maxNews
		if j == far {
			j.Status.Done.Height++
		}
		changed[j.ID], change.Status[j.ID] = j, j.Status
	}
	for n, id := range []searchdb.ID{3, 1, 2, 1, 4} {
		change.Entries = append(change.Entries, searchdb.Entry{
			ID: id, Place: searchdb.Place{Height: uint32(n)}, Entry: search.Entry{Kind: search.Receive, N: uint32(n)},
		})
	}
	if got := s.followed(change, changed); got != nil {
		t.Error("somebody is notified, and nobody listens")
	}
	s.cfg.News = new(ask.Feed[messages.News])
	followed := s.followed(change, changed)
	if len(followed) != 1 || len(followed[1].scripts) != 1 {
		t.Fatalf("reported are %v", followed)
	}
	news := newsOf(change.Entries, followed)
	if len(news) != 1 || len(news[1].Entries) != 2 {
		t.Fatalf("reported are %+v", news)
	}
	if n := news[1]; n.ID != near.ID.String() || n.Entries[0].N != 1 || n.Entries[1].N != 3 ||
		n.Entries[1].Object != "o" || n.Cursor != cursorText(1, searchdb.Place{Height: 3}) {
		t.Errorf("reported are %+v", n)
	}
	if got := s.followed(&searchdb.Change{Status: change.Status}, changed); got != nil {
		t.Errorf("reported are %v, and nothing was found", got)
	}
	if got := newsOf(change.Entries, nil); got != nil {
		t.Errorf("reported are %v", got)
	}
}

// Where the store fails all waiting callers are notified, and nothing is written until it is open again.
func TestBrokenNotifiesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, chain := alone(t, 9)
		probe := probed(t, s)
		s.cancel() // it is not opened again
		cancelled := false
		s.rounds.running = &round{stop: chain.Active().Tip(), cancel: func() { cancelled = true }}
		lost := errors.New("lost")
		var notified []string
		then := func(name string) []func(error) {
			return []func(error){func(err error) {
				if !errors.Is(err, lost) || !errors.Is(err, messages.ErrSearchStore) {
					t.Errorf("%s: %v", name, err)
				}
				notified = append(notified, name)
			}}
		}
		s.writer = writer{then: then("next"), sweeping: true, sweepTimer: true, urgent: true}
		s.writer.change.Entries = make([]searchdb.Entry, 1)
		s.modes.then = then("mode")
		s.broken(then("written"), lost)
		if fmt.Sprint(notified) != "[written next mode]" || !cancelled {
			t.Errorf("reported are %v, the round has ended: %v", notified, cancelled)
		}
		if !reflect.DeepEqual(s.writer, writer{running: true, sweeping: true, sweepTimer: true}) ||
			!reflect.DeepEqual(s.modes, modeWriter{running: true}) || !s.down || s.full == "" || s.opening != 1 {
			t.Errorf("afterwards: %+v, %+v", s.writer, s.modes)
		}
		probe.settle()
	})
}

// A mode that was written is shown, unless a newer one is, or the search was removed.
func TestModesAreShown(t *testing.T) {
	s, _ := alone(t, 9)
	const many = 30
	s.modes.running, s.modes.writing = true, map[searchdb.ID]order{}
	var jobs []*job
	at := time.Unix(77, 0)
	for n := range many {
		j := jobAt(n, 0, -1, 5)
		jobs = append(jobs, j)
		j.shown.Changes, j.shown.Reason = 4, "before"
		change := searchdb.ModeChange{Mode: searchdb.Paused, Updated: at, Changes: 5}
		switch n % 3 {
		case 0:
			change.Changes = 4
			s.add(j)
		case 1:
			s.add(j)
		}
		s.modes.writing[j.ID] = order{j, change}
	}
	calls := 0
	s.modesWritten([]func(error){func(error) { calls++ }})
	for n, j := range jobs {
		if shown := j.shown.Mode == searchdb.Paused; shown != (n%3 == 1) {
			t.Errorf("%d is shown: %v", n, shown)
		}
	}
	if got := jobs[1].shown; got.Updated != at || got.Changes != 5 || got.Reason != "" {
		t.Errorf("shown is %+v", got)
	}
	if calls != 1 || s.modes.running || s.modes.writing != nil {
		t.Errorf("%d calls, %+v", calls, s.modes)
	}
}
