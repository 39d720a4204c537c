package link

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	handshakeTime = 5 * time.Second
	acceptWait    = 50 * time.Millisecond // after an error, as where there are no more files
	maxWaiting    = 64                    // frames of a peer that nobody has taken
	maxWaitingAll = 256                   // and of all
	maxAddress    = 256                   // bytes of an address
)

// inbound is the peers that are connected to this node under one address.
type inbound struct {
	address string
	tokens  chan struct{} // one for each frame that nobody has taken
	conns   int
}

// accept takes connections until the link is closed.
func (l *Link) accept(ctx context.Context, listener net.Listener) {
	for ctx.Err() == nil {
		conn, err := listener.Accept()
		if err == nil {
			if !l.start(func() { l.serve(ctx, conn) }) {
				_ = conn.Close()
			}
			continue
		}
		select {
		case <-time.After(acceptWait):
		case <-ctx.Done():
		}
	}
}

// serve reads from a connection as long as there is one.
func (l *Link) serve(ctx context.Context, raw net.Conn) {
	defer raw.Close()
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	host, _, err := net.SplitHostPort(raw.RemoteAddr().String())
	if err != nil || !l.doors.enter(host) {
		l.refuse(raw, errBusy)
		return
	}
	conn := tls.Server(raw, l.tls)
	r := bufio.NewReaderSize(conn, bufferSize)
	from, err := l.greeted(ctx, conn, r)
	l.doors.leave(host, err == nil)
	if err != nil {
		l.refuse(raw, err)
		return
	}
	defer l.doors.closed()
	in := l.joined(from)
	defer l.left(in)
	ctx, end := context.WithCancel(ctx)
	defer end()
	l.start(func() { l.beat(ctx, conn) })
	if err := l.read(ctx, conn, r, in); errors.Is(err, errLarge) {
		l.refuse(raw, err)
	}
}

var errBusy = errors.New("too many connections begin, or are there")

// refuse counts a connection that is refused.
func (l *Link) refuse(conn net.Conn, err error) {
	l.refused.Add(1)
	l.cfg.Log.Debug("a connection of the cluster is refused", "from", conn.RemoteAddr().String(), "err", err)
}

// greeted does the handshake, and returns the address by which a peer says that it is reached.
func (l *Link) greeted(ctx context.Context, conn *tls.Conn, r *bufio.Reader) (from string, err error) {
	if err := conn.SetDeadline(time.Now().Add(handshakeTime)); err != nil {
		return "", fmt.Errorf("bound a handshake: %w", err)
	}
	if err := conn.HandshakeContext(ctx); err != nil {
		return "", fmt.Errorf("handshake: %w", err)
	}
	frame, err := readFrame(r, maxAddress)
	if err != nil {
		return "", err
	}
	from = string(frame)
	if _, _, err := splitAddress(from); err != nil {
		return "", err
	}
	if own, _ := l.State(); from == own {
		return "", errors.New("a connection of this node itself")
	}
	return from, conn.SetDeadline(time.Time{})
}

// joined notes a connection of a peer.
func (l *Link) joined(address string) *inbound {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.inbound[address]
	if in == nil {
		in = &inbound{address: address, tokens: make(chan struct{}, maxWaiting)}
		l.inbound[address] = in
	}
	in.conns++
	return in
}

// left notes the end of a connection of a peer, which is gone when it was the last one.
func (l *Link) left(in *inbound) {
	l.mu.Lock()
	in.conns--
	last := in.conns == 0
	if last {
		delete(l.inbound, in.address)
	}
	l.mu.Unlock()
	if last {
		l.ended(in.address)
	}
}

// read hands on what a peer sends.
func (l *Link) read(ctx context.Context, conn net.Conn, r *bufio.Reader, in *inbound) error {
	for {
		if err := conn.SetReadDeadline(time.Now().Add(l.silence)); err != nil {
			return fmt.Errorf("bound a silence: %w", err)
		}
		frame, err := readFrame(r, MaxFrame)
		if err != nil {
			return err
		}
		if len(frame) == 0 {
			continue // it is there
		}
		for _, tokens := range []chan struct{}{in.tokens, l.tokens} {
			select {
			case tokens <- struct{}{}:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		l.frame(in.address, frame, func() { <-in.tokens; <-l.tokens })
	}
}

// beat tells a peer that this node is there, whether it reads or not.
func (l *Link) beat(ctx context.Context, conn net.Conn) {
	tick := time.NewTicker(l.every)
	defer tick.Stop()
	for {
		if err := conn.SetWriteDeadline(time.Now().Add(l.silence)); err != nil {
			return
		}
		if _, err := conn.Write([]byte{0}); err != nil {
			_ = conn.Close() // which ends the reading too
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
