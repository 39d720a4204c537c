package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The cookie is found, and what is wrong with credentials is told.
func TestCookie(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "regtest"), 0o700); err != nil {
		t.Fatal(err)
	}
	cookie := filepath.Join(dir, "regtest", ".cookie")
	if err := os.WriteFile(cookie, []byte("__cookie__:00ff"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, 200, `{"result":null,"id":1}`)
	cli(t, "", "-datadir="+dir, "-regtest", s.port(), "x").want(t, 0, "", "")
	cli(t, "", "-rpccookiefile="+cookie, s.port(), "x").want(t, 0, "", "")
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("__cookie__:00ff"))
	for _, r := range s.asked {
		if got := r.Header.Get("Authorization"); got != want {
			t.Errorf("got %q", got)
		}
	}
	s.status = 401
	const none = " and no rpcpassword was"
	for option, why := range map[string]string{
		"-regtest=0": "Failed to read cookie file" + none, "-regtest": "Cookie file credentials were invalid" + none,
		"-norpccookiefile": "Cookie file was disabled via -norpccookiefile" + none,
		"-rpcpassword=p":   "Incorrect rpcuser or rpcpassword were",
	} {
		cli(t, "", "-datadir="+dir, option, s.port(), "x").want(t, 1, "", "error: Authorization failed: "+why+
			" specified. Configuration file: ("+filepath.Join(dir, "trawl.conf")+")\n")
	}
}

// A call has the id that the user gives it, as a text, or else the number 1.
func TestRequestID(t *testing.T) {
	s := newServer(t, 200, `{"result":null,"id":1}`)
	cli(t, "", s.port(), "x").want(t, 0, "", "")
	cli(t, "", s.port(), `-rpcid=a"b`, "x").want(t, 0, "", "")
	for i, want := range []string{`"id":1,`, `"id":"a\"b",`} {
		if !strings.Contains(s.askedBody[i], want) {
			t.Errorf("asked %s, without %s", s.askedBody[i], want)
		}
	}
}
