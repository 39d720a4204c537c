package web

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
)

//go:embed pages/*.html
var pages embed.FS

// A view makes pages, and parts of them.
type view struct{ templates *template.Template }

func newView() *view {
	return &view{template.Must(template.New("").ParseFS(pages, "pages/*.html"))}
}

// render executes a template.
func (v *view) render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := v.templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("page %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// login makes the page with the form for logging in. base leads to /; refused says why a login was
// refused, empty where none was.
func (v *view) login(base, refused string) ([]byte, error) {
	return v.render("login.html", struct{ Base, Refused string }{base, refused})
}

// serve answers who is logged in, for / and for all below /ui/ that the handler does not answer itself.
// What is no GET or HEAD has come from a page of this server. It is false for what is not there.
func (v *view) serve(a *asker, w http.ResponseWriter, r *http.Request) bool {
	if a.Name != "" || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	page, err := v.render("home.html", a)
	if err != nil {
		a.reply(w, http.StatusInternalServerError, textKind, []byte(err.Error()))
		return true
	}
	a.reply(w, http.StatusOK, htmlKind, page)
	return true
}
