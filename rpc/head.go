package rpc

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/seed61375155/trawl/rpc/rest"
)

// chunked is the length of a body that comes in chunks.
const chunked = -1

// headEnd returns where a head ends, with its empty line, -1 when it is not whole
// yet. The empty line is not before from.
func headEnd(head []byte, from int) int {
	for at := from; ; {
		i := bytes.IndexByte(head[at:], '\n')
		if i < 0 {
			return -1
		}
		at += i + 1
		if n := emptyLine(head[at:]); n > 0 {
			return at + n
		}
	}
}

// emptyLine returns the length of the empty line that data begins with, zero where it begins with none. It alone says
// what ends a head: no other line does.
func emptyLine(data []byte) int {
	line, _, found := bytes.Cut(data, []byte("\n"))
	if !found || len(line) > 0 && string(line) != "\r" {
		return 0
	}
	return len(line) + 1
}

// withoutEnd returns a line without its line end, which is "\n" or "\r\n".
func withoutEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// mendHead returns a whole head as net/http wants it, and the length of the body
// that follows. It makes net/http take requests as Core's HTTP library does. The
// Host header may be missing; of several the first counts. The path may have a
// space, a percent sign that escapes nothing, or no slash at its beginning.
// Headers that are not in own may have an invalid name or value.
//
// The result ok is false for a head that must be answered with 400: it is no request of
// HTTP/1, or tells the length of its body in two ways. With chunksFirst one of two ways may be chunks, which
// count alone; the connection ends with such a request, as what follows may have been meant as its body.
func mendHead(head []byte, chunksFirst bool) (mended []byte, length int64, ok bool) {
	at := bytes.IndexByte(head, '\n') + 1
	line := head[:at]
	if !isVersion1(line) || hasControl(line) {
		return nil, 0, false
	}
	h := headMender{out: mendRequestLine(line)}
	for rest := head[at:]; emptyLine(rest) == 0; {
		field := rest[:bytes.IndexByte(rest, '\n')+1]
		rest = rest[len(field):]
		if !h.add(field) {
			return nil, 0, false
		}
	}
	if h.chunked && h.hasLength && chunksFirst {
		h.out = slices.Delete(h.out, h.lengthAt[0], h.lengthAt[1])
		h.out, h.hasLength = append(h.out, "Connection: close\r\n"...), false
	}
	if !h.hasHost {
		h.out = append(h.out, "Host: \r\n"...)
	}
	h.out = append(h.out, "\r\n"...)
	switch {
	case h.chunked && (h.hasLength || bytes.HasSuffix(withoutEnd(line), []byte("1.0"))):
		return nil, 0, false
	case h.chunked:
		return h.out, chunked, true
	}
	return h.out, h.length, true
}

// isVersion1 reports whether a request line asks in HTTP/1.0 or a later one of
// that form.
func isVersion1(line []byte) bool {
	line = withoutEnd(line)
	version := line[bytes.LastIndexByte(line, ' ')+1:]
	return len(version) == len("HTTP/1.1") && bytes.HasPrefix(version, []byte("HTTP/1."))
}

// hasControl reports whether a line has a NUL or a carriage return before its
// end.
func hasControl(line []byte) bool {
	line = withoutEnd(line)
	return bytes.IndexByte(line, 0) >= 0 || bytes.IndexByte(line, '\r') >= 0
}

// A headMender collects the headers of a request.
type headMender struct {
	out       []byte
	hasHost   bool
	hasLength bool
	chunked   bool
	length    int64
	lengthAt  [2]int // where it stands in out
}

// own are the headers that this server or net/http reads.
var own = map[string]bool{
	"authorization": true, "connection": true, "content-length": true, "expect": true, "host": true,
	"origin": true, "sec-fetch-site": true, "trailer": true, "transfer-encoding": true, "upgrade": true,
}

// add takes one header. It returns false for a line that can be neither taken nor skipped, as a line that continues the
// header before it.
func (h *headMender) add(field []byte) bool {
	name, value, found := bytes.Cut(field, []byte(":"))
	if !found || len(name) == 0 || bytes.ContainsAny(name, "\x00 \t\v\f") ||
		bytes.IndexByte(withoutEnd(field), '\r') >= 0 {
		return false
	}
	key := strings.ToLower(string(name))
	if !isToken(name) {
		return !own[strings.TrimFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f })]
	}
	text := strings.Trim(string(value), " \t\r\n")
	if !isPlain(value) {
		if key != "accept-language" {
			return !own[key]
		}
		field = []byte("Accept-Language: -\r\n") // a page may have written it so, to look like no browser
	}
	switch key {
	case "host":
		if h.hasHost {
			return true
		}
		h.hasHost = true
		if !isHost(text) {
			field = []byte("Host: -\r\n") // no address, and not localhost
		}
	case "content-length":
		length, err := strconv.ParseUint(text, 10, 62)
		if err != nil || text[0] == '+' || h.hasLength && int64(length) != h.length {
			return false
		}
		if h.hasLength {
			return true
		}
		h.hasLength, h.length = true, int64(length)
		h.lengthAt = [2]int{len(h.out), len(h.out) + len(field)}
	case "transfer-encoding":
		if h.chunked || !strings.EqualFold(text, "chunked") {
			return false
		}
		h.chunked = true
	}
	h.out = append(h.out, field...)
	return true
}

// isToken reports whether a header may have this name.
func isToken(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return len(name) > 0
}

// isPlain reports whether a value is without control characters, but for those
// around its lines.
func isPlain(value []byte) bool {
	for _, c := range value {
		if c < ' ' && c != '\t' && c != '\r' && c != '\n' || c == 0x7f {
			return false
		}
	}
	return true
}

// isHost reports whether net/http takes a value of Host.
func isHost(text string) bool {
	for i := range len(text) {
		c := text[i]
		letter := '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && strings.IndexByte("!$%&()*+,-.:;=@[']_~", c) < 0 {
			return false
		}
	}
	return true
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

// brokenEscape stands for a percent sign that escapes nothing in the target of a public
// request, whose refusals tell it from %25. No byte of it may stand in a target otherwise.
const brokenEscape = "\xff%25"

// escape appends the target with %20 for a space, with its like for a control
// character, and with %25 for a percent sign that no two hexadecimal digits
// follow.
func escape(dst, target []byte) []byte {
	const digits = "0123456789abcdef"
	percent := "%25"
	if bytes.HasPrefix(target, []byte(rest.Prefix)) {
		percent = brokenEscape
	}
	for i, c := range target {
		switch {
		case c <= ' ' || c == 0x7f:
			dst = append(dst, '%', digits[c>>4], digits[c&15])
		case c == '%' && (i+2 >= len(target) || !isHex(target[i+1]) || !isHex(target[i+2])):
			dst = append(dst, percent...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}
