package web

import (
	"context"
	"net/http"
	"strings"
)

// A cookie goes to every port of its host, so that any other server there can have it. The pages of a session are
// therefore at a place of their own, below /ui/~…/. Only the browser that has logged in learns the place: other
// ports see no path of this port. A request belongs to a session if it has both cookie and place.

// placeMark begins the name of a place.
const placeMark = "~"

type placeKey struct{}

// splitPlace takes the place out of a request's path, which stands for / of the session.
func splitPlace(r *http.Request) *http.Request {
	path, below := strings.CutPrefix(r.RequestURI, "/ui/"+placeMark)
	name, rest, found := strings.Cut(path, "/")
	if !below || !found {
		return r
	}
	inside := r.WithContext(context.WithValue(r.Context(), placeKey{}, placeMark+name))
	inside.RequestURI = "/" + rest
	return inside
}

// placeOf returns the place that a request is made at; empty: at none.
func placeOf(r *http.Request) string {
	place, _ := r.Context().Value(placeKey{}).(string)
	return place
}

// base leads from the page that a request is for to /, or to the place that stands for it, as a relative URL.
func base(r *http.Request) string {
	target, _, _ := strings.Cut(r.RequestURI, "?")
	return "./" + strings.Repeat("../", strings.Count(target, "/")-1)
}

// root leads from there to / of the server.
func root(r *http.Request) string {
	if placeOf(r) == "" {
		return base(r)
	}
	return base(r) + "../../"
}
