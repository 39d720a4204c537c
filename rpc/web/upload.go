package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/rpc"
)

const (
	// maxUpload bounds a backup that is uploaded, in bytes.
	maxUpload = 256 << 20

	// uploadDir is the folder of backups that are uploaded, below the network's directory.
	uploadDir = "webui-uploads"
)

// uploads are the backups that were uploaded and have yet to be restored: one of each login. A file goes when
// its restore is answered, when it is not wanted, with its session, after an hour, with the node, and
// when a node starts.
type uploads struct {
	fs  vfs.FS
	dir string // empty: there are none
	max int64

	mu      sync.Mutex
	byLogin map[string]*upload
	closed  bool
}

// An upload is one backup.
type upload struct {
	of    *uploads
	login string
	id    string // that its page knows
	path  string
	busy  bool // it comes in, or is being restored
	stop  func()
}

// RemoveUploads removes the uploads that an earlier run has left below a network's directory. They have
// keys in them: a node does it at its start, with or without a page.
func RemoveUploads(dir string) error {
	if err := vfs.RemoveAll(vfs.OS, filepath.Join(dir, uploadDir)); err != nil {
		return fmt.Errorf("uploads of an earlier run: %w", err)
	}
	return nil
}

var (
	errUploadBusy = errors.New("an upload or restore of this login is under way")
	errNoUploads  = errors.New("this node takes no uploads")
)

// begin makes room for the backup of a login; the one before goes.
func (u *uploads) begin(login string) (*upload, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.dir == "" || u.closed {
		return nil, errNoUploads
	}
	if before := u.byLogin[login]; before != nil {
		if before.busy {
			return nil, errUploadBusy
		}
		u.drop(before)
	}
	if u.byLogin == nil {
		u.byLogin = map[string]*upload{}
	}
	id := secret()
	begun := &upload{of: u, login: login, id: id, path: filepath.Join(u.dir, id+".dat"), busy: true}
	u.byLogin[login] = begun
	return begun, nil
}

// take returns the backup of a login that has an id, nil where it is there no more: another may have taken its place.
func (u *uploads) take(login, id string) (*upload, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	found := u.byLogin[login]
	switch {
	case found == nil:
		return nil, nil //nolint:nilnil // there is none
	case found.busy:
		return nil, errUploadBusy
	case found.id != id:
		return nil, nil //nolint:nilnil // it is another page's
	}
	found.busy = true
	return found, nil
}

// keep has a backup wait for its restore until ctx ends, or for an hour.
func (f *upload) keep(ctx context.Context) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	if f.of.closed {
		f.of.drop(f)
		return
	}
	f.busy = false
	end := func() {
		f.of.mu.Lock()
		defer f.of.mu.Unlock()
		if !f.busy {
			f.of.drop(f)
		}
	}
	timer, left := time.AfterFunc(idleTime, end), context.AfterFunc(ctx, end)
	f.stop = func() {
		timer.Stop()
		left()
	}
}

// remove removes a backup.
func (f *upload) remove() {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.of.drop(f)
}

// drop removes a backup. The lock is held.
func (u *uploads) drop(f *upload) {
	if u.byLogin[f.login] != f {
		return
	}
	delete(u.byLogin, f.login)
	if f.stop != nil {
		f.stop()
	}
	_ = u.fs.Remove(f.path) // where it cannot be, the next start removes it
}

// close removes all that is not in use; what is goes when its request ends.
func (u *uploads) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for _, f := range u.byLogin {
		if !f.busy {
			u.drop(f)
		}
	}
}

// receive writes what is sent into the file, which nobody else may read.
func (f *upload) receive(from io.Reader) (err error) {
	if err := f.of.fs.MkdirAll(f.of.dir, 0o700); err != nil {
		return err
	}
	file, err := f.of.fs.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(struct{ io.Writer }{file}, from)
	return errors.Join(err, file.Close())
}

// mayRestore are the methods that who uploads has to be allowed to call.
var mayRestore = []string{"previewrestore", "restorewallet"}

// admitUpload is admitPage for uploads.
func (h *Handler) admitUpload(d *rpc.Door, r *http.Request) (who guest, status int) {
	who, status = h.admitPage(d, r, r.Header.Get(tokenHeader))
	for _, method := range mayRestore {
		if status == 0 && !who.MayCall(method) {
			return guest{}, http.StatusForbidden
		}
	}
	return who, status
}

// uploadHeader has the id of an upload that waits for its restore.
const uploadHeader = "X-Trawl-Upload"

