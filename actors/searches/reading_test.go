package searches

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// An entry names what it is of: a payment and a spend a script, all others a block alone.
func TestEntriesAreReported(t *testing.T) {
	scripts := []searchdb.Script{{Script: []byte{1}}, {Script: []byte{2}, Object: 1, Index: 7}}
	of := texts{[]searchdb.Object{"a", "b"}, scripts}
	for _, test := range []struct {
		kind   search.Kind
		script uint32
		want   string
	}{
		{search.Receive, 1, "b 7 02 5"},
		{search.Spend, 0, "a 0 01 5"},
		{search.Spend, 2, " -1  5"},
		{search.Hit, 1, " -1  0"},
		{search.Disconnect, 1, " -1  0"},
	} {
		e := entryOf(of, &search.Entry{Kind: test.kind, Script: test.script, Amount: 5, Height: 3, Time: 9})
		got := fmt.Sprintf("%s %d %x %d", e.Object, e.Index, e.Script, e.Amount)
		if got != test.want || e.Type != types[test.kind] || e.Height != 3 || e.Time.Unix() != 9 {
			t.Errorf("%+v: %q, %+v", test, got, e)
		}
	}
}

// A page has one entry at least, and as many unconfirmed ones as are asked for, up to its bound; none for a number
// below 0.
func TestLimitsOfPages(t *testing.T) {
	s, _ := alone(t, 9)
	j := jobAt(1, 0, -1, 5)
	s.add(j)
	id := j.ID.String()
	for _, test := range []struct{ limit, pool, wantLimit, wantPool int }{
		{-1, 0, 1, maxUnconfirmed},
		{0, 1, 1, 1},
		{1, -1, 1, 0},
		{2, maxUnconfirmed, 2, maxUnconfirmed},
		{1000, maxUnconfirmed + 1, 1000, maxUnconfirmed},
	} {
		q := messages.GetSearchEntries{ID: id, Limit: test.limit, PoolLimit: test.pool}
		r, err := reading{s}.pageRequest(&q)
		if err != nil || r.limit != test.wantLimit || r.pool.limit != test.wantPool || r.pool.after != nil ||
			r.job != j {
			t.Errorf("%+v: %+v, %v", test, r, err)
		}
	}
	for want, q := range map[error]messages.GetSearchEntries{
		messages.ErrSearchNotFound: {ID: "0"},
		messages.ErrBadCursor:      {ID: id, PoolCursor: "00"},
	} {
		if _, err := (reading{s}).pageRequest(&q); !errors.Is(err, want) {
			t.Errorf("%+v: %v, want %v", q, err, want)
		}
	}
	if _, err := (reading{s}).pageRequest(&messages.GetSearchEntries{ID: id, Cursor: "00"}); err == nil {
		t.Error("a cursor is taken that is none")
	}
}

// The unconfirmed entries of a page are as many as fit into it, and where none are, its cursor stays where it was.
func TestUnconfirmedOfPages(t *testing.T) {
	of := texts{[]searchdb.Object{"a"}, []searchdb.Script{{Script: make([]byte, 300_000)}}} // 8 MB in words
	at := &poolPlace{order: 7}
	for _, test := range []struct {
		entries, limit, want int
		script               uint32
		more                 bool
	}{
		{0, 3, 0, 1, false},
		{2, 3, 2, 1, false},
		{3, 3, 3, 1, false},
		{4, 3, 3, 1, true},
		{1, 0, 0, 1, true},
		{3, 9, 3, 0, false},
		{5, 9, 3, 0, true},
	} {
		p := &poolPart{request: poolRequest{after: at, limit: test.limit}, cut: test.more}
		for n := range test.entries {
			p.list = append(p.list, search.Entry{Kind: search.Receive, Script: test.script, N: uint32(n)})
			p.places = append(p.places, poolPlace{order: 8, entry: uint32(n)})
		}
		var page messages.SearchPage
		p.into(&page, of)
		cursor := at.text()
		if test.want > 0 {
			cursor = p.places[test.want-1].text()
		}
		if page.Unconfirmed == nil || len(page.Unconfirmed) != test.want || page.PoolMore != test.more ||
			page.PoolCursor != cursor || page.PoolCut != test.more {
			t.Errorf("%+v: %d entries, more %v, %s", test, len(page.Unconfirmed), page.PoolMore, page.PoolCursor)
		}
	}
	var page messages.SearchPage
	(&poolPart{request: poolRequest{limit: 1}}).into(&page, of)
	if page.PoolCursor != "" {
		t.Errorf("the cursor before all is %s", page.PoolCursor)
	}
	j := jobAt(1, 0, -1, 0)
	r := request{job: j, pool: poolRequest{limit: 2}}
	if r.poolPart() != nil {
		t.Error("a search has unconfirmed entries that does not ask for them")
	}
	j.Mempool, j.poolCut = true, true
	tx, found := inPoolOf(1, 5)
	j.pool.set(tx.WID, 1, found.entries)
	if p := r.poolPart(); len(p.list) != 3 || !p.cut || p.request != r.pool {
		t.Errorf("%d entries for two, and one more", len(p.list))
	}
}

