package ask

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// A Timer sends its actor a message after a time. The zero value is ready, and not set. It is part
// of one instance of an actor, which alone uses it, and stops it at its end.
type Timer struct {
	timer *time.Timer
	turn  int // counts Set and Stop: a message of an earlier turn is late
}

// Set has msg arrive in the mailbox of the actor in c after d, in place of the message set before.
func (t *Timer) Set(c actor.Context, d time.Duration, msg any) {
	t.Stop()
	self, root, turn := c.Self(), c.ActorSystem().Root, t.turn
	t.timer = time.AfterFunc(d, func() {
		root.Send(self, wrapped{make: func() any { // runs in the actor
			if turn != t.turn {
				return nil
			}
			t.timer = nil
			return msg
		}})
	})
}

// Stop takes back what was set: its message does not arrive any more, even if it is in the mailbox.
func (t *Timer) Stop() {
	if t.timer != nil {
		t.timer.Stop()
	}
	t.timer = nil
	t.turn++
}

// IsSet reports whether a message is still to arrive.
func (t *Timer) IsSet() bool { return t.timer != nil }
