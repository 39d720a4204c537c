package command

import "context"

// workerKey is where the context of a call has what gives its worker back.
type workerKey struct{}

// WithWorker returns the context of a call that has a worker, of which a server has a few. release gives that back.
func WithWorker(ctx context.Context, release func()) context.Context {
	return context.WithValue(ctx, workerKey{}, release)
}

// ReleaseWorker says that what a call has yet to do is to wait, say for the disk, and to tell a few words: another call
// has its worker from now on. It may be called more than once, by the goroutine of the call.
func ReleaseWorker(ctx context.Context) {
	if release, ok := ctx.Value(workerKey{}).(func()); ok {
		release()
	}
}
