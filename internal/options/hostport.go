package options

import (
	"strconv"
	"strings"
)

// ParsePort reads a TCP port from 1 to 65535.
func ParsePort(text string) (port uint16, ok bool) {
	n, err := strconv.ParseUint(text, 10, 16)
	return uint16(n), err == nil && n != 0
}

// SplitHostPort reads "host", "host:port", "[host]" and "[host]:port"; an IPv6
// address needs the brackets only where a port follows. The port is 0 where there is
// none; ok is false where it is no port.
func SplitHostPort(text string) (host string, port uint16, ok bool) {
	colon := strings.LastIndexByte(text, ':')
	ok = true
	if colon == 0 || (colon > 0 && (!strings.Contains(text[:colon], ":") || bracketed(text[:colon]))) {
		if port, ok = ParsePort(text[colon+1:]); !ok {
			return "", 0, false
		}
		text = text[:colon]
	}
	if bracketed(text) {
		text = text[1 : len(text)-1]
	}
	return text, port, ok
}

func bracketed(text string) bool {
	return len(text) >= 2 && text[0] == '[' && text[len(text)-1] == ']'
}
