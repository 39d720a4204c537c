package actortest

import (
	"testing"
	"time"
)

// InBubble readies a bubble of synctest for the stores and chains of the node.
// Call it first: it moves the bubble's time past that of recorded blocks, and
// lets the goroutine end, in the end, that goleveldb leaves behind for a second.
func InBubble(tb testing.TB) {
	tb.Helper()
	const year = 365 * 24 * time.Hour
	time.Sleep(30 * year) // of the bubble's time
	tb.Cleanup(func() { time.Sleep(2 * time.Second) })
}
