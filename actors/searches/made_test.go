package searches

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// objectsOf returns scan objects of one script each.
func objectsOf(scripts ...string) (o messages.SearchObjects) {
	for i, s := range scripts {
		o.Texts = append(o.Texts, "of "+s)
		o.Scripts = append(o.Scripts, messages.SearchScript{Script: []byte(s), Object: i, Index: int32(i)})
	}
	return o
}

// done ends the write that is collected, with an error or none.
func (w *writer) done(err error) {
	then := w.then
	*w = writer{running: true}
	callAll(then, err)
}

// A search is made once. Its callers are answered when it is on the disk.
func TestMadeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, chain := alone(t, 9)
		probe := probed(t, s)
		s.writer.running = true
		asks := func(q messages.CreateSearch) *coming[messages.SearchCreated] {
			call, answers := called(t.Context(), probe, q)
			s.create(call)
			probe.settle()
			return answers
		}
		q := messages.CreateSearch{Name: "n", Owner: "o", Objects: objectsOf("a", "b"), Start: 4, Stop: 8}
		first := asks(q)
		unanswered(t, first)
		j := s.names["n"]
		want := searchdb.Definition{
			Name: "n", Owner: "o", Number: 1, Created: s.cfg.Now(), Start: 4, Stop: 8,
			StopBlock: chain.Active().At(8).Hash, Sum: j.Sum,
		}
		if j.Definition != want || len(j.Objects) != 2 || len(j.Scripts) != 2 || len(j.Ranges) != 2 ||
			j.Status.Done != blockOf(chain.Active().At(3)) || j.shown != nil || j.Used == nil || j.shownUsed == nil {
			t.Errorf("made is %+v at %+v", j.Definition, j.Status)
		}
		w := &s.writer
		if len(w.change.Create) != 1 || w.change.Create[0].ID != j.ID || !w.urgent || w.changed[j.ID] != j {
			t.Errorf("written is %+v", w)
		}
		j.Status.Advance(search.Block{Height: 8}, nil, never)
		if w.change.Create[0].Status.Done.Height != 3 {
			t.Error("what is written changes while it is")
		}
		again := asks(q)
		unanswered(t, again)
		other := q
		other.Start++
		if a := answered(t, asks(other)); a.err == nil {
			t.Errorf("another of the name: %+v", a.val)
		}
		s.writer.done(nil)
		for created, answers := range map[bool]*coming[messages.SearchCreated]{true: first, false: again} {
			a := answered(t, answers)
			want := messages.SearchCreated{ID: j.ID.String(), Name: "n", Created: created}
			if a.err != nil || a.val != want {
				t.Errorf("got %+v, want %+v", a, want)
			}
		}
		j.shown = &j.Status
		if a := answered(t, asks(q)); a.err != nil || a.val.Created || a.val.ID != j.ID.String() {
			t.Errorf("when it is there: %+v", a)
		}
		unnamed := asks(messages.CreateSearch{Objects: objectsOf("a"), Follow: true, BlocksOnly: true})
		lost := errors.New("lost")
		s.writer.done(lost)
		a := answered(t, unnamed)
		if n := s.names[a.val.ID]; !errors.Is(a.err, lost) || n == nil || n.Number != 2 || !n.BlocksOnly ||
			n.Stop != -1 || n.Status.Done.Height != -1 || n.Name != n.ID.String() {
			t.Errorf("one without a name: %+v, %v", n, a)
		}
		a = answered(t, asks(messages.CreateSearch{Objects: objectsOf("a"), Follow: true, Mempool: true}))
		if !errors.Is(a.err, messages.ErrNoPool) {
			t.Errorf("without a pool: %+v", a)
		}
	})
}

