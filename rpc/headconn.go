package rpc

import (
	"bytes"
	"io"
	"net"
)

// headListener makes net/http read requests as framing hands them on.
type headListener struct {
	net.Listener
	framing framing // that each connection begins with
}

// Accept implements net.Listener.
func (l headListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &headConn{Conn: c, framing: l.framing}, nil
}

// A headConn is a connection of a client. One goroutine reads it at a time.
type headConn struct {
	net.Conn
	framing framing
	ready   []byte // read, mended and not handed on yet
	unused  []byte // the memory of ready
	later   []byte // read, of the requests after the request in ready
	given   []byte // net/http's buffer for reading, as far as it is known
}

// NetConn returns the connection below, as a TLS connection does.
func (c *headConn) NetConn() net.Conn { return c.Conn }

// Read implements net.Conn. It holds a head back until it is whole. A deadline
// that ends it in the middle of a head loses nothing: the next Read goes on.
func (c *headConn) Read(p []byte) (int, error) {
	for len(c.ready) == 0 && len(p) > 0 {
		if c.framing.state == refused {
			return 0, io.EOF
		}
		if len(c.later) > 0 {
			c.later = c.pass(c.later)
			continue
		}
		if len(p) > 1 && c.framing.state == inHead && cap(p) > cap(c.given) { // p is one byte while a call is answered
			c.given = p[:cap(p)]
		}
		n, err := c.Conn.Read(p)
		if c.framing.whole(p[:n]) {
			return n, err
		}
		rest := c.pass(p[:n])
		c.later = bytes.Clone(rest)
		clear(rest)
		if err != nil && len(c.ready) == 0 {
			return 0, err
		}
	}
	n := copy(p, c.ready)
	clear(c.ready[:n])
	c.ready = c.ready[n:]
	return n, nil
}

// pass takes what was sent up to the end of a request, and overwrites all that the
// rest is not a part of.
func (c *headConn) pass(data []byte) (rest []byte) {
	c.unused, rest = c.framing.pass(clip(c.unused), data)
	c.ready = c.unused
	clear(data[:len(data)-len(rest)])
	return rest
}

// forget overwrites the buffer that net/http reads requests through. The body of the
// request has been read, and nothing after it: what was sent of the next request is
// here, not there.
func (c *headConn) forget() {
	clear(c.given)
	c.given = nil
}

// badRequest is the answer to input that this server does not take as HTTP.
const badRequest = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html; charset=ISO-8859-1\r\n" +
	"Connection: close\r\nContent-Length: 0\r\n\r\n"

// finer are the answers that net/http writes itself, each with one Write: bad request, head too
// large, unknown transfer encoding, unknown version.
var finer = [][]byte{
	[]byte("HTTP/1.1 400 "), []byte("HTTP/1.1 431 "), []byte("HTTP/1.1 501 "), []byte("HTTP/1.1 505 "),
}

// finerHeaders are all headers of the finer answers. No answer of a handler has so few.
var finerHeaders = []byte("Content-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n")

// Write implements net.Conn.
func (c *headConn) Write(p []byte) (int, error) {
	_, headers, _ := bytes.Cut(p, []byte("\r\n"))
	for _, status := range finer {
		if bytes.HasPrefix(p, status) && bytes.HasPrefix(headers, finerHeaders) {
			if _, err := c.Conn.Write([]byte(badRequest)); err != nil {
				return 0, err
			}
			return len(p), nil
		}
	}
	return c.Conn.Write(p)
}
