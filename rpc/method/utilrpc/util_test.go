package utilrpc_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"os"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

func newTable(tb testing.TB, params *chaincfg.Params) *command.Table {
	tb.Helper()
	return newTableOf(tb, descriptor.NetworkOf(params))
}

// reply calls a method and returns the text of its result or of its error.
func reply(tb testing.TB, table *command.Table, method string, params *jsontree.Value) string {
	tb.Helper()
	var result any
	call, err := table.Prepare(command.Caller{}, method, params)
	if err == nil {
		result, err = call.Run(tb.Context())
	}
	if err != nil {
		e, known := table.Reveal(err)
		if !known {
			tb.Errorf("nobody wrote words for: %v", err)
		}
		result = e
	}
	text, err := jsontree.Append(nil, result)
	if err != nil {
		tb.Fatal(err)
	}
	return string(text)
}

func parse(tb testing.TB, text string) *jsontree.Value {
	tb.Helper()
	v, err := jsontree.Parse([]byte(text))
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return v
}

func TestDocumented(t *testing.T) {
	if err := newTable(t, &chaincfg.MainNetParams).Check(); err != nil {
		t.Error(err)
	}
}

// A recording is one call of Bitcoin Core's and its reply.
type recording struct {
	Name     string
	Request  string
	Response string
	Compare  struct{ Error string }
}

// TestRecorded plays recorded calls of getdescriptorinfo and deriveaddresses.
func TestRecorded(t *testing.T) {
	for _, params := range []*chaincfg.Params{&chaincfg.MainNetParams, &chaincfg.RegressionNetParams} {
		t.Run(params.Name, func(t *testing.T) {
			file := "../../../descriptor/testdata/main.jsonl.gz"
			if params.Name == "regtest" {
				file = "../../../descriptor/testdata/regtest.jsonl.gz"
			}
			table := newTable(t, params)
			played := 0
			for _, r := range recordings(t, file) {
				played++
				play(t, table, r)
			}
			if played < 800 {
				t.Errorf("played only %d", played)
			}
		})
	}
}

func play(t *testing.T, table *command.Table, r recording) {
	t.Helper()
	request, response := parse(t, r.Request), parse(t, r.Response)
	got := reply(t, table, request.Get("method").Text(), request.Get("params"))
	want := response.Get("result")
	if failure := response.Get("error"); !failure.IsNull() {
		want = failure
	}
	if r.Compare.Error == "code" { // the text of the help is our own
		if code := parse(t, got).Get("code").Text(); code != want.Get("code").Text() {
			t.Errorf("%s: %s\ngot  %s\nwant %s", r.Name, r.Request, got, want)
		}
		return
	}
	if got != want.String() {
		t.Errorf("%s: %s\ngot  %s\nwant %s", r.Name, r.Request, got, want)
	}
}

func recordings(t *testing.T, name string) []recording {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []recording
	scan := bufio.NewScanner(plain)
	scan.Buffer(nil, 4<<20)
	for scan.Scan() {
		var r recording
		if err := json.Unmarshal(scan.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		if r.Request != "" {
			all = append(all, r)
		}
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
