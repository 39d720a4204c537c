package rpc

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// FuzzFraming: the output does not depend on the pieces in which requests come.
// The package net/http finds in it no body whose length is told in two ways. A
// second framing leaves the output unchanged.
func FuzzFraming(f *testing.F) {
	for _, seed := range []string{
		"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbodyGET / HTTP/1.1\r\n\r\n",
		"POST /a b%zz HTTP/1.1\r\n\r\n", "POST x HTTP/1.1\nHost: a\nhost: b\n\n", "\r\n\r\n",
		"GET http://a/b HTTP/1.1\r\nA: b\r\n c\r\n\r\n", "POST  /  HTTP/1.1\r\n\r\n", "OPTIONS * HTTP/1.0\r\n\r\n", "A\r\nHost:\r\n\r\n",
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\nA: b\r\n\r\nPOST / HTTP/1.1\r\n\r\n",
		"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\n\r\r\nContent-Length: 18\r\n\r\nGET / HTTP/1.1\r\n\r\n",
		"POST / HTTP/1.1\r\n: a\r\na b: c\r\n\xc3\xa4: \x01\r\nHost: <\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	} {
		f.Add([]byte(seed), byte(3))
	}
	f.Fuzz(func(t *testing.T, sent []byte, cut byte) {
		var once, again, pieces framing
		passed := passAll(t, &once, sent)
		if got := passAll(t, &again, passed); once.state != refused && !bytes.Equal(got, passed) {
			t.Fatalf("%q became %q, and that %q", sent, passed, got)
		}
		var out []byte
		for piece := range slices.Chunk(sent, int(cut)+1) {
			if !pieces.whole(piece) {
				piece = passAll(t, &pieces, piece)
			}
			out = append(out, piece...)
		}
		if !bytes.Equal(out, passed) {
			t.Fatalf("%q became %q, in pieces %q", sent, passed, out)
		}
		if len(once.line) > maxHead || len(passed) > 4*len(sent)+4*maxHead {
			t.Fatalf("%d bytes became %d, %d kept", len(sent), len(passed), len(once.line))
		}
		for r := bufio.NewReader(bytes.NewReader(passed)); ; {
			request, err := http.ReadRequest(r)
			if err != nil {
				break
			}
			if request.ContentLength >= 0 && len(request.TransferEncoding) > 0 {
				t.Fatalf("%q has two lengths", passed)
			}
			if _, err := io.Copy(io.Discard, request.Body); err != nil {
				break
			}
		}
	})
}

// passAll returns what a framing makes of all that was sent, request by request.
func passAll(tb testing.TB, f *framing, sent []byte) (passed []byte) {
	tb.Helper()
	for len(sent) > 0 {
		out, rest := f.pass(nil, sent)
		if len(rest) > 0 && (len(out) == 0 || f.state != inHead || len(f.line) > 0) {
			tb.Fatalf("stopped at %q before the end of a request", rest)
		}
		passed, sent = append(passed, out...), rest
	}
	return passed
}

// FuzzHead: each line of a head that mendHead accepts is a header. If net/http can read it
// too, the method, version, path and body length stay the same.
func FuzzHead(f *testing.F) {
	for _, seed := range []string{
		"POST / HTTP/1.1\r\nHost: x\r\n\r\n", "POST /a b%zz HTTP/1.1\r\n\r\n", "POST x HTTP/1.1\nHost: a\nhost: b\n\n", "\r\n\r\n",
		"GET http://a/b HTTP/1.1\r\nA: b\r\n c\r\n\r\n", "POST  /  HTTP/1.1\r\n\r\n", "OPTIONS * HTTP/1.0\r\n\r\n", "A\r\nHost:\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 4\r\nTransfer-Encoding: identity\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: x\r\n\r\r\nContent-Length: 4\r\n\r\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		end := headEnd(head, 0)
		if end < 0 {
			return
		}
		mended, length, ok := mendHead(head[:end], false)
		if lines := slices.Collect(bytes.Lines(head[:end])); ok {
			for _, line := range lines[1 : len(lines)-1] {
				if !bytes.Contains(line, []byte(":")) {
					t.Errorf("%q is taken with the line %q", head, line)
				}
			}
		}
		before, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(head[:end])))
		if err != nil || !ok {
			return
		}
		after, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(mended)))
		if err != nil || after.Method != before.Method || after.Proto != before.Proto ||
			after.ContentLength != before.ContentLength {
			t.Errorf("%q became %q: %v", head, mended, err)
		}
		if err == nil && length != after.ContentLength {
			t.Errorf("%q has a body of %d, not of %d", mended, after.ContentLength, length)
		}
		if err == nil && strings.HasPrefix(before.RequestURI, "/") && after.RequestURI != before.RequestURI {
			t.Errorf("%q became %q", before.RequestURI, after.RequestURI)
		}
	})
}

// FuzzSettings: options and targets of requests are taken or refused, and what is
// taken means something.
func FuzzSettings(f *testing.F) {
	for _, seed := range []string{
		"", "127.0.0.1", "::1", "[::1]:80", "1.2.3.4/24", "1.2.3.4/255.0.255.0", "::/0", "fe80::1%eth0", "u:a,b c", "u:",
		"u:s$h", ":$", "a:0", "/wallet/%41%zz?%", "host:99999",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if list, err := parseAllowed([]string{text}, false); err == nil && len(list) != len(alwaysAllowed)+1 {
			t.Errorf("subnet %q is %v", text, list)
		}
		if e, ok := parseEndpoint(text, 7); ok && (e.port == 0 || len(e.host) > len(text)) {
			t.Errorf("endpoint %q is %v", text, e)
		}
		if wallet, ok := walletPath("/wallet/" + text); !ok || len(*wallet) > len(text) {
			t.Errorf("wallet %q", text)
		}
		if Hosts(nil).own(text) && text != "" && !strings.Contains(strings.ToLower(text), "localhost") {
			host := strings.Trim(text, "[]")
			if i := strings.LastIndexByte(text, ':'); i >= 0 && !isAddr(host) {
				host = strings.Trim(text[:i], "[]")
			}
			if host != "" && !isAddr(host) {
				t.Errorf("host %q is taken for an address", text)
			}
		}
	})
}

func isAddr(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}
