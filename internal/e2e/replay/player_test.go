package replay

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e/jsonrpc"
)

// newPlayer plays on a server that answers with what answer returns.
func newPlayer(t *testing.T, answer func(path, body string) (status int, reply string)) *Player {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		status, reply := answer(r.RequestURI, string(body))
		w.WriteHeader(status)
		io.WriteString(w, reply)
	}))
	t.Cleanup(s.Close)
	client := jsonrpc.New(strings.TrimPrefix(s.URL, "http://"), "user:password")
	t.Cleanup(client.Close)
	return &Player{Client: client, Backups: `a"b`, Scratch: "/scratch", Folder: t.TempDir()}
}

func TestCall(t *testing.T) {
	tests := []struct {
		name      string
		recorded  string // the case
		status    int
		reply     string
		path      string
		body      string
		wantDiffs []DiffKind
	}{
		{"same", `{"request":"1","http_status":200,"response":"{}"}`, 200, "{}\n", "/", "1", nil},
		{"another status", `{"request":"1","http_status":200,"response":"{}"}`, 500, "{}", "/", "1", []DiffKind{Status}},
		{"any status", `{"request":"1","http_status":200,"response":"{}","compare":{"status":false}}`, 500, "{}", "/", "1", nil},
		{"empty body", `{"request":"1","http_status":204}`, 204, "", "/", "1", nil},
		{"wallet", `{"request":"1","wallet":"a b/c","http_status":200,"response":"1"}`, 200, "1", "/wallet/a%20b%2Fc", "1", nil},
		{"wallet without a name", `{"request":"1","wallet":"","http_status":200,"response":"1"}`, 200, "1", "/wallet/", "1", nil},
		{
			"folders", `{"request":"{{BACKUPS}} {{SCRATCH}}","http_status":200,"response":"\"{{BACKUPS}}\""}`, 200, `"a\"b"`,
			"/", `a\"b /scratch`, nil,
		},
		{"repetition", `{"request":"[{{repeat:3:ab}}]","http_status":200,"response":"\"{{repeat:2:x}}\""}`, 200, `"xx"`, "/", "[ababab]", nil},
		{
			"second of two answers", `{"request":"1","http_status":200,"response":"1","compare":{"any_of_responses":["2","3"]}}`,
			200, "3", "/", "1", nil,
		},
		{
			"none of two answers", `{"request":"1","http_status":200,"response":"1","compare":{"any_of_responses":["2"]}}`, 200,
			"3", "/", "1",
			[]DiffKind{Value},
		},
		{"second answer with another status", `{"request":"1","http_status":200,` +
			`"response":"1","compare":{"any_of_responses":["2"]}}`, 500, "2", "/", "1", []DiffKind{Status}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := decodeCase([]byte(test.recorded))
			if err != nil {
				t.Fatal(err)
			}
			p := newPlayer(t, func(path, body string) (int, string) {
				if path != test.path || body != test.body {
					t.Errorf("got %s %s, want %s %s", path, body, test.path, test.body)
				}
				return test.status, test.reply
			})
			outcome := p.Play(t.Context(), c)
			if got, want := kindsOf(outcome.Diffs),
				test.wantDiffs; strings.Join(names(got), " ") != strings.Join(names(want), " ") {
				t.Errorf("got %v, want %v", outcome.Diffs, want)
			}
		})
	}
}

func names(kinds []DiffKind) []string {
	var texts []string
	for _, kind := range kinds {
		texts = append(texts, string(kind))
	}
	return texts
}

