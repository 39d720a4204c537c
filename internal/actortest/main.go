package actortest

import (
	"testing"

	"go.uber.org/goleak"
)

// Main runs a package's tests and fails if any of them left a goroutine
// behind. It is what TestMain calls. The functions of closing run before that
// check, to close things that the tests share.
func Main(m *testing.M, closing ...func()) {
	goleak.VerifyTestMain(tests{m, closing},
		// Ends a second after its database was closed.
		goleak.IgnoreTopFunction("github.com/syndtr/goleveldb/leveldb.(*DB).mpoolDrain"),
		// Ends a second after a message had no receiver; its name depends on what is inlined.
		goleak.IgnoreTopFunction("github.com/asynkron/protoactor-go/actor.NewDeadLetter.NewThrottle.func4.1"),
		goleak.IgnoreTopFunction("github.com/asynkron/protoactor-go/actor.NewThrottle.func1.1"))
}

// tests are a package's tests and the functions that run after them, in order.
type tests struct {
	*testing.M
	closing []func()
}

// Run implements goleak.TestingM.
func (t tests) Run() int {
	status := t.M.Run()
	for _, f := range t.closing {
		f()
	}
	return status
}
