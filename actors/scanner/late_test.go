package scanner_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// watched is a scanner that records the types of its messages, and how many ended scans it
// keeps.
type watched struct {
	actor.Actor
	draining *atomic.Int32
	mu       *sync.Mutex
	received *[]string
}

func (w watched) Receive(c actor.Context) {
	w.mu.Lock()
	*w.received = append(*w.received, fmt.Sprintf("%T", c.Message()))
	w.mu.Unlock()
	w.Actor.Receive(c)
	w.draining.Store(int32(scanner.Draining(w.Actor)))
}

// spawnWatched starts a scanner with a hook before filters are read.
func (r *rig) spawnWatched(hook func(heights)) (*ask.Ref, watched) {
	w := watched{draining: new(atomic.Int32), mu: new(sync.Mutex), received: new([]string)}
	produce := scanner.New(scanner.Config{
		Scheduler: match.NewScheduler(match.SchedulerConfig{
			Source: hookedSource{filter.NewSource(r.store), hook, nil}, Workers: 1, Log: r.sys.Log,
		}),
		Chain: r.current, Indexer: r.indexer, Log: r.sys.Log,
		HeaderLen: func([]byte) int { return filters.HeaderLen },
	})
	return r.sys.Spawn("watched", func() actor.Actor {
		one := w
		one.Actor = produce()
		return one
	}, scanner.Requests...), w
}

// prepared counts how often the scanner received that a query is made.
func (w watched) prepared() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(*w.received), func(name string) bool {
		return !strings.HasSuffix(name, "scanner.prepared")
	}))
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
	many := order{to: 60}
	for i := range 20_000 {
		many.scripts = append(many.scripts, script(2000+i))
	}
	for range 5 {
		third := r.begin(t.Context(), t, ref, many)
		for !do(t, ref, messages.GetScanStatus{}).Running {
			time.Sleep(time.Microsecond)
		}
		do(t, ref, messages.AbortScan{})
		<-third
		got, err = r.run(t.Context(), ref, all)
		r.check(t, answer{got, err}, all)
	}
	w.settles(t, ref, "an aborted preparation")
}

// Queries of many scripts are made outside of the actor, which answers meanwhile.
func TestLargeQueriesAreMadeOutside(t *testing.T) {
	r := newRig(t, 3)
	for scripts, want := range map[int]int{1: 0, 64: 0, 65: 1, 500: 1} {
		r := &rig{r.chain, r.current, r.store, r.indexer, actortest.New(t), r.dir}
		ref, w := r.spawnWatched(func(heights) {})
		o := order{to: 3}
		for i := range scripts {
			o.scripts = append(o.scripts, script(i))
		}
		got, err := r.run(t.Context(), ref, o)
		r.check(t, answer{got, err}, o)
		if n := w.prepared(); n != want {
			t.Errorf("%d scripts: prepared %d times outside, want %d", scripts, n, want)
		}
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
