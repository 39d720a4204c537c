package replay

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"
)

// A recording keeps what a Bitcoin Core has answered over HTTP, and answers in its place where there is none.
//
// A test that asks a Core is written once. It asks at the address of a [Tape]:
//
//   - With BITCOIND and TRAWL_RECORD_CORE=1 the tape passes all on to a live Core. It is written when the test has
//     passed.
//   - Without BITCOIND the tape answers as it was recorded. It fails the test if a request was not recorded, or a
//     recorded request was not made.
//   - With BITCOIND alone there is no tape, and the test asks the live Core itself.
//
// A recording names the parameters of each method that it holds calls of, as docs/openrpc.json has them. It is too old
// when they have changed, and the test says how it is made anew.

// Names of variables of the environment.
const (
	coreVariable   = "BITCOIND"
	recordVariable = "TRAWL_RECORD_CORE"
)

// folder is where a package keeps its recordings.
const folder = "testdata/core-30.2"

// dirMark stands for Core's data directory, as in the recordings of package replay.
const dirMark = "{{DIR}}"

// shownBody bounds the bytes of a request that are kept as they are; of others there is a hash.
const shownBody = 400

// An exchange is a request, and what Core has answered.
type exchange struct {
	Request string `json:"request"`
	Status  int    `json:"status"`
	Body    []byte `json:"-"`
	Text    string `json:"body,omitempty"`
	Bytes   []byte `json:"bytes,omitempty"` // of a body that is no text
}

// contents are those of a file.
type contents struct {
	Methods   map[string]string `json:"methods"` // hashes of their parameters
	Exchanges []exchange        `json:"exchanges"`
}

// A Tape is the HTTP side of a Core, live or recorded.
type Tape struct {
	// Logins names the login of a request by its header Authorization. This keeps passwords out of the recording, and
	// cookies, which differ each time. Nil: all are the same.
	Logins func(authorization string) string

	// Polled: requests are made again until something happens, so that the last answer stands for all later ones, and
	// not all answers need to be asked for.
	Polled bool

	// Dir is Core's data directory, which differs each time. It is a placeholder in recorded answers.
	Dir string

	mu       sync.Mutex
	path     string
	warming  map[string]bool // requests that Core has refused since it starts
	live     string          // where the Core is: http://host:port
	contents contents
	next     map[string][]int // by request: recorded exchanges that are left
	missed   []string
}

// Recording reports whether tapes are written by this run.
func Recording() bool { return os.Getenv(coreVariable) != "" && os.Getenv(recordVariable) != "" }

// Live reports whether tests ask a live Core themselves.
func Live() bool { return os.Getenv(coreVariable) != "" && !Recording() }

// Open returns the tape of a test: nil where the test asks a live Core itself. The test is skipped where there is
// neither a Core nor a recording.
func Open(tb testing.TB) *Tape {
	tb.Helper()
	if Live() {
		return nil
	}
	t := &Tape{path: filepath.Join(folder, strings.NewReplacer("/", "-", " ", "_").Replace(tb.Name())+".json.gz")}
	if Recording() {
		t.contents.Methods = map[string]string{}
		tb.Cleanup(func() { t.save(tb) })
		return t
	}
	switch err := t.load(t.path); {
	case errors.Is(err, os.ErrNotExist):
		tb.Skip(coreVariable + " names no bitcoind, and nothing is recorded")
	case err != nil:
		tb.Fatal(err)
	}
	described, err := describe()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { t.report(tb) })
	if old := described.changed(t.contents.Methods); len(old) > 0 {
		tb.Errorf("%s is older than the parameters of %s%s", t.path, strings.Join(old, ", "), again(tb))
	}
	return t
}

// again tells how a recording is made anew.
func again(tb testing.TB) string {
	tb.Helper()
	name, _, _ := strings.Cut(tb.Name(), "/")
	dir, _ := os.Getwd() // empty: the reader knows the package
	return fmt.Sprintf("\nmake it anew: %s=/path/to/bitcoind %s=1 go test -count=1 -run '^%s$' %s",
		coreVariable, recordVariable, name, dir)
}

