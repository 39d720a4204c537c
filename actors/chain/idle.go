package chain

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/engine"
)

// idleEvery is how often the engine may tidy up although nobody asks for anything: it
// writes what waits, and gives memory back.
const idleEvery = time.Minute

// idle is the message that the engine may tidy up.
type idle struct{}

// idleLater has the actor look after idleEvery whether it has nothing to do.
func (s *Chain) idleLater(c actor.Context) {
	s.timer.Set(c, idleEvery, idle{})
}

// idle has the engine tidy up, unless there is work.
func (s *Chain) idle(c actor.Context) {
	if s.tasks.Len() == 0 {
		s.queue = append(s.queue, func(e engine.Engine) (func(), error) { return nil, e.Sync() })
		s.next(c)
	}
	s.idleLater(c)
}
