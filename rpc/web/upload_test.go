package web

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/vfs/faultfs"
	"github.com/seed61375155/trawl/rpc"
)

// uploading starts a node that takes uploads of 1000 bytes, and logs in.
func uploading(t *testing.T, c rpc.Config) (n *node, b *browser, dir string) {
	t.Helper()
	n = start(t, c)
	dir = filepath.Join(t.TempDir(), uploadDir)
	n.page.uploads.dir, n.page.uploads.max = dir, 1000
	b = n.browser(t)
	b.login(t, "u", "p")
	return n, b, dir
}

// stored returns the files of uploads, and checks that they are for the owner alone.
func stored(t *testing.T, dir string) []os.DirEntry {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().Perm() != 0o600 {
			t.Error(info, err)
		}
	}
	return entries
}

// A backup is uploaded, shown, restored, and gone.
func TestUpload(t *testing.T) {
	_, b, dir := uploading(t, rpc.Config{})
	got := b.ask(t, http.MethodPost, "/ui/upload?name=w", "content")
	if got.status != http.StatusOK || !strings.Contains(got.text, `"text":"content"`) || len(stored(t, dir)) != 1 {
		t.Fatal(got, stored(t, dir))
	}
	first := got.header.Get(uploadHeader)
	if got = b.ask(t, http.MethodPost, "/ui/upload", "other"); got.status != http.StatusOK || len(stored(t, dir)) != 1 {
		t.Error(got, stored(t, dir)) // in its place
	}
	id := got.header.Get(uploadHeader)
	for _, form := range []string{"nothing=x", "upload=" + id} {
		if got = b.ask(t, http.MethodPost, "/ui/upload/restore", form); got.status != http.StatusBadRequest {
			t.Error(form, got)
		}
	}
	got = b.ask(t, http.MethodPost, "/ui/upload/restore", "name=w&load=true&upload="+id)
	if got.status != http.StatusOK || !strings.Contains(got.text, `"result":"w other load true"`) ||
		len(stored(t, dir)) != 0 {
		t.Error(got, stored(t, dir))
	}
	for _, id := range []string{id, first} {
		got = b.ask(t, http.MethodPost, "/ui/upload/restore", "name=w&upload="+id)
		if got.status != http.StatusNotFound {
			t.Error(got)
		}
	}
	for _, leave := range []string{"/ui/upload/drop", "/ui/logout"} {
		id := b.ask(t, http.MethodPost, "/ui/upload", "more").header.Get(uploadHeader)
		if len(stored(t, dir)) != 1 {
			t.Error("not kept")
		}
		b.ask(t, http.MethodPost, leave, "upload="+id)
		awaitNone(t, dir)
	}
}

// A page restores and removes what it has shown, and not what another page of the same login has uploaded since.
func TestUploadOfAnotherPage(t *testing.T) {
	_, b, dir := uploading(t, rpc.Config{})
	first := b.ask(t, http.MethodPost, "/ui/upload?name=a", "first").header.Get(uploadHeader)
	second := b.ask(t, http.MethodPost, "/ui/upload?name=b", "second").header.Get(uploadHeader)
	for _, id := range []string{first, "", second[1:]} {
		form := "name=a&upload=" + id
		got := b.ask(t, http.MethodPost, "/ui/upload/restore", form)
		if got.status != http.StatusNotFound || len(stored(t, dir)) != 1 {
			t.Error("restored as the first:", got)
		}
		got = b.ask(t, http.MethodPost, "/ui/upload/drop", form)
		if got.status != http.StatusNoContent || len(stored(t, dir)) != 1 {
			t.Error("removed as the first:", got)
		}
	}
	got := b.ask(t, http.MethodPost, "/ui/upload/restore", "name=b&upload="+second)
	if got.status != http.StatusOK || !strings.Contains(got.text, `"result":"b second"`) || len(stored(t, dir)) != 0 {
		t.Error(got, stored(t, dir))
	}
}

// awaitNone waits until there are no uploads.
func awaitNone(t *testing.T, dir string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); len(stored(t, dir)) > 0; {
		if time.Now().After(deadline) {
			t.Fatal("an upload stays")
		}
	}
}

// An upload that is refused, fails or is no wallet leaves nothing.
func TestUploadRefused(t *testing.T) {
	n, b, dir := uploading(t, rpc.Config{})
	for what, test := range map[string]struct {
		body    string
		headers []string
		status  int
	}{
		"too large":           {strings.Repeat("x", 1001), nil, http.StatusRequestEntityTooLarge},
		"no wallet":           {"bad", nil, http.StatusOK},
		"without a token":     {"x", []string{tokenHeader, ""}, http.StatusForbidden},
		"of another site":     {"x", []string{"Origin", "http://evil.example"}, http.StatusForbidden},
		"with a wrong cookie": {"x", []string{"Cookie", "a=b", "Authorization", "Basic eDp4"}, http.StatusUnauthorized},
	} {
		got := b.ask(t, http.MethodPost, "/ui/upload", test.body, test.headers...)
		if got.status != test.status || len(stored(t, dir)) != 0 || got.header.Get(uploadHeader) != "" {
			t.Errorf("%s: %v, left %v", what, got, stored(t, dir))
		}
	}
	unknown := struct{ io.Reader }{strings.NewReader(strings.Repeat("x", 5000))}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+n.addr+"/ui/upload", unknown)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("u", "p")
	resp, err := b.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge || len(stored(t, dir)) != 0 {
		t.Error("in chunks:", resp.Status, stored(t, dir))
	}
}

