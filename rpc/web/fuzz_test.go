package web

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/command"
)

// A fuzzed node has the methods that forms and uploads lead to, and notes the parameters of the last call
// of each.
type fuzzed struct {
	*rpc.Server
	page  *Handler
	calls map[string][]string
}

func newFuzzed(f *testing.F) *fuzzed {
	f.Helper()
	page, err := New(Config{})
	if err != nil {
		f.Fatal(err)
	}
	n := &fuzzed{page: page, calls: map[string][]string{}}
	if n.Server, err = rpc.NewServer(rpc.Config{User: "u", Password: "p", Page: page}); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = n.Shutdown(context.Background()) })
	var all []command.Command
	for method, result := range map[string]any{
		"createsearch": true, "previewrestore": map[string]any{"intact": true}, "restorewallet": true,
		"getdescriptorinfo": map[string]any{"descriptor": "d", "checksum": "abcdefgh", "isrange": false},
	} {
		all = append(all, command.Command{
			Name: method,
			Params: []command.Param{
				{Name: "a", Type: command.String, Optional: true},
				{Name: "b", Type: command.String, Optional: true},
				{Name: "c", Type: command.Bool, Optional: true},
			},
			Run: func(_ context.Context, a *command.Args) (any, error) {
				n.calls[method] = nil
				for i := range 2 {
					if text, err := a.String(i); err == nil && a.Has(i) {
						n.calls[method] = append(n.calls[method], text)
					}
				}
				return result, nil
			},
		})
	}
	table, err := command.NewTable(all)
	if err != nil {
		f.Fatal(err)
	}
	n.Ready(table)
	return n
}

// post makes a request with a login of its own. The status is 0 where the connection is cut.
func (n *fuzzed) post(t *testing.T, target string, body io.Reader, length int64) (status int, text string) {
	t.Helper()
	r := &http.Request{
		Method: http.MethodPost, RequestURI: target, Host: "127.0.0.1", RemoteAddr: "127.0.0.1:9",
		Body: io.NopCloser(body), ContentLength: length, Header: http.Header{"Authorization": {"Basic dTpw"}},
	}
	w := httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil {
			if err, ok := p.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(p)
			}
			status = 0
		}
	}()
	n.ServeHTTP(w, r.WithContext(t.Context()))
	return w.Code, w.Body.String()
}

// markup are the elements that parts of pages are made of.
var (
	markup = regexp.MustCompile(`</?[a-zA-Z!?][^\s>]*`)
	parted = []string{
		"b", "br", "button", "code", "dd", "div", "dl", "dt", "h2", "input", "label", "li", "p", "section", "span",
		"table", "tbody", "td", "th", "thead", "time", "tr", "ul",
	}
)

// FuzzForms: any form is taken or refused with the right status, and its contents come back as text. A form
// that is too long reaches no method.
func FuzzForms(f *testing.F) {
	n := newFuzzed(f)
	for i, seed := range []string{
		"objects=addr(x)%0a<img src=x>", "objects=%zz", "objects=a;b", "file=%2fb&name=<script>",
		`reply={"intact":true,"descriptors":[{"desc":"<svg onload=x>"}],"restore":{"name":"<i>","possible":true}}`,
		`reply=null&file=<u>`, "reply={", `reply={"size":-1,"birthtime":-9223372036854775808,"restore":{"estimated_seconds":1e400}}`,
		"name=w&load=true", "name=%00&load=x", "&&=&", "token=x", "", "name=\xff",
	} {
		for path := range 4 {
			f.Add(byte(path+i), []byte(seed))
		}
	}
	f.Add(byte(0), bytes.Repeat([]byte("x"), maxObjects+1))
	f.Fuzz(func(t *testing.T, path byte, body []byte) {
		clear(n.calls)
		target := []string{"/ui/check", "/ui/preview", "/ui/upload/restore", "/ui/logout"}[path%4]
		limit := maxForm
		if path%4 < 2 {
			limit = maxObjects
		}
		form, err := url.ParseQuery(string(body))
		want := http.StatusOK
		switch {
		case len(body) > limit:
			want = http.StatusRequestEntityTooLarge
		case err != nil, path%4 == 2 && !form.Has("name"):
			want = http.StatusBadRequest
		case path%4 == 2:
			want = http.StatusNotFound // nothing was uploaded
		case path%4 == 3:
			want = http.StatusSeeOther
		}
		status, text := n.post(t, target, bytes.NewReader(body), int64(len(body)))
		if status != want || want != http.StatusOK && len(n.calls) > 0 {
			t.Fatalf("%s is answered with %d, want %d, after calls %q", target, status, want, n.calls)
		}
		if want != http.StatusOK {
			return
		}
		for _, tag := range markup.FindAllString(text, -1) {
			if !slices.Contains(parted, strings.Trim(tag, "</")) {
				t.Errorf("%s shows %s:\n%s", target, tag, text)
			}
		}
	})
}

// FuzzUpload: a whole upload within the bound is stored unchanged, in a file for the owner alone. Its preview
// is asked for by the name of the query. All other uploads leave nothing and reach no method.
func FuzzUpload(f *testing.F) {
	n := newFuzzed(f)
	dir := filepath.Join(f.TempDir(), uploadDir)
	n.page.uploads.dir, n.page.uploads.max = dir, 100
	f.Add("name=w", []byte("content"), byte(200), true)
	f.Add("name=..%2f..%2fetc", []byte(""), byte(0), true)
	f.Add("%zz", bytes.Repeat([]byte("x"), 101), byte(200), false)
	f.Add("name=%00&name=b", bytes.Repeat([]byte("x"), 100), byte(99), false)
	f.Fuzz(func(t *testing.T, query string, content []byte, cut byte, told bool) {
		clear(n.calls)
		whole := int(cut) >= len(content)
		var body io.Reader = bytes.NewReader(content)
		length := int64(-1)
		if told {
			length = int64(len(content))
		}
		if !whole {
			body = io.MultiReader(bytes.NewReader(content[:cut]), iotest.ErrReader(io.ErrUnexpectedEOF))
		}
		status, text := n.post(t, "/ui/upload?"+query, iotest.HalfReader(body), length)
		kept, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil {
			t.Fatal(err)
		}
		if status != http.StatusOK {
			if len(kept) > 0 || len(n.calls) > 0 || whole && len(content) <= 100 {
				t.Fatalf("%d: left %q, after calls %q: %s", status, kept, n.calls, text)
			}
			return
		}
		if !whole || len(content) > 100 || len(kept) != 1 {
			t.Fatalf("%d of %d bytes, kept as %q", cut, len(content), kept)
		}
		stored, err := os.ReadFile(kept[0])
		if err != nil || !bytes.Equal(stored, content) {
			t.Errorf("%q is kept as %q, %v", content, stored, err)
		}
		if info, err := os.Stat(kept[0]); err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		want := kept
		if values, err := url.ParseQuery(query); err == nil && values.Get("name") != "" {
			want = append(want, string([]rune(values.Get("name"))))
		}
		if got := n.calls["previewrestore"]; !slices.Equal(got, want) {
			t.Errorf("asked for %q, want %q", got, want)
		}
		form := "upload=" + strings.TrimSuffix(filepath.Base(kept[0]), ".dat")
		status, text = n.post(t, "/ui/upload/drop", strings.NewReader(form), int64(len(form)))
		if status != http.StatusNoContent {
			t.Errorf("%d %s", status, text)
		}
	})
}
