package corenode

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// watchEvery is how often a call that is passed on, and may take hours, has it found out whether
	// Core is there, if nothing was heard from Core meanwhile.
	watchEvery = 5 * time.Second

	// lifeTime is how long the server in a silent Core may take for a sign of life. After it Core
	// hangs.
	lifeTime = 4 * time.Second

	// lifePath is a path that no Core serves: the server itself says so, and needs none of the
	// threads for calls, which may all be busy for long.
	lifePath = "/trawl/alive"
)

// errHangs ends the calls that are under way at a Core that hangs.
var errHangs = away("it gives no sign of life")

// A hang is whether Core hangs: it is silent, and its server gives no sign of life.
type hang struct {
	asking sync.Mutex // held while Core is asked for one

	mu    sync.Mutex
	is    bool
	calls map[*context.CancelCauseFunc]struct{} // under way
}

// bind returns a context for a call that ends with ctx, and when Core begins to hang. end has to
// be called after the call.
func (h *hang) bind(ctx context.Context) (bound context.Context, end context.CancelFunc) {
	bound, cancel := context.WithCancelCause(ctx)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.calls == nil {
		h.calls = map[*context.CancelCauseFunc]struct{}{}
	}
	h.calls[&cancel] = struct{}{}
	return bound, func() {
		h.mu.Lock()
		delete(h.calls, &cancel)
		h.mu.Unlock()
		cancel(nil)
	}
}

// hangs reports whether Core hangs.
func (h *hang) hangs() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.is
}

// set notes whether Core hangs. Calls that began before Core was found to hang end.
func (h *hang) set(is bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if is && !h.is {
		for cancel := range h.calls {
			(*cancel)(errHangs)
		}
	}
	h.is = is
}

// seekLifeSoon has seekLife called while the caller goes on.
func (c *Client) seekLifeSoon() { time.AfterFunc(0, c.seekLife) }

// seekLife finds out whether a silent Core hangs. It returns at once while another call of it does.
func (c *Client) seekLife() {
	if !c.hang.asking.TryLock() {
		return
	}
	defer c.hang.asking.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), lifeTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+lifePath, http.NoBody)
	if err != nil {
		return
	}
	c.requests.Add(1)
	resp, err := c.life.Do(req)
	if err == nil {
		_ = resp.Body.Close() // whatever the status is
	}
	_, silent := c.Silent()
	c.hang.set(silent && err != nil && ctx.Err() != nil)
}

// watch has it found out from time to time whether Core is there, until the call of ctx ends by what
// watch returns.
func (c *Client) watch(ctx context.Context, end func()) func() {
	timer := time.AfterFunc(watchEvery, func() {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		for ctx.Err() == nil {
			if time.Since(time.Unix(0, c.heard.Load())) >= watchEvery {
				c.Ping(context.WithoutCancel(ctx))
			}
			select {
			case <-ticker.C:
			case <-ctx.Done():
			}
		}
	})
	return func() {
		timer.Stop()
		end()
	}
}
