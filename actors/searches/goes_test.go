package searches

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/poolview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// Every event that lets a round begin, or leaves something to write, has the round begun or the write done at once.
func TestGoesOnAtOnce(t *testing.T) {
	round := func(s *Searches) *pass {
		r := &round{stop: s.cfg.Chain.Open().Active().Tip(), cancel: func() {}}
		return &pass{mergedQuery: new(mergedQuery), round: r}
	}
	for _, test := range []struct {
		name   string
		action func(*testing.T, *Searches, *probe)
		writes bool
	}{
		{"a block", func(_ *testing.T, s *Searches, _ *probe) { s.receive(messages.TipChanged{}) }, false},
		{"after a while", func(t *testing.T, s *Searches, _ *probe) {
			t.Helper()
			s.rounds.looking = true
			if s.receive(look{}); s.rounds.looking && s.full == "" {
				t.Error("it will look again")
			}
		}, false},
		{"after others were made", func(t *testing.T, s *Searches, _ *probe) {
			t.Helper()
			s.rounds.timer = true
			if s.receive(batched{}); s.rounds.timer {
				t.Error("it waits for others")
			}
		}, false},
		{"when the store is in order", func(t *testing.T, s *Searches, _ *probe) {
			t.Helper()
			s.rounds.pacing = true
			if s.receive(paced{}); s.rounds.pacing {
				t.Error("it waits for the store")
			}
		}, false},
		{"with filters", func(_ *testing.T, s *Searches, _ *probe) { s.receive(indexed{}) }, false},
		{"with peers", func(t *testing.T, s *Searches, _ *probe) {
			t.Helper()
			s.rounds.asking = true
			if s.receive(askAgain{}); s.rounds.asking {
				t.Error("it will ask again")
			}
		}, false},
		{"after a write", func(_ *testing.T, s *Searches, _ *probe) {
			s.dirty(s.jobs[1])
			s.writer.urgent = true
			s.written(new(searchdb.Change), nil, nil, nil)
		}, true},
		{"after a round", func(_ *testing.T, s *Searches, _ *probe) {
			s.dirty(s.jobs[1])
			s.writer.urgent = true
			planner{s}.ended(round(s), time.Second, context.Canceled)
		}, true},
		{"by hand", func(t *testing.T, s *Searches, p *probe) {
			t.Helper()
			s.modes.running = true
			call, _ := called(t.Context(), p, messages.ResumeSearch{ID: s.jobs[2].ID.String()})
			s.writer.urgent = true
			s.receive(call)
		}, true},
		{"made", func(t *testing.T, s *Searches, p *probe) {
			t.Helper()
			call, _ := called(t.Context(), p, messages.CreateSearch{Objects: objectsOf("a"), Follow: true})
			s.receive(call)
		}, true},
		{"extended", func(t *testing.T, s *Searches, p *probe) {
			t.Helper()
			call, _ := called(t.Context(), p, messages.ExtendSearch{ID: s.jobs[1].ID.String(), Objects: objectsOf("a")})
			s.receive(call)
		}, true},
		{"without another", func(t *testing.T, s *Searches, p *probe) {
			t.Helper()
			call, _ := called(t.Context(), p, messages.RemoveSearch{ID: s.jobs[2].ID.String()})
			s.receive(call)
		}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, begins := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					actortest.InBubble(t)
					s, chain := alone(t, 9)
					probe := probed(t, s)
					stored(t, s)
					asked := planned(s)
					j, paused := jobAt(1, 0, -1, 2), jobAt(2, 0, -1, 2)
					for _, j := range []*job{j, paused} {
						j.Status.Done = blockOf(chain.Active().At(2))
						j.Status.Top = j.Status.Done
						s.add(j)
					}
					paused.Status.Mode, paused.shown.Mode = searchdb.Paused, searchdb.Paused
					s.loaded, s.writer.running = true, begins
					if !begins { // but writes
						s.rounds.running = round(s).round
						s.rounds.running.members = []*member{memberOf(j, chain.Active().Tip())}
						s.rounds.running.base = j.Status.Done
					}
					test.action(t, s, probe)
					probe.settle()
					if begins && *asked == 0 {
						t.Error("no round begins")
					}
					if !begins && test.writes && (s.writer.last.IsZero() || len(s.writer.changed) > 0) {
						t.Error("nothing is written")
					}
					s.cancel()
					time.Sleep(time.Minute)
				})
			}
		})
	}
}