// Scan objects are prepared one request after the other.
func TestPreparedInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		var steps []string
		goOn := make(chan struct{})
		for n := range 3 {
			s.prepare(func() func() {
				steps = append(steps, fmt.Sprint("work ", n))
				<-goOn
				return func() { steps = append(steps, fmt.Sprint("then ", n)) }
			})
		}
		for n := range 3 {
			probe.settle()
			if want := fmt.Sprint("work ", n); len(steps) != 2*n+1 || steps[2*n] != want || !s.prep.running {
				t.Errorf("done is %v", steps)
			}
			goOn <- struct{}{}
		}
		probe.settle()
		if len(steps) != 6 || steps[5] != "then 2" || s.prep.running || len(s.prep.queue) > 0 {
			t.Errorf("done is %v", steps)
		}
	})
}

// Scripts that join a search are looked for from the given start on, and the search goes on from there.
func TestExtended(t *testing.T) {
	for _, test := range []struct {
		name        string
		start, done int32
		mode        searchdb.Mode
		err         error
		wantDone    int32
		wantMode    searchdb.Mode
		epoch       uint32
	}{
		{"from its own start", -1, 8, searchdb.Running, nil, 3, searchdb.Running, 1},
		{"from below", 2, 8, searchdb.Running, nil, 1, searchdb.Running, 1},
		{"from the first block", 0, 8, searchdb.Running, nil, -1, searchdb.Running, 1},
		{"from the tip", 9, 8, searchdb.Running, nil, 8, searchdb.Running, 0},
		{"done", 6, 8, searchdb.Done, nil, 5, searchdb.Running, 1},
		{"paused", 6, 8, searchdb.Paused, nil, 5, searchdb.Paused, 1},
		{"failed", 6, 8, searchdb.Failed, messages.ErrSearchEnded, 8, searchdb.Failed, 0},
		{"aborted", 6, 8, searchdb.Aborted, messages.ErrSearchEnded, 8, searchdb.Aborted, 0},
		{"above the tip", 10, 8, searchdb.Running, messages.ErrBlockNotFound, 8, searchdb.Running, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, chain := alone(t, 9)
				probe := probed(t, s)
				s.writer.running = true
				j := jobAt(1, 4, -1, test.done)
				j.Status.Mode, j.Status.Done = test.mode, blockOf(chain.Active().At(test.done))
				j.Status.Top, j.began, j.known = j.Status.Done, time.Unix(1, 0), new(outputs)
				j.Objects, j.Scripts = []searchdb.Object{"o"}, []searchdb.Script{{Script: []byte("a"), Index: -1}}
				j.exhausted = map[string]bool{"of b": true}
				s.add(j)
				cancelled := false
				m := memberOf(j, chain.Active().Tip())
				m.scripts = j.Scripts
				s.rounds.running = &round{
					base: j.Status.Done, stop: m.last, members: []*member{m}, cancel: func() { cancelled = true },
				}
				call, answers := called(t.Context(), probe, messages.ExtendSearch{
					ID: j.ID.String(), Objects: objectsOf("a", "b", "c"), Start: test.start,
				})
				s.extend(call)
				probe.settle()
				if test.err != nil {
					if a := answered(t, answers); !errors.Is(a.err, test.err) || len(j.Scripts) != 1 || cancelled {
						t.Errorf("%+v", a)
					}
				} else {
					unanswered(t, answers)
					if !s.writer.urgent || s.writer.changed[j.ID] != j || len(s.writer.change.Extend) != 1 {
						t.Fatalf("written is %+v", s.writer)
					}
					e := s.writer.change.Extend[0]
					if e.ID != j.ID || e.FirstObject != 1 || e.FirstScript != 1 || len(e.Objects) != 3 ||
						len(e.Scripts) != 2 {
						t.Errorf("written is %+v", e)
					}
					if len(j.Objects) != 4 || len(j.Scripts) != 3 || len(j.Ranges) != 2 || s.scripts != 3 ||
						j.Scripts[1].Object != 2 || string(j.Objects[2]) != "of b" {
						t.Errorf("it looks for %+v, %+v; %d scripts of all", j.Objects, j.Scripts, s.scripts)
					}
					running := test.mode == searchdb.Running
					if j.known != nil || !j.began.IsZero() || !cancelled && running {
						t.Errorf("it began at %v, the round was ended: %v", j.began, cancelled)
					}
					s.writer.done(nil)
					if a := answered(t, answers); a.err != nil || a.val.Scripts != 3 || len(a.val.Descriptors) != 2 {
						t.Errorf("%+v", a)
					}
					if len(j.exhausted) > 0 {
						t.Errorf("used up are %v", j.exhausted)
					}
				}
				at := search.Block{Height: -1}
				if test.wantDone >= 0 {
					at = blockOf(chain.Active().At(test.wantDone))
				}
				if j.Status.Done != at || j.Status.Mode != test.wantMode || j.Status.Epoch != test.epoch {
					t.Errorf("done up to %v, mode %v, epoch %d", j.Status.Done, j.Status.Mode, j.Status.Epoch)
				}
			})
		})
	}
}

