package load

import (
	"context"
	"time"
)

const (
	// abortPause is how long a run that ends waits between two aborts.
	abortPause = 50 * time.Millisecond

	// freePause is how long it waits for a caller that is free to abort.
	freePause = time.Second

	// maxAborts bounds the tries to end a scan that no caller waits for any
	// more: five minutes.
	maxAborts = 6000
)

// endScans waits for all callers. Once ctx ends it aborts scans meanwhile. In
// the end it aborts a scan whose caller has lost its connection.
func (r *Run) endScans(ctx context.Context, ended <-chan struct{}) {
	select {
	case <-ended:
	case <-ctx.Done():
		if r.config.Mix.Has(Start) {
			r.abortUntil(ended)
		}
		<-ended
	}
	if !r.scanLost.Load() {
		return
	}
	c := r.newCaller(r.config.Callers)
	defer c.connection.close()
	for range maxAborts {
		if outcome := c.abort(); outcome != met {
			return
		}
		time.Sleep(abortPause)
	}
}

// abortUntil aborts scans until all callers have ended. It takes the connection
// of a caller that has ended, since the node may have no room for another.
func (r *Run) abortUntil(ended <-chan struct{}) {
	var c *caller
	select {
	case <-ended:
		return
	case c = <-r.free:
	case <-time.After(freePause):
		c = r.newCaller(r.config.Callers)
		defer c.connection.close()
	}
	tick := time.NewTicker(abortPause)
	defer tick.Stop()
	for {
		c.abort()
		select {
		case <-ended:
			return
		case <-tick.C:
		}
	}
}

// abort ends the scan that runs, if any.
func (c *caller) abort() (outcome string) {
	outcome, _ = c.exchange(Abort, c.run.request(Call{Name: Abort}))
	return outcome
}
