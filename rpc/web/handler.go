package web

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/rpc"
)

// Config is what a [Handler] needs.
type Config struct {
	// Dir is the network's directory, below which uploads are kept for as long as they are wanted; empty:
	// there are no uploads. [RemoveUploads] takes away what an earlier run has left there.
	Dir string

	Log *slog.Logger // nil: nothing is logged
}

// A Handler answers for the page of one server; make one with [New].
type Handler struct {
	log      *slog.Logger
	assets   map[string]asset
	view     *view
	sessions sessions
	uploads  uploads
}

// New reads the templates and files.
func New(c Config) (*Handler, error) {
	h := &Handler{log: c.Log}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.view = newView(h.log)
	h.uploads = uploads{fs: vfs.OS, max: maxUpload}
	if c.Dir != "" {
		h.uploads.dir = filepath.Join(c.Dir, uploadDir)
	}
	var err error
	h.assets, err = readAssets()
	return h, err
}

const (
	htmlKind = "text/html; charset=utf-8"
	jsonKind = "application/json"
	textKind = "text/plain; charset=utf-8"
)

// Serve implements [rpc.Page].
func (h *Handler) Serve(d *rpc.Door, w http.ResponseWriter, r *http.Request) {
	protect(w.Header())
	r = splitPlace(r)
	target, _, _ := strings.Cut(r.RequestURI, "?")
	name, below := strings.CutPrefix(target, "/ui/")
	wallet, ofWallet := strings.CutPrefix(name, "call/wallet/")
	file, isFile := strings.CutPrefix(name, "assets/")
	switch {
	case !below:
		h.servePage(d, w, r, "")
	case isFile:
		h.serveFile(d, w, r, file)
	case name == "login":
		post(d, w, r, h.login)
	case name == "logout":
		post(d, w, r, h.logout)
	case name == "call":
		post(d, w, r, func(d *rpc.Door, w http.ResponseWriter, r *http.Request) { h.call(d, w, r, nil) })
	case ofWallet:
		named, err := url.PathUnescape(wallet)
		if err != nil {
			refuse(d, w, http.StatusNotFound)
			return
		}
		post(d, w, r, func(d *rpc.Door, w http.ResponseWriter, r *http.Request) { h.call(d, w, r, &named) })
	case name == "upload":
		post(d, w, r, h.upload)
	case name == "upload/restore":
		post(d, w, r, h.restoreUpload)
	case name == "upload/drop":
		post(d, w, r, h.dropUpload)
	case name == "events":
		h.events(d, w, r)
	case name == "session":
		h.serveSession(d, w, r)
	default:
		h.servePage(d, w, r, name)
	}
}

// Reloaded implements [rpc.Page].
func (h *Handler) Reloaded() {
	h.sessions.finishAll(func(s *session) bool { return !s.visitor.LoggedIn(s.ended) })
}

// Close implements [rpc.Page].
func (h *Handler) Close() {
	h.sessions.close()
	h.uploads.close()
}

// refuse answers with a status and its words.
func refuse(d *rpc.Door, w http.ResponseWriter, status int) {
	d.Reply(w, status, textKind, []byte(http.StatusText(status)+"\n"))
}

// post has f answer if the request is a POST.
func post(
	d *rpc.Door, w http.ResponseWriter, r *http.Request, f func(*rpc.Door, http.ResponseWriter, *http.Request),
) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(d, w, http.StatusMethodNotAllowed)
		return
	}
	f(d, w, r)
}

// looks reports whether a request changes nothing; it refuses all others.
func looks(d *rpc.Door, w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	w.Header().Set("Allow", "GET, HEAD")
	refuse(d, w, http.StatusMethodNotAllowed)
	return false
}

func (h *Handler) serveFile(d *rpc.Door, w http.ResponseWriter, r *http.Request, name string) {
	if !looks(d, w, r) {
		return
	}
	found, ok := h.assets[name]
	if !ok {
		refuse(d, w, http.StatusNotFound)
		return
	}
	found.serve(d, w, r)
}

