package rpc

import (
	"bufio"
	"bytes"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Each client's requests by a host name, as they were recorded (testdata/clients.txt): programs are served, browsers
// are refused where the name is anybody's.
func TestClientsByName(t *testing.T) {
	text, err := os.ReadFile("testdata/clients.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for block := range strings.SplitSeq(string(text), "\n\n") {
		title, head, found := strings.Cut(strings.TrimLeft(block, "\n"), "\n")
		if !found || !strings.HasPrefix(title, "# ") {
			continue
		}
		n++
		verdict, name, _ := strings.Cut(strings.TrimPrefix(title, "# "), " ")
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(strings.ReplaceAll(head, "\n", "\r\n") + "\r\n\r\n")))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if refused := (Hosts)(nil).Refuses(r); refused != (verdict == "refused") {
			t.Errorf("%s: refused is %v", name, refused)
		}
		named := Hosts{strings.Split(r.Host, ":")[0]}
		if site := r.Header.Get("Sec-Fetch-Site"); named.Refuses(r) && (site == "" || site == "same-origin") &&
			!strings.Contains(r.Header.Get("Origin"), "null") && !strings.Contains(name, "foreign") {
			t.Errorf("%s: refused although -rpcallowhost has the name", name)
		}
	}
	if n < 25 {
		t.Errorf("%d clients", n)
	}
}

// A page whose name leads here cannot look like a program by an invalid header. Some browsers let a page write its
// own languages and agent, with any byte but the end of a line.
func TestLanguagesCannotBeTakenAway(t *testing.T) {
	for _, languages := range []string{"en", "", "en\x01", "\x7f", "en\x1f\r\n fr"} {
		head := "GET /rest/chaininfo.json HTTP/1.1\r\nHost: evil.example:8332\r\nUser-Agent: curl/8\r\n" +
			"Accept-Language: " + languages + "\r\nAccept-Encoding: gzip, deflate\r\n\r\n"
		mended, _, ok := mendHead([]byte(head), false)
		if !ok {
			continue // 400
		}
		r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(mended)))
		if err == nil && !(Hosts)(nil).Refuses(r) {
			t.Errorf("%q: let in", languages)
		}
	}
}

// The log says once in a while what is refused, without names and passwords that were sent with a host.
func TestRefusedSitesAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, nil)
		g.allowed, g.page, g.timeout = alwaysAllowed, noPage{}, time.Minute
		for range 10 {
			w := &timedWriter{}
			g.ServeHTTP(w, &http.Request{
				Method: http.MethodGet, RequestURI: "/", RemoteAddr: "127.0.0.1:1", Host: "u:secret@evil.example",
				Header: http.Header{"Origin": {"http://u:secret@evil.example\n"}, "Authorization": {basic("u:secret")}},
			})
			if w.status != http.StatusForbidden {
				t.Fatal(w.status)
			}
			time.Sleep(200 * time.Millisecond)
		}
		text := g.log.String()
		if n := strings.Count(text, "\n"); n != 2 || !strings.Contains(text, "before=8") ||
			!strings.Contains(text, "evil.example") || strings.Contains(text, "secret") ||
			strings.Contains(text, "dTpzZW") {
			t.Errorf("%d lines:\n%s", n, text)
		}
	})
}

type noPage struct{}

func (noPage) Serve(*Door, http.ResponseWriter, *http.Request) {}
func (noPage) Reloaded()                                       {}
func (noPage) Close()                                          {}
