package chainrpc

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errAborted ends the work for a scan that was aborted.
var errAborted = errors.New("scan was aborted")

// reportEvery is how often the holder of a slot reports at most. A scan that is over
// sooner costs its actor no message.
const reportEvery = 250 * time.Millisecond

// A holder is a call that holds the slot of a scan: an abort ends its work, and it
// reports how far it is. The zero value is never aborted and reports nowhere.
type holder struct {
	aborted <-chan struct{}
	send    func(percent int)

	mu      sync.Mutex
	last    time.Time
	percent int
}

func newHolder(aborted <-chan struct{}, send func(percent int)) *holder {
	return &holder{aborted: aborted, send: send, last: time.Now()}
}

// ended returns the reason to end the work, nil while there is none.
func (h *holder) ended(ctx context.Context) error {
	select {
	case <-h.aborted:
		return errAborted
	default:
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}

// report tells how much of the stage is done, from 0 to 1. It never tells 100 percent:
// the next stage does, by its beginning.
func (h *holder) report(done float64) {
	if h.send == nil {
		return
	}
	percent := min(int(100*done), 99)
	h.mu.Lock()
	defer h.mu.Unlock()
	if percent == h.percent || time.Since(h.last) < reportEvery {
		return
	}
	h.percent = percent
	h.send(percent)
	h.last = time.Now()
}