// upload takes a backup, the body of the request, and answers with its preview: the reply to
// previewrestore. The query's "name" is the name that the wallet is to have.
func (h *Handler) upload(d *rpc.Door, w http.ResponseWriter, r *http.Request) {
	who, status := h.admitUpload(d, r)
	switch {
	case status != 0:
		refuse(d, w, status)
		return
	case r.ContentLength > h.uploads.max:
		refuse(d, w, http.StatusRequestEntityTooLarge)
		return
	}
	f, err := h.uploads.begin(who.Name())
	if err != nil {
		refuseUpload(d, w, err)
		return
	}
	kept := false
	defer func() {
		if !kept {
			f.remove()
		}
	}()
	if err := f.receive(d.Body(w, r, h.uploads.max)); err != nil {
		h.log.Info("upload of a backup failed", "err", err)
		refuseUpload(d, w, err)
		return
	}
	if !d.Hold(w, r) {
		panic(http.ErrAbortHandler)
	}
	_, query, _ := strings.Cut(r.RequestURI, "?")
	params := []any{f.path}
	if values, err := url.ParseQuery(query); err == nil && values.Get("name") != "" {
		params = append(params, values.Get("name"))
	}
	list, _ := json.Marshal(params) // texts can always be written
	status, reply := d.Do(r.Context(), who.Visitor, r.RemoteAddr, nil, "previewrestore", list)
	var got struct {
		Result struct {
			Intact  bool
			Restore json.RawMessage // there if it can be restored, perhaps in part
		}
	}
	if status != http.StatusOK {
		refuse(d, w, status)
		return
	}
	known := json.Unmarshal(reply, &got) == nil && (got.Result.Intact || got.Result.Restore != nil)
	if known && r.Context().Err() == nil {
		kept = true
		f.keep(who.ended()) //nolint:contextcheck // it outlives the request
		w.Header().Set(uploadHeader, f.id)
	}
	d.Reply(w, http.StatusOK, jsonKind, reply)
}

// ended is what ends with the session.
func (g guest) ended() context.Context {
	if g.session == nil {
		return context.Background()
	}
	return g.session.ended
}

// refuseUpload answers with why there is no upload.
func refuseUpload(d *rpc.Door, w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case errors.Is(err, errUploadBusy):
		status = http.StatusConflict
	case errors.Is(err, errNoUploads):
		status = http.StatusServiceUnavailable
	case tooLarge:
		status = http.StatusRequestEntityTooLarge
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		status = http.StatusInsufficientStorage
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, os.ErrDeadlineExceeded):
		panic(http.ErrAbortHandler) // the client left in the middle of it, or fell silent
	}
	refuse(d, w, status)
}

// restoreUpload restores a backup that was uploaded: a form with its id, "upload", the wallet's "name" and "load",
// true or false, for whether it is loaded at start. It is answered with the reply to restorewallet.
func (h *Handler) restoreUpload(d *rpc.Door, w http.ResponseWriter, r *http.Request) {
	who, status := h.admitUpload(d, r)
	if status != 0 {
		refuse(d, w, status)
		return
	}
	form, bad := readForm(d, w, r, maxForm)
	if bad == 0 && !form.Has("name") {
		bad = http.StatusBadRequest
	}
	if bad != 0 {
		refuse(d, w, bad)
		return
	}
	if !d.Hold(w, r) {
		panic(http.ErrAbortHandler)
	}
	f, err := h.uploads.take(who.Name(), form.Get("upload"))
	switch {
	case err != nil:
		refuseUpload(d, w, err)
		return
	case f == nil:
		refuse(d, w, http.StatusNotFound)
		return
	}
	defer f.remove()
	params := []any{form.Get("name"), f.path}
	if load := form.Get("load"); load != "" {
		params = append(params, load == "true")
	}
	list, _ := json.Marshal(params) // texts can always be written
	status, reply := d.Do(r.Context(), who.Visitor, r.RemoteAddr, nil, "restorewallet", list)
	if status != http.StatusOK {
		refuse(d, w, status)
		return
	}
	d.Reply(w, http.StatusOK, jsonKind, reply)
}

// dropUpload removes a backup that was uploaded: a form with its id, "upload".
func (h *Handler) dropUpload(d *rpc.Door, w http.ResponseWriter, r *http.Request) {
	who, status := h.admitUpload(d, r)
	if status != 0 {
		refuse(d, w, status)
		return
	}
	form, bad := readForm(d, w, r, maxForm)
	if bad != 0 {
		refuse(d, w, bad)
		return
	}
	f, err := h.uploads.take(who.Name(), form.Get("upload"))
	if err != nil {
		refuseUpload(d, w, err)
		return
	}
	if f != nil {
		f.remove()
	}
	d.Reply(w, http.StatusNoContent, textKind, nil)
}