// A delayed message of the actor to itself counts as sent when it arrives: then it may be sent again.
func TestTimersAreTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		actortest.InBubble(t)
		s, _ := alone(t, 9)
		probe := probed(t, s)
		stored(t, s)
		j := jobAt(1, 0, -1, 9)
		s.add(j)
		s.dirty(j)
		s.writer.timer, s.writer.sweepTimer, s.writer.sweeping = true, true, true
		s.receive(flushNow{})
		s.receive(sweepNow{})
		probe.settle()
		if s.writer.timer || s.writer.last.IsZero() || s.writer.sweepTimer || !s.writer.sweepAgain {
			t.Errorf("%+v", s.writer)
		}
		s.writer.sweeping = false
		s.sweep()
		if s.tasks.Drop(); !s.writer.sweeping || s.writer.sweepAgain {
			t.Errorf("nothing is deleted: %+v", s.writer)
		}
		s.writer.sweeping = false
		s.sweep()
		probe.settle()
		if s.writer.sweeping || s.writer.sweepAgain {
			t.Errorf("it is deleted still: %+v", s.writer)
		}
		s.loaded = true
		s.load()
		if s.tasks.Drop(); s.loaded {
			t.Error("it takes requests while it is read")
		}
		s.receive(new(extend))
		if len(s.early) != 1 {
			t.Errorf("%d requests wait", len(s.early))
		}
	})
}

// A round of blocks without filters waits for these, and rounds of other searches do not. When it begins, it is noted
// since when its searches run.
func TestRoundBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, chain := alone(t, 9)
		probe := probed(t, s)
		source := &oneFilter{}
		s.cfg.Scheduler = match.NewScheduler(match.SchedulerConfig{Source: source, Workers: 1})
		var members []*member
		for n := range 3 {
			members = append(members, lookingFor(n, chain.Active().Tip(), "a"))
			members[n].beganHeight = 7
			s.add(members[n].job)
		}
		members[1].served, members[1].began = 1, time.Unix(5, 0)
		members[2].served = 1
		r := &round{stop: chain.Active().Tip(), members: members}
		p := planner{s}
		p.start(s.cfg.Chain.Open(), r)
		m := expect[indexed](probe)
		if !errors.Is(m.err, ask.ErrAbsent) || m.stop != r.stop || source.open != 0 || s.rounds.running != nil {
			t.Errorf("%+v, %d views are open", m, source.open)
		}
		for _, m := range members {
			if !m.awaits || m.served > 1 {
				t.Errorf("%d does not wait for filters", m.Number)
			}
		}
		s.rounds.indexed, s.rounds.number = r.stop.Hash, 4
		s.cancel() // it ends as it begins
		p.start(s.cfg.Chain.Open(), r)
		for i, m := range members {
			began, height := s.cfg.Now(), m.Status.Done.Height
			if i == 1 {
				began, height = time.Unix(5, 0), 7
			}
			if m.served != 5 || m.began != began || m.beganHeight != height {
				t.Errorf("%d began at %v, %d; its round is %d", i, m.began, m.beganHeight, m.served)
			}
		}
		probe.settle()
		if r.number != 5 || s.rounds.running != nil || len(s.rounds.mergedQueries) != 1 || members[0].Status.Mode != 0 {
			t.Errorf("the round %d goes on: %v", r.number, s.rounds.running)
		}
	})
}

// Without a chain nothing can be made or extended, and the tip is below all.
func TestWithoutAChain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		if got := s.tipHeight(); got != 9 {
			t.Errorf("the tip is at %d", got)
		}
		s.cfg.Chain = new(chainview.Current)
		if got := s.tipHeight(); got != -1 {
			t.Errorf("the tip is at %d", got)
		}
		j := jobAt(1, 0, -1, 2)
		s.add(j)
		created, made := called(t.Context(), probe, messages.CreateSearch{Objects: objectsOf("a"), Follow: true})
		s.create(created)
		more, extended := called(t.Context(), probe, messages.ExtendSearch{ID: j.ID.String(), Objects: objectsOf("a")})
		s.extend(more)
		if a := answered(t, made); !errors.Is(a.err, messages.ErrBlockNotFound) {
			t.Errorf("%+v", a)
		}
		if a := answered(t, extended); !errors.Is(a.err, messages.ErrBlockNotFound) {
			t.Errorf("%+v", a)
		}
		if len(s.jobs) != 1 || jobAt(2, 0, 0, 0).follows() || !j.follows() {
			t.Errorf("%d searches", len(s.jobs))
		}
		if n := New(Config{})().(*Searches); n.cfg.Now == nil || n.ctx == nil {
			t.Error("an actor has no clock")
		}
	})
}

