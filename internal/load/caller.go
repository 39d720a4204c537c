package load

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// errorPause is how long a caller waits after a call without a reply.
const errorPause = 100 * time.Millisecond

// A caller makes one call after another.
type caller struct {
	run        *Run
	number     int
	sequence   int
	connection *connection
}

func (r *Run) newCaller(number int) *caller {
	return &caller{run: r, number: number, connection: newConnection(&r.config)}
}

// work makes calls until there are no more.
func (c *caller) work(ctx context.Context, next func() (job, bool)) {
	r := c.run
	for j, ok := next(); ok; j, ok = next() {
		name := r.config.Mix.Calls[j.call].Name
		var outcome string
		var good bool
		if name == Search {
			outcome, good = c.search(ctx)
		} else {
			outcome, good = c.exchange(name, r.requests[j.call])
		}
		r.times.add(j.call, outcome, r.now()-j.due)
		r.replies.Add(1)
		if !good {
			r.failed.Add(1)
		}
		if outcome == noReply {
			pause := time.NewTimer(errorPause)
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
			pause.Stop()
		}
	}
}

// The outcomes of calls that succeed, or are refused as they should.
const (
	completed = "completed"
	aborted   = "aborted"
	busy      = "busy"
	running   = "running"
	idle      = "idle"
	met       = "true"
	notMet    = "false"
	done      = "ok"
	noReply   = "no reply"
)

// exchange makes a call and notes the reply in the history. good is false when
// there was no result, though one was due.
func (c *caller) exchange(name string, request []byte) (outcome string, good bool) {
	r := c.run
	c.sequence++
	id := fmt.Sprintf("%d.%d", c.number, c.sequence)
	sent := r.now()
	status, body, err := c.connection.post([]byte(head(id)), request)
	at := Span{Sent: sent, Received: r.now()}
	if err != nil {
		r.losses.add(err)
		at.Received = Never
		switch name {
		case Start:
			r.scanLost.Store(true)
			r.history.Failed(at)
		case Abort:
			r.history.AbortLost(sent)
		}
		return noReply, false
	}
	got := parseReply(status, body, id)
	if got.odd != "" {
		r.history.Odd(at, got.odd)
	}
	switch name {
	case Start:
		return r.noteStart(at, &got)
	case Status:
		return r.noteStatus(at, &got)
	case Abort:
		return r.noteAbort(at, &got)
	}
	if got.result == nil {
		return got.failureName(), false
	}
	return done, true
}

func (r *Run) noteStart(at Span, got *reply) (outcome string, good bool) {
	switch {
	case got.busy():
		r.history.Busy(at)
		return busy, true
	case got.failed != nil || got.odd != "":
		r.history.Failed(at)
		return got.failureName(), false
	case got.result == nil:
		return got.failureName(), false
	}
	var result ScanOutcome
	if !r.decode(at, got, &result) {
		r.history.Failed(at)
		return got.failureName(), false
	}
	r.history.Scanned(at, result)
	r.scans.Add(1)
	if result.Completed {
		return completed, true
	}
	return aborted, true
}

func (r *Run) noteStatus(at Span, got *reply) (outcome string, good bool) {
	if got.isNull() {
		r.history.Idle(at)
		return idle, true
	}
	var status ScanStatus
	if got.result == nil || !r.decode(at, got, &status) {
		return got.failureName(), false
	}
	r.history.Running(at, status)
	return running, true
}

func (r *Run) noteAbort(at Span, got *reply) (outcome string, good bool) {
	var ended bool
	if got.result == nil || !r.decode(at, got, &ended) {
		return got.failureName(), false
	}
	r.history.Aborted(at, ended)
	if ended {
		return met, true
	}
	return notMet, true
}

// decode reads a result, and notes one of another form.
func (r *Run) decode(at Span, got *reply, result any) bool {
	if err := json.Unmarshal(got.result, result); err != nil {
		got.odd = fmt.Sprintf("%.80s: %v", got.result, err)
		r.history.Odd(at, got.odd)
		return false
	}
	return true
}
