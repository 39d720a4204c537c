package link

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	dialTime      = 5 * time.Second
	idleTime      = time.Minute // after which a connection that nothing is sent over is closed
	maxOutbound   = 512         // nodes that are sent to
	maxQueued     = 1024        // frames that wait for a node
	maxQueuedSize = 16 << 20    // bytes of them
)

// outbound is the connection to a node, and what is to be sent over it.
type outbound struct {
	address string
	more    chan struct{} // there are frames

	mu     sync.Mutex
	frames [][]byte
	size   int // bytes of them
}

// put has a frame sent, unless too many wait.
func (o *outbound) put(frame []byte) {
	o.mu.Lock()
	if len(o.frames) < maxQueued && o.size+len(frame) <= maxQueuedSize {
		o.frames = append(o.frames, frame)
		o.size += len(frame)
	}
	o.mu.Unlock()
	select {
	case o.more <- struct{}{}:
	default: // it is known
	}
}

// next takes the frame that waits longest; nil: none does.
func (o *outbound) next() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.frames) == 0 {
		return nil
	}
	frame := o.frames[0]
	o.frames[0] = nil
	o.frames = o.frames[1:]
	o.size -= len(frame)
	return frame
}

// outboundTo returns the connection to a node, and makes one where there is none; nil where there are too
// many. It is called with mu held.
func (l *Link) outboundTo(address string) *outbound {
	if o := l.outbound[address]; o != nil {
		return o
	}
	if len(l.outbound) >= maxOutbound {
		return nil
	}
	o := &outbound{address: address, more: make(chan struct{}, 1)}
	l.outbound[address] = o
	ctx := l.ctx
	l.work.Go(func() {
		_ = l.carry(ctx, o) // callers that wait for an answer ask again
		l.mu.Lock()
		delete(l.outbound, address)
		l.mu.Unlock()
		l.ended(address)
	})
	return o
}

// carry connects to a node and sends what there is, until that fails or there is nothing for long.
func (l *Link) carry(ctx context.Context, o *outbound) error {
	within, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(within, "tcp", o.address)
	if err != nil {
		l.met(ctx, o.address, err)
		return fmt.Errorf("connect: %w", err)
	}
	defer raw.Close()
	ctx, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	conn := tls.Client(raw, l.tls)
	if err := conn.HandshakeContext(within); err != nil {
		l.met(ctx, o.address, err)
		return fmt.Errorf("handshake: %w", err)
	}
	own, _ := l.State()
	w := bufio.NewWriterSize(conn, bufferSize)
	writeFrame(w, []byte(own))
	l.start(func() {
		defer end()
		l.listen(ctx, conn, o.address)
	})
	return l.write(ctx, conn, w, o)
}

// listen reads that a node is there, until it is not. Whether it has let this one in is known from the first byte on.
func (l *Link) listen(ctx context.Context, conn net.Conn, address string) {
	var b [64]byte
	for met := false; ; met = true {
		if conn.SetReadDeadline(time.Now().Add(l.silence)) != nil {
			return
		}
		_, err := conn.Read(b[:])
		if !met {
			l.met(ctx, address, err)
		}
		if err != nil {
			return
		}
	}
}

// logAgain is after how long it is logged again that a node is not reached, if the reason has changed.
const logAgain = time.Minute

// failure is why a node was not reached.
type failure struct {
	why string
	at  time.Time // when it was logged
}

// met notes whether a node was reached, and logs why not if the reason is new.
func (l *Link) met(ctx context.Context, address string, err error) {
	if ctx.Err() != nil {
		return // this end has closed the connection
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		delete(l.failed, address)
		return
	}
	why := reason(err)
	before, known := l.failed[address]
	if known && (why == before.why || time.Since(before.at) < logAgain) {
		return
	}
	if len(l.failed) >= maxOutbound {
		clear(l.failed) // logging twice does no harm
	}
	l.failed[address] = failure{why, time.Now()}
	l.cfg.Log.Info("a node of the cluster cannot be reached", "node", address, "err", why)
}

// reason returns why a connection has failed, without the ports of this end, which are always others.
func reason(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Op + ": " + op.Err.Error()
	}
	return err.Error()
}

// write writes the queued frames, and now and then a sign of life.
func (l *Link) write(ctx context.Context, conn net.Conn, w *bufio.Writer, o *outbound) error {
	tick := time.NewTicker(l.every)
	defer tick.Stop()
	for sent := time.Now(); time.Since(sent) < idleTime; {
		if err := conn.SetWriteDeadline(time.Now().Add(l.silence)); err != nil {
			return fmt.Errorf("bound a silence: %w", err)
		}
		if frame := o.next(); frame != nil {
			writeFrame(w, frame)
			sent = time.Now()
			continue
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("send: %w", err)
		}
		select {
		case <-o.more:
		case <-tick.C:
			writeFrame(w, nil)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
