package messages

import "time"

// AdvanceTimers asks a part of the node to do now what its timers would have it do within a time,
// and is answered when that is done. The clock stays what it is. It is for tests.
type AdvanceTimers struct {
	Asks[Done]

	By time.Duration
}
