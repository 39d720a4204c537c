package match_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/match"
)

// lessor leases heights of a pass at random, and knows their hits.
type lessor struct {
	t    *testing.T
	rnd  *rand.Rand
	pass *match.Pass
	all  []match.Hit     // of an equal pass with one worker
	had  []match.Heights // every range that was ever leased

	open, back map[match.Heights]bool // leased; given back
	finished   []match.Heights
}

func newLessor(t *testing.T, seed uint64, s *source, cfg match.Config) *lessor {
	t.Helper()
	whole := match.New(cfg)
	if _, err := whole.Work(t.Context(), match.Heights{}); err != nil {
		t.Fatal(err)
	}
	hits, _ := whole.Hits()
	return &lessor{
		t: t, rnd: rand.New(rand.NewPCG(seed, 1)), pass: match.New(cfg), all: hits,
		open: make(map[match.Heights]bool), back: make(map[match.Heights]bool),
	}
}

func (l *lessor) hits(r match.Heights) (in []match.Hit) {
	for _, hit := range l.all {
		if hit.Height >= r.From && hit.Height < r.To {
			in = append(in, hit)
		}
	}
	return in
}

// step does one thing at random.
func (l *lessor) step() {
	switch l.rnd.IntN(4) {
	case 0, 1:
		l.lease()
	case 2:
		l.finishLease()
	default:
		l.giveBack()
	}
}

func (l *lessor) lease() {
	left := l.pass.Left()
	r, ok := l.pass.Lease(func(from int32) int32 { return from + 1 + l.rnd.Int32N(9) })
	if ok != (left > 0) || ok == r.Empty() {
		l.t.Fatalf("leased %v, %v with %d left", r, ok, left)
	}
	if !ok {
		return
	}
	if len(l.back) > 0 && !l.back[r] {
		l.t.Fatalf("leased %v before what was given back", r)
	}
	if now := l.pass.Left(); now != left-(r.To-r.From) {
		l.t.Fatalf("%d left after %v, before it %d", now, r, left)
	}
	delete(l.back, r)
	l.open[r] = true
	l.had = append(l.had, r)
}

// finishLease answers for any range, in time or late, for the first time or again.
func (l *lessor) finishLease() {
	if len(l.had) == 0 {
		return
	}
	r := l.had[l.rnd.IntN(len(l.had))]
	counts := l.pass.Finish(r, l.hits(r))
	if want := l.open[r] || l.back[r]; counts != want {
		l.t.Fatalf("finishing %v counts: %v, want %v", r, counts, want)
	}
	if counts {
		l.finished = append(l.finished, r)
	}
	delete(l.open, r)
	delete(l.back, r)
}

func (l *lessor) giveBack() {
	if len(l.had) == 0 {
		return
	}
	r := l.had[l.rnd.IntN(len(l.had))]
	l.pass.GiveBack(r)
	if l.open[r] {
		delete(l.open, r)
		l.back[r] = true
	}
}

// check holds what the pass says against what has been finished.
func (l *lessor) check() {
	l.t.Helper()
	done := l.pass.First
	for again := true; again; {
		again = false
		for _, r := range l.finished {
			if r.From == done {
				done, again = r.To, true
			}
		}
	}
	hits, frontier := l.pass.Hits()
	if want := l.hits(match.Heights{From: l.pass.First, To: done}); frontier != done || !slices.Equal(hits, want) {
		l.t.Fatalf("%v up to %d, want %v up to %d", heights(hits), frontier, heights(want), done)
	}
	if l.pass.Complete() != (done > l.pass.Stop.Height) {
		l.t.Fatalf("complete: %v, finished up to %d", l.pass.Complete(), done)
	}
}

// Leases may be made, finished, finished again and given back, and workers may match, in
// any order. The pass has the hits of a pass with one worker, and is complete only
// after the last height.
func TestLease(t *testing.T) {
	s := newSource(95)
	for seed := range uint64(300) {
		cfg := match.Config{
			Source: s, Query: filters.NewQuery([][]byte{script(3), script(7)}),
			First: int32(seed % 20), Stop: s.chain.Active().At(90 - int32(seed%7)),
		}
		l := newLessor(t, seed, s, cfg)
		for range l.rnd.IntN(80) {
			l.step()
			l.check()
		}
		l.finish()
	}
}

