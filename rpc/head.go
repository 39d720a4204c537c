package rpc

import (
	"bytes"
	"net"
)

// headListener makes net/http take requests as Core's HTTP library does: without
// a Host header or with several, of which the first counts; with a space in the
// path, a percent sign there that escapes nothing, or no slash at its
// beginning. And it answers 400 where net/http would have a finer status.
//
// It looks at the first request of a connection only, since finding the next
// one means to read HTTP.
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
	for !c.checked && len(p) > 0 {
		n, err := c.Conn.Read(p)
		c.head = append(c.head, p[:n]...)
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
	mended := mendRequestLine(head[:line])
	hasHost := false
	for header := range bytes.Lines(head[line:end]) {
		isHost := len(header) >= 5 && bytes.EqualFold(header[:5], []byte("host:"))
		if !isHost || !hasHost {
			mended = append(mended, header...)
		}
		hasHost = hasHost || isHost
	}
	if !hasHost {
		mended = append(mended, "Host: \r\n"...)
	}
	return append(mended, head[end:]...)
}

// mendRequestLine mends the target: what is between the first space and the
// last.
func mendRequestLine(line []byte) []byte {
	first, last := bytes.IndexByte(line, ' '), bytes.LastIndexByte(line, ' ')
	if first < 0 || first == last {
		return bytes.Clone(line)
	}
	target := line[first+1 : last]
	mended := append([]byte(nil), line[:first+1]...)
	if len(target) > 0 && target[0] != '/' && target[0] != '*' && !bytes.Contains(target, []byte("://")) {
		mended = append(mended, "//"...) // there is no such path either
	}
	return append(escape(mended, target), line[last:]...)
}

// escape appends the target with %20 for a space, and %25 for a percent sign
// that no two hexadecimal digits follow.
func escape(dst, target []byte) []byte {
	for i, c := range target {
		switch {
		case c == ' ':
			dst = append(dst, "%20"...)
		case c == '%' && (i+2 >= len(target) || !isHex(target[i+1]) || !isHex(target[i+2])):
			dst = append(dst, "%25"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// badRequest is the answer to what is not HTTP as this server takes it.
const badRequest = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/html; charset=ISO-8859-1\r\n" +
	"Connection: close\r\nContent-Length: 0\r\n\r\n"

// finer are the answers that net/http writes itself, each with one Write and as
// plain text: head too large, unknown transfer encoding, unknown version.
var finer = [][]byte{[]byte("HTTP/1.1 431 "), []byte("HTTP/1.1 501 "), []byte("HTTP/1.1 505 ")}

// Write implements net.Conn.
func (c *headConn) Write(p []byte) (int, error) {
	for _, status := range finer {
		if bytes.HasPrefix(p, status) && bytes.Contains(p, []byte("Content-Type: text/plain")) {
			if _, err := c.Conn.Write([]byte(badRequest)); err != nil {
				return 0, err
			}
			return len(p), nil
		}
	}
	return c.Conn.Write(p)
}
