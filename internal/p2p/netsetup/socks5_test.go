package netsetup_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/p2p/netsetup"
)

// A proxy has its answers ready, and keeps what it is asked.
type proxy struct {
	io.Reader
	asked bytes.Buffer
}

func (p *proxy) Write(b []byte) (int, error) { return p.asked.Write(b) }

// The bytes sent are those of the RFCs, and no byte of the peer is read.
func TestConnect(t *testing.T) {
	login := &netsetup.ProxyLogin{User: "u", Password: "pw"}
	const done = "\x05\x00\x00\x01\x7f\x00\x00\x01\x20\x8d"
	asks := func(host string) string { return "\x05\x01\x00\x03" + string(rune(len(host))) + host + "\x20\x8d" }
	for name, test := range map[string]struct {
		host    string
		login   *netsetup.ProxyLogin
		answers string
		asked   string
		want    string // of the error
	}{
		"anonymous":        {"1.2.3.4", nil, "\x05\x00" + done, "\x05\x01\x00" + asks("1.2.3.4"), ""},
		"login not wanted": {"::1", login, "\x05\x00" + done, "\x05\x02\x00\x02" + asks("::1"), ""},
		"login":            {"a.onion", login, "\x05\x02\x01\x00" + done, "\x05\x02\x00\x02\x01\x01u\x02pw" + asks("a.onion"), ""},
		"bound to IPv6":    {"x", nil, "\x05\x00\x05\x00\x00\x04" + strings.Repeat("\x00", 18), "\x05\x01\x00" + asks("x"), ""},
		"bound to a name":  {"x", nil, "\x05\x00\x05\x00\x00\x03\x02ab\x00\x00", "\x05\x01\x00" + asks("x"), ""},
		"login refused":    {"x", login, "\x05\x02\x01\x01", "", "Proxy authentication unsuccessful"},
		"login wanted":     {"x", nil, "\x05\x02", "", "Proxy requested wrong authentication method 02"},
		"no method":        {"x", login, "\x05\xff", "", "Proxy requested wrong authentication method ff"},
		"another version":  {"x", nil, "\x04\x00", "", "Proxy failed to initialize"},
		"host not there":   {"x", nil, "\x05\x00\x05\x04\x00\x01", "", "Socks5() connect to x:8333 failed: host unreachable"},
		"onion not there": {
			"x", nil, "\x05\x00\x05\xf0\x00\x01", "",
			"Socks5() connect to x:8333 failed: onion service descriptor can not be found",
		},
		"unknown code":      {"x", nil, "\x05\x00\x05\x63\x00\x01", "", "Socks5() connect to x:8333 failed: unknown (0x63)"},
		"reply version":     {"x", nil, "\x05\x00\x04\x00\x00\x01", "", "malformed proxy response"},
		"reserved byte":     {"x", nil, "\x05\x00\x05\x00\x01\x01", "", "malformed proxy response"},
		"type of address":   {"x", nil, "\x05\x00\x05\x00\x00\x02", "", "malformed proxy response"},
		"end in the middle": {"x", nil, "\x05\x00\x05\x00\x00\x01\x7f", "", "unexpected EOF"},
		"long name":         {strings.Repeat("x", 256), nil, "", "", "Hostname too long"},
		"long login":        {"x", &netsetup.ProxyLogin{User: strings.Repeat("x", 256)}, "", "", "Proxy username or password too long"},
	} {
		rest := strings.NewReader(test.answers)
		if test.want == "" {
			rest = strings.NewReader(test.answers + "peer")
		}
		p := &proxy{Reader: rest}
		err := netsetup.ConnectProxy(p, test.host, 8333, test.login)
		if got := text(err); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if test.want == "" && (p.asked.String() != test.asked || rest.Len() != len("peer")) {
			t.Errorf("%s: asked %q, %d bytes left", name, p.asked.String(), rest.Len())
		}
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A login is sent to a proxy that asks for it alone.
func TestLoginKept(t *testing.T) {
	p := &proxy{Reader: strings.NewReader("\x05\x00")}
	err := netsetup.ConnectProxy(p, "x", 1, &netsetup.ProxyLogin{User: "user", Password: "secret"})
	if !errors.Is(err, io.EOF) || strings.Contains(p.asked.String(), "secret") {
		t.Errorf("%v, asked %q", err, p.asked.String())
	}
}

// FuzzConnect speaks with a proxy that answers anything.
func FuzzConnect(f *testing.F) {
	f.Add("\x05\x02\x01\x00\x05\x00\x00\x01\x7f\x00\x00\x01\x20\x8d", "host", true)
	f.Add("\x05\x00\x05\x00\x00\x03\xff", "host", false)
	f.Fuzz(func(t *testing.T, answers, host string, withLogin bool) {
		var login *netsetup.ProxyLogin
		if withLogin {
			login = &netsetup.ProxyLogin{User: host, Password: "p"}
		}
		rest := strings.NewReader(answers)
		err := netsetup.ConnectProxy(&proxy{Reader: rest}, host, 1, login)
		if read := len(answers) - rest.Len(); err == nil && (read < 2+4+2 || answers[0] != 5) {
			t.Errorf("connected by %q", answers[:read])
		}
	})
}
