package web

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/command"
)

// startExporter starts a node with two searches of two pages, of which that of "cut" cannot be read to its end.
func startExporter(t *testing.T, c rpc.Config) *node {
	t.Helper()
	table, err := command.NewTable([]command.Command{{
		Name: "getsearchentries", Params: []command.Param{
			{Name: "id", Type: command.String}, {Name: "cursor", Type: command.String},
			{Name: "limit", Type: command.Number},
		},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			id, _ := a.String(0)
			cursor, _ := a.String(1)
			switch {
			case id != "0f" && id != "cut" || id == "cut" && cursor != "":
				return nil, command.Errorf(command.InvalidParameter, "no such search")
			case cursor == "":
				entry := map[string]any{"type": "block", "height": 7, "blockhash": strings.Repeat("aa", 4000)}
				return map[string]any{"entries": []any{entry}, "cursor": "c", "more": true}, nil
			}
			return map[string]any{"entries": []any{}, "cursor": "c", "more": false}, nil
		},
	}})
	if err != nil {
		t.Fatal(err)
	}
	n := unready(t, c)
	n.Ready(table)
	return n
}

// An export is a file with a name and a type. If it cannot begin that is told in words, and if it cannot end the
// connection is cut, so that nobody takes what came for the whole. Each makes room for the next.
func TestServeExport(t *testing.T) {
	n := startExporter(t, rpc.Config{})
	b := n.browser(t)
	b.login(t, "u", "p")
	for format, kind := range map[string]string{"csv": "text/csv; charset=utf-8", "json": jsonKind} {
		for range maxLoginExports + 1 {
			got := b.ask(t, http.MethodGet, "/ui/export?id=0f&format="+format, "")
			name := `attachment; filename="search-0f.` + format + `"`
			if got.status != http.StatusOK || !got.has(strings.Repeat("aa", 4000)) ||
				got.header.Get("Content-Type") != kind ||
				got.header.Get("Content-Disposition") != name {
				t.Errorf("%s: %d, %v", format, got.status, got.header)
			}
			got = b.ask(t, http.MethodGet, "/ui/export?id=none&format="+format, "")
			if got.status != http.StatusBadRequest || got.text != "no such search" ||
				got.header.Get("Content-Disposition") != "" {
				t.Errorf("%s, no search: %v", format, got)
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
				"http://"+n.addr+"/ui/export?id=cut&format="+format, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.SetBasicAuth("u", "p")
			resp, err := b.Do(r)
			if err == nil {
				_, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
				t.Errorf("%s, a half: %v", format, err)
			}
		}
	}
	for range maxLoginExports {
		n.page.view.exports.enter("u")
	}
	got := b.ask(t, http.MethodGet, "/ui/export?id=0f&format=csv", "")
	if got.status != http.StatusServiceUnavailable ||
		!got.has("Too many exports") {
		t.Error("too many:", got)
	}
}

// A login without the right exports nothing, and sees pages and parts that need another right as refused.
func TestRightsOfPages(t *testing.T) {
	b := start(t, rpc.Config{User: "u", Password: "p", Whitelist: []string{"u:one"}}).browser(t)
	b.login(t, "u", "p")
	for path, says := range map[string]string{
		"/ui/export?id=0f&format=csv":     "This login may not call getsearchentries",
		"/ui/export?id=0f&format=history": "This login may not call exportsearch",
		"/ui/part/search?id=0f":           "This login may not call getsearch", "/ui/search/0f": "getsearch",
	} {
		if got := b.ask(t, http.MethodGet, path, ""); got.status != http.StatusForbidden || !got.has(says) {
			t.Errorf("%s: %v", path, got)
		}
	}
	for _, path := range []string{"/", "/ui/part/index"} {
		if got := b.ask(t, http.MethodGet, path, ""); got.status != http.StatusOK {
			t.Errorf("%s: %v", path, got)
		}
	}
}

// While the node starts, pages and parts say what it does; nothing of it is called.
func TestPagesOfAStartingNode(t *testing.T) {
	n := unready(t, rpc.Config{})
	n.SetWarmup("Reading <the> chain")
	b := n.browser(t)
	b.login(t, "u", "p")
	for _, path := range []string{"/", "/ui/part/index", "/ui/search/0f", "/ui/part/search?id=0f"} {
		if got := b.ask(t, http.MethodGet, path, ""); got.status != http.StatusOK ||
			!got.has("Reading &lt;the&gt; chain") {
			t.Errorf("%s: %v", path, got)
		}
	}
	if got := b.ask(t, http.MethodGet, "/ui/session", ""); !got.has(`"starting":"Reading \u003cthe\u003e chain"`) ||
		!got.has(`"methods":[]`) {
		t.Error(got.text)
	}
}
