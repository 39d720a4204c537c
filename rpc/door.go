package rpc

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// A Page is what a server shows in browsers: it answers GET / where the client takes HTML, and
// all that lies below /ui/. While there is one, requests that a browser makes for the page of
// another site are refused on every path.
type Page interface {
	// Serve answers a request that comes from an allowed address, and from no other site.
	Serve(d *Door, w http.ResponseWriter, r *http.Request)
	// Reloaded is called when the logins have been read again.
	Reloaded()
	// Close ends all that the page keeps; the server answers no new requests any more.
	Close()
}

// pagePrefix is where all of a page lies but its beginning.
const pagePrefix = "/ui/"

// wantsPage reports whether a request is for the page. GET / without a word of HTML is
// answered as Core does.
func wantsPage(r *http.Request) bool {
	if strings.HasPrefix(r.RequestURI, pagePrefix) {
		return true
	}
	return r.RequestURI == "/" && r.Method == http.MethodGet && takesHTML(r.Header.Values("Accept"))
}

// takesHTML reads the values of Accept headers.
func takesHTML(accept []string) bool {
	for kind := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		name, _, _ := strings.Cut(kind, ";")
		switch strings.ToLower(strings.TrimSpace(name)) {
		case "text/html", "*/*":
			return true
		}
	}
	return false
}

// A Door is what a page may have its server do: log in, and what callers do who are logged in,
// with the same limits, whitelists and accounting.
type Door struct{ server *Server }

// A Visitor is a logged-in user, without the password. Its methods are safe for concurrent use.
type Visitor struct {
	server     *Server
	who        command.Caller
	credential rpcauth.Credential // where no other node judges the login
	header     string             // where one does
}

// Login judges a name and a password, which it overwrites, as slowly as all wrong ones are answered. The status
// is that of the refusal, 0 where there is none.
func (d *Door) Login(r *http.Request, user string, password []byte) (v *Visitor, status int) {
	if strings.Contains(user, ":") { // the end of a name, in a header
		whole := append([]byte(user+":"), password...)
		clear(password)
		password, user = whole, ""
	}
	defer connOf(r).forget()
	return d.judge(r, &claim{user: user, password: password, header: func() string {
		return "Basic " + base64.StdEncoding.EncodeToString(append([]byte(user+":"), password...))
	}})
}

// Authorize judges the login that a request has by itself; without one the status is 401.
func (d *Door) Authorize(r *http.Request) (v *Visitor, status int) {
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 {
		return nil, http.StatusUnauthorized
	}
	return d.judge(r, claimIn(headers[0]))
}

// Owner returns a visitor with the login of the server's owner: the cookie, or else the first of all logins. It is nil
// without any login. The caller has checked in some other way that the owner asks.
func (d *Door) Owner() *Visitor {
	all := d.server.accounts.Load().credentials
	if len(all) == 0 {
		return nil
	}
	owner := all[0]
	for _, c := range all {
		if c.User() == cookieUser {
			owner = c
		}
	}
	return &Visitor{server: d.server, who: command.Caller{User: owner.User()}, credential: owner}
}

func (d *Door) judge(r *http.Request, c *claim) (*Visitor, int) {
	defer clear(c.password)
	who, refused := d.server.judge(r, c)
	if refused != nil {
		return nil, refused.status
	}
	v := &Visitor{server: d.server, who: command.Caller{User: who.User, Login: who.Login}}
	if who.Login != nil {
		v.header = c.header()
		v.who.User = c.user
		return v, 0
	}
	found, ok := rpcauth.Find(d.server.accounts.Load().credentials, c.user, c.password)
	if !ok { // the logins were read again meanwhile
		return nil, http.StatusUnauthorized
	}
	v.credential = found
	return v, 0
}

// Name returns the login's name.
func (v *Visitor) Name() string { return v.who.User }

// LoggedIn reports whether the login is still one. Where another node judges it, that node may be
// asked.
func (v *Visitor) LoggedIn(ctx context.Context) bool {
	_, ok := v.now(ctx)
	return ok
}

// now returns the caller with its present rights; ok is false if its login is no longer valid.
func (v *Visitor) now(ctx context.Context) (who command.Caller, ok bool) {
	if v.header == "" {
		return v.who, slices.Contains(v.server.accounts.Load().credentials, v.credential)
	}
	who = v.who
	if who.Login = v.server.elsewhere.Known(ctx, v.header); who.Login == nil {
		// It was right once, and may have been forgotten since: it is no guess.
		who.Login, _ = v.server.elsewhere.Ask(ctx, v.header)
	}
	return who, who.Login != nil
}

