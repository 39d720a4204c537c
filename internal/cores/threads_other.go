//go:build !linux

package cores

// WorkerThreads are none where threads cannot be bound to cores.
type WorkerThreads struct{}

// NewWorkerThreads starts none.
func NewWorkerThreads() *WorkerThreads { return new(WorkerThreads) }

// Close has nothing to end.
func (*WorkerThreads) Close() {}

func (*WorkerThreads) take(func()) bool { return false }
