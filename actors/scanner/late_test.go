package scanner_test

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/scanner"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/index/filter"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// watched is a scanner that records how many ended scans it keeps.
type watched struct {
	actor.Actor
	draining *atomic.Int32
}

func (w watched) Receive(c actor.Context) {
	w.Actor.Receive(c)
	w.draining.Store(int32(scanner.Draining(w.Actor)))
}

// spawnWatched starts a scanner with a hook before filters are read.
func (r *rig) spawnWatched(
	hook func(heights), news ...*ask.Feed[messages.ScanChanged],
) (*ask.Ref, watched) {
	w := watched{draining: new(atomic.Int32)}
	produce := scanner.New(scanner.Config{
		Scheduler: match.NewScheduler(match.SchedulerConfig{
			Source: hookedSource{filter.NewSource(r.store), hook, nil}, Workers: 1, Log: r.sys.Log,
		}),
		Chain: r.current, Indexer: r.indexer, Log: r.sys.Log, News: append(news, nil)[0],
		HeaderLen: func([]byte) int { return filters.HeaderLen },
	})
	return r.sys.Spawn("watched", func() actor.Actor {
		one := w
		one.Actor = produce()
		return one
	}, scanner.Requests...), w
}

// settles waits until the scanner keeps no scan that has ended.
func (w watched) settles(t *testing.T, ref *ask.Ref, after string) {
	t.Helper()
	for began := time.Now(); ; {
		do(t, ref, messages.GetScanStatus{})
		if w.draining.Load() == 0 {
			return
		}
		if time.Since(began) > 5*time.Second {
			t.Fatalf("after %s: %d scans are kept", after, w.draining.Load())
		}
		time.Sleep(time.Millisecond)
	}
}

// A scan that has ended is kept until its workers have, and no longer; a worker that
// ends late does not end the scan that runs by then.
func TestLateWorkers(t *testing.T) {
	r := newRig(t, 60)
	entered, release := make(chan struct{}), make(chan struct{})
	var held atomic.Int32
	ref, w := r.spawnWatched(func(heights) {
		if held.Add(-1) >= 0 {
			entered <- struct{}{}
			<-release
		}
	})
	all := order{scripts: [][]byte{script(5)}, to: 60}
	got, err := r.run(t.Context(), ref, all)
	r.check(t, answer{got, err}, all)
	w.settles(t, ref, "a whole scan")

	held.Store(1)
	first := r.begin(t.Context(), t, ref, all)
	<-entered
	do(t, ref, messages.AbortScan{})
	if a := <-first; a.err != nil || a.result.Completed {
		t.Errorf("aborted: %+v", a)
	}
	second := r.begin(t.Context(), t, ref, all) // waits for the one core
	for !do(t, ref, messages.GetScanStatus{}).Running {
		time.Sleep(time.Millisecond)
	}
	release <- struct{}{}
	r.check(t, <-second, all)
	w.settles(t, ref, "a worker that ended late")

	// A scan that is aborted while its query is made is forgotten too.
	set := &scriptList{list: make([][]byte, 65), reached: make(chan struct{}), held: make(chan struct{})}
	slot := do(t, ref, messages.ReserveScan{})
	third := make(chan answer, 1)
	go func() {
		q := messages.RunScan{Slot: slot.ID, Set: set, Stop: r.chain.Active().Tip().Hash}
		result, err := ask.Ask(t.Context(), ref, q)
		third <- answer{result, err}
	}()
	<-set.reached
	do(t, ref, messages.AbortScan{})
	if a := <-third; a.err != nil || a.result.Completed {
		t.Errorf("aborted while it was prepared: %+v", a)
	}
	got, err = r.run(t.Context(), ref, all)
	r.check(t, answer{got, err}, all)
	close(set.held)
	w.settles(t, ref, "an aborted preparation")
	if n := ref.Stats().Restarts; n > 0 {
		t.Errorf("it panicked %d times", n)
	}
}

// An abort is reported once, whenever the workers of the scan end.
func TestNewsOfALateWorker(t *testing.T) {
	r := newRig(t, 60)
	news, listener := r.listen()
	entered, release := make(chan struct{}), make(chan struct{})
	ref, w := r.spawnWatched(func(heights) {
		entered <- struct{}{}
		<-release
	}, news)
	ended := r.begin(t.Context(), t, ref, order{scripts: [][]byte{script(5)}, to: 60})
	<-entered
	do(t, ref, messages.AbortScan{})
	<-ended
	release <- struct{}{}
	w.settles(t, ref, "an abort")
	do(t, ref, messages.ReserveScan{})
	deriving := messages.ScanStatus{Running: true, Stage: messages.ScanDeriving}
	for _, want := range []messages.ScanStatus{deriving, {Running: true}, {}, deriving} {
		if got := actortest.Expect[messages.ScanChanged](listener); got != (messages.ScanChanged{ScanStatus: want}) {
			t.Errorf("received %+v, want %+v", got, want)
		}
	}
	listener.Quiet()
}

// A scriptList is a set of scripts that are all there.
type scriptList struct {
	list          [][]byte
	reached, held chan struct{} // that they are read, and until when that takes; nil: not told
}

// Len implements messages.ScriptSet.
func (s *scriptList) Len() int { return len(s.list) }

// Scripts implements messages.ScriptSet.
func (s *scriptList) Scripts() iter.Seq[[]byte] {
	if s.reached != nil {
		close(s.reached)
		<-s.held
	}
	return slices.Values(s.list)
}

// Queries of many scripts are made outside of the actor, which answers meanwhile.
func TestLargeQueriesAreMadeOutside(t *testing.T) {
	r := newRig(t, 3)
	list := func(n int) (scripts [][]byte) {
		for i := range n {
			scripts = append(scripts, script(i))
		}
		return scripts
	}
	asList := func(scripts [][]byte) messages.ScriptSet { return &scriptList{list: scripts} }
	asQuery := func(scripts [][]byte) messages.ScriptSet { return filters.NewQuery(scripts) }
	for name, test := range map[string]struct {
		scripts int
		outside bool
		set     func([][]byte) messages.ScriptSet // nil: the scripts themselves
	}{
		"one": {1, false, nil}, "few": {64, false, nil}, "many": {65, true, nil}, "very many": {500, true, nil},
		"a set of few":     {64, false, asList},
		"a set of many":    {65, true, asList},
		"a query at hand":  {500, false, asQuery},
		"a query of a few": {5, false, asQuery},
	} {
		r := &rig{r.chain, r.current, r.store, r.indexer, actortest.New(t), r.dir}
		ref, w := r.spawnWatched(func(heights) {})
		o := order{scripts: list(test.scripts), to: 3}
		q := r.request(do(t, ref, messages.ReserveScan{}), o)
		if test.set != nil {
			q.Scripts, q.Set = nil, test.set(o.scripts)
		}
		if outside := scanner.IsLarge(&q); outside != test.outside {
			t.Errorf("%s: prepared outside %t, want %t", name, outside, test.outside)
		}
		got, err := ask.Ask(t.Context(), ref, q)
		r.check(t, answer{got, err}, o)
		w.settles(t, ref, "a whole scan")
	}
}

// A request that a scanner does not serve is refused with an error that names its type.
func TestUnknownRequest(t *testing.T) {
	r := newRig(t, 3)
	ref := r.spawn(options{})
	got, err := r.sys.Root.RequestFuture(ref.PID(), bytes.MinRead, 5*time.Second).Result()
	if err != nil {
		t.Fatal(err)
	}
	if refused, ok := got.(error); !ok || !strings.Contains(refused.Error(), "int") {
		t.Errorf("got %v", got)
	}
}
