package web

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed61375155/trawl/rpc"
)

// tokenHeader is where a page has the token of its session.
const tokenHeader = "X-Trawl-Token" //nolint:gosec // a name

// idleHeader is on requests that a page makes by itself while nobody uses it. They keep no session
// from ending.
const idleHeader = "X-Trawl-Idle"

// contentPolicy lets a page have what this server has, and nothing else have the page.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
	"font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// protect sets the headers that every answer has.
func protect(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	// With no-referrer browsers send "Origin: null" with forms, which tells nothing.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept, Accept-Encoding, Authorization, Cookie")
}

// cookieName is that of the session's cookie. Browsers keep cookies by host and not by port: the
// name has the port, so that the nodes of one host do not take each other's place.
func cookieName(r *http.Request) string {
	name := "trawl-session"
	if _, port, err := net.SplitHostPort(r.Host); err == nil && isNumber(port) {
		name += "-" + port
	}
	return name
}

// hostPrefix begins the name of a cookie that browsers take from nobody but the host itself, by TLS.
const hostPrefix = "__Host-"

func isNumber(text string) bool {
	return text != "" && len(text) <= 5 && strings.Trim(text, "0123456789") == ""
}

// sessionCookie is the cookie of a session, for as long as the browser runs. A page may have come by TLS
// through a proxy that speaks none to this server.
func sessionCookie(r *http.Request, value string) *http.Cookie {
	c := &http.Cookie{
		Name: cookieName(r), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || strings.HasPrefix(r.Header.Get("Origin"), "https://"),
	}
	if c.Secure {
		c.Name = hostPrefix + c.Name
	}
	return c
}

// sessionOf returns the session whose cookie and place a request has, nil where there is none. It ends a session
// whose login is gone.
func (h *Handler) sessionOf(r *http.Request) *session {
	found := h.sessionByCookie(r, placeOf(r))
	if found == nil || found.visitor.LoggedIn(r.Context()) {
		return found
	}
	h.sessions.finish(found)
	return nil
}

// sessionByCookie returns the session that a request has the cookie of. Servers on other ports of the host may have
// that: alone it proves nothing. A place that is not empty has to be the session's, which is used then.
func (h *Handler) sessionByCookie(r *http.Request, place string) *session {
	name := cookieName(r)
	for _, cookie := range append(r.CookiesNamed(hostPrefix+name), r.CookiesNamed(name)...) {
		idle := place == "" || r.Header.Get(idleHeader) != ""
		if found := h.sessions.find(cookie.Value, place, idle); found != nil {
			return found
		}
	}
	return nil
}

// A guest is who makes a request.
type guest struct {
	*rpc.Visitor

	session *session // nil: the request has a login by itself
}

// admit returns who makes a request, or the status with which it is refused.
func (h *Handler) admit(d *rpc.Door, r *http.Request) (who guest, status int) {
	if r.Header.Get("Authorization") != "" {
		who.Visitor, status = d.Authorize(r)
		return who, status
	}
	if placeOf(r) != "" {
		who.session = h.sessionOf(r)
	}
	if who.session == nil {
		return who, http.StatusUnauthorized
	}
	if !d.KnownHost(r) {
		return guest{}, http.StatusForbidden
	}
	who.Visitor = who.session.visitor
	return who, 0
}

// admitPage is admit for what only a page of this server may ask. With a session it has to show
// its token.
func (h *Handler) admitPage(d *rpc.Door, r *http.Request, token string) (who guest, status int) {
	who, status = h.admit(d, r)
	if status == 0 && who.session != nil && (!d.FromOwnPage(r) || !who.session.isToken(token)) {
		return guest{}, http.StatusForbidden
	}
	return who, status
}

// admitEvents is admitPage for a stream of events, for which browsers send no Origin, and which has
// its token where no header can be. It returns the query without that.
func (h *Handler) admitEvents(d *rpc.Door, r *http.Request) (who guest, query string, status int) {
	_, query, _ = strings.Cut(r.RequestURI, "?")
	token := r.Header.Get(tokenHeader)
	if values, err := url.ParseQuery(query); err == nil && values.Has("token") {
		token = values.Get("token")
		values.Del("token")
		query = values.Encode()
	}
	who, status = h.admit(d, r)
	if status != 0 || who.session == nil {
		return who, query, status
	}
	own := d.FromOwnPage(r)
	if r.Method == http.MethodGet && len(r.Header.Values("Origin")) == 0 {
		sites := r.Header.Values("Sec-Fetch-Site")
		own = len(sites) == 1 && sites[0] == "same-origin" // and the Host is known
	}
	if !own || !who.session.isToken(token) {
		return guest{}, query, http.StatusForbidden
	}
	return who, query, 0
}
