package rpc

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The standards say which bytes may be in a header's name or value, in Host and in an
// escape.
func TestCharacters(t *testing.T) {
	const (
		letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		token   = letters + "!#$%&'*+-.^_|~" + "`"
		host    = letters + "!$%&()*+,-.:;=@[']_~"
	)
	for n := range 256 {
		c := byte(n)
		in := func(set string) bool { return strings.IndexByte(set, c) >= 0 }
		if got := isToken([]byte{c}); got != in(token) {
			t.Errorf("%q in a name: %v", c, got)
		}
		if got, want := isPlain([]byte{'a', c}), n >= 0x20 && n != 0x7f || in("\t\r\n"); got != want {
			t.Errorf("%q in a value: %v", c, got)
		}
		if got := isHost(string([]byte{c})); got != in(host) {
			t.Errorf("%q in Host: %v", c, got)
		}
		if got := isHex(c); got != in("0123456789abcdefABCDEF") {
			t.Errorf("%q in an escape: %v", c, got)
		}
	}
	if isToken(nil) || !isPlain(nil) || !isHost("") {
		t.Error("an empty name, value or Host")
	}
}

// Request lines as they are handed on.
func TestRequestLines(t *testing.T) {
	for sent, want := range map[string]string{
		"POST / HTTP/1.1":             "POST / HTTP/1.1",
		"POST /a%41%4 HTTP/1.1":       "POST /a%41%254 HTTP/1.1",
		"POST /%4g%g4%FfA HTTP/1.1":   "POST /%254g%25g4%FfA HTTP/1.1",
		"POST /%41 HTTP/1.1":          "POST /%41 HTTP/1.1",
		"POST /% HTTP/1.1":            "POST /%25 HTTP/1.1",
		"POST /\x01\x1f\x7f HTTP/1.1": "POST /%01%1f%7f HTTP/1.1",
		"POST a HTTP/1.1":             "POST //a HTTP/1.1",
		"POST * HTTP/1.1":             "POST * HTTP/1.1",
		"POST http://a HTTP/1.1":      "POST http://a HTTP/1.1",
		"POST  HTTP/1.1":              "POST  HTTP/1.1",
		"POST HTTP/1.1":               "POST HTTP/1.1",
		"POST":                        "POST",
	} {
		if got := string(mendRequestLine([]byte(sent))); got != want {
			t.Errorf("%q: got %q, want %q", sent, got, want)
		}
	}
	for line, want := range map[string]bool{
		"GET / HTTP/1.1\r\n": true, "GET / HTTP/1.0\n": true, "GET / HTTP/1.9\r\n": true, "GET / HTTP/1.10\r\n": false,
		"GET / HTTP/2.0\r\n": false, "GET / HTTP/1.\r\n": false, "HTTP/1.1\r\n": true, "\r\n": false,
	} {
		if got := isVersion1([]byte(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}

// Lengths of bodies: told twice, they must be the same.
func TestLengths(t *testing.T) {
	for fields, want := range map[string]int64{ // -2: refused
		"": 0, "Content-Length: 0\r\n": 0, "Content-Length: 7\r\n": 7, "content-length:\t7 \r\n": 7,
		"Content-Length: 7\r\nContent-Length: 7\r\n": 7, "Content-Length: 7\r\nContent-Length: 0\r\n": -2,
		"Content-Length: 0\r\nContent-Length: 7\r\n": -2, "Content-Length: -1\r\n": -2, "Content-Length:\r\n": -2,
		"Content-Length: 4611686018427387903\r\n": 1<<62 - 1, "Content-Length: 4611686018427387904\r\n": -2,
		"Content-Length: 7\x01\r\n": -2, "Content-Length\x7f: 7\r\n": -2, "Transfer-Encoding: chunked\r\n": chunked,
		"Content-Length: 1\r\n 2\r\n": -2, "Other: 1\r\n 2\r\n": -2,
		"\r\r\nContent-Length: 7\r\n": -2, "Content-Length: 7\r\r\n": -2,
	} {
		_, length, ok := mendHead([]byte("POST / HTTP/1.1\r\n"+fields+"\r\n"), false)
		if ok != (want != -2) || ok && length != want {
			t.Errorf("%q: got %d, %v", fields, length, ok)
		}
	}
	const twice = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\n"
	if out, _, _ := mendHead([]byte(twice+"Content-Length: 7\r\n\r\n"), false); string(out) != twice+"\r\n" {
		t.Errorf("twice the same became %q", out)
	}
}

// Where chunks come first they alone count, and the connection ends with the request.
func TestChunksFirst(t *testing.T) {
	const line, host, chunks = "POST / HTTP/1.1\r\n", "Host: a\r\n", "Transfer-Encoding: chunked\r\n"
	for _, fields := range []string{chunks + "Content-Length: 4\r\n", "Content-Length: 4\r\n" + chunks} {
		if _, _, ok := mendHead([]byte(line+host+fields+"\r\n"), false); ok {
			t.Errorf("%q was taken", fields)
		}
		out, length, ok := mendHead([]byte(line+host+fields+"\r\n"), true)
		if want := line + host + chunks + "Connection: close\r\n\r\n"; !ok || length != chunked || string(out) != want {
			t.Errorf("%q became %q, %d", fields, out, length)
		}
	}
}

// Extensions of chunks are passed over where they may be.
func TestChunkExtensions(t *testing.T) {
	const head, mended = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n0\r\n\r\n"
	for sent, want := range map[string]string{
		"1;a=b\r\nx\r\n0;c\r\n\r\n": mended, "1 ; a\r\nx\r\n0\r\n\r\n": mended, "1\r\nx\r\n0\r\n\r\n": mended,
		";1\r\nx\r\n0\r\n\r\n": sizeRefused,
	} {
		f := &framing{extensions: true}
		if got := string(passAll(t, f, []byte(head+sent))); got != head+want {
			t.Errorf("%q became %q", sent, got)
		}
		if got := string(passAll(t, new(framing), []byte(head+"1;a=b\r\nx\r\n"))); got != head+sizeRefused {
			t.Errorf("an extension became %q", got)
		}
	}
}

// Only an empty line ends a head: not one of carriage returns, after which a body would be a request of its own.
func TestHeadEnds(t *testing.T) {
	const request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	for head, want := range map[string]string{
		request:                                                       request,
		"GET / HTTP/1.1\nHost: x\n\n":                                 "GET / HTTP/1.1\nHost: x\n\r\n",
		"GET / HTTP/1.1\nHost: x\r\n\n":                               request[:14] + "\n" + request[16:],
		"GET / HTTP/1.1\r\n\r\r\n\r\n":                                headRefused,
		"GET / HTTP/1.1\n\r\r\n\n":                                    headRefused,
		"GET / HTTP/1.1\r\r\nHost: x\n\n":                             headRefused,
		"GET / HTTP/1.1\r\nHost: x\r\r\n\r\n":                         headRefused,
		"GET / HTTP/1.1\r\nHost: x\r\n\r\r\nOrigin: http://a\r\n\r\n": headRefused,
		"GET / HTTP/1.1\r\nHost: x\r\n\r\r\r\n\r\n":                   headRefused,
		"POST / HTTP/1.1\r\nHost: x\r\n\r\r\nContent-Length: 27\r\n\r\n" + request:              headRefused,
		"POST / HTTP/1.1\r\nHost: x\r\n\r\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + request: headRefused,
	} {
		var whole, bytewise framing
		if got := passAll(t, &whole, []byte(head)); string(got) != want {
			t.Errorf("%q became %q, want %q", head, got, want)
		}
		var got []byte
		for i := range len(head) {
			got = append(got, passAll(t, &bytewise, []byte(head[i:i+1]))...)
		}
		if string(got) != want {
			t.Errorf("%q became %q in pieces, want %q", head, got, want)
		}
	}
}

// A head, the line before a chunk and the lines after the last one have their bounds.
func TestFramingBounds(t *testing.T) {
	const chunks = "POST / HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\n"
	head := func(n int) string {
		const rest = "GET / HTTP/1.1\r\nHost:\r\nA: \r\n\r\n"
		return strings.Replace(rest, "A: ", "A: "+strings.Repeat("b", n-len(rest)), 1)
	}
	for _, test := range []struct {
		what     string
		last     int
		sent     func(n int) string
		refusing string
	}{
		{"head", maxHead, head, headRefused},
		{"line of a chunk", maxChunkLine, func(n int) string {
			return chunks + strings.Repeat("0", n-3) + "1\r\nx\r\n0\r\n\r\n"
		}, sizeRefused},
		{"line of a chunk with spaces", maxChunkLine, func(n int) string {
			return chunks + "1" + strings.Repeat(" ", n-3) + "\r\nx\r\n0\r\n\r\n"
		}, sizeRefused},
		{"line after the chunks", maxHead, func(n int) string {
			return chunks + "0\r\n" + strings.Repeat("a", n-2) + "\r\n\r\n"
		}, sizeRefused},
	} {
		for _, n := range []int{test.last - 1, test.last, test.last + 1} {
			for _, size := range []int{1, 5, 1 << 20} {
				var f framing
				var out []byte
				for piece := range slices.Chunk([]byte(test.sent(n)), size) {
					out = append(out, passAll(t, &f, piece)...)
				}
				refusing := bytes.HasSuffix(out, []byte(test.refusing)) && f.state == refused
				if refusing != (n > test.last) || !refusing && f.state != inHead {
					t.Errorf("%s of %d in pieces of %d: state %v, %.20q", test.what, n, size, f.state, out)
				}
			}
		}
	}
	for line, want := range map[string]framingState{
		"1\r\nx\r\n0\r\n\r\n": inHead,
		"1\nx\r\n":            refused, "1\r\nx\n": refused, "1\r\nxy\r\n": refused,
		"g\r\n": refused,
		"\r\n":  refused, "ffffffff\r\n": inChunk, "100000000\r\n": refused, "0\r\n\n": inHead,
		"0\r\nA: b\n\r\n": inHead,
		"0\r\nA: b\r\n":   inTrailer, "1\r\nx\r\n": inSize, "1\r\nx": inChunkEnd,
	} {
		var f framing
		passAll(t, &f, []byte(chunks+line))
		if f.state != want {
			t.Errorf("%q: state %v, want %v", line, f.state, want)
		}
	}
}

// Requests that come one behind the other are the same wherever what is sent is cut.
func TestEveryCut(t *testing.T) {
	const first = "POST / HTTP/1.1\r\nHost:\r\nContent-Length: 4\r\n\r\nbody"
	const second = "POST / HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
	const sent = first + second + first
	for cut := range len(sent) {
		ours, theirs := net.Pipe()
		go func() {
			_, _ = theirs.Write([]byte(sent[:cut]))
			_, _ = theirs.Write([]byte(sent[cut:]))
			_ = theirs.Close()
		}()
		got, err := io.ReadAll(&headConn{Conn: ours})
		_ = ours.Close()
		if err != nil || string(got) != sent {
			t.Errorf("cut at %d: got %q, %v", cut, got, err)
		}
	}
}

// The weights of requests, and how long they may take by their size.
func TestWeights(t *testing.T) {
	for body, want := range map[string]int{
		"": 64, "1": 1 + 64, "[]": 2 + 2*64, "[1]": 3 + 2*64, "[1,2]": 5 + 3*64, `{"a":1}`: 7 + 3*64,
		",,,,": 4 + 3*64, "[[[[": 4 + 3*64, "12345678": 8 + 64,
	} {
		if got := weigh([]byte(body)); got != want {
			t.Errorf("%q: %d, want %d", body, got, want)
		}
	}
	for n, want := range map[int]float64{0: 30, 4095: 30, 4096: 31, 8191: 31, 8192: 32, 1 << 20: 30 + 256} {
		if got := slowest(n, 30*time.Second); got.Seconds() != want {
			t.Errorf("%d bytes may take %v", n, got)
		}
	}
}

// A share grows up to the budget and gives all of it back.
func TestShares(t *testing.T) {
	of := &budget{limit: 3 * smallMessage}
	first, second := share{of: of}, share{of: of}
	for _, test := range []struct {
		share *share
		n     int
		ok    bool
		used  int64
	}{
		{&first, smallMessage, true, 0},
		{&first, smallMessage + 1, true, smallMessage + 1},
		{&first, smallMessage, true, smallMessage + 1},
		{&second, 2*smallMessage - 1, true, 3 * smallMessage},
		{&first, smallMessage + 2, false, 3 * smallMessage},
		{&second, 5 * smallMessage, false, 3 * smallMessage},
		{&second, 2*smallMessage - 1, true, 3 * smallMessage},
	} {
		if ok := test.share.grow(test.n); ok != test.ok || of.used.Load() != test.used {
			t.Errorf("grow to %d: %v, %d are used; want %v, %d", test.n, ok, of.used.Load(), test.ok, test.used)
		}
	}
	if !of.short() {
		t.Error("a full budget is not short")
	}
	first.release()
	first.release()
	if used := of.used.Load(); used != 2*smallMessage-1 || !of.short() {
		t.Errorf("%d are used when one is released", used)
	}
	second.release()
	if !first.grow(3*smallMessage/2) || of.short() {
		t.Error("half of a budget is too much")
	}
	if !first.grow(3*smallMessage/2+1) || !of.short() {
		t.Error("more than half of a budget is not short")
	}
}

// Percent signs in the name of a wallet.
func TestWalletPath(t *testing.T) {
	for uri, want := range map[string]string{ // -: there is none
		"/": "", "/wallet/": "wallet ", "/wallet/a": "wallet a", "/wallet/a%20b": "wallet a b",
		"/wallet/%41%4": "wallet A%4",
		"/wallet/%4":    "wallet %4", "/wallet/%": "wallet %", "/wallet/%zz": "wallet %zz", "/wallet/%41": "wallet A",
		"/wallet/a?b": "wallet a?b", "/wallet": "-", "/a": "-", "": "-",
	} {
		name, found := walletPath(uri)
		got := "-"
		if found {
			got = ""
		}
		if name != nil {
			got = "wallet " + *name
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", uri, got, want)
		}
	}
}

// A connection that has had its answer is quiet again, and makes room for others.
func TestAnsweredConnectionsMakeRoom(t *testing.T) {
	s := startServer(t, Config{User: "u", Password: "p", MaxConns: 1})
	s.Ready(blockerTable(t, newBlocker()))
	for range 3 { // each keeps its connection
		newClient(t, s).want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
		waitFor(t, func() bool {
			s.conns.mu.Lock()
			defer s.conns.mu.Unlock()
			return s.conns.quiet[0].Len()+s.conns.quiet[1].Len() == s.conns.total
		})
	}
}

// Machines of one IPv6 network of 64 bits are one peer.
func TestPeers(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.1": "192.0.2.1/32", "::ffff:192.0.2.1": "192.0.2.1/32", "127.0.0.1": "127.0.0.1/32", "::1": "::1/128",
		"2001:db8:1:2::1": "2001:db8:1:2::/64", "2001:db8:1:2:ffff:ffff:ffff:ffff": "2001:db8:1:2::/64",
		"2001:db8:1:3::1": "2001:db8:1:3::/64", "fe80::1%eth0": "fe80::/64",
	} {
		tcp, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(addr, "1"))
		if err != nil {
			t.Fatal(err)
		}
		if got := peerOf(tcp).String(); got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
	if peerOf(&net.UnixAddr{}).IsValid() {
		t.Error("a Unix socket has an address")
	}
}

// A cookie that cannot be written as a whole is an error.
func TestCookieOnAFullDisk(t *testing.T) {
	const full = "/dev/full"
	info, err := os.Stat(full)
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Skip("there is no device that is always full")
	}
	err = writeFile(full, cookieUser+":x", info.Mode().Perm())
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

// A caller's text in the log is cut between characters.
func TestShownID(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "1": "1", "abc<\n>def": "abcdef", "é\\{\"x\"}": "x", strings.Repeat("a", 36): strings.Repeat("a", 36),
		strings.Repeat("a", 37): "(37 bytes)",
	} {
		if got := shownID(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestShown(t *testing.T) {
	long := strings.Repeat("x", maxShown)
	for text, want := range map[string]string{
		"": "", long: long, long + "y": long + "… (101 bytes)", "a\\b\r\nc": `a\\b\r\nc`,
		long[1:] + "é":              long[1:] + "… (101 bytes)",
		long[3:] + "\U0001f600":     long[3:] + "… (101 bytes)",
		strings.Repeat("\x80", 200): strings.Repeat("\x80", 96) + "… (200 bytes)",
	} {
		if got := shown(text); got != want {
			t.Errorf("%s: got %q, want %q", strconv.Quote(text), got, want)
		}
	}
}
