package chainrpc_test

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// scanShare is how many recorded scans stand for each scan that is played:
// deriving their keys takes long, and the descriptors have tests of their own.
const scanShare = 4

// The recordings are of Bitcoin Core 30.2 on a generated regtest chain: at its
// tip, and after another branch became longer.
// golden is where the recorded replies and their chain lie.
const golden = "../../../internal/e2e/testdata/golden/regtest-chain/"

func TestRecordedReplies(t *testing.T) {
	r := newRig(t, "regtest")
	r.simulate()
	r.load(golden + "chain.blk.gz")
	r.replay(golden + "before-chain.jsonl.gz")
	r.load(golden + "branch.blk.gz")
	r.replay(golden + "after-chain.jsonl.gz")
	r.replay(golden + "after-stale-filters.jsonl")
}

// load adds the blocks of a block file: each after the network's magic and its
// length.
func (r *rig) load(file string) {
	r.t.Helper()
	in := r.open(file)
	var frame [8]byte
	for {
		if _, err := io.ReadFull(in, frame[:]); err == io.EOF {
			return
		}
		raw := make([]byte, binary.LittleEndian.Uint32(frame[4:]))
		if _, err := io.ReadFull(in, raw); err != nil {
			r.t.Fatal(err)
		}
		if _, err := r.chain.Add(raw); err != nil && r.chain.Active().Height() > 0 {
			r.t.Fatal(err)
		}
	}
}

// replay makes the calls of a transcript and compares their replies.
func (r *rig) replay(file string) {
	r.t.Helper()
	lines, calls, scans := bufio.NewScanner(r.open(file)), 0, 0
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		line := parse(r.t, lines.Text())
		if line.Get("request").IsNull() {
			continue // a condition on the chain
		}
		calls++
		request, reply := parse(r.t, line.Get("request").Text()), parse(r.t, line.Get("response").Text())
		method := request.Get("method").Text()
		if method == "scanblocks" {
			if scans++; scans%scanShare != 0 {
				continue
			}
		}
		got := r.run(r.t.Context(), method, request.Get("params"))
		want := reply.Get("result").String()
		if failure := reply.Get("error"); !failure.IsNull() {
			want = failure.Get("code").Text() + " " + failure.Get("message").Text()
		}
		got, want = comparable(r.t, line.Get("compare"), got, want)
		if got != want {
			r.t.Errorf("%s: %s\ngot  %.1000s\nwant %.1000s", line.Get("name").Text(), request, got, want)
		}
	}
	if lines.Err() != nil || calls == 0 {
		r.t.Fatalf("%s: %d calls, %v", file, calls, lines.Err())
	}
}

// comparable removes what the recording says may differ: members of the
// result, or the message of an error.
func comparable(t *testing.T, how *jsontree.Value, got, want string) (string, string) {
	t.Helper()
	if how.Get("error").Text() == "code" {
		got, _, _ = strings.Cut(got, " ")
		want, _, _ = strings.Cut(want, " ")
	}
	for _, path := range how.Get("ignore").Elements() {
		key := filepath.Base(path.Text())
		got, want = without(t, got, key), without(t, want, key)
	}
	return got, want
}

func without(t *testing.T, object, key string) string {
	t.Helper()
	rest := jsontree.NewObject()
	for k, v := range parse(t, object).Members() {
		if k != key {
			rest.Add(k, v)
		}
	}
	return rest.String()
}

func parse(t *testing.T, text string) *jsontree.Value {
	t.Helper()
	v, err := jsontree.Parse([]byte(text))
	if err != nil {
		t.Fatal(fmt.Errorf("%.100s: %w", text, err))
	}
	return v
}

// open returns the contents of a compressed file.
func (r *rig) open(file string) io.Reader {
	r.t.Helper()
	f, err := os.Open(file)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { f.Close() })
	if !strings.HasSuffix(file, ".gz") {
		return bufio.NewReader(f)
	}
	in, err := gzip.NewReader(f)
	if err != nil {
		r.t.Fatal(err)
	}
	return bufio.NewReader(in)
}