// Lists that cannot be read are an error of the store, not a list with nothing.
func TestListsFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		j := jobAt(1, 0, -1, 5)
		s.add(j)
		lost := errors.New("lost")
		s.cfg.Lists = listOf{err: lost}
		q, answers := called(t.Context(), probe, messages.GetSearchEntries{ID: j.ID.String(), Limit: 5})
		reading{s}.entries(q)
		if a := answered(t, answers); !errors.Is(a.err, messages.ErrSearchStore) || !errors.Is(a.err, lost) {
			t.Errorf("%+v, %v", a.val, a.err)
		}
		w, waits := called(t.Context(), probe, messages.WaitSearch{ID: j.ID.String(), Limit: 5})
		reading{s}.wait(w)
		if a := answered(t, waits); !errors.Is(a.err, messages.ErrSearchStore) {
			t.Errorf("%+v, %v", a.val, a.err)
		}
	})
}

// entriesAt returns entries of a search at some heights, one each.
func entriesAt(id searchdb.ID, list ...int32) (l listOf) {
	for _, e := range heights(list...) {
		l.entries = append(l.entries, searchdb.Entry{
			ID: id, Entry: e, Place: searchdb.Place{Block: true, Height: uint32(e.Height)},
		})
	}
	return l
}

// A page ends with the last entry that it has, and has cursors of each where they are asked for.
func TestCursorsOfPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		j := jobAt(1, 0, -1, 5)
		s.add(j)
		s.cfg.Lists = entriesAt(j.ID, 1, 3, 5)
		page := func(cursor string, limit int, each bool) messages.SearchPage {
			t.Helper()
			q, answers := called(t.Context(), probe, messages.GetSearchEntries{
				ID: j.ID.String(), Cursor: cursor, Limit: limit, Cursors: each,
			})
			reading{s}.entries(q)
			a := answered(t, answers)
			if a.err != nil {
				t.Fatal(a.err)
			}
			return a.val
		}
		p := page("", 2, true)
		last := cursorText(j.ID, s.cfg.Lists.(listOf).entries[1].Place)
		if len(p.Entries) != 2 || !p.More || p.Entries[1].Cursor != last {
			t.Errorf("%+v", p)
		}
		p = page(p.Cursor, 1, false)
		if len(p.Entries) != 1 || p.More || p.Entries[0].Height != 5 || p.Entries[0].Cursor != "" {
			t.Errorf("%+v", p)
		}
		if end := page(p.Cursor, 1, true); len(end.Entries) != 0 || end.More || end.Cursor != p.Cursor ||
			end.Entries == nil || end.Height != 5 {
			t.Errorf("%+v", end)
		}
	})
}

