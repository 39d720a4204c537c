package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/seed61375155/trawl/rpc"
)

// inviteTime is how long an invitation is good.
const inviteTime = 10 * time.Minute

// An invitation lets one browser in without a password: it is shown where only the owner of the node can see it. The
// zero value lets nobody in.
type invitation struct {
	mu    sync.Mutex
	sum   [sha256.Size]byte // of the secret
	until time.Time
}

// renew returns the secret of a new invitation. An older one is good no more.
func (i *invitation) renew() string {
	text := secret()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.sum, i.until = sha256.Sum256([]byte(text)), time.Now().Add(inviteTime)
	return text
}

// is reports whether a secret is that of the invitation; taken uses it up.
func (i *invitation) is(text string, taken bool) bool {
	sum := sha256.Sum256([]byte(text))
	i.mu.Lock()
	defer i.mu.Unlock()
	if time.Now().After(i.until) || subtle.ConstantTimeCompare(sum[:], i.sum[:]) != 1 {
		return false
	}
	if taken {
		i.until = time.Time{}
	}
	return true
}

// invitePath begins the path of an invitation.
const invitePath = "enter/"

// Invite returns the path, below / of the server, of a page that lets one browser in as the owner of the node: once,
// and within ten minutes.
func (h *Handler) Invite() string { return "ui/" + invitePath + h.invitation.renew() }

// usedInvitation is shown to people with an invitation that is good no more.
const usedInvitation = "This link was used already, or is older than ten minutes. Sign in with a name and password."

// showInvitation answers with a button, so that only a person uses the link up, and nothing that looks at links.
func (h *Handler) showInvitation(d *rpc.Door, w http.ResponseWriter, r *http.Request, text string) {
	if !looks(d, w, r) {
		return
	}
	if !d.KnownHost(r) {
		refuse(d, w, http.StatusForbidden)
		return
	}
	if !h.invitation.is(text, false) {
		h.sendLogin(d, w, r, http.StatusNotFound, usedInvitation)
		return
	}
	a := &asker{Look: lookOf(r), Assets: h.assetsOf(r)}
	page, err := h.view.render("frame.html", a.Look.Unit, shown{
		asker: a, Page: "invited", Base: base(r), Title: "Sign in", Data: text,
	})
	if err != nil {
		h.log.Error("the page for logging in cannot be made", "err", err)
		refuse(d, w, http.StatusInternalServerError)
		return
	}
	d.Reply(w, http.StatusOK, htmlKind, page)
}

// acceptInvitation begins a session for a browser with an invitation.
func (h *Handler) acceptInvitation(d *rpc.Door, w http.ResponseWriter, r *http.Request) {
	if !d.FromOwnPage(r) {
		h.sendLogin(d, w, r, http.StatusForbidden, foreignLogin)
		return
	}
	form, bad := readForm(d, w, r, maxForm)
	if bad != 0 {
		refuse(d, w, bad)
		return
	}
	owner := d.Owner()
	if owner == nil || !h.invitation.is(strings.TrimSpace(form.Get("code")), true) {
		h.sendLogin(d, w, r, http.StatusUnauthorized, usedInvitation)
		return
	}
	h.beginSession(d, w, r, owner)
}
