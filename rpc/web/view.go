package web

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/url"
)

//go:embed pages/*.html
var pages embed.FS

// A view makes pages and their parts.
type view struct {
	templates *template.Template
	kept      *views
	exports   exporting
}

func newView(log *slog.Logger) *view {
	t := template.New("").Funcs(pageFunctions())
	return &view{templates: template.Must(t.ParseFS(pages, "pages/*.html")), kept: newViews(log)}
}

// render executes a template.
func (v *view) render(name string, data any) ([]byte, error) {
	var b bytes.Buffer
	if err := v.templates.ExecuteTemplate(&b, name, data); err != nil {
		return nil, fmt.Errorf("page %s: %w", name, err)
	}
	return b.Bytes(), nil
}

// A shown is what templates are executed with.
type shown struct {
	*asker // who looks at it

	Page    string // its name
	Base    string // leads from the page to /
	Title   string
	Chain   string // the network; empty: not known, or not for the login
	Denied  string // the method that the page needs and the login may not call
	Refused string // on the page "login": why a login was refused
	Failed  string // why the page could not be made
	Data    any    // of the page's model
}

// login makes the page with the form for logging in. base leads to /; refused says why a login was
// refused, empty where none was.
func (v *view) login(base, refused string) ([]byte, error) {
	return v.render("frame.html", shown{
		asker: &asker{}, Page: "login", Base: base, Title: "Sign in", Refused: refused,
	})
}

// A viewer is who looks at a page: what is shown is what its calls return.
type viewer interface {
	// Call makes a call in the viewer's name; wallet is that of the path /wallet/, or nil.
	Call(ctx context.Context, wallet *string, method string, params ...any) (json.RawMessage, error)

	// Has reports whether there is a method that the viewer may call.
	Has(method string) bool
}

// errHidden stands for what the viewer may not see.
var errHidden = errors.New("not for this login")

// read makes a call and takes its result apart.
func read(ctx context.Context, v viewer, wallet *string, result any, method string, params ...any) error {
	if !v.Has(method) {
		return errHidden
	}
	reply, err := v.Call(ctx, wallet, method, params...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(reply, result); err != nil {
		return fmt.Errorf("result of %s: %w", method, err)
	}
	return nil
}

// get returns the result of a call, nil where there is none for the viewer.
func get[T any](ctx context.Context, v viewer, wallet *string, method string, params ...any) *T {
	result := new(T)
	if read(ctx, v, wallet, result, method, params...) != nil {
		return nil
	}
	return result
}

// A model reads what a page or a part of one shows. query is that of the request.
type model func(ctx context.Context, v viewer, query url.Values) (any, error)

// A route is a page, or a part of one.
type route struct {
	title string
	model model
	needs string // method that the viewer must be allowed to call; empty: none
}

// routes are the pages behind the login, by their names.
var routes = map[string]route{
	"index":   {"Overview", homeModel, ""},
	"search":  {"Search", searchModel, "getsearch"},
	"new":     {"New search", newModel, "createsearch"},
	"wallet":  {"Wallet", walletModel, "getwalletinfo"},
	"restore": {"Restore", restoreModel, "previewrestore"},
}

// parts come anew while a page is open, by the names of their templates.
var parts = map[string]route{
	"index":   routes["index"],
	"search":  routes["search"],
	"wallet":  routes["wallet"],
	"new":     routes["new"],
	"restore": routes["restore"],
	"entries": {"", entriesModel, "getsearchentries"},
}

// pageFunctions are the functions that templates may call.
func pageFunctions() template.FuncMap {
	return template.FuncMap{
		"number": number, "bytes": bytesText, "duration": duration, "ago": ago, "utc": utc, "iso": iso,
		"percent": percent, "short": short, "json": asJSON, "query": url.QueryEscape, "list": list, "pairs": pairs,
		"coins": coinsText, "signed": signed, "plural": plural, "ms": milliseconds, "brief": brief,
	}
}

// asJSON is for attributes that scripts read.
func asJSON(value any) (string, error) {
	text, err := json.Marshal(value)
	return string(text), err
}

func list(values ...any) []any { return values }

// pairs makes a map of keys and values, for templates that need several values.
func pairs(values ...any) (map[string]any, error) {
	m := map[string]any{}
	for i := 0; i+1 < len(values); i += 2 {
		key, ok := values[i].(string)
		if !ok {
			return nil, fmt.Errorf("key %v is no text", values[i])
		}
		m[key] = values[i+1]
	}
	return m, nil
}
