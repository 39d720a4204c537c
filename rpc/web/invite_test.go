package web

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/rpc"
)

// An invitation lets one browser in, by a button on a page of the node, once.
func TestInvitation(t *testing.T) {
	n := startBroken(t, "")
	path := "/" + n.page.Invite()
	b := n.browser(t)
	_, code, _ := strings.Cut(path, invitePath)
	for range 2 { // looking at it does not use it up
		got := b.ask(t, http.MethodGet, path, "")
		if got.status != http.StatusOK || !got.has(`action="./../../ui/enter"`) || !got.has(code) ||
			got.header.Get("Set-Cookie") != "" {
			t.Fatal(got)
		}
	}
	form := url.Values{"code": {code}}.Encode()
	for what, headers := range map[string][]string{
		"another site": {"Origin", "http://evil.example"}, "no page": {"Origin", ""},
	} {
		if got := b.ask(t, http.MethodPost, "/ui/enter", form, headers...); got.status != http.StatusForbidden {
			t.Errorf("%s: %v", what, got)
		}
	}
	for _, wrong := range []string{"", "code=", "code=" + code[1:], "code=" + newPlace()} {
		got := b.ask(t, http.MethodPost, "/ui/enter", wrong)
		if got.status != http.StatusUnauthorized || got.header.Get("Set-Cookie") != "" {
			t.Errorf("%q: %v", wrong, got)
		}
	}
	got := b.ask(t, http.MethodPost, "/ui/enter", form)
	if got.status != http.StatusSeeOther || !strings.HasPrefix(got.header.Get("Location"), "./../ui/~") {
		t.Fatal(got)
	}
	_, place, _ := strings.Cut(got.header.Get("Location"), "/ui/")
	b.place = strings.TrimSuffix(place, "/")
	if got := b.ask(t, http.MethodGet, "/", ""); got.status != http.StatusOK || !got.has(`id="tip-height">7<`) {
		t.Error(got)
	}
	other := n.browser(t)
	if got := other.ask(t, http.MethodPost, "/ui/enter", form); got.status != http.StatusUnauthorized || got.has(code) {
		t.Error("a second time:", got)
	}
	if got := other.ask(t, http.MethodGet, path, ""); got.status != http.StatusNotFound || !got.has(usedInvitation) {
		t.Error("a second time:", got)
	}
	if got := n.browser(t).ask(t, http.MethodGet, "/ui/enter/", ""); got.status != http.StatusNotFound {
		t.Error(got)
	}
	got = n.browser(t).ask(t, http.MethodGet, path, "", "Host", "evil.example", "User-Agent", "x", "Sec-Fetch-Site", "")
	if got.status != http.StatusForbidden {
		t.Error("by a name that leads here:", got)
	}
}

// Nobody is let in where there is no invitation, after ten minutes, or by an older one.
func TestInvitationEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var i invitation
		if i.is("", true) {
			t.Error("without one")
		}
		old := i.renew()
		code := i.renew()
		if i.is(old, true) || !i.is(code, false) {
			t.Error("an older one")
		}
		time.Sleep(inviteTime)
		if !i.is(code, false) {
			t.Error("before its end")
		}
		time.Sleep(time.Second)
		if i.is(code, true) {
			t.Error("after ten minutes")
		}
	})
}

// The owner is the login of the cookie, or the first one; there may be none.
func TestOwner(t *testing.T) {
	cookie := start(t, rpc.Config{
		CookieFile: t.TempDir() + "/.cookie", Auth: []string{"u:s$" + rpcauth.Hash("s", "p")},
	})
	for n, want := range map[*node]string{start(t, rpc.Config{}): "u", cookie: "__cookie__"} {
		path := "/" + n.page.Invite()
		b := n.browser(t)
		got := b.ask(t, http.MethodPost, "/ui/enter", "code="+path[strings.LastIndex(path, "/")+1:])
		_, place, _ := strings.Cut(got.header.Get("Location"), "/ui/")
		b.place = strings.TrimSuffix(place, "/")
		if got := b.ask(t, http.MethodGet, "/ui/session", ""); !got.has(`"user":"` + want + `"`) {
			t.Errorf("%s: %v", want, got)
		}
	}
}
