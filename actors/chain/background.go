package chain

import (
	"time"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/messages"
)

// backgroundTime is for about how long blocks before a snapshot are validated before requests
// and blocks of peers come again.
const backgroundTime = 100 * time.Millisecond

// background has the engine validate blocks before the snapshot that the chain began with. If
// validation has moved on, it publishes the tip once more: callers that await such blocks look
// again.
func (s *Chain) background(e engine.Engine) (after func(), err error) {
	before := chainview.AssumedOf(e.Reader())
	more, err := e.Background(s.ctx, backgroundTime)
	moved := chainview.AssumedOf(e.Reader()) != before
	return func() {
		s.behind = more
		if moved && err == nil {
			s.cfg.Tip.Publish(messages.TipChanged(s.tip))
		}
	}, err
}
