package rpc

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// A callingPage lets clients make calls of a wallet at /ui/call. Elsewhere it makes a call of its own.
type callingPage struct{ noPage }

func (callingPage) Serve(d *Door, w http.ResponseWriter, r *http.Request) {
	visitor, status := d.Authorize(r)
	if status != 0 {
		d.Reply(w, status, "text/plain", nil)
		return
	}
	wallet := "a b"
	if r.RequestURI == "/ui/call" {
		d.Call(w, r, visitor, &wallet)
		return
	}
	status, reply := d.Do(r.Context(), visitor, r.RemoteAddr, &wallet, "wallet", []byte("[]"))
	d.Reply(w, status, "text/plain", reply)
}

// Calls through a page have the name and the address of the visitor, and the wallet that the page names.
func TestCallsThroughAPage(t *testing.T) {
	for _, path := range []string{"/ui/call", "/ui/do"} {
		var log safeBuffer
		s := startServer(t, Config{
			User: "u", Password: "p", LogIPs: true, Page: callingPage{},
			Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		})
		s.Ready(blockerTable(t, newBlocker()))
		c := newClient(t, s)
		for login, want := range map[string]string{
			"u:p": `200 {"jsonrpc":"2.0","result":["u","a b"],"id":1}`, "u:x": "401",
		} {
			if got, err := c.post(t.Context(), path, login, v2Call("wallet")); err != nil || got != want {
				t.Errorf("%s as %s: got %s, %v, want %s", path, login, got, err, want)
			}
		}
		if !strings.Contains(log.String(), "method=wallet user=u peeraddr="+strings.Split(c.addr, ":")[0]+":") {
			t.Errorf("%s: logged\n%s", path, log.String())
		}
	}
}
