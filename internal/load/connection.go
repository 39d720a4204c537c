package load

import (
	"bufio"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// maxReply bounds the bytes of a reply that are kept in memory.
	maxReply = 256 << 20

	// idleLimit is how long a connection may lie idle before it is replaced. It
	// keeps clear of the moment when a node closes idle connections (Core's
	// -rpcservertimeout is 30 s).
	idleLimit = 10 * time.Second

	// readBuffer is small because there are thousands.
	readBuffer = 1 << 10
)

var errReplyTooLong = errors.New("reply is too long")

// A connection makes one call at a time. It is opened when it is needed.
//
// It does not use http.Client, which has two goroutines and two buffers of
// 4 KiB for each connection.
type connection struct {
	addr    string
	headers string // up to the length of the body
	timeout time.Duration

	conn   net.Conn // nil: closed
	reader *bufio.Reader
	used   time.Time
}

func newConnection(c *Config) *connection {
	login := base64.StdEncoding.EncodeToString([]byte(c.Login))
	return &connection{
		addr: c.Addr,
		headers: "POST / HTTP/1.1\r\nHost: " + c.Addr + "\r\nAuthorization: Basic " + login +
			"\r\nContent-Type: application/json\r\nContent-Length: ",
		timeout: c.Timeout,
	}
}

// open connects, unless that was done and is still good.
func (c *connection) open() error {
	if c.conn != nil && time.Since(c.used) < idleLimit {
		return nil
	}
	c.close()
	dialer := net.Dialer{Timeout: c.timeout, KeepAlive: -1}
	conn, err := dialer.Dial("tcp", c.addr)
	if err != nil {
		return err
	}
	c.conn, c.used = conn, time.Now()
	if c.reader == nil {
		c.reader = bufio.NewReaderSize(conn, readBuffer)
	}
	c.reader.Reset(conn)
	return nil
}

func (c *connection) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// post sends a body, which is head and tail together, and returns the reply.
// After an error the connection is closed, and it is unknown whether the node
// saw the request.
func (c *connection) post(head, tail []byte) (status int, reply []byte, err error) {
	if err := c.open(); err != nil {
		return 0, nil, err
	}
	status, reply, keep, err := c.exchange(head, tail)
	if !keep {
		c.close()
	}
	c.used = time.Now()
	return status, reply, err
}

func (c *connection) exchange(head, tail []byte) (status int, reply []byte, keep bool, err error) {
	if err := c.conn.SetDeadline(time.Now().Add(c.timeout)); err != nil {
		return 0, nil, false, err
	}
	first := fmt.Appendf(nil, "%s%d\r\n\r\n%s", c.headers, len(head)+len(tail), head)
	if _, err := (&net.Buffers{first, tail}).WriteTo(c.conn); err != nil {
		return 0, nil, false, err
	}
	if _, err := c.reader.Peek(1); err != nil { // wait here, where little is in use
		return 0, nil, false, err
	}
	resp, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return 0, nil, false, err
	}
	defer resp.Body.Close()
	if resp.ContentLength > maxReply {
		return 0, nil, false, errReplyTooLong
	}
	reply, err = io.ReadAll(io.LimitReader(resp.Body, maxReply+1))
	if err == nil && len(reply) > maxReply {
		err = errReplyTooLong
	}
	return resp.StatusCode, reply, err == nil && !resp.Close, err
}
