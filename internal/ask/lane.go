package ask

import (
	"context"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/messages"
)

// A Job is needed to wait. Only a [Lane] makes jobs, so the compiler keeps Receive from waiting. A job
// is used by one goroutine.
type Job struct {
	call context.Context //nolint:containedctx // as a Call's; ends with own at the latest
	of   *running
}

// running is what all jobs of the same work share.
type running struct {
	own  context.Context //nolint:containedctx // ends with the lane
	post func(do func())
	does bool // the actor does something for the work; written by the actor while the work waits
}

// Context ends with the lane, and where the caller leaves.
func (j *Job) Context() context.Context { return j.call }

// Through returns a job that ends with the lane alone. It is for work that must not be left half done.
func (j *Job) Through() *Job { return &Job{j.of.own, j.of} }

// Until runs work that ends when ctx does, too.
func (j *Job) Until(ctx context.Context, work func(*Job) error) error {
	call, cancel := context.WithCancelCause(j.call)
	defer cancel(nil)
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	return work(&Job{call, j.of})
}

// UntilClosed is Until for a channel. Then the context of the work has the given cause.
func (j *Job) UntilClosed(done <-chan struct{}, cause error, work func(*Job) error) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	var watch sync.WaitGroup
	defer watch.Wait()
	defer cancel(nil)
	watch.Go(func() {
		select {
		case <-done:
			cancel(cause)
		case <-ctx.Done():
		}
	})
	return j.Until(ctx, work)
}

// Do has the actor run f between two messages, and waits until f returns. A panic of f is a panic of the
// actor. With an error f was not run to its end: the job is over.
func (j *Job) Do(f func()) error {
	j.mayWait()
	if err := context.Cause(j.call); err != nil {
		return err
	}
	done := make(chan struct{})
	j.of.post(func() {
		j.of.does = true
		f()
		j.of.does = false
		close(done)
	})
	select {
	case <-done:
		return nil
	case <-j.of.own.Done(): // which the actor ended: f is not run any more
	}
	select {
	case <-done:
		return nil
	default:
		return context.Cause(j.of.own)
	}
}

// mayWait panics where the actor would wait for itself.
func (j *Job) mayWait() {
	if j.of.does {
		panic("a job waits inside its actor")
	}
}

// Await asks another actor and waits for its answer. Like [Then] it takes none of to's slots.
func Await[Q messages.Request[R], R any](j *Job, to *Ref, q Q) (R, error) {
	j.mayWait()
	return send(j.call, to, q)
}

// A Lane runs jobs beside an actor: plain code that may wait. At most width jobs run at a time, and they
// begin in the order in which they came. A lane belongs to one instance of the actor, which alone uses
// it, and closes it at its end.
type Lane struct {
	width  int
	ctx    context.Context //nolint:containedctx // ends the jobs
	cancel context.CancelFunc
	queue  []func(*Job)
	tasks  Tasks
}

// NewLane returns a lane without jobs.
func NewLane(width int) *Lane {
	l := &Lane{width: width}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Add queues a job. A panic of the job is a panic of the actor.
func (l *Lane) Add(c actor.Context, job func(*Job)) {
	l.queue = append(l.queue, job)
	l.next(c)
}

func (l *Lane) next(c actor.Context) {
	for len(l.queue) > 0 && l.tasks.Len() < l.width && l.ctx.Err() == nil {
		job := l.queue[0]
		l.queue = l.queue[1:]
		j := &Job{l.ctx, l.running(c)}
		l.tasks.Go(c, func() func() {
			job(j)
			return func() { l.next(c) }
		})
	}
}

func (l *Lane) running(c actor.Context) *running {
	self, root, by := c.Self(), c.ActorSystem().Root, instanceOf(c)
	return &running{own: l.ctx, post: func(do func()) {
		root.Send(self, wrapped{by: by, make: func() any {
			if l.ctx.Err() != nil {
				return nil
			}
			return step(do)
		}})
	}}
}

// Close ends the jobs and waits for those that run. The others do not begin: their callers are answered
// as the actor stops or restarts.
func (l *Lane) Close() {
	l.cancel()
	l.tasks.Drop()
	l.queue = nil
}

// ServeIn has a job answer a call. Nothing is done for a caller that has left before its turn. When the
// lane ends first, the actor's end answers.
func ServeIn[Q messages.Request[R], R any](
	c actor.Context, l *Lane, call *Call[Q, R], serve func(*Job, Q) (R, error),
) {
	l.Add(c, func(j *Job) {
		var got R
		err := call.left()
		if err == nil {
			err = j.Until(call.Ctx, func(j *Job) (err error) {
				got, err = serve(j, call.Req)
				return err
			})
		}
		if err == nil || j.of.own.Err() == nil {
			call.Answer(got, err)
		}
	})
}