// A form that cannot be read does nothing: the upload stays, and so does the session.
func TestFormsThatCannotBeRead(t *testing.T) {
	_, b, dir := uploading(t, rpc.Config{})
	form := "name=w&upload=" + b.ask(t, http.MethodPost, "/ui/upload", "content").header.Get(uploadHeader)
	for _, path := range []string{"/ui/upload/drop", "/ui/upload/restore", "/ui/logout"} {
		for more, status := range map[string]int{
			"&more=" + strings.Repeat("x", maxForm): http.StatusRequestEntityTooLarge, "&more=%": http.StatusBadRequest,
		} {
			if got := b.ask(t, http.MethodPost, path, form+more); got.status != status || len(stored(t, dir)) != 1 {
				t.Errorf("%s: %v, %d stored", path, got.status, len(stored(t, dir)))
			}
		}
	}
	if got := b.ask(t, http.MethodPost, "/ui/upload/restore", form); got.status != http.StatusOK {
		t.Error(got)
	}
}

// Uploads need the rights to restore and to preview.
func TestUploadRights(t *testing.T) {
	_, b, dir := uploading(t, rpc.Config{User: "u", Password: "p", Whitelist: []string{"u:one,restorewallet"}})
	for _, path := range []string{"/ui/upload", "/ui/upload/restore", "/ui/upload/drop"} {
		got := b.ask(t, http.MethodPost, path, "name=x")
		if got.status != http.StatusForbidden || len(stored(t, dir)) != 0 {
			t.Error(path, got)
		}
	}
}

// A full disk is told, and a client that leaves in the middle leaves nothing. One upload of a login comes in
// at a time.
func TestUploadFails(t *testing.T) {
	n, b, dir := uploading(t, rpc.Config{})
	disk := faultfs.New()
	n.page.uploads.fs = disk
	for kind, status := range map[faultfs.Kind]int{
		faultfs.Mkdir: http.StatusInsufficientStorage, faultfs.Create: http.StatusInsufficientStorage,
		faultfs.Write: http.StatusInsufficientStorage,
	} {
		disk.Inject(func(op faultfs.Op) error {
			if op.Kind == kind {
				return syscall.ENOSPC
			}
			return nil
		})
		if got := b.ask(t, http.MethodPost, "/ui/upload", "content"); got.status != status || len(stored(t, dir)) != 0 {
			t.Error(kind, got, stored(t, dir))
		}
	}
	disk.Inject(nil)
	c, err := net.Dial("tcp", n.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "POST /ui/upload HTTP/1.1\r\nHost: "+n.addr+
		"\r\nAuthorization: Basic dTpw\r\nContent-Length: 900\r\n\r\nhalf"); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); len(stored(t, dir)) == 0 && time.Now().Before(deadline); {
	}
	if got := b.ask(t, http.MethodPost, "/ui/upload", "content"); got.status != http.StatusConflict {
		t.Error("a second one:", got)
	}
	for _, path := range []string{"/ui/upload/restore", "/ui/upload/drop"} {
		if got := b.ask(t, http.MethodPost, path, "name=w"); got.status != http.StatusConflict {
			t.Error("while it comes in:", path, got)
		}
	}
	c.Close()
	awaitNone(t, dir)
}

// Without a directory there are no uploads, and with one they lie below it.
func TestUploadDir(t *testing.T) {
	for dir, want := range map[string]string{"": "", "net": filepath.Join("net", uploadDir)} {
		page, err := New(Config{Dir: dir})
		if err != nil || page.uploads.dir != want {
			t.Errorf("%q: %q, %v", dir, page.uploads.dir, err)
		}
	}
	b := start(t, rpc.Config{}).browser(t)
	b.login(t, "u", "p")
	if got := b.ask(t, http.MethodPost, "/ui/upload", "x"); got.status != http.StatusServiceUnavailable {
		t.Error(got)
	}
}

// The uploads that a killed node has left are gone after the next start, and nothing beside them.
func TestUploadLeftover(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{uploadDir + "/x.dat", "wallets/w/wallet.dat"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := RemoveUploads(dir); err != nil {
		t.Fatal(err)
	}
	if err := RemoveUploads(dir); err != nil {
		t.Error("nothing is left, and that is no error:", err)
	}
	if _, err := os.Stat(filepath.Join(dir, uploadDir)); !errors.Is(err, os.ErrNotExist) {
		t.Error("left:", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "wallets/w/wallet.dat")); err != nil {
		t.Error(err)
	}
	if err := RemoveUploads(filepath.Join(dir, "wallets/w/wallet.dat")); err == nil {
		t.Error("what cannot be looked for is said to be gone")
	}
}
