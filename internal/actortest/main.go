package actortest

import (
	"testing"

	"go.uber.org/goleak"
)

// Main runs a package's tests and fails if any of them left a goroutine
// behind. It is what TestMain calls.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m,
		// Ends a second after its database was closed.
		goleak.IgnoreTopFunction("github.com/syndtr/goleveldb/leveldb.(*DB).mpoolDrain"),
		// Ends a second after a message had no receiver; its name depends on what is inlined.
		goleak.IgnoreTopFunction("github.com/asynkron/protoactor-go/actor.NewDeadLetter.NewThrottle.func4.1"),
		goleak.IgnoreTopFunction("github.com/asynkron/protoactor-go/actor.NewThrottle.func1.1"))
}