// rights implements subscriber.
func (v *Visitor) rights() rights {
	if v.header != "" {
		return v.who.Login
	}
	if _, ok := v.now(v.server.ctx); !ok {
		return none{}
	}
	return v.server.accounts.Load().rights(v.who)
}

// MayCall reports whether the visitor may call a method.
func (v *Visitor) MayCall(method string) bool { return v.rights().Allows(method) }

// Methods returns the sorted names of the methods that are not hidden and that a visitor may call. While the
// node does not answer calls yet, starting says why not; it is empty afterwards.
func (d *Door) Methods(v *Visitor) (names []string, starting string) {
	table, err := d.server.ready()
	if warming, ok := errors.AsType[command.Error](err); ok {
		return nil, warming.Message
	}
	may := v.rights()
	for _, c := range table.Commands() {
		if c.Category != command.Hidden && may.Allows(c.Name) {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	return names, ""
}

// Call answers a POST with one request, or a batch, of JSON-RPC. wallet is the name that the path has, nil
// where it has none.
func (d *Door) Call(w http.ResponseWriter, r *http.Request, v *Visitor, wallet *string) {
	s := d.server
	if r.ContentLength > maxBody {
		s.reply(w, response{status: http.StatusRequestEntityTooLarge})
		return
	}
	who, ok := v.now(r.Context())
	if !ok {
		s.reply(w, response{status: http.StatusUnauthorized})
		return
	}
	who.Addr, who.WalletPath = r.RemoteAddr, wallet
	call(s, w, r, who)
}

// Do makes one call for a visitor at the address from. It returns the HTTP status and the reply, which is an
// envelope of version 2.0 if the status is 200. wallet is as for Call, params a JSON array.
func (d *Door) Do(
	ctx context.Context, v *Visitor, from string, wallet *string, method string, params []byte,
) (status int, reply []byte) {
	who, ok := v.now(ctx)
	if !ok {
		return http.StatusUnauthorized, nil
	}
	who.Addr, who.WalletPath = from, wallet
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":`)
	body = jsontree.AppendString(body, method)
	body = append(append(append(body, `,"params":`...), params...), '}')
	s := d.server
	resp := s.answer(ctx, who, s.accounts.Load().rights(who), body)
	defer resp.held.release()
	if resp.stream != nil {
		defer resp.stream.Close()
		return http.StatusInternalServerError, nil
	}
	return resp.status, slices.Concat(resp.body...)
}

// Stream answers with the events that a query selects, until ctx ends or the visitor may not see
// them any more.
func (d *Door) Stream(ctx context.Context, w http.ResponseWriter, r *http.Request, v *Visitor, query string) {
	streams := &d.server.Streams
	if streams.events.Load() == nil {
		d.server.reply(w, response{status: http.StatusServiceUnavailable})
		return
	}
	if !v.LoggedIn(ctx) {
		d.server.reply(w, response{status: http.StatusUnauthorized})
		return
	}
	streams.serve(ctx, w, r, subscription{v, v.Name(), query})
}

// FromOwnPage reports whether the request says that a page of this server makes it: its Host is known,
// and its only Origin is that host's.
func (d *Door) FromOwnPage(r *http.Request) bool {
	return d.KnownHost(r) && isOrigin(r.Header.Values("Origin"), r.Host)
}

// KnownHost reports whether the Host of a request is an address, localhost or one of -rpcallowhost.
func (d *Door) KnownHost(r *http.Request) bool { return r.Host != "" && d.server.hosts.own(r.Host) }

// Reply answers with a status and a body of a type. The body may not be changed afterwards.
func (d *Door) Reply(w http.ResponseWriter, status int, kind string, body []byte) {
	resp := response{status: status, form: kind}
	if len(body) > 0 {
		resp.body = [][]byte{body}
	}
	d.server.reply(w, resp)
}

// Body returns the body of a request, whose sender has to be as fast as any. Reading more than limit bytes is
// an error.
func (d *Door) Body(w http.ResponseWriter, r *http.Request, limit int64) io.ReadCloser {
	return http.MaxBytesReader(w, &patientReader{
		ReadCloser: r.Body, control: http.NewResponseController(w), timeout: d.server.timeout, began: time.Now(),
		held: &share{of: &budget{limit: limit + smallMessage}},
	}, limit)
}

// ReadAll returns what Body reads to its end. It leaves no other copy.
func (d *Door) ReadAll(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	return readAll(d.Body(w, r, limit), r.ContentLength)
}

// Hold says that the body of a request was read and that it will be answered, however long that
// takes. It is false where the connection was closed to make room: nothing must be done then.
func (*Door) Hold(w http.ResponseWriter, r *http.Request) bool {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return connOf(r).hold()
}
