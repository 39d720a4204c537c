package rpc

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/rest"
)

// refuseVerb answers verbs other than POST.
var refuseVerb = response{
	status: http.StatusMethodNotAllowed,
	body:   text("JSONRPC server handles only POST requests"),
}

// otherSite answers a browser that asks for the page of another site, or under a name that anybody
// may have lead here.
var otherSite = response{
	status: http.StatusForbidden,
	body: text("Refused: this request comes from another web site, or names a host that is neither an address " +
		"nor localhost nor one of -rpcallowhost. Enter the address of the node in the browser by hand.\n"),
}

// noteSite has the log say that a request is refused for where it comes from.
func noteSite(s *Server, r *http.Request) {
	if missed, due := s.foreign.due(); due {
		s.log.Warn("request of a web page from elsewhere refused",
			"peer", r.RemoteAddr, "before", missed, "says", cameFrom(r))
	}
}

// refuseSite sends otherSite, which nobody may show in a page of their own.
func refuseSite(s *Server, w http.ResponseWriter) {
	w.Header().Set("X-Frame-Options", "DENY")
	w.Header().Set("Content-Security-Policy", "frame-ancestors 'none'")
	s.reply(w, otherSite)
}

// tooManyGuesses answers an address from which too many wrong logins wait for
// their answers.
var tooManyGuesses = response{
	status: http.StatusServiceUnavailable,
	body:   text("Too many wrong passwords"),
}

// ServeHTTP implements http.Handler. The order of the checks is Core's.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // of the reply before on this connection
	// A refused client may have this long to send the body, which nobody reads.
	_ = control.SetReadDeadline(time.Now().Add(s.timeout))
	if strings.HasPrefix(r.RequestURI, "/rest") {
		w.Header().Set("Cache-Control", "no-store") // but for replies that last
	}
	noteTLS(r)
	wallet, found := walletPath(r.RequestURI)
	switch {
	case !s.isAllowed(r):
		s.reply(w, response{status: http.StatusForbidden})
	case s.checkOrigin && fromElsewhere(r, s.hosts):
		noteSite(s, r)
		s.reply(w, response{status: http.StatusForbidden})
	case s.page != nil && s.hosts.Refuses(r):
		noteSite(s, r)
		refuseSite(s, w)
	case r.Method == http.MethodDelete:
		s.reply(w, response{status: http.StatusMethodNotAllowed})
	case !isKnownVerb(r.Method):
		s.reply(w, response{status: s.style.OtherVerbs})
	case s.closing.Load():
		s.reply(w, response{status: http.StatusServiceUnavailable})
	case asksHealth(r):
		s.health.serve(w, r)
	case s.page != nil && wantsPage(r):
		s.page.Serve(&Door{s}, w, r)
	case s.rest != nil && rest.Exists(r.RequestURI):
		s.rest.serve(w, r)
	case s.Streams.wants(r):
		s.Streams.answer(w, r)
	case !found:
		s.reply(w, response{status: http.StatusNotFound})
	case r.Method != http.MethodPost:
		s.reply(w, refuseVerb)
	case r.ContentLength > maxBody:
		s.reply(w, response{status: http.StatusRequestEntityTooLarge})
	default:
		s.post(w, r, wallet)
	}
}

// isKnownVerb reports whether Core looks at the path of such a request; its
// HTTP library answers the others.
func isKnownVerb(verb string) bool {
	switch verb {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut:
		return true
	}
	return false
}

// post answers a POST on a path that exists.
func (s *Server) post(w http.ResponseWriter, r *http.Request, wallet *string) {
	who, refused := authorize(s, r)
	if refused != nil {
		refuseLogin(s, w, r, refused)
		return
	}
	who.WalletPath = wallet
	call(s, w, r, who)
}

// refuseLogin answers a request without a right login. No browser is offered Basic where there is a
// page, since it would send that with the requests of all other pages too.
func refuseLogin(s *Server, w http.ResponseWriter, r *http.Request, refused *response) {
	if refused.status == http.StatusUnauthorized && (s.page == nil || !fromBrowser(r)) {
		w.Header().Set("WWW-Authenticate", `Basic realm="jsonrpc"`)
	}
	s.reply(w, *refused)
}

// call answers a POST of a logged-in caller.
func call(s *Server, w http.ResponseWriter, r *http.Request, who command.Caller) {
	held := share{of: &s.bodies}
	defer held.release()
	body, refused := s.readBody(w, r, &held)
	if refused != nil {
		s.reply(w, *refused)
		return
	}
	if !connOf(r).hold() {
		panic(http.ErrAbortHandler)
	}
	defer connOf(r).forget()
	defer clear(body)
	s.reply(w, s.answer(r.Context(), who, s.accounts.Load().rights(who), body))
}

// walletPath reads the request's target: "/" or "/wallet/<name>". Nothing
// else exists, and a query is part of the name.
func walletPath(uri string) (wallet *string, found bool) {
	if uri == "/" {
		return nil, true
	}
	name, found := strings.CutPrefix(uri, "/wallet/")
	if !found {
		return nil, false
	}
	name = unescape(name)
	return &name, true
}

// unescape replaces %XX and leaves a percent sign that starts nothing.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
