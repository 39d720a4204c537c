package rpc

import (
	"context"
	"errors"
	"sync"
)

const (
	// enough is how much of what waits for its reader is in an outbox, bytes.
	enough = maxBehind / 4

	// atOnce is how much is taken from it at a time, where events are no larger.
	atOnce = 1 << 16
)

// errBehind ends the stream of a reader that is too slow.
var errBehind = errors.New("too slow")

// An outbox is what a reader has yet to be sent.
type outbox struct {
	ready chan struct{} // of one place
	taken chan struct{} // of one place

	mu      sync.Mutex
	pending [][]byte // one event each
	size    int      // bytes of them
	err     error
}

func newOutbox() *outbox {
	return &outbox{ready: make(chan struct{}, 1), taken: make(chan struct{}, 1)}
}

func (o *outbox) add(part []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.size+len(part) > maxBehind {
		o.err, o.pending, o.size = errBehind, nil, 0
	}
	if o.err == nil {
		o.pending = append(o.pending, part)
		o.size += len(part)
	}
	o.wake()
	return o.err == nil
}

func (o *outbox) end(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.err = err
	o.wake()
}

func (o *outbox) wake() {
	select {
	case o.ready <- struct{}{}:
	default:
	}
}

// take takes what is to be sent next. The error is there once there is no more.
func (o *outbox) take() (parts [][]byte, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for size := 0; n < len(o.pending) && size < atOnce; n++ {
		size += len(o.pending[n])
	}
	parts, o.pending = o.pending[:n:n], o.pending[n:]
	for _, part := range parts {
		o.size -= len(part)
	}
	select {
	case o.taken <- struct{}{}:
	default:
	}
	if len(o.pending) > 0 {
		o.wake()
		return parts, nil
	}
	o.pending = nil // and with it what was taken before
	return parts, o.err
}

// wait waits until little is pending. It is false where ctx has ended.
func (o *outbox) wait(ctx context.Context) bool {
	for {
		o.mu.Lock()
		full := o.size > enough
		o.mu.Unlock()
		if !full {
			return true
		}
		select {
		case <-o.taken:
		case <-ctx.Done():
			return false
		}
	}
}

func (o *outbox) lagged() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return errors.Is(o.err, errBehind)
}
