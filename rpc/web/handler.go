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
	version  string // of all of them
	view     *view
	sessions sessions
	uploads  uploads

	invitation invitation
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
	h.assets, h.version, err = readAssets()
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
	invited, isInvited := strings.CutPrefix(name, invitePath)
	switch {
	case !below:
		h.servePage(d, w, r, "")
	case isFile:
		h.serveFile(d, w, r, file)
	case isInvited:
		h.showInvitation(d, w, r, invited)
	case name == "enter":
		post(d, w, r, h.acceptInvitation)
	case name == "login":
		post(d, w, r, h.login)
	case name == "logout":
		post(d, w, r, h.logout)
	case name == "look":
		post(d, w, r, h.changeLook)
	case name == "find" && r.Method == http.MethodPost:
		h.find(d, w, r)
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
	lasts := false
	if version, rest, versioned := strings.Cut(name, "/"); versioned {
		if version != h.version { // of another build: what is there now would not fit its page
			refuse(d, w, http.StatusNotFound)
			return
		}
		name, lasts = rest, true
	}
	found, ok := h.assets[name]
	if !ok {
		refuse(d, w, http.StatusNotFound)
		return
	}
	found.serve(d, w, r, lasts)
}

// servePage has the view answer who is logged in, and sends the form for that to others.
func (h *Handler) servePage(d *rpc.Door, w http.ResponseWriter, r *http.Request, name string) {
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
	}
	a := h.asks(d, r, who, name)
	found := false
	h.guarded(a, w, func() { found = h.view.serve(a, w, r) })
	if !found && !a.answered {
		refuse(d, w, http.StatusNotFound)
	}
}

// asks makes the asker of a page.
func (h *Handler) asks(d *rpc.Door, r *http.Request, who guest, name string) *asker {
	methods, starting := d.Methods(who.Visitor)
	a := &asker{
		door: d, visitor: who.Visitor, from: r.RemoteAddr, Name: name, Base: base(r), User: who.Name(),
		Methods: methods, Starting: starting, Look: lookOf(r), Assets: h.assetsOf(r),
	}
	if who.session != nil {
		a.Token = who.session.token
		if name == "new" && r.URL.Query().Has("typed") {
			a.Typed = h.sessions.typed(who.session)
		}
	}
	return a
}

// guarded has the view answer. A panic costs this one request: it is reported in words, or the connection is cut
// where the answer has begun.
func (h *Handler) guarded(a *asker, w http.ResponseWriter, answer func()) {
	err := cores.Catch(func() error {
		answer()
		return nil
	})
	switch {
	case err == nil:
		return
	case errors.Is(err, http.ErrAbortHandler):
	default:
		h.log.Error("page failed", "page", a.Name, "err", err)
		if !a.answered {
			fail(a, w, errUnmade)
			return
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
	page, err := h.view.login(&asker{Look: lookOf(r), Assets: h.assetsOf(r)}, base(r), refused)
	if err != nil {
		h.log.Error("the page for logging in cannot be made", "err", err)
		refuse(d, w, http.StatusInternalServerError)
		return
	}
	d.Reply(w, status, htmlKind, newSheet(page).pick(w.Header(), r))
}

// assetsOf leads from the page of a request to the files of this build. They are below / of the server and not below
// the place of a session, so that a browser keeps them for all sessions.
func (h *Handler) assetsOf(r *http.Request) string { return root(r) + "ui/assets/" + h.version + "/" }

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