// servePage has the view answer who is logged in, and sends the form for that to others.
func (h *Handler) servePage(d *rpc.Door, w http.ResponseWriter, r *http.Request, name string) {
	token := ""
	admit := h.admit
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		admit = func(d *rpc.Door, r *http.Request) (guest, int) { return h.admitPage(d, r, r.Header.Get(tokenHeader)) }
	}
	who, status := admit(d, r)
	switch {
	case status == http.StatusUnauthorized:
		h.sendLogin(d, w, r, status, refusedLogin(r))
		return
	case status != 0:
		refuse(d, w, status)
		return
	case who.session != nil:
		token = who.session.token
	}
	methods, starting := d.Methods(who.Visitor)
	a := &asker{
		door: d, visitor: who.Visitor, from: r.RemoteAddr, Name: name, Base: base(r), User: who.Name(), Token: token,
		Methods: methods, Starting: starting,
	}
	if !h.serveView(a, w, r) {
		refuse(d, w, http.StatusNotFound)
	}
}

// serveView has the view answer. A panic costs this one request: it is reported in words, or the connection is cut
// where the answer has begun.
func (h *Handler) serveView(a *asker, w http.ResponseWriter, r *http.Request) (found bool) {
	err := cores.Catch(func() error {
		found = h.view.serve(a, w, r)
		return nil
	})
	switch {
	case err == nil:
		return found
	case errors.Is(err, http.ErrAbortHandler):
	default:
		h.log.Error("page failed", "page", a.Name, "err", err)
		if !a.answered {
			fail(a, w, errUnmade)
			return true
		}
	}
	panic(http.ErrAbortHandler)
}

// refusedLogin says why a request that has a login by itself is asked for one.
func refusedLogin(r *http.Request) string {
	if r.Header.Get("Authorization") == "" {
		return ""
	}
	return wrongLogin
}

// sendLogin sends the form for logging in.
func (h *Handler) sendLogin(d *rpc.Door, w http.ResponseWriter, r *http.Request, status int, refused string) {
	page, err := h.view.login(base(r), refused)
	if err != nil {
		h.log.Error("the page for logging in cannot be made", "err", err)
		refuse(d, w, http.StatusInternalServerError)
		return
	}
	d.Reply(w, status, htmlKind, page)
}

// serveSession gives scripts what pages are made with.
func (h *Handler) serveSession(d *rpc.Door, w http.ResponseWriter, r *http.Request) {
	if !looks(d, w, r) {
		return
	}
	who, status := h.admit(d, r)
	if status != 0 {
		refuse(d, w, status)
		return
	}
	token := ""
	if who.session != nil {
		token = who.session.token
	}
	methods, starting := d.Methods(who.Visitor)
	text, _ := json.Marshal(struct { // texts can always be written
		User     string   `json:"user"`
		Token    string   `json:"token"`
		Methods  []string `json:"methods"`
		Starting string   `json:"starting"`
	}{who.Name(), token, append([]string{}, methods...), starting})
	d.Reply(w, http.StatusOK, jsonKind, text)
}

// call answers JSON-RPC.
func (h *Handler) call(d *rpc.Door, w http.ResponseWriter, r *http.Request, wallet *string) {
	who, status := h.admitPage(d, r, r.Header.Get(tokenHeader))
	if status != 0 {
		refuse(d, w, status)
		return
	}
	d.Call(w, r, who.Visitor, wallet)
}

// events answers with a stream of events.
func (h *Handler) events(d *rpc.Door, w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, POST")
		refuse(d, w, http.StatusMethodNotAllowed)
		return
	}
	who, query, status := h.admitEvents(d, r)
	if status != 0 {
		refuse(d, w, status)
		return
	}
	if err := noBody(d, w, r); err != nil {
		refuse(d, w, http.StatusBadRequest)
		return
	}
	ctx := r.Context()
	if who.session != nil {
		ctx, cancel := mergeCancel(ctx, who.session.ended)
		defer cancel()
		d.Stream(ctx, w, r, who.Visitor, query)
		return
	}
	d.Stream(ctx, w, r, who.Visitor, query)
}

// errBody refuses a body where none belongs.
var errBody = errors.New("the request has a body")
