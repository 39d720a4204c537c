package load

import (
	"context"
	"math/rand/v2"
	"time"
)

// A job is a call to make: the index of the call in the mix, and when it is
// due, since the begin of the run.
type job struct {
	call int
	due  time.Duration
}

// A schedule says which calls are made, and when. It follows from the seed.
type schedule struct {
	mix    Mix
	random *rand.Rand
	left   int64   // jobs to come; negative: no limit
	gap    float64 // mean seconds between jobs; 0: due at once
	due    time.Duration
}

// newSchedule returns one of the schedules of a seed. rate is in jobs per
// second, 0 for jobs that are due at once; count bounds the jobs, unless it is
// negative.
func newSchedule(mix Mix, seed, stream uint64, count int64, rate float64) *schedule {
	s := &schedule{mix: mix, left: count}
	s.random = rand.New(rand.NewPCG(seed, stream)) //nolint:gosec // has to be repeatable
	if rate > 0 {
		s.gap = 1 / rate
	}
	return s
}

// next returns the next job; ok is false when there is none. The gaps between
// jobs are those of independent callers, of exponential distribution.
func (s *schedule) next() (j job, ok bool) {
	if s.left == 0 {
		return job{}, false
	}
	if s.left > 0 {
		s.left--
	}
	if s.gap > 0 {
		s.due += time.Duration(s.random.ExpFloat64() * s.gap * float64(time.Second))
	}
	return job{s.mix.choose(s.random), s.due}, true
}

// closedLoop returns what gives the jobs of each caller.
func (r *Run) closedLoop(ctx context.Context) func(caller int) func() (job, bool) {
	return func(caller int) func() (job, bool) {
		s := newSchedule(r.config.Mix, r.config.Seed, uint64(caller), r.share(caller), 0)
		return func() (job, bool) {
			if ctx.Err() != nil {
				return job{}, false
			}
			j, ok := s.next()
			j.due = r.now()
			return j, ok
		}
	}
}

// share is how many of the calls a caller makes.
func (r *Run) share(caller int) int64 {
	if r.config.Count == 0 {
		return -1
	}
	callers := int64(r.config.Callers)
	share := r.config.Count / callers
	if int64(caller) < r.config.Count%callers {
		share++
	}
	return share
}

// openLoop hands jobs out as they become due, until there are no more or ctx
// ends. Callers that are free take turns.
func (r *Run) openLoop(ctx context.Context) func(caller int) func() (job, bool) {
	count := r.config.Count
	if count == 0 {
		count = -1
	}
	jobs := make(chan job)
	go func() {
		defer close(jobs)
		s := newSchedule(r.config.Mix, r.config.Seed, 0, count, r.config.Rate)
		timer := time.NewTimer(0)
		defer timer.Stop()
		for j, ok := s.next(); ok; j, ok = s.next() {
			if wait := j.due - r.now(); wait > 0 {
				timer.Reset(wait)
				select {
				case <-timer.C:
				case <-ctx.Done():
					return
				}
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func(int) func() (job, bool) {
		return func() (job, bool) {
			j, ok := <-jobs
			return j, ok
		}
	}
}
