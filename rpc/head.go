package rpc

import (
	"bytes"
	"net"
)

// headListener accepts two things that Core accepts and net/http does not: a
// request of HTTP/1.1 without a Host header, and a percent sign in the path
// that escapes nothing. It looks at the first request of a connection only,
// since finding the next one means to read HTTP.
type headListener struct{ net.Listener }

// Accept implements net.Listener.
func (l headListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &headConn{Conn: c}, nil
}

// A headConn mends the head of the first request. Everything after that
// passes untouched.
type headConn struct {
	net.Conn
	head    []byte // read and not handed on yet
	checked bool   // the first request was looked at
}

// Read implements net.Conn. It holds back the first request's head until it
// is whole, or as long as a head may be, or no more is to be had.
func (c *headConn) Read(p []byte) (int, error) {
	for !c.checked {
		part := make([]byte, maxHead)
		n, err := c.Conn.Read(part)
		c.head = append(c.head, part[:n]...)
		if err != nil && len(c.head) == 0 {
			return 0, err
		}
		if end := headEnd(c.head); end >= 0 {
			c.head, c.checked = mendHead(c.head, end), true
		}
		c.checked = c.checked || err != nil || len(c.head) >= maxHead
	}
	if len(c.head) > 0 {
		n := copy(p, c.head)
		c.head = c.head[n:]
		return n, nil
	}
	return c.Conn.Read(p)
}

// headEnd returns where the empty line that ends a head begins, -1 when it
// is not there yet.
func headEnd(head []byte) int {
	for at := 0; ; {
		i := bytes.IndexByte(head[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
		if rest := head[at:]; bytes.HasPrefix(rest, []byte("\n")) || bytes.HasPrefix(rest, []byte("\r\n")) {
			return at
		}
	}
}

// mendHead returns head, whose empty line is at end, as net/http wants it.
func mendHead(head []byte, end int) []byte {
	line := bytes.IndexByte(head, '\n') + 1
	mended := escapePercents(head[:line])
	mended = append(mended, head[line:end]...)
	if !hasHost(head[line:end]) {
		mended = append(mended, "Host: \r\n"...)
	}
	return append(mended, head[end:]...)
}

func hasHost(headers []byte) bool {
	for line := range bytes.Lines(headers) {
		if len(line) >= 5 && bytes.EqualFold(line[:5], []byte("host:")) {
			return true
		}
	}
	return false
}

// escapePercents writes %25 for every percent sign that no two hexadecimal
// digits follow.
func escapePercents(line []byte) []byte {
	escaped := make([]byte, 0, len(line))
	for i, c := range line {
		escaped = append(escaped, c)
		if c == '%' && (i+2 >= len(line) || !isHex(line[i+1]) || !isHex(line[i+2])) {
			escaped = append(escaped, "25"...)
		}
	}
	return escaped
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
