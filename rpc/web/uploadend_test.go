package web

import (
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/internal/corenode/rpcauth"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/rpc"
)

// A backup that nobody restores is gone after an hour, with its session and with the node; a backup
// that is being restored stays until the restore has ended.
func TestUploadsEnd(t *testing.T) {
	for what, end := range map[string]func(u *uploads, endSession func()){
		"after an hour":    func(*uploads, func()) { time.Sleep(idleTime + time.Second) },
		"with its session": func(_ *uploads, endSession func()) { endSession() },
		"with the node":    func(u *uploads, _ func()) { u.close() },
	} {
		for _, taken := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				u := &uploads{fs: vfs.OS, dir: filepath.Join(t.TempDir(), uploadDir)}
				session, endSession := context.WithCancel(t.Context())
				f, err := u.begin("u")
				if err != nil {
					t.Fatal(err)
				}
				if err := f.receive(bytes.NewReader([]byte("keys"))); err != nil {
					t.Fatal(err)
				}
				f.keep(session)
				time.Sleep(idleTime - time.Second)
				synctest.Wait()
				if len(stored(t, u.dir)) != 1 {
					t.Errorf("%s: gone before that", what)
				}
				if taken {
					if got, err := u.take("u", f.id); got != f || err != nil {
						t.Error(got, err)
					}
				}
				end(u, endSession)
				synctest.Wait()
				if left := len(stored(t, u.dir)); left == 1 != taken {
					t.Errorf("%s, taken %v: %d left", what, taken, left)
				}
				f.remove()
				if len(stored(t, u.dir)) != 0 {
					t.Errorf("%s, taken %v: left in the end", what, taken)
				}
				endSession()
			})
		}
	}
}

// A backup that was still coming in when the node stopped does not stay.
func TestUploadBesideTheEnd(t *testing.T) {
	u := &uploads{fs: vfs.OS, dir: filepath.Join(t.TempDir(), uploadDir)}
	f, err := u.begin("u")
	if err != nil {
		t.Fatal(err)
	}
	u.close()
	if err := f.receive(bytes.NewReader([]byte("keys"))); err != nil {
		t.Fatal(err)
	}
	f.keep(t.Context())
	if left := len(stored(t, u.dir)); left != 0 {
		t.Errorf("%d left", left)
	}
}

// Each login has an upload of its own, and restores no other's.
func TestUploadsOfLogins(t *testing.T) {
	auth := func(user string) string { return user + ":s$" + rpcauth.Hash("s", "p") }
	_, b, dir := uploading(t, rpc.Config{Auth: []string{auth("u"), auth("v")}})
	other := b.node.browser(t)
	other.login(t, "v", "p")
	form := "name=w&upload=" + b.ask(t, http.MethodPost, "/ui/upload", "first").header.Get(uploadHeader)
	if got := other.ask(t, http.MethodPost, "/ui/upload/restore", form); got.status != http.StatusNotFound {
		t.Error("another login's:", got)
	}
	id := other.ask(t, http.MethodPost, "/ui/upload", "second").header.Get(uploadHeader)
	if len(stored(t, dir)) != 2 {
		t.Error(stored(t, dir))
	}
	other.ask(t, http.MethodPost, "/ui/upload/drop", "upload="+id)
	got := b.ask(t, http.MethodPost, "/ui/upload/restore", form)
	if want := `{"jsonrpc":"2.0","result":"w first","id":1}` + "\n"; got.text != want || len(stored(t, dir)) != 0 {
		t.Error(got, stored(t, dir))
	}
}

// Sessions and tokens are known by 256 bits, each by its own.
func TestSecretLength(t *testing.T) {
	a, err := base64.RawURLEncoding.DecodeString(secret())
	if err != nil || len(a) != 256/8 {
		t.Error(a, err)
	}
	if b, _ := base64.RawURLEncoding.DecodeString(secret()); bytes.Equal(a, b) {
		t.Error("the same twice")
	}
}
