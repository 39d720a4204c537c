package sam

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"time"
)

// A pending is a connection to the router that has no owner yet: it is closed unless it is
// kept.
type pending struct {
	Conn

	kept bool
}

// hello connects to the router, and greets it.
func (s *Session) hello(ctx context.Context) (*pending, error) {
	conn, err := s.cfg.Dial(ctx, s.cfg.Router)
	if err != nil {
		return nil, failf("Cannot connect to %s", s.cfg.Router)
	}
	p := &pending{Conn: Conn{Conn: conn, reader: bufio.NewReader(conn)}}
	if _, err := p.demand(ctx, "HELLO VERSION MIN=3.1 MAX=3.1"); err != nil {
		p.release()
		return nil, err
	}
	return p, nil
}

// release closes the connection, unless it was kept.
func (p *pending) release() {
	if !p.kept {
		_ = p.Close()
	}
}

// keep hands the connection over, without a deadline.
func (p *pending) keep() *Conn {
	p.kept = true
	_ = p.SetDeadline(time.Time{})
	return &p.Conn
}

// pass hands the connection over while it is still pending.
func (p *pending) pass() *pending {
	p.kept = true
	return &pending{Conn: p.Conn}
}

// ask writes a request and reads its reply, within replyTime.
func (p *pending) ask(ctx context.Context, request string) (answer reply, err error) {
	err = p.until(ctx, time.Now().Add(replyTime), func() error {
		answer, err = send(p.Conn.Conn, p.reader, request)
		return err
	})
	return answer, err
}

// demand is ask for a request that has to succeed: a refusal is an error.
func (p *pending) demand(ctx context.Context, request string) (answer reply, err error) {
	if answer, err = p.ask(ctx, request); err == nil {
		err = answer.check()
	}
	return answer, err
}

// await reads a line, however long it takes.
func (p *pending) await(ctx context.Context) (line string, err error) {
	err = p.until(ctx, time.Time{}, func() error {
		line, err = readLine(p.reader)
		return err
	})
	return line, err
}

// until does what reads and writes up to a deadline, or the end of ctx.
func (p *pending) until(ctx context.Context, deadline time.Time, do func() error) error {
	_ = p.SetDeadline(deadline)
	stop := context.AfterFunc(ctx, func() { _ = p.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err := do()
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// isAlive returns why a connection has ended on which nothing is expected: the router says
// nothing there while the session lives.
func isAlive(conn net.Conn) error {
	const wait = time.Millisecond // else the deadline has passed before anything is read
	_ = conn.SetReadDeadline(time.Now().Add(wait))
	var b [1]byte
	_, err := conn.Read(b[:])
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = nil
	}
	return err
}
