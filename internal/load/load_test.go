package load

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

const scanMix = "start:2,status:6,abort:1"

// goRun prepares a run and makes it.
func goRun(t *testing.T, c Config) *Result {
	t.Helper()
	r, err := Prepare(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	result, err := r.Go(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Progress().Calls; c.Count > 0 && got != c.Count {
		t.Errorf("%d calls were made, want %d", got, c.Count)
	}
	return result
}

// counts returns how many calls had each outcome.
func (r *Result) counts() map[string]uint64 {
	counts := map[string]uint64{}
	for _, row := range r.Rows {
		counts[strings.TrimSpace(row.Method+" "+row.Outcome)] += row.Times.Count()
	}
	return counts
}

func TestGoodNode(t *testing.T) {
	for _, rate := range []float64{0, 2000} {
		t.Run(fmt.Sprint("rate=", rate), func(t *testing.T) {
			c := new(fakeNode).serve(t, scanMix)
			c.Count, c.Rate = 2000, rate
			r := goRun(t, c)
			if len(r.Findings) > 0 {
				t.Errorf("a good node was found to be wrong: %v", r.Findings)
			}
			counts := r.counts()
			for _, outcome := range []string{"start busy", "status running", "abort true"} {
				if counts[outcome] == 0 {
					t.Errorf("no %s: %v", outcome, counts)
				}
			}
			if total := counts[Start] + counts[Status] + counts[Abort]; total != uint64(c.Count) {
				t.Errorf("%d calls in the table, want %d", total, c.Count)
			}
			if r.Relevant != tip/10+1 || r.Height != tip || r.Chain != "regtest" || r.Scan <= 0 {
				t.Errorf("got %+v", r)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	tests := []struct {
		name string
		node *fakeNode
		mix  string
		want Rule
	}{
		{"two scans at a time", &fakeNode{slots: 2, perBlock: 3 * time.Millisecond}, "start:1,status:1,getblockcount:2", TwoScans},
		{"replies to others", &fakeNode{wrongID: true}, scanMix, WrongReply},
		{"other blocks", &fakeNode{shuffled: true}, scanMix, WrongResult},
		{"scans that end early", &fakeNode{unasked: true}, "start", NobodyAborted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := test.node.serve(t, test.mix)
			c.Duration, c.Callers = 400*time.Millisecond, 4
			r := goRun(t, c)
			found := func(f Finding) bool { return f.Rule == test.want }
			for range 20 { // what a run comes across depends on when its calls are answered
				if slices.ContainsFunc(r.Findings, found) {
					return
				}
				r = goRun(t, c)
			}
			t.Errorf("not found: %q; found %v, %v", test.want, r.Findings, r.counts())
		})
	}
}

// When the time is up, the scan that runs is aborted.
func TestEndOfTime(t *testing.T) {
	c := (&fakeNode{slower: 5000}).serve(t, "start:9,status:1")
	c.Duration = 50 * time.Millisecond
	r := goRun(t, c)
	if r.Elapsed > 50*time.Second || r.counts()["start aborted"] == 0 || len(r.Findings) > 0 {
		t.Errorf("after %v: %v, found %v", r.Elapsed, r.counts(), r.Findings)
	}
}

func TestOverload(t *testing.T) {
	c := (&fakeNode{overloaded: true}).serve(t, scanMix+",getblockcount:1,fail:1")
	c.Count = 600
	r := goRun(t, c)
	counts := r.counts()
	if len(r.Findings) > 0 || counts["getblockcount HTTP 503"] == 0 || counts["status HTTP 503"] == 0 || counts["fail error -1"] == 0 {
		t.Errorf("found %v; %v", r.Findings, counts)
	}
}

// The calls follow from the seed. In an open loop this holds for any number of
// callers, in a closed loop for the same number.
func TestSeed(t *testing.T) {
	methods := func(seed uint64, rate float64) map[string]uint64 {
		c := new(fakeNode).serve(t, "a:3,b:2,c:1")
		c.Count, c.Seed, c.Rate = 500, seed, rate
		return goRun(t, c).counts()
	}
	for _, rate := range []float64{0, 1e6} {
		first, again, other := methods(7, rate), methods(7, rate), methods(8, rate)
		if !maps.Equal(first, again) {
			t.Errorf("rate %v: one seed, and %v and %v", rate, first, again)
		}
		if maps.Equal(first, other) {
			t.Errorf("rate %v: two seeds, and %v for both", rate, first)
		}
	}
}

// In an open loop calls wait for a free caller, and that time counts.
func TestTimesFromWhenDue(t *testing.T) {
	c := new(fakeNode).serve(t, "start")
	c.Callers, c.Count, c.Rate = 1, 5, 1e6
	r := goRun(t, c)
	if got, least := r.Rows[0].Times.Max(), 5*tip*200*time.Microsecond; got < least {
		t.Errorf("the last of five scans took %v, want %v since it was due", got, least)
	}
}

func TestPrepareErrors(t *testing.T) {
	c := new(fakeNode).serve(t, scanMix)
	c.Login = "u:x"
	if _, err := Prepare(t.Context(), c); err == nil || !strings.Contains(err.Error(), "HTTP 401") {
		t.Errorf("wrong password: %v", err)
	}
	c.Addr = "127.0.0.1:1"
	if _, err := Prepare(t.Context(), c); err == nil {
		t.Error("nobody listens, and no error")
	}
	busy := &fakeNode{scans: []*fakeScan{{}}}
	if _, err := Prepare(t.Context(), busy.serve(t, scanMix)); !errors.Is(err, ErrBusy) {
		t.Errorf("busy node: %v", err)
	}
}

// A scan that nobody wants any more is not left running.
func TestInterruptedPrepare(t *testing.T) {
	node := &fakeNode{perBlock: time.Minute}
	c := node.serve(t, scanMix) // waits for the scan's end
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Prepare(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestParseReply(t *testing.T) {
	tests := []struct {
		status int
		body   string
		want   string // outcome, or "ok"
	}{
		{200, `{"jsonrpc":"2.0","result":null,"id":"1"}`, "ok"},
		{200, `{"result":7,"error":null,"id":"1"}`, "ok"},
		{200, `{"jsonrpc":"2.0","error":{"code":-8,"message":"x"},"id":"1"}`, "error -8"},
		{500, `{"result":null,"error":{"code":-8,"message":"x"},"id":"1"}`, "odd reply"}, // 1.0 was not asked for
		{503, `Work queue depth exceeded`, "HTTP 503"},
		{401, ``, "HTTP 401"},
		{200, ``, "odd reply"},
		{200, `{}`, "odd reply"},
		{200, `[]`, "odd reply"},
		{200, `{"result":1,"id":"2"}`, "odd reply"},
		{200, `{"result":1,"id":1}`, "odd reply"},
		{200, `{"id":"1"}`, "odd reply"},
	}
	for _, test := range tests {
		r := parseReply(test.status, []byte(test.body), "1")
		got := "ok"
		if r.result == nil {
			got = r.failureName()
		}
		if got != test.want {
			t.Errorf("HTTP %d %s: got %s, want %s", test.status, test.body, got, test.want)
		}
	}
}

// FuzzReply: whatever comes back is a result, an error, or odd.
func FuzzReply(f *testing.F) {
	f.Add(200, `{"jsonrpc":"2.0","result":null,"id":"1"}`)
	f.Add(200, `{"error":{"code":-8,"message":"Scan already in progress"},"id":"1"}`)
	f.Add(http.StatusServiceUnavailable, "")
	f.Fuzz(func(t *testing.T, status int, body string) {
		r := parseReply(status, []byte(body), "1")
		if r.result != nil && (r.failed != nil || r.odd != "") {
			t.Errorf("%q: %+v", body, r)
		}
		c := Run{history: NewHistory(Rules{}, &Whole{})}
		c.noteStart(Span{}, &r)
		c.noteStatus(Span{}, &r)
		c.noteAbort(Span{}, &r)
		c.history.Check()
	})
}