// Extending a search that was removed meanwhile, or without room, is an error. Extending it by nothing new is answered
// at once.
func TestNotExtended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		s.writer.running, s.cfg.Limits.Scripts = true, 2
		j := jobAt(1, 4, -1, 8)
		j.Scripts = []searchdb.Script{{Script: []byte("a"), Index: -1}}
		s.add(j)
		extend := func(during func(), scripts ...string) *coming[messages.SearchStatus] {
			call, answers := called(t.Context(), probe, messages.ExtendSearch{
				ID: j.ID.String(), Objects: objectsOf(scripts...), Start: -1,
			})
			if during != nil { // after the search was found
				s.extendNow(call)
				during()
				s.prepareNext()
			} else {
				s.extend(call)
			}
			probe.settle()
			return answers
		}
		if a := answered(t, extend(nil, "a")); a.err != nil || a.val.Scripts != 1 {
			t.Errorf("by nothing: %+v", a)
		}
		limit, ok := errors.AsType[*messages.SearchLimitError](answered(t, extend(nil, "a", "b", "c")).err)
		if !ok || limit.Option != "-searchscripts" {
			t.Errorf("by more than there may be: %v", limit)
		}
		lost := errors.New("lost")
		failed := extend(nil, "b")
		s.writer.done(lost)
		if a := answered(t, failed); !errors.Is(a.err, lost) || a.val.ID != "" {
			t.Errorf("that is not written: %+v", a)
		}
		if a := answered(t, extend(func() { s.drop(j) }, "c")); !errors.Is(a.err, messages.ErrSearchNotFound) {
			t.Errorf("of one that is removed meanwhile: %+v", a)
		}
		if a := answered(t, extend(nil, "c")); !errors.Is(a.err, messages.ErrSearchNotFound) || len(s.writer.then) > 0 {
			t.Errorf("of one that is removed: %+v", a)
		}
	})
}

// A resumed search begins afresh, and any order ends the wait for a lacking block.
func TestOrdersClear(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		s.writer.running, s.modes.running = true, true
		j, filters := jobAt(1, 0, -1, 2), jobAt(2, 0, -1, 2)
		s.add(j)
		s.add(filters)
		j.began, j.alone, j.lacks, j.awaits = time.Unix(1, 0), true, "a block", true
		filters.awaits = true
		call, answers := called(t.Context(), probe, messages.PauseSearch{ID: j.ID.String()})
		s.pause(call)
		if j.lacks != "" || j.awaits || !j.alone || j.began.IsZero() || j.Status.Mode != searchdb.Paused {
			t.Errorf("paused: %+v", j)
		}
		unanswered(t, answers)
		resumed, goesOn := called(t.Context(), probe, messages.ResumeSearch{ID: j.ID.String()})
		s.resume(resumed)
		if j.alone || !j.began.IsZero() || j.Status.Mode != searchdb.Running || j.Status.Changes != 2 {
			t.Errorf("resumed: %+v", j.Status)
		}
		aborted, ended := called(t.Context(), probe, messages.AbortSearch{ID: filters.ID.String()})
		s.abort(aborted)
		again, none := called(t.Context(), probe, messages.PauseSearch{ID: filters.ID.String()})
		s.pause(again)
		if !filters.awaits {
			t.Error("one that waits for filters waits no more")
		}
		want := order{j, searchdb.ModeChange{Mode: searchdb.Running, Updated: s.cfg.Now(), Changes: 2}}
		if len(s.modes.next) != 2 || s.modes.next[j.ID] != want {
			t.Errorf("to be written is %+v", s.modes.next)
		}
		callAll(s.modes.then, nil)
		var got []bool
		for _, answers := range []*coming[bool]{answers, goesOn, ended, none} {
			got = append(got, answered(t, answers).val)
		}
		if !slices.Equal(got, []bool{true, true, true, false}) {
			t.Errorf("answered is %v", got)
		}
		s.modes = modeWriter{running: true}
		j.shown.Mode = searchdb.Paused
		call, answers = called(t.Context(), probe, messages.PauseSearch{ID: j.ID.String()})
		s.pause(call)
		if a := answered(t, answers); a.val || a.err != nil || len(s.modes.then) > 0 {
			t.Errorf("pausing one that is paused: %+v", a)
		}
		s.cancel()
		time.Sleep(time.Second)
		probe.settle()
	})
}

