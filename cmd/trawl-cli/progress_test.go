package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// scanServer answers a start after an abort, or after it was asked for the status
// often enough.
type scanServer struct {
	*httptest.Server
	mu       sync.Mutex
	statuses int
	aborts   int
	done     chan struct{}
}

func newScanServer(t *testing.T, enough int) *scanServer {
	t.Helper()
	s := &scanServer{done: make(chan struct{})}
	end := sync.OnceFunc(func() { close(s.done) })
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		result := "null"
		switch text := string(body); {
		case strings.Contains(text, `"start"`):
			<-s.done
			result = `{"from_height":0,"to_height":7,"relevant_blocks":[],"completed":false}`
		case strings.Contains(text, `"status"`):
			s.mu.Lock()
			s.statuses++
			result = fmt.Sprintf(`{"progress":%d,"current_height":%d}`, 100-s.statuses, s.statuses)
			if s.statuses == enough {
				end()
			}
			s.mu.Unlock()
		case strings.Contains(text, `"abort"`):
			s.mu.Lock()
			s.aborts++
			result = strconv.FormatBool(s.aborts > 1) // the first comes before the scan
			if s.aborts > 1 {
				end()
			}
			s.mu.Unlock()
		}
		io.WriteString(w, `{"jsonrpc":"2.0","result":`+result+`,"id":1}`)
	}))
	t.Cleanup(s.Close)
	return s
}

// scan runs the program on a terminal, or not, with an interrupt or without.
func (s *scanServer) scan(t *testing.T, terminal, interrupt bool, args ...string) result {
	t.Helper()
	var out, errors bytes.Buffer
	hits, stopped := make(chan os.Signal, 1), 0
	if interrupt {
		hits <- os.Interrupt
	}
	args = append([]string{(&server{Server: s.Server}).port(), "-rpcpassword=p"}, args...)
	status := run(args, &world{
		stdin: strings.NewReader(""), stdout: &out, stderr: &errors, home: t.TempDir(), terminal: terminal,
		interrupts: func() (<-chan os.Signal, func()) { return hits, func() { stopped++ } },
	})
	if terminal && stopped == 0 {
		t.Error("interrupts are caught for ever")
	}
	return result{status: status, out: out.String(), errors: errors.String()}
}

const scanned = "{\n  \"from_height\": 0,\n  \"to_height\": 7,\n  \"relevant_blocks\": [\n  ],\n  \"completed\": false\n}\n"

func TestScanShowsProgress(t *testing.T) {
	r := newScanServer(t, 2).scan(t, true, false, "scanblocks", "start", "[]")
	bar := strings.Repeat("▒", 19) + "░ "
	lines := []string{bar + " 99%  height 1", bar + " 98%  height 2", strings.Repeat(" ", 35), ""}
	r.want(t, 0, scanned, "\r"+strings.Join(lines, "\r"))
}

func TestInterruptAbortsScan(t *testing.T) {
	s := newScanServer(t, 1000)
	r := s.scan(t, true, true, "-named", "scanblocks", "action=start", "scanobjects=[]")
	r.want(t, 0, scanned, "\r aborting\r         \r")
	if s.aborts != 2 {
		t.Errorf("%d aborts", s.aborts)
	}
}

// Where there is no terminal nothing is asked and nothing drawn.
func TestScanWithoutTerminal(t *testing.T) {
	s := newScanServer(t, 1000)
	s.statuses = 999
	done := make(chan result)
	go func() { done <- s.scan(t, false, false, "scanblocks", "start", "[]") }()
	s.scan(t, false, false, "scanblocks", "status") // ends it
	r := <-done
	r.want(t, 0, scanned, "")
	if s.statuses != 1000 {
		t.Errorf("%d statuses", s.statuses-999)
	}
}

func TestIsScan(t *testing.T) {
	for params, want := range map[string]bool{
		`["start"]`: true, `["status"]`: false, `[]`: false, `{"action":"start"}`: true, `{"action":"abort"}`: false,
		`{"args":["start"]}`: true, `{"args":"start"}`: false, `{"args":[]}`: false, `{}`: false,
	} {
		v, err := jsontree.Parse([]byte(params))
		if err != nil {
			t.Fatal(err)
		}
		if got := isScan("scanblocks", v); got != want {
			t.Errorf("%s: got %v", params, got)
		}
		if got := isScan("discoveraccounts", v); got != want {
			t.Errorf("discoveraccounts: got %v for %s", got, v)
		}
		if isScan("echo", v) {
			t.Errorf("%s: echo", params)
		}
	}
}
