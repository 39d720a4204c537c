package searches

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// alone returns the state of the actor without the actor, over a chain of some blocks.
func alone(t *testing.T, blocks int) (*Searches, *chaintest.Chain) {
	t.Helper()
	chain := chaintest.New(&chaincfg.RegressionNetParams)
	chain.MineN(blocks)
	s := &Searches{table: newTable(), cfg: Config{
		Chain: new(chainview.Current), Now: func() time.Time { return time.Unix(1000, 0) },
		Log: slog.New(slog.DiscardHandler),
	}}
	s.cfg.Chain.Set(chain)
	s.ctx, s.cancel = context.WithCancel(t.Context())
	return s, chain
}

// jobAt returns a search from a block on to another, -1: it follows, which is done up to a height, on the disk too.
func jobAt(n int, start, stop, done int32) *job {
	j := &job{Search: &searchdb.Search{ID: searchdb.ID(n)}}
	j.Name, j.Number, j.Start, j.Stop = strconv.Itoa(n), uint64(n), start, stop
	j.Status.State = search.NewState(search.Block{Height: start - 1})
	j.Status.Done = search.Block{Height: done}
	shown := j.Status
	j.shown = &shown
	return j
}

// The defaults stand where nothing is set, each for itself.
func TestDefaultLimits(t *testing.T) {
	for _, test := range []struct{ got, want Limits }{
		{Choices{}.Limits(), Limits{Searches: 1000, Scripts: 10_000_000, Entries: 100_000_000}},
		{Choices{Searches: 1}.Limits(), Limits{Searches: 1, Scripts: 10_000_000, Entries: 100_000_000}},
		{Choices{Scripts: 1, Quota: 2}.Limits(), Limits{Searches: 1000, Scripts: 1, Entries: 100_000_000, Quota: 2}},
		{Choices{Entries: 1}.Limits(), Limits{Searches: 1000, Scripts: 10_000_000, Entries: 1}},
	} {
		if test.got != test.want {
			t.Errorf("got %+v, want %+v", test.got, test.want)
		}
	}
	if got := (&Limits{}).pool(); got != 1_000_000 {
		t.Errorf("%d unconfirmed entries", got)
	}
	if got := (&Limits{Pool: 5}).pool(); got != 5 {
		t.Errorf("%d unconfirmed entries, and 5 are set", got)
	}
}

