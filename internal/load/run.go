package load

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// dialers is how many connections are opened at a time.
const dialers = 64

// A Run is a node that is ready to be called; make one with [Prepare].
type Run struct {
	config   Config
	whole    *Whole   // nil when the mix has no starts
	requests [][]byte // by call of the mix, from behind the id
	history  *History
	result   Result

	free                   chan *caller // a caller that has no more to do
	scanLost               atomic.Bool  // a start had no reply, and its scan may run
	searches               *searches    // nil when the mix has none
	searchLost             atomic.Bool  // a call had no reply, and a search may be left
	began                  time.Time
	times                  times
	losses                 losses
	scans, failed, replies atomic.Int64
}

// now is the time since the begin of the run.
func (r *Run) now() time.Duration { return time.Since(r.began) }

// Progress returns how far the run is. It may be called at any time after
// [Run.Go] was.
func (r *Run) Progress() Progress {
	return Progress{Calls: r.replies.Load(), Scans: r.scans.Load(), Failed: r.failed.Load()}
}

// Go makes the calls, and returns when all have been replied to. It can be
// used once. The error is that of the first caller that cannot connect.
func (r *Run) Go(ctx context.Context) (*Result, error) {
	callers, err := r.connect()
	defer func() {
		for _, c := range callers {
			c.connection.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	if r.config.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.config.Duration)
		defer cancel()
	}
	r.began = time.Now()
	jobs := r.closedLoop(ctx)
	if r.config.Rate > 0 {
		jobs = r.openLoop(ctx)
	}
	var group sync.WaitGroup
	for i, c := range callers {
		group.Go(func() {
			c.work(ctx, jobs(i))
			select {
			case r.free <- c:
			default:
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		group.Wait()
		close(ended)
	}()
	r.endScans(ctx, ended)
	if r.searchLost.Load() {
		r.searches.sweep(context.WithoutCancel(ctx))
	}
	return r.finish(), nil
}

// connect opens the connections of all callers.
func (r *Run) connect() ([]*caller, error) {
	callers := make([]*caller, r.config.Callers)
	for i := range callers {
		callers[i] = r.newCaller(i)
	}
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var group sync.WaitGroup
	for range dialers {
		group.Go(func() {
			for failed.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(callers) {
					return
				}
				if err := callers[i].connection.open(); err != nil {
					err = fmt.Errorf("caller %d of %d: %w", i+1, len(callers), err)
					failed.CompareAndSwap(nil, &err)
				}
			}
		})
	}
	group.Wait()
	if err := failed.Load(); err != nil {
		return callers, *err
	}
	return callers, nil
}

// finish returns the result of a run whose callers have ended.
func (r *Run) finish() *Result {
	r.result.Began, r.result.Elapsed = r.began, r.now()
	r.result.Rows = r.times.rows(r.config.Mix)
	r.result.Lost = r.losses.list()
	r.result.Findings = r.history.Check()
	return &r.result
}
