package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/seed61375155/trawl/rpc"
)

// lookCookie keeps how a browser shows the pages. It is no secret.
const lookCookie = "trawl-look"

// An appearance is how pages are shown: the server knows it, so that the first byte is right.
type appearance struct {
	Theme string // light or dark; empty: as the system is
	Unit  string // of amounts: BTC or sat
}

// looks are the values that a look may have, the first of each by default.
var (
	themes = []string{"", "light", "dark"}
	units  = []string{"BTC", "sat"}
)

// knownOr returns a value if it is one of the known ones, else another.
func knownOr(value string, known []string, other string) string {
	if slices.Contains(known, value) {
		return value
	}
	return other
}

// lookOf returns how a request's browser shows pages.
func lookOf(r *http.Request) appearance {
	l := appearance{themes[0], units[0]}
	c, err := r.Cookie(lookCookie)
	if err != nil {
		return l
	}
	theme, unit, _ := strings.Cut(c.Value, ".")
	return appearance{knownOr(theme, themes, l.Theme), knownOr(unit, units, l.Unit)}
}

// maxBack bounds the address of a page that a form returns to.
const maxBack = 2000

// changeLook answers the form that changes the look, and leads back to the page that has the form.
func (h *Handler) changeLook(d *rpc.Door, w http.ResponseWriter, r *http.Request) {
	form, bad := readForm(d, w, r, maxForm)
	if bad != 0 {
		refuse(d, w, bad)
		return
	}
	if _, status := h.admitPage(d, r, form.Get("token")); status != 0 {
		refuse(d, w, status)
		return
	}
	l := lookOf(r)
	if form.Has("theme") {
		l.Theme = knownOr(form.Get("theme"), themes, l.Theme)
	}
	if form.Has("unit") {
		l.Unit = knownOr(form.Get("unit"), units, l.Unit)
	}
	const year = 365 * 24 * 60 * 60
	http.SetCookie(w, &http.Cookie{
		Name: lookCookie, Value: l.Theme + "." + l.Unit, Path: "/", MaxAge: year, HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: sessionCookie(r, "").Secure,
	})
	w.Header().Set("Location", base(r)+backTo(form.Get("back")))
	d.Reply(w, http.StatusSeeOther, htmlKind, nil)
}

// backTo returns the address of a page below the base. It stays below: a base is relative, and dots are left out.
func backTo(page string) string {
	to, err := url.Parse(page)
	if err != nil || len(page) > maxBack || to.Scheme != "" || to.Host != "" || to.Opaque != "" ||
		strings.HasPrefix(page, "/") || strings.Contains(page, "\\") {
		return ""
	}
	path := to.EscapedPath()
	for part := range strings.SplitSeq(path, "/") {
		if part == "." || part == ".." {
			return ""
		}
	}
	if to.RawQuery != "" {
		path += "?" + to.Query().Encode()
	}
	return path
}
