package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"

	"github.com/seed61375155/trawl/rpc"
)

// maxForm bounds what a form has in it, in bytes.
const maxForm = 8 << 10

// The texts for users whose login is refused.
const (
	wrongLogin   = "The name or the password is wrong."
	busyLogin    = "The node cannot judge the login now: too many wrong ones came from here. Try again in a minute."
	foreignLogin = "The login did not come from this page. Open the address of the node by hand and try again."
)

// readForm reads the fields of a form of so many bytes at most, or returns the status with which it is
// refused.
func readForm(d *rpc.Door, w http.ResponseWriter, r *http.Request, limit int64) (form url.Values, status int) {
	body, status := readBody(d, w, r, limit)
	if status != 0 {
		return nil, status
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, http.StatusBadRequest
	}
	return form, 0
}

// readBody reads a body of so many bytes at most, or returns the status with which it is refused. A client that leaves
// in the middle of it, or falls silent, gets none.
func readBody(d *rpc.Door, w http.ResponseWriter, r *http.Request, limit int64) (body []byte, status int) {
	body, err := d.ReadAll(w, r, limit)
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		return nil, http.StatusRequestEntityTooLarge
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrDeadlineExceeded):
		panic(http.ErrAbortHandler)
	case err != nil:
		return nil, http.StatusBadRequest
	}
	return body, 0
}

// noBody reads a body that has to be empty.
func noBody(d *rpc.Door, w http.ResponseWriter, r *http.Request) error {
	n, err := io.Copy(io.Discard, d.Body(w, r, maxForm))
	if err == nil && n > 0 {
		err = errBody
	}
	return err
}

// login begins a session. The session that the browser had ends, so that a cookie which was put
// there by others proves nothing.
func (h *Handler) login(d *rpc.Door, w http.ResponseWriter, r *http.Request) {
	if !d.FromOwnPage(r) {
		h.sendLogin(d, w, r, http.StatusForbidden, foreignLogin)
		return
	}
	body, bad := readBody(d, w, r, maxForm)
	defer clear(body)
	user, password, ok := readLogin(body)
	if bad == 0 && !ok {
		bad = http.StatusBadRequest
	}
	if bad != 0 {
		refuse(d, w, bad)
		return
	}
	if !d.Hold(w, r) {
		panic(http.ErrAbortHandler)
	}
	visitor, status := d.Login(r, user, password)
	switch status {
	case 0:
	case http.StatusUnauthorized:
		h.sendLogin(d, w, r, status, wrongLogin)
		return
	default:
		h.sendLogin(d, w, r, status, busyLogin)
		return
	}
	h.beginSession(d, w, r, visitor)
}

// beginSession ends the browser's session, begins another and leads to its pages.
func (h *Handler) beginSession(d *rpc.Door, w http.ResponseWriter, r *http.Request, visitor *rpc.Visitor) {
	if old := h.sessionByCookie(r, ""); old != nil {
		h.sessions.finish(old)
	}
	begun, cookie := h.sessions.begin(visitor)
	if begun == nil {
		refuse(d, w, http.StatusServiceUnavailable)
		return
	}
	http.SetCookie(w, sessionCookie(r, cookie))
	w.Header().Set("Location", root(r)+"ui/"+begun.place+"/")
	d.Reply(w, http.StatusSeeOther, htmlKind, nil)
}

// logout ends the session.
func (h *Handler) logout(d *rpc.Door, w http.ResponseWriter, r *http.Request) {
	form, bad := readForm(d, w, r, maxForm)
	if bad != 0 {
		refuse(d, w, bad)
		return
	}
	token := r.Header.Get(tokenHeader)
	if token == "" {
		token = form.Get("token")
	}
	who, status := h.admitPage(d, r, token)
	if status != 0 && status != http.StatusUnauthorized {
		refuse(d, w, status)
		return
	}
	if who.session != nil {
		h.sessions.finish(who.session)
	}
	gone := sessionCookie(r, "")
	gone.MaxAge = -1
	http.SetCookie(w, gone)
	w.Header().Set("Location", root(r))
	d.Reply(w, http.StatusSeeOther, htmlKind, nil)
}

// mergeCancel returns a context that ends with either.
func mergeCancel(ctx, other context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(other, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}