// A search begins at its first block and ends at its last, the lowest ones too.
func TestPlaced(t *testing.T) {
	s, chain := alone(t, 3)
	for _, test := range []struct {
		start, stop, wantStop int32
		follow                bool
	}{{0, 0, 0, false}, {0, 1, 1, false}, {1, 1, 1, false}, {2, -1, 3, false}, {3, 3, 3, false}, {3, 0, -1, true}} {
		n := new(searchdb.Search)
		n.Stop = -1
		q := messages.CreateSearch{Start: test.start, Stop: test.stop, Follow: test.follow}
		below, err := s.place(n, &q)
		want := search.Block{Height: -1}
		if test.start > 0 {
			want = blockOf(chain.Active().At(test.start - 1))
		}
		if err != nil || below != want || n.Stop != test.wantStop {
			t.Errorf("%+v: from behind %v up to %d, %v", test, below, n.Stop, err)
		}
		if !test.follow && n.StopBlock != chain.Active().At(test.wantStop).Hash {
			t.Errorf("%+v: up to another block", test)
		}
	}
}

// It is looked at the pool for a search that is on the disk, and is still there.
func TestPoolOfMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		s.cfg.Pool = probe.Ref
		u := &s.unconfirmed
		u.view, u.running = poolview.New(), true
		s.writer.running = true
		for _, test := range []struct {
			err     error
			removed bool
			want    int
		}{{errors.New("lost"), false, 0}, {nil, true, 0}, {nil, false, 1}} {
			q := messages.CreateSearch{Name: "n", Objects: objectsOf("a"), Follow: true, Mempool: true}
			call, answers := called(t.Context(), probe, q)
			s.create(call)
			probe.settle()
			j := s.names["n"]
			if test.removed {
				s.drop(j)
			}
			s.writer.done(test.err)
			if a := answered(t, answers); !errors.Is(a.err, test.err) || len(u.queue) != test.want {
				t.Errorf("%+v: %+v, %d things are to be done", test, a, len(u.queue))
			}
			j.shown = &j.Status
			request := messages.ExtendSearch{ID: j.ID.String(), Objects: objectsOf("b")}
			more, extended := called(t.Context(), probe, request)
			s.extend(more)
			probe.settle()
			u.queue = nil
			if !test.removed {
				s.drop(j) // meanwhile
				s.writer.done(nil)
				if a := answered(t, extended); a.err != nil || len(u.queue) > 0 {
					t.Errorf("%+v: extended %+v, %d things are to be done", test, a, len(u.queue))
				}
			}
		}
	})
}

// A store that is being written is not opened again.
func TestOpensNothingThatIsWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		s, _ := alone(t, 9)
		probe := probed(t, s)
		stored(t, s)
		s.writes, s.down = 1, true
		s.reopenNow()
		time.Sleep(retryAfter / 2)
		probe.settle()
		if s.cancel(); !s.down {
			t.Error("it was opened again")
		}
	})
}
