package replay

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A watched test notes failures, and ends when it is told to.
type watched struct {
	testing.TB

	errors []string
	skips  bool
	ends   []func()
}

func (w *watched) Errorf(format string, args ...any) {
	w.errors = append(w.errors, fmt.Sprintf(format, args...))
}
func (w *watched) Failed() bool       { return len(w.errors) > 0 }
func (w *watched) Skip(...any)        { w.skips = true; panic(w) }
func (w *watched) Skipped() bool      { return w.skips }
func (w *watched) Cleanup(end func()) { w.ends = append(w.ends, end) }

func (w *watched) end() {
	for i := range w.ends {
		w.ends[len(w.ends)-1-i]()
	}
}

// module makes a module whose method has some parameters, and changes into a
// folder of the module.
func module(t *testing.T, params string) {
	t.Helper()
	root := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n", "docs/openrpc.json": "", "inner/x": ""} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(root, "inner"))
	describeAs(t, params)
}

func describeAs(t *testing.T, params string) {
	t.Helper()
	text := `{"methods":[{"name":"m","description":"any","params":` + params + `}]}`
	if err := os.WriteFile("../docs/openrpc.json", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func post(t *testing.T, tape *Tape, login, body string) string {
	t.Helper()
	server := httptest.NewServer(tape)
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/w", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", login)
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return "no answer"
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(reply.StatusCode, " ", string(text))
}

const (
	oneParam = `[{"name":"a","description":"first","schema":{"type":"string"}}]`
	long     = 2 * shownBody
)

// requests of the session that is recorded, by login.
var requests = []struct{ login, body string }{
	{"x", `{"method":"m","params":[1]}`},
	{"y", `{"method":"m","params":[1]}`},
	{"x", `{"method":"m","params":[1]}`},
	{"x", `[{"method":"m"},{"method":"other"}]`},
	{"x", `{"method":"m","params":["` + strings.Repeat("0", long) + `"]}`},
	{"x", "\xff"},
}

// record records a session with a Core that counts, and tells its data directory.
func record(t *testing.T) (answers []string) {
	t.Helper()
	t.Setenv(coreVariable, "bitcoind")
	t.Setenv(recordVariable, "1")
	n := 0
	core := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		w.WriteHeader(210 + n)
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%d /live/dir %s %s%s", n, r.URL.Path, r.Header.Get("Authorization"), body[:1])
	}))
	defer core.Close()
	w := &watched{TB: t}
	tape := Open(w)
	tape.Dir = "/live/dir"
	if got := post(t, tape, "x", "before it listens"); got != "no answer" {
		t.Errorf("nobody listens: %s", got)
	}
	tape.Connect(core.URL)
	for _, r := range requests {
		answers = append(answers, post(t, tape, r.login, r.body))
	}
	if w.end(); w.Failed() {
		t.Fatal(w.errors)
	}
	return answers
}

// play opens the recording, and returns what it has answered and what has failed.
func play(t *testing.T, polled bool, times int) (answers, errors []string) {
	t.Helper()
	t.Setenv(coreVariable, "")
	w := &watched{TB: t}
	tape := Open(w)
	tape.Dir, tape.Polled = "/live/dir", polled
	for _, r := range requests[:times] {
		answers = append(answers, post(t, tape, r.login, r.body))
	}
	w.end()
	return answers, w.errors
}

// Answers come as they were recorded; answers that were changed come as they are.
func TestPlay(t *testing.T) {
	module(t, oneParam)
	want := record(t)
	got, errs := play(t, false, len(requests))
	if fmt.Sprint(got) != fmt.Sprint(want) || len(errs) > 0 {
		t.Errorf("got %q, %v, want %q", got, errs, want)
	}
	tape := &Tape{path: filepath.Join(folder, "TestPlay.json.gz")}
	if err := tape.load(tape.path); err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", tape.contents); strings.Contains(text, "/live/dir") {
		t.Errorf("the recording says %s", text)
	}
}

// A test fails that asks for something else, or for less, than what was recorded.
func TestOtherRequests(t *testing.T) {
	module(t, oneParam)
	record(t)
	if _, errs := play(t, false, 2); len(errs) != 1 || !strings.Contains(errs[0], "are not made any more") {
		t.Errorf("fewer requests: %v", errs)
	}
	if _, errs := play(t, true, 2); len(errs) != 0 {
		t.Errorf("fewer requests of a test that polls: %v", errs)
	}
	requests = append(requests, requests[0])
	defer func() { requests = requests[:len(requests)-1] }()
	got, errs := play(t, false, len(requests))
	if len(errs) != 1 || !strings.Contains(errs[0], "1 requests are not in") {
		t.Errorf("more requests: %v", errs)
	}
	if last := got[len(got)-1]; last != "501 this request was not recorded" {
		t.Errorf("more requests: %s", last)
	}
	if got, errs := play(t, true, len(requests)); len(errs) != 0 || got[len(got)-1] != got[2] {
		t.Errorf("more requests of a test that polls: %v, %v", got, errs)
	}
}

// A recording is too old when parameters have changed, not when words have; the test says how it is made anew.
func TestTooOld(t *testing.T) {
	module(t, oneParam)
	record(t)
	describeAs(t, strings.Replace(oneParam, "first", "another word", 1))
	if _, errs := play(t, false, len(requests)); len(errs) > 0 {
		t.Errorf("other words: %v", errs)
	}
	for _, params := range []string{
		strings.Replace(oneParam, "string", "number", 1), strings.Replace(oneParam, `"a"`, `"b"`, 1), "[]",
	} {
		describeAs(t, params)
		_, errs := play(t, false, len(requests))
		const want = "older than the parameters of m\n" +
			"make it anew: BITCOIND=/path/to/bitcoind TRAWL_RECORD_CORE=1 go test -count=1 -run '^TestTooOld$'"
		if len(errs) != 1 || !strings.Contains(errs[0], want) {
			t.Errorf("%s: %v", params, errs)
		}
	}
}

// No recording is kept of a failed test; a test without a recording is
// skipped.
func TestNothingRecorded(t *testing.T) {
	module(t, oneParam)
	t.Setenv(coreVariable, "bitcoind")
	t.Setenv(recordVariable, "1")
	w := &watched{TB: t}
	Open(w)
	w.Errorf("failed")
	w.end()
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("a recording of a test that failed: %v", err)
	}
	t.Setenv(recordVariable, "")
	if Open(t) != nil {
		t.Error("a tape beside a live Core")
	}
	t.Setenv(coreVariable, "")
	w = &watched{TB: t}
	func() {
		defer func() { _ = recover() }()
		Open(w)
	}()
	if !w.skips {
		t.Error("without a recording: not skipped")
	}
}
