package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed61375155/trawl/internal/cores"
)

// freshHeader is set by pages that have just changed something.
const freshHeader = "X-Trawl-Fresh"

// maxObjects bounds the lines of a form that are checked, in bytes.
const maxObjects = 256 << 10

// serve answers a logged-in client, for / and for all below /ui/ that the handler does not answer
// itself. Requests other than GET and HEAD have come from a page of this server. It returns false for a
// request that it does not know.
func (v *view) serve(a *asker, w http.ResponseWriter, r *http.Request) bool {
	if a.Name == "check" || a.Name == "preview" {
		if r.Method == http.MethodPost {
			v.serveForm(a, w, r)
		}
		return r.Method == http.MethodPost
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	if a.Name == "export" {
		return v.serveExport(a, w, r)
	}
	if name, isPart := strings.CutPrefix(a.Name, "part/"); isPart {
		page, query, found := v.route(name, r)
		if found {
			v.servePart(a, w, r, name, query, &page)
		}
		return found
	}
	name := a.Name
	switch name {
	case "":
		name = "index"
	case "index":
		return false // it has one address
	}
	if key, moved := older[name]; moved && !dots(r.URL.Query().Get(key)) {
		query := r.URL.Query()
		to := pathOf(name, key, query.Get(key))
		if query.Del(key); len(query) > 0 {
			to += "?" + query.Encode()
		}
		w.Header().Set("Location", a.Base+to)
		a.reply(w, http.StatusPermanentRedirect, htmlKind, nil)
		return true
	}
	page, query, found := v.route(name, r)
	if found {
		v.servePage(a, w, r, name, query, &page)
	}
	return found
}

// route returns the page of a name, and the query for its model.
func (v *view) route(name string, r *http.Request) (page route, query url.Values, found bool) {
	query = r.URL.Query()
	query.Del(about)
	if key, of := older[name]; of { // its name cannot be in a path
		query.Set(about, query.Get(key))
		page, found = v.routes[name+"/"]
		return page, query, found
	}
	name, of, ok := splitName(name)
	if strings.HasSuffix(name, "/") {
		query.Set(about, of)
	}
	page, found = v.routes[name]
	return page, query, found && ok
}

// servePage sends a page.
func (v *view) servePage(
	a *asker, w http.ResponseWriter, r *http.Request, name string, query url.Values, page *route,
) {
	s := shown{asker: a, Page: page.template, Part: name, Tab: page.tab, Base: a.Base, Title: page.title}
	status := http.StatusOK
	switch {
	case a.Starting != "":
	case page.needs != "" && !a.Has(page.needs):
		s.Denied, status = page.needs, http.StatusForbidden
	default:
		made := v.kept.make(a, r, name, query, page.model)
		if made.err != nil {
			status, s.Failed = failure(made.err)
		}
		s.Data = made.data
	}
	v.sendPage(a, w, r, status, &s)
}

// A titled page has a title of its own. The answer to a statused page has its status.
type (
	titled   interface{ PageTitle() string }
	statused interface{ PageStatus() int }
)

// sendPage sends a page in its frame.
func (v *view) sendPage(a *asker, w http.ResponseWriter, r *http.Request, status int, s *shown) {
	if page, ok := s.Data.(titled); ok {
		s.Title = page.PageTitle()
	}
	if page, ok := s.Data.(statused); ok {
		status = page.PageStatus()
	}
	if a.Name != "" && r.Method != http.MethodPost {
		s.Back = "ui/" + a.Name
	}
	if r.URL.RawQuery != "" {
		s.Back += "?" + r.URL.RawQuery
	}
	if a.Starting == "" {
		if chain := v.kept.make(a, r, "chain", nil, chainModel); chain.err == nil {
			s.Chain, _ = chain.data.(string)
		}
	}
	body, err := v.render("frame.html", a.Look.Unit, s)
	if err != nil {
		fail(a, w, err)
		return
	}
	a.reply(w, status, htmlKind, newSheet(body).pick(w.Header(), r))
}

// chainModel is the name of the network, empty where it is not for the viewer.
func chainModel(ctx context.Context, v viewer, _ url.Values) (any, error) {
	if info := get[chainInfo](ctx, v, nil, "getblockchaininfo"); info != nil {
		return info.Chain, nil
	}
	return "", nil
}

// servePart sends a part of a page, unless the page still has it.
func (v *view) servePart(
	a *asker, w http.ResponseWriter, r *http.Request, name string, query url.Values, part *route,
) {
	s := shown{asker: a, Page: part.template, Part: name, Base: up(depth(name)), Title: part.title}
	if a.Starting != "" {
		body, err := v.render("starting", a.Look.Unit, s)
		sendHTML(a, w, r, body, err)
		return
	}
	if part.needs != "" && !a.Has(part.needs) {
		a.reply(w, http.StatusForbidden, textKind, []byte("This login may not call "+part.needs))
		return
	}
	made := v.kept.since(a, r, name, query, part.model, time.Now())
	if made.err != nil {
		fail(a, w, made.err)
		return
	}
	s.Data = made.data
	body, err := made.part(a.Look.Unit, func() ([]byte, error) { return v.render(part.template, a.Look.Unit, s) })
	sendSheet(a, w, r, body, err)
}

// badForm is shown to people for a form that cannot be read.
var badForm = map[int]string{
	http.StatusBadRequest:            "The form cannot be read",
	http.StatusRequestEntityTooLarge: "This is more than can be looked at here at a time: 256 KiB",
}

// serveForm sends what the lines of the form of a new search stand for, or what is in a backup.
func (v *view) serveForm(a *asker, w http.ResponseWriter, r *http.Request) {
	needs := map[string]string{"check": "createsearch", "preview": "previewrestore"}[a.Name]
	if !a.Has(needs) {
		a.reply(w, http.StatusForbidden, textKind, []byte("This login may not call "+needs))
		return
	}
	form, status := readForm(a.door, w, r, maxObjects)
	if status != 0 {
		a.reply(w, status, textKind, []byte(badForm[status]))
		return
	}
	if !a.door.Hold(w, r) {
		panic(http.ErrAbortHandler)
	}
	var data any
	switch {
	case a.Name == "check":
		data = check(r.Context(), &bounded{a, v.kept.calls}, form.Get("objects"))
	case form.Has("reply"):
		data = uploaded(a, form.Get("file"), form.Get("reply"))
	default:
		data = look(r.Context(), a, form.Get("file"), form.Get("name")) // it may take half a minute
	}
	part, err := v.render(a.Name, a.Look.Unit, shown{asker: a, Page: "form", Base: "./../", Data: data})
	sendHTML(a, w, r, part, err)
}

// fail answers where a page or part could not be made.
func fail(a *asker, w http.ResponseWriter, err error) {
	status, words := failure(err)
	a.reply(w, status, textKind, []byte(words))
}

// failure returns the status and the words of an error.
func failure(err error) (status int, words string) {
	if _, panicked := errors.AsType[*cores.Panic](err); panicked {
		err = errUnmade
	}
	status = http.StatusInternalServerError
	if refused, ok := errors.AsType[callError](err); ok {
		switch {
		case refused.isAnswer():
			status = http.StatusBadRequest
		case refused.Code == 0:
			status = refused.Status
		}
	}
	return status, err.Error()
}

// sendHTML sends a part, or that it has not changed.
func sendHTML(a *asker, w http.ResponseWriter, r *http.Request, body []byte, err error) {
	sendSheet(a, w, r, newSheet(body), err)
}

// sendSheet is sendHTML for what several browsers get.
func sendSheet(a *asker, w http.ResponseWriter, r *http.Request, part *sheet, err error) {
	if err != nil {
		fail(a, w, err)
		return
	}
	w.Header().Set("Etag", part.tag)
	if hasTag(r, part.tag) {
		a.reply(w, http.StatusNotModified, htmlKind, nil)
		return
	}
	a.reply(w, http.StatusOK, htmlKind, part.pick(w.Header(), r))
}

// serveExport sends all entries of a search as a file.
func (v *view) serveExport(a *asker, w http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	id, format := query.Get("id"), query.Get("format")
	const csvKind = "text/csv; charset=utf-8"
	kind, known := map[string]string{"csv": csvKind, "json": jsonKind, historyFormat: csvKind}[format]
	switch {
	case !known:
		return false
	case format == historyFormat && !a.Has("exportsearch"):
		a.reply(w, http.StatusForbidden, textKind, []byte("This login may not call exportsearch"))
		return true
	case format != historyFormat && !a.Has("getsearchentries"):
		a.reply(w, http.StatusForbidden, textKind, []byte("This login may not call getsearchentries"))
		return true
	case !v.exports.enter(a.User):
		const busy = "Too many exports at a time: wait until one has ended"
		a.reply(w, http.StatusServiceUnavailable, textKind, []byte(busy))
		return true
	}
	defer v.exports.leave(a.User)
	if !a.door.Hold(w, r) {
		panic(http.ErrAbortHandler)
	}
	begun := false
	out := &patientWriter{w, http.NewResponseController(w)}
	err := export(r.Context(), &bounded{a, v.kept.calls}, id, format, out, func() {
		begun, a.answered = true, true
		w.Header().Set("Content-Type", kind)
		name := fileName(id) + "." + format
		if format == historyFormat {
			name = fileName(id) + "-history.csv"
		}
		w.Header().Set("Content-Disposition", `attachment; filename="search-`+name+`"`)
		w.WriteHeader(http.StatusOK)
	})
	switch {
	case err == nil:
	case begun:
		panic(http.ErrAbortHandler) // nobody takes what came for the whole
	default:
		fail(a, w, err)
	}
	return true
}

// fileName keeps of an id what it should be made of.
func fileName(id string) string {
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("0123456789abcdef", c) {
			return c
		}
		return -1
	}, id)
}

// exportPatience is how long a reader may take for what the writer has collected.
const exportPatience = 30 * time.Second

// A patientWriter gives each part of a long reply its time.
type patientWriter struct {
	w       io.Writer
	control *http.ResponseController
}

// Write implements io.Writer.
func (p *patientWriter) Write(b []byte) (int, error) {
	_ = p.control.SetWriteDeadline(time.Now().Add(exportPatience))
	return p.w.Write(b)
}