// Unknown members and modes must not be passed over in silence.
func TestUnknownCases(t *testing.T) {
	for _, text := range []string{
		`{"name":"x","surprise":1}`,
		`{"compare":{"mode":"vaguely"}}`,
		`{"compare":{"error":"some"}}`,
		`{"compare":{"surprise":1}}`,
		`{`,
	} {
		if _, err := decodeCase([]byte(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	p := newPlayer(t, func(string, string) (int, string) { return 200, "" })
	if outcome := p.Play(t.Context(), &Case{Action: "surprise"}); len(outcome.Diffs) == 0 {
		t.Error("unknown action: no error")
	}
}

func TestReadBlocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.blk")
	for _, test := range []struct {
		text   string
		blocks string
		ok     bool
	}{
		{"", "", true},
		{"MAGI\x02\x00\x00\x00abMAGI\x01\x00\x00\x00c", "ab c", true},
		{"MAGI\x02\x00\x00\x00a", "", false},
		{"MAGI\xff\xff\xff\xffa", "", false},
		{"MAGI", "", false},
	} {
		if err := os.WriteFile(file, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		blocks, err := ReadBlocks(file)
		var texts []string
		for _, block := range blocks {
			texts = append(texts, string(block))
		}
		if got := strings.Join(texts, " "); got != test.blocks || (err == nil) != test.ok {
			t.Errorf("%q: got %q, %v", test.text, got, err)
		}
	}
}

// fakeNode is a node at a block, with one scan that lasts until it is aborted.
type fakeNode struct {
	mu        sync.Mutex
	tip       string
	submitted []string
	scanning  chan struct{} // nil: no scan
	busyCode  int
}

func (n *fakeNode) answer(_, body string) (int, string) {
	var call struct {
		Method string
		Params []json.RawMessage
	}
	if err := json.Unmarshal([]byte(body), &call); err != nil {
		return 500, err.Error()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch call.Method {
	case "getbestblockhash":
		return 200, `{"result":"` + n.tip + `"}`
	case "getindexinfo":
		return 200, `{"result":{"basic block filter index":{"synced":true,"best_block_height":7}}}`
	case "submitblock":
		n.submitted = append(n.submitted, string(call.Params[0]))
		n.tip = "new"
		return 200, `{"result":null}`
	}
	return 200, n.scan(string(call.Params[0]))
}

func (n *fakeNode) scan(action string) string {
	switch running := n.scanning != nil; {
	case action == `"status"` && running:
		return `{"result":{"progress":1,"current_height":2}}`
	case action == `"abort"` && running:
		close(n.scanning)
		n.scanning = nil
		return `{"result":true}`
	case action == `"status"`:
		return `{"result":null}`
	case action == `"abort"`:
		return `{"result":false}`
	case running:
		text, _ := json.Marshal(jsonrpc.Error{Code: n.busyCode, Message: errScanBusy.Message})
		return `{"error":` + string(text) + `}`
	}
	aborted := make(chan struct{})
	n.scanning = aborted
	n.mu.Unlock()
	<-aborted
	n.mu.Lock()
	return `{"result":{"from_height":0,"to_height":3,"relevant_blocks":[],"completed":false}}`
}

func TestActions(t *testing.T) {
	n := &fakeNode{tip: "old"}
	p := newPlayer(t, n.answer)
	if err := os.WriteFile(filepath.Join(p.Folder, "x.blk"), []byte("MAGI\x01\x00\x00\x00a"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []Case{
		{Action: "wait-tip", Tip: "old", Height: 7, Index: true},
		{Action: "load-blocks", File: "x.blk", Tip: "new", Height: 7, Index: true},
		{Action: "load-blocks", File: "x.blk", Tip: "new", Height: 7, Index: true},
	} {
		if outcome := p.Play(t.Context(), &c); len(outcome.Diffs) > 0 {
			t.Errorf("%s: %v", c.Action, outcome.Diffs)
		}
	}
	if got := strings.Join(n.submitted, " "); got != `"61"` {
		t.Errorf("submitted %s", got)
	}
}

func TestScanRace(t *testing.T) {
	for _, test := range []struct {
		name string
		busy int
		stop int32
		ok   bool
	}{
		{"as it should be", -8, 3, true},
		{"another refusal", -1, 3, false},
		{"beyond the stop height", -8, 2, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := &fakeNode{busyCode: test.busy}
			p := newPlayer(t, n.answer)
			outcome := p.Play(t.Context(), &Case{
				Action: "scan-race", StopHeight: test.stop, Rounds: 1, Seconds: 10,
				StartParams: []json.RawMessage{json.RawMessage(`"start"`)},
			})
			if outcome.Inconclusive != "" || (len(outcome.Diffs) == 0) != test.ok {
				t.Errorf("got %+v", outcome)
			}
			n.mu.Lock()
			defer n.mu.Unlock()
			if n.scanning != nil { // let the server end
				close(n.scanning)
			}
		})
	}
}