// A waiting call is answered once: when something is new, when its time is over, or when the search is gone.
// Nothing of the call stays.
func TestWaitersAreAnsweredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, chain := alone(t, 9)
		probe := probed(t, s)
		j := jobAt(1, 0, -1, 9)
		s.add(j)
		s.cfg.Lists = listOf{}
		waits := func(ctx context.Context, cursor string, d time.Duration) *coming[messages.SearchPage] {
			t.Helper()
			q, answers := called(ctx, probe, messages.WaitSearch{
				ID: j.ID.String(), Cursor: cursor, Limit: 5, Timeout: d,
			})
			reading{s}.wait(q)
			probe.settle() //nolint:contextcheck // the probe does not end with a caller
			return answers
		}
		holds := func(want int) {
			t.Helper()
			probe.settle()
			if n := len(s.waiters.of[j]); n != want || want == 0 && len(s.waiters.of) > 0 {
				t.Errorf("%d wait for the search, want %d; of %d searches", n, want, len(s.waiters.of))
			}
		}
		end := cursorText(j.ID, lastPlace(j.shown))
		const many = 20
		var atEnd, before []*coming[messages.SearchPage]
		for range many {
			atEnd, before = append(atEnd, waits(t.Context(), end, 0)), append(before, waits(t.Context(), "", 0))
		}
		holds(2 * many)
		reading{s}.wake(j) // of nothing that those do not know who have read all
		holds(many)
		for i := range many {
			unanswered(t, atEnd[i])
			if a := answered(t, before[i]); a.err != nil || a.val.Height != 9 {
				t.Errorf("%+v", a)
			}
		}
		chain.MineN(1)
		shown := *j.shown
		shown.Done.Height = 8
		j.shown = &shown
		reading{s}.wake(j)
		holds(0)
		for i := range many {
			if a := answered(t, atEnd[i]); a.err != nil || a.val.Height != 8 {
				t.Errorf("%+v", a)
			}
		}

		end = cursorText(j.ID, lastPlace(j.shown))
		late := waits(t.Context(), end, time.Second)
		var w *waiter
		for w = range s.waiters.of[j] {
			break
		}
		reading{s}.overdue(expect[overdue](probe))
		holds(0)
		if a := answered(t, late); a.err != nil || a.val.Height != 8 {
			t.Errorf("after its time: %+v", a)
		}
		reading{s}.overdue(overdue{waiter: w}) // once more
		if s.tasks.Len() > 0 || w.timer.IsSet() || w.left() {
			t.Error("the call is still watched")
		}

		ctx, cancel := context.WithCancel(t.Context())
		gone := waits(ctx, end, time.Hour)
		for w = range s.waiters.of[j] {
			break
		}
		cancel()
		m := expect[overdue](probe)
		if (reading{s}).overdue(m); s.tasks.Len() > 0 || !m.gone || m.waiter != w || w.timer.IsSet() {
			t.Errorf("gone: %+v", m)
		}
		holds(0)
		if a := answered(t, gone); !errors.Is(a.err, context.Canceled) {
			t.Errorf("of a caller that has gone: %+v", a)
		}

		late = waits(t.Context(), end, time.Second)
		m = expect[overdue](probe)
		delete(s.jobs, j.ID)
		reading{s}.overdue(m)
		if a := answered(t, late); !errors.Is(a.err, messages.ErrSearchNotFound) {
			t.Errorf("after its search was removed: %+v", a)
		}
		s.add(j)
		removed := waits(t.Context(), end, 0)
		for w = range s.waiters.of[j] {
			break
		}
		reading{s}.wakeGone(j)
		holds(0)
		if a := answered(t, removed); !errors.Is(a.err, messages.ErrSearchNotFound) || w.left() {
			t.Errorf("when its search was removed: %+v", a)
		}
		stopped := waits(t.Context(), end, time.Second)
		for w = range s.waiters.of[j] {
			break
		}
		s.waiters.stop()
		holds(0)
		if unanswered(t, stopped); w.timer.IsSet() || w.left() { // the guard of the actor does
			t.Error("the call is still watched")
		}
		probe.settle()
		probe.Quiet()
	})
}

// A waiter is answered at once if the state, the height or the entries differ from its cursor, or change while
// they are read.
func TestNewToAWaiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		j := jobAt(1, 0, -1, 9)
		s.add(j)
		ended := jobAt(2, 0, -1, 9)
		ended.shown.Mode = searchdb.Aborted
		s.add(ended)
		place := lastPlace(j.shown)
		for _, test := range []struct {
			name    string
			job     *job
			cursor  cursor
			entries bool
			during  func()
			news    bool
		}{
			{"the same", j, cursor{place, true, 9, messages.SearchFollowing}, false, nil, false},
			{"another height", j, cursor{place, true, 8, messages.SearchFollowing}, false, nil, true},
			{"another state", j, cursor{place, true, 9, messages.SearchRunning}, false, nil, true},
			{"an entry", j, cursor{searchdb.Place{}, true, 9, messages.SearchFollowing}, true, nil, true},
			{"ended", ended, cursor{place, true, 9, messages.SearchAborted}, false, nil, true},
			{"written meanwhile", j, cursor{place, true, 9, messages.SearchFollowing}, false, func() {
				shown := *j.shown
				j.shown = &shown
			}, true},
		} {
			s.cfg.Lists = listOf{}
			if test.entries {
				s.cfg.Lists = entriesAt(j.ID, 4)
			}
			ctx, cancel := context.WithCancel(t.Context())
			q, answers := called(ctx, probe, messages.WaitSearch{
				ID: test.job.ID.String(), Cursor: test.cursor.text(test.job.ID), Limit: 5,
			})
			if test.during != nil {
				s.cfg.Lists = duringLists{s.cfg.Lists, test.during}
			}
			reading{s}.wait(q)
			probe.settle()
			if got := len(answers.answers) > 0; got != test.news {
				t.Errorf("%s: answered at once: %v", test.name, got)
			}
			cancel()
			for len(s.waiters.of) > 0 {
				reading{s}.overdue(expect[overdue](probe))
			}
		}
	})
}

// duringLists does something while lists are read.
type duringLists struct {
	Lists

	work func()
}

func (d duringLists) Entries(
	id searchdb.ID, after, to searchdb.Place, visit func(searchdb.Place, *search.Entry) bool,
) error {
	d.work()
	return d.Lists.Entries(id, after, to, visit)
}