// finish has workers do the rest, while what is leased comes back or is finished.
func (l *lessor) finish() {
	if _, err := l.pass.Work(l.t.Context(), match.Heights{}); err != nil {
		l.t.Fatal(err)
	}
	for r := range l.open {
		if l.rnd.IntN(2) == 0 {
			l.pass.Finish(r, l.hits(r))
			continue
		}
		l.pass.GiveBack(r)
		if _, err := l.pass.Work(l.t.Context(), match.Heights{}); err != nil {
			l.t.Fatal(err)
		}
		if l.pass.Finish(r, l.hits(r)) {
			l.t.Fatalf("%v counts twice", r)
		}
	}
	if hits, _ := l.pass.Hits(); !l.pass.Complete() || !slices.Equal(hits, l.all) {
		l.t.Fatalf("found %v, want %v", heights(hits), heights(l.all))
	}
}

// helper is a [match.Helper] of one function.
type helper func(ctx context.Context, pass *match.Pass) error

func (h helper) Help(ctx context.Context, pass *match.Pass) error { return h(ctx, pass) }

func tens(from int32) int32 { return from + 10 }

// helped runs a pass over 200 blocks, none of which matches, with a helper.
func helped(ctx context.Context, h helper, workers int) (*match.Pass, error) {
	s := match.NewScheduler(match.SchedulerConfig{
		Source: &slowSource{each: time.Millisecond}, Workers: workers, Helper: h,
	})
	pass := s.NewPass(upTo(199))
	return pass, s.Run(ctx, pass)
}

// A run is not over before all leased heights are done: by the helper, or given
// back and matched by a worker that has waited.
func TestHelper(t *testing.T) {
	for name, finishes := range map[string]bool{"finishes": true, "gives back": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pass, err := helped(t.Context(), func(_ context.Context, pass *match.Pass) error {
					pass.Reserve(true)
					var leased []match.Heights
					for r, ok := pass.Lease(tens); ok; r, ok = pass.Lease(tens) {
						leased = append(leased, r)
					}
					pass.Reserve(false)
					time.Sleep(time.Minute) // the workers find nothing
					if pass.Complete() || len(leased) == 0 {
						t.Error("complete with all of it leased")
					}
					for _, r := range leased {
						if finishes {
							pass.Finish(r, []match.Hit{{Height: r.From}})
						} else {
							pass.GiveBack(r)
						}
					}
					return nil
				}, 2)
				hits, _ := pass.Hits()
				if err != nil || !pass.Complete() || (len(hits) > 0) != finishes {
					t.Errorf("%v, complete %v, %d hits", err, pass.Complete(), len(hits))
				}
			})
		})
	}
}

// A helper is told to end when all is matched, and when the run is aborted while heights
// are leased; then it is not complete.
func TestHelperEnds(t *testing.T) { synctest.Test(t, testHelperEnds) }

func testHelperEnds(t *testing.T) {
	_, err := helped(t.Context(), func(ctx context.Context, _ *match.Pass) error {
		<-ctx.Done()
		return nil
	}, 2)
	if err != nil {
		t.Error(err)
	}
	ctx, abort := context.WithCancelCause(t.Context())
	pass, err := helped(ctx, func(ctx context.Context, pass *match.Pass) error {
		r, _ := pass.Lease(tens)
		abort(errBroken)
		<-ctx.Done()
		pass.GiveBack(r)
		return nil
	}, 2)
	if !errors.Is(err, errBroken) || pass.Complete() {
		t.Errorf("%v, complete %v", err, pass.Complete())
	}
}

// While heights are reserved workers take none, but for those that they have. The
// reservation ends with the helper.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pass, err := helped(t.Context(), func(_ context.Context, pass *match.Pass) error {
			pass.Reserve(true)
			left := pass.Left()
			time.Sleep(time.Minute)
			if now := pass.Left(); now != left || left == 0 {
				t.Errorf("%d left, before that %d", now, left)
			}
			return nil
		}, 2)
		if err != nil || !pass.Complete() {
			t.Errorf("%v, complete %v", err, pass.Complete())
		}
	})
}

// An error of a helper fails the run, and its panic becomes a panic of the caller.
func TestHelperFails(t *testing.T) { synctest.Test(t, testHelperFails) }

func testHelperFails(t *testing.T) {
	pass, err := helped(t.Context(), func(_ context.Context, pass *match.Pass) error {
		r, _ := pass.Lease(tens)
		defer pass.GiveBack(r)
		return errBroken
	}, 1)
	if !errors.Is(err, errBroken) || pass.Complete() {
		t.Errorf("%v, complete %v", err, pass.Complete())
	}
	defer func() {
		if p, ok := recover().(*cores.Panic); !ok || !strings.Contains(p.Error(), "helper fell") {
			t.Errorf("panic %v", p)
		}
	}()
	_, _ = helped(t.Context(), func(_ context.Context, pass *match.Pass) error {
		pass.Lease(tens)
		panic("helper fell")
	}, 1)
}