// Connect tells a tape that is written where the Core is: host:port.
func (t *Tape) Connect(address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.warming = map[string]bool{}
	t.live = "http://" + strings.TrimPrefix(address, "http://")
}

// Listen serves the tape until the test ends, and returns where: host:port.
func (t *Tape) Listen(tb testing.TB) string {
	tb.Helper()
	server := httptest.NewServer(t)
	tb.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

// ServeHTTP answers a request as Core does, or did.
func (t *Tape) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var e exchange
	if Recording() {
		if e, err = t.ask(r, body); err != nil {
			panic(http.ErrAbortHandler) // as where nobody listens
		}
	} else {
		e = t.play(t.request(r, body))
	}
	w.WriteHeader(e.Status)
	_, _ = w.Write(t.replaced(e.Body, dirMark, t.Dir))
}

// request returns what tells a request from others.
func (t *Tape) request(r *http.Request, body []byte) string {
	text := string(body)
	if len(text) > shownBody || !utf8.ValidString(text) {
		sum := sha256.Sum256(body)
		text = strings.ToValidUTF8(text[:min(len(text), shownBody/4)], "?") + "… " + hex.EncodeToString(sum[:8])
	}
	login := ""
	if t.Logins != nil {
		login = t.Logins(r.Header.Get("Authorization")) + " "
	}
	return login + r.Method + " " + r.URL.RequestURI() + " " + text
}

// ask passes a request on, and keeps the answer.
func (t *Tape) ask(r *http.Request, body []byte) (exchange, error) {
	t.mu.Lock()
	live := t.live
	t.mu.Unlock()
	request, err := http.NewRequestWithContext(r.Context(), r.Method, live+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return exchange{}, err
	}
	request.Header = r.Header.Clone()
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return exchange{}, err
	}
	defer reply.Body.Close()
	e := exchange{Request: t.request(r, body), Status: reply.StatusCode}
	if e.Body, err = io.ReadAll(reply.Body); err != nil {
		return exchange{}, err
	}
	e.Body = t.replaced(e.Body, t.Dir, dirMark)
	t.mu.Lock()
	defer t.mu.Unlock()
	if again := bytes.Contains(e.Body, []byte(`"code":-28,`)); again && t.Polled {
		if t.warming[e.Request] {
			return e, nil // one of them is enough
		}
		t.warming[e.Request] = true
	}
	t.contents.Exchanges = append(t.contents.Exchanges, e)
	for _, method := range methodsOf(body) {
		t.contents.Methods[method] = ""
	}
	return e, nil
}

// replaced returns a text with another name of Core's data directory.
func (t *Tape) replaced(text []byte, from, to string) []byte {
	if t.Dir == "" {
		return text
	}
	return bytes.ReplaceAll(text, []byte(from), []byte(to))
}

// methodsOf returns those that a request calls, of a batch too.
func methodsOf(body []byte) (names []string) {
	type call struct{ Method string }
	var calls []call
	if json.Unmarshal(body, &calls) != nil {
		calls = make([]call, 1)
		_ = json.Unmarshal(body, &calls[0]) // none, where the body is something else
	}
	for _, c := range calls {
		if c.Method != "" {
			names = append(names, c.Method)
		}
	}
	return names
}

// play returns the recorded answer to a request.
func (t *Tape) play(request string) exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	left := t.next[request]
	if len(left) == 0 {
		t.missed = append(t.missed, request)
		return exchange{Status: http.StatusNotImplemented, Body: []byte("this request was not recorded")}
	}
	if len(left) > 1 || !t.Polled {
		t.next[request] = left[1:]
	}
	return t.contents.Exchanges[left[0]]
}

// load reads a recording.
func (t *Tape) load(path string) error {
	packed, err := os.Open(path)
	if err != nil {
		return err
	}
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	if err == nil {
		err = json.NewDecoder(plain).Decode(&t.contents)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	t.next = map[string][]int{}
	for i := range t.contents.Exchanges {
		e := &t.contents.Exchanges[i]
		if e.Body = e.Bytes; e.Body == nil {
			e.Body = []byte(e.Text)
		}
		t.next[e.Request] = append(t.next[e.Request], i)
	}
	return nil
}