// The removal of a search is reported once it is on the disk, and then its data is deleted soon.
func TestRemovalIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := alone(t, 9)
		probe := probed(t, s)
		s.cfg.News, s.cfg.Lists = new(ask.Feed[messages.News]), listOf{}
		s.cfg.News.Subscribe(s.c)
		s.writer.running = true
		lost := errors.New("lost")
		for _, err := range []error{lost, nil, nil} {
			j := jobAt(1, 0, -1, 9)
			s.add(j)
			wait, waits := called(t.Context(), probe, messages.WaitSearch{ID: j.ID.String(), Limit: 1})
			reading{s}.wait(wait)
			probe.settle()
			call, answers := called(t.Context(), probe, messages.RemoveSearch{ID: j.ID.String()})
			s.remove(call)
			unanswered(t, answers)
			timer := s.writer.sweepTimer
			then := s.writer.then
			s.writer.then = nil
			callAll(then, err)
			if a := answered(t, answers); a.val != (err == nil) || !errors.Is(a.err, err) {
				t.Errorf("%+v after %v", a, err)
			}
			if err != nil {
				unanswered(t, waits)
				probe.Quiet()
				s.waiters.stop()
				continue
			}
			if m := expect[messages.SearchChanged](probe); !m.Removed || m.ID != j.ID.String() {
				t.Errorf("event: %+v", m)
			}
			if a := answered(t, waits); !errors.Is(a.err, messages.ErrSearchNotFound) || !s.writer.sweepTimer {
				t.Errorf("%+v", a)
			}
			if timer {
				expect[sweepNow](probe)
				time.Sleep(time.Minute)
				probe.settle()
				probe.Quiet()
			}
		}
	})
}

// Callers that wait for a write get its result. If the store has failed meanwhile, nothing of the write is
// shown.
func TestWriteHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := errors.New("lost")
		for _, test := range []struct {
			name                  string
			err                   error
			reopened              bool
			notified, shown, down bool
		}{
			{"well", nil, false, false, true, false},
			{"failed", lost, false, true, false, true},
			{"after another one failed", nil, true, true, false, false},
			{"failed after another one", lost, true, true, false, false},
		} {
			s, _ := alone(t, 9)
			probe := probed(t, s)
			s.cancel() // it is not opened again
			goOn := make(chan struct{})
			var notified, shown bool
			s.write([]func(error){func(err error) {
				if notified = true; !errors.Is(err, test.err) {
					t.Errorf("%s: %v", test.name, err)
				}
			}}, func() error {
				<-goOn
				return test.err
			}, func() { shown = true })
			if test.reopened {
				s.opening++
			}
			if s.writes != 1 {
				t.Errorf("%d writes go on", s.writes)
			}
			close(goOn)
			probe.settle()
			if notified != test.notified || shown != test.shown || s.down != test.down || s.writes != 0 {
				t.Errorf("%s: notified %v, shown %v, down %v", test.name, notified, shown, s.down)
			}
		}
	})
}

// The pool is looked at again for a search that includes the pool, and not for any other search.
func TestLooksIntoThePool(t *testing.T) {
	s, _ := alone(t, 9)
	j, plain := jobAt(1, 0, -1, 9), jobAt(2, 0, -1, 9)
	j.Mempool, j.poolKnown, plain.poolKnown = true, true, true
	p, u := mempool{s}, &s.unconfirmed
	u.view, u.running = poolview.New(), true
	p.look(j)
	if !j.poolKnown || len(u.queue) > 0 {
		t.Error("there is no pool, and it is looked at")
	}
	synctest.Test(t, func(t *testing.T) {
		s.cfg.Pool = probed(t, s).Ref
		p.look(plain)
		p.look(j)
		if j.poolKnown || !plain.poolKnown || !slices.Equal(u.queue, []poolWork{{job: j}}) {
			t.Errorf("%d things are to be done", len(u.queue))
		}
	})
}