// Each limit itself is allowed, and one more is not; limits of 0 limit nothing.
func TestAllowedExactly(t *testing.T) {
	for _, test := range []struct {
		limits  Limits
		login   string
		scripts int
		another bool
		option  string
	}{
		{Limits{}, "a", 1 << 20, true, ""},
		{Limits{Searches: 4}, "a", 1, true, ""},
		{Limits{Searches: 3}, "a", 1, true, "-maxsearches"},
		{Limits{Searches: 3}, "a", 1, false, ""},
		{Limits{Quota: 3}, "a", 1, true, ""},
		{Limits{Quota: 2}, "a", 1, true, "-searchquota"},
		{Limits{Quota: 2}, "b", 1, true, ""},
		{Limits{Quota: 1}, "b", 1, true, "-searchquota"},
		{Limits{Entries: 31}, "a", 1, true, ""},
		{Limits{Entries: 30}, "a", 1, true, "-searchentries"},
		{Limits{Entries: 30}, "a", 1, false, ""},
		{Limits{Scripts: 10}, "a", 4, true, ""},
		{Limits{Scripts: 10}, "a", 5, true, "-searchscripts"},
		{Limits{Scripts: 10}, "a", 5, false, "-searchscripts"},
	} {
		s, _ := alone(t, 0)
		s.cfg.Limits = test.limits
		for i, owner := range []string{"a", "a", "b"} {
			j := jobAt(i, 0, -1, -1)
			j.Owner, j.Scripts, j.Status.Found = owner, make([]searchdb.Script, 2), 10
			s.add(j)
		}
		err := s.allow(test.login, test.scripts, test.another)
		limit, _ := errors.AsType[*messages.SearchLimitError](err)
		if (err == nil) != (test.option == "") || limit != nil && limit.Option != test.option {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

// A dropped search counts no more. Another is found as before, by its id and its name.
func TestDroppedCountsNoMore(t *testing.T) {
	s, _ := alone(t, 0)
	var jobs []*job
	for i := range 3 {
		j := jobAt(i, 0, -1, -1)
		j.Scripts, j.Status.Found = make([]searchdb.Script, i+1), uint64(10*i+1)
		s.add(j)
		jobs = append(jobs, j)
	}
	s.drop(jobs[1])
	if s.scripts != 4 || s.found != 22 || s.numbers != 2 || len(s.jobs) != 2 || s.names["1"] != nil {
		t.Errorf("%d scripts, %d entries, number %d, %v", s.scripts, s.found, s.numbers, s.names)
	}
	if got := s.ordered(); !slices.Equal(got, []*job{jobs[0], jobs[2]}) {
		t.Errorf("%d in another order", len(got))
	}
	jobs[0].shown = nil
	for id, want := range map[string]*job{
		jobs[2].ID.String(): jobs[2], jobs[0].ID.String(): nil, jobs[1].ID.String(): nil,
		"2": jobs[2], "1": nil, "": nil, "000000000000000g": nil, "00000000000000002": nil,
	} {
		if s.find(id) != want {
			t.Errorf("%q is found: %v", id, want == nil)
		}
	}
}

// The state of a search is what is on the disk of it, and what keeps it from going on.
func TestStatesOfSearches(t *testing.T) {
	const tip = 20
	for _, test := range []struct {
		name              string
		start, stop, done int32
		mode              searchdb.Mode
		served            uint64
		full, lacks       string
		want              messages.SearchState
		progress          float64
		err               string
	}{
		{"waits for its first turn", 5, 14, 4, searchdb.Running, 0, "", "", messages.SearchQueued, 0, ""},
		{"has had a turn", 5, 14, 4, searchdb.Running, 1, "", "", messages.SearchRunning, 0, ""},
		{"had turns before a restart", 5, 14, 5, searchdb.Running, 0, "", "", messages.SearchRunning, 10, ""},
		{"at the end of its range", 5, 14, 14, searchdb.Running, 1, "", "", messages.SearchRunning, 100, ""},
		{"done", 5, 14, 14, searchdb.Done, 1, "", "", messages.SearchDone, 100, ""},
		{"aborted", 5, 14, 9, searchdb.Aborted, 1, "", "", messages.SearchAborted, 50, ""},
		{"failed", 5, 14, 9, searchdb.Failed, 1, "", "", messages.SearchFailed, 50, ""},
		{"paused", 5, 14, 9, searchdb.Paused, 1, "", "", messages.SearchPaused, 50, ""},
		{"follows behind the tip", 11, -1, 15, searchdb.Running, 1, "", "", messages.SearchRunning, 50, ""},
		{"follows", 11, -1, tip, searchdb.Running, 1, "", "", messages.SearchFollowing, 100, ""},
		{"follows above the tip", 11, -1, tip + 1, searchdb.Running, 1, "", "", messages.SearchFollowing, 100, ""},
		{"follows on a full disk", 11, -1, tip, searchdb.Running, 1, "full", "", messages.SearchFollowing, 100, ""},
		{"on a full disk", 5, 14, 9, searchdb.Running, 1, "full", "", messages.SearchPaused, 50, "full"},
		{"for lack of a block", 5, 14, 9, searchdb.Running, 1, "", "no block", messages.SearchPaused, 50, "no block"},
		{"for both", 5, 14, 9, searchdb.Running, 1, "full", "no block", messages.SearchPaused, 50, "full"},
		{"with objects from below", 11, -1, 0, searchdb.Running, 1, "", "", messages.SearchRunning, 0, ""},
	} {
		s, _ := alone(t, tip)
		s.full = test.full
		j := jobAt(1, test.start, test.stop, test.done)
		j.shown.Mode, j.served, j.lacks = test.mode, test.served, test.lacks
		st := reading{s}.status(j)
		if st.State != test.want || st.Progress != test.progress || st.Error != test.err {
			t.Errorf("%s: %s at %v %%, %q; want %s, %v %%, %q",
				test.name, st.State, st.Progress, st.Error, test.want, test.progress, test.err)
		}
	}
	s, _ := alone(t, tip)
	j := jobAt(1, 11, -1, 5)
	j.shown.Start = 1
	if st := (reading{s}).status(j); st.Progress != 25 {
		t.Errorf("with objects that are looked for from below: %v %%", st.Progress)
	}
	j.shown.Mode, j.shown.Reason, s.full = searchdb.Paused, "own", "full"
	if st := (reading{s}).status(j); st.Error != "own" {
		t.Errorf("the kept reason is reported as %q", st.Error)
	}
}

// The rate is that since the search began or went on, and what is left follows from it; without a rate nothing does.
func TestSpeed(t *testing.T) {
	s, _ := alone(t, 200)
	now := s.cfg.Now()
	for _, test := range []struct {
		name        string
		began       time.Time
		beganHeight int32
		done        int32
		mode        searchdb.Mode
		rate        float64
		left        time.Duration
	}{
		{"runs", now.Add(-4 * time.Second), 20, 100, searchdb.Running, 20, 5 * time.Second},
		{"one block", now.Add(-2 * time.Second), 99, 100, searchdb.Running, 0.5, 200 * time.Second},
		{"has not begun", time.Time{}, 0, 100, searchdb.Running, 0, 0},
		{"begins now", now, 20, 100, searchdb.Running, 0, 0},
		{"has done nothing", now.Add(-time.Second), 100, 100, searchdb.Running, 0, 0},
		{"paused", now.Add(-4 * time.Second), 20, 100, searchdb.Paused, 0, 0},
	} {
		j := jobAt(1, 0, -1, test.done)
		j.shown.Mode, j.began, j.beganHeight, j.served = test.mode, test.began, test.beganHeight, 1
		if st := (reading{s}).status(j); st.Rate != test.rate || st.Left != test.left {
			t.Errorf("%s: %v blocks a second, %v left", test.name, st.Rate, st.Left)
		}
	}
}

// A cursor is read as it was written. A cursor of another search, of an entry that does not exist yet, or in another
// form is refused.
func TestCursorsAreWhole(t *testing.T) {
	j := jobAt(0x1_0000_0007, 0, -1, 9)
	j.shown.Epoch = 2
	at := searchdb.Place{Epoch: 1, Block: true, Height: 4, Sequence: 3}
	for _, state := range states {
		c := cursor{after: at, seen: true, height: 12, state: state}
		if got, err := parseCursor(j, c.text(j.ID)); err != nil || got != c {
			t.Errorf("%+v, %v; want %+v", got, err, c)
		}
	}
	if got, err := parseCursor(j, cursorText(j.ID, at)); err != nil || got != (cursor{after: at}) {
		t.Errorf("of an entry: %+v, %v", got, err)
	}
	if got, err := parseCursor(j, ""); err != nil || got != (cursor{}) {
		t.Errorf("of none: %+v, %v", got, err)
	}
	last := lastPlace(j.shown)
	if _, err := parseCursor(j, cursorText(j.ID, last)); err != nil {
		t.Errorf("of the end: %v", err)
	}
	behind := last
	behind.Epoch++
	whole := (&cursor{after: at, height: 1, state: states[0]}).text(j.ID)
	for name, wrong := range map[string]string{
		"behind the end": cursorText(j.ID, behind), "another search": cursorText(j.ID+1, at),
		"another search, seen": (&cursor{after: at, state: states[0]}).text(j.ID + 1), "no digits": "zz",
		"a state more": whole[:34] + fmt.Sprintf("%02x", len(states)) + whole[36:], "a byte less": whole[:len(whole)-2],
		"a byte more": whole + "00", "half a byte": whole[1:], "one byte": "00",
	} {
		if c, err := parseCursor(j, wrong); !errors.Is(err, messages.ErrBadCursor) {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

// The reported reason of a failure names what is missing, and nothing of the machine.
func TestReasons(t *testing.T) {
	block := chainhash.Hash{7}
	other := errors.New("/home/secret")
	for _, test := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("a: %w", chainview.ErrPruned), "Block not available (pruned data)"},
		{fmt.Errorf("%w: %w", chainview.ErrUndo, chainview.ErrPruned), "Undo data not available (pruned data)"},
		{fmt.Errorf("%w: %w", chainview.ErrUndo, other), "Undo data can't be read from disk"},
		{other, "Block not found on disk"},
		{
			fmt.Errorf("b: %w", &match.LostError{Block: block, Err: other}),
			(&messages.FilterError{Block: block, Err: other}).Error(),
		},
	} {
		if got := reasonOf(test.err); got != test.want {
			t.Errorf("%v: %q, want %q", test.err, got, test.want)
		}
	}
}
