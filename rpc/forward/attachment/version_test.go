package attachment_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc/forward/attachment"
)

// The version of Core is asked for, and remembered for a start at which Core does not answer.
func TestCoreVersion(t *testing.T) {
	reply := `{"result":{"version":319900,"subversion":"/Satoshi:31.99.0/"},"error":null,"id":0}`
	core := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(reply))
	}))
	login := filepath.Join(t.TempDir(), "login")
	if err := os.WriteFile(login, []byte("a:b"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := attachment.New(attachment.Config{Core: core.URL, Chain: "regtest", LoginFile: login})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	version := func(dir string) int { return a.CoreVersion(t.Context(), dir) }
	if got := version(dir); got != 319900 {
		t.Errorf("%d", got)
	}
	if got := version(filepath.Join(dir, "nowhere")); got != 319900 {
		t.Errorf("without a folder: %d", got)
	}
	reply = `{"result":null,"error":{"code":-28,"message":"Loading"},"id":0}`
	if got := version(dir); got != 319900 {
		t.Errorf("while Core starts: %d", got)
	}
	core.Close()
	if got := version(dir); got != 319900 {
		t.Errorf("while Core is away: %d", got)
	}
	if got := version(t.TempDir()); got != 0 {
		t.Errorf("when nothing is known: %d", got)
	}
	attachment.NoteVersion(dir, 300200)
	if got := version(dir); got != 300200 {
		t.Errorf("when it was noted later: %d", got)
	}
	for _, text := range []string{"", "x", "-5", strings.Repeat("1", 100), "3 2"} {
		if err := os.WriteFile(filepath.Join(dir, "core-version"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := version(dir); got != 0 {
			t.Errorf("%q: %d", text, got)
		}
	}
}
