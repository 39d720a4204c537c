package chainrpc

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/seed61375155/trawl/messages"
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
	send    func(percent int, stage messages.ScanStage)

	mu      sync.Mutex
	last    time.Time
	percent int
	stage   messages.ScanStage // empty: as the slot says
	part    messages.ScanPart  // of the work that the present stage is; zero: each stage is told for itself
}

func newHolder(aborted <-chan struct{}, send func(percent int, stage messages.ScanStage)) *holder {
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

// endedEvery is how many steps, each of a microsecond at most, are made without a look at whether to end.
const endedEvery = 4096

// eachEnded returns what is asked before each of many short steps, as ended is before a long one.
func (h *holder) eachEnded(ctx context.Context) func() error {
	n := 0
	return func() error {
		if n++; n%endedEvery != 1 {
			return nil
		}
		return h.ended(ctx)
	}
}

// report tells how much of the stage is done, from 0 to 1. It never tells 100 percent:
// the next stage does, by its beginning.
func (h *holder) report(done float64) {
	if h.send == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	percent := min(h.part.Percent(100*done), 99)
	if percent == h.percent || time.Since(h.last) < reportEvery {
		return
	}
	h.percent = percent
	h.send(percent, h.stage)
	h.last = time.Now()
}

// begin notes that a stage begins which is a share of the work that is left. From the first stage on, progress is that
// of the whole work: nobody knows how many stages there will be, and each gets a part of the rest.
func (h *holder) begin(share float64) messages.ScanPart {
	h.mu.Lock()
	defer h.mu.Unlock()
	done := h.part.From + h.part.Share
	h.stage = ""
	h.part = messages.ScanPart{From: done, Share: share * (1 - done)}
	return h.part
}

// again notes that scripts are derived after a pass.
func (h *holder) again() {
	h.begin(derivingShare)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stage = messages.ScanDeriving
}
