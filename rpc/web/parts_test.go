package web

import (
	"net/http"
	"testing"

	"github.com/seed61375155/trawl/rpc"
)

// A part is not sent again to a page that has it, and not at all to a login that may not call what it needs.
func TestParts(t *testing.T) {
	b := startBroken(t, "").browser(t)
	b.login(t, "u", "p")
	first := b.ask(t, http.MethodGet, "/ui/part/index", "")
	tag := first.header.Get("Etag")
	if first.status != http.StatusOK || !first.has(`id="tip-height">7<`) || tag == "" {
		t.Fatal(first)
	}
	same := b.ask(t, http.MethodGet, "/ui/part/index", "", "If-None-Match", tag)
	if same.status != http.StatusNotModified || same.text != "" || same.header.Get("Etag") != tag {
		t.Error("the same part:", same)
	}
	if got := b.ask(t, http.MethodGet, "/ui/part/index", "", "If-None-Match", `"x"`); got.text != first.text {
		t.Error("another part:", got)
	}
	limited := start(t, rpc.Config{User: "u", Password: "p", Whitelist: []string{"u:one"}}).browser(t)
	limited.login(t, "u", "p")
	if got := limited.ask(t, http.MethodGet, "/ui/part/wallet/w", ""); got.status != http.StatusForbidden ||
		got.text != "This login may not call getwalletinfo" {
		t.Error("a limited login:", got)
	}
}

// Addresses of earlier versions lead to the present ones. A name that browsers take for a folder stays in the query.
func TestOlderAddresses(t *testing.T) {
	b := startBroken(t, "").browser(t)
	b.login(t, "u", "p")
	for path, want := range map[string]string{
		"/ui/wallet?name=w": "./../ui/wallet/w", "/ui/wallet?name=a%2Fb&gap=5": "./../ui/wallet/a%2Fb?gap=5",
		"/ui/wallet": "./../ui/wallet/", "/ui/search?id=0f&axis=time": "./../ui/search/0f?axis=time",
	} {
		got := b.ask(t, http.MethodGet, path, "")
		if got.status != http.StatusPermanentRedirect || got.header.Get("Location") != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	for _, path := range []string{"/ui/wallet?name=..", "/ui/part/wallet?name=.", "/ui/wallet/w", "/ui/wallet/"} {
		if got := b.ask(t, http.MethodGet, path, ""); got.status != http.StatusOK {
			t.Errorf("%s: %v", path, got)
		}
	}
	for _, path := range []string{"/ui/wallet/a/b", "/ui/search", "/ui/part/wallet/a/b", "/ui/nothing/x"} {
		if got := b.ask(t, http.MethodGet, path, ""); got.status == http.StatusOK {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// All numbers of a table of entries are decimal.
func TestColumns(t *testing.T) {
	index := int64(123)
	e := entry{
		BlockHash: "h", Height: 234, Time: 345, Vout: 456, SpendVin: 567, PrevoutVout: 678, Index: &index,
	}
	for kind, want := range map[string]map[int]string{
		"receive": {1: "234", 2: "h", 3: "345", 6: "456", 8: "", 12: "123"},
		"spend":   {1: "234", 2: "h", 3: "345", 6: "678", 8: "567", 12: "123"},
	} {
		e.Type = kind
		row := e.columns()
		for n, text := range want {
			if row[n] != text {
				t.Errorf("%s: column %d is %q, want %q", kind, n, row[n], text)
			}
		}
	}
	e.Index = nil
	if row := e.columns(); row[12] != "" {
		t.Errorf("no index is %q", row[12])
	}
}
