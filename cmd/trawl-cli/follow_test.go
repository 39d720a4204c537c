package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/seed61375155/trawl/internal/jsontree"
	api "github.com/seed61375155/trawl/rpc/client"
)

// searchServer has one search, of the id "00c3": each call for entries finds one more page.
type searchServer struct {
	*httptest.Server
	mu    sync.Mutex
	pages []string // members of the pages
	polls int
	asked []string // methods and their parameters
	hold  chan struct{}
	made  func() // is called while a search is made; nil: nothing is
	keeps bool   // searches cannot be removed
}

func newSearchServer(t *testing.T, pages ...string) *searchServer {
	t.Helper()
	s := &searchServer{pages: pages}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *searchServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Method string
		Params json.RawMessage
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := ""
	switch q.Method {
	case "getblockcount":
		answer = `"result":7`
	case "removesearch":
		answer = `"result":true`
		if s.keeps {
			answer = `"error":{"code":-1,"message":"no"}`
		}
	case "createsearch":
		if s.made != nil {
			s.made()
		}
		answer = `"result":{"id":"00c3","name":"shop","created":true}`
	case "getsearch":
		answer = `"error":{"code":-8,"message":"Search not found"}`
		if strings.Contains(string(q.Params), "00c3") {
			s.polls++
			answer = `"result":{"id":"00c3","state":"running","progress":42.5,"height":7,"found":3,"eta":75}`
		}
	case "getsearchentries", "waitforsearch":
		if len(s.pages) == 1 && s.hold != nil {
			close(s.hold)
			s.hold = nil
		}
		if len(s.pages) > 0 {
			answer = `"result":{` + s.pages[0] + `}`
			if len(s.pages) > 1 {
				s.pages = s.pages[1:]
			}
		}
	}
	s.asked = append(s.asked, q.Method+string(q.Params))
	fmt.Fprintf(w, `{"jsonrpc":"2.0",%s,"id":1}`, answer)
}

// cli runs the program, which gets its interrupts from hits.
func (s *searchServer) cli(t *testing.T, hits chan os.Signal, args ...string) result {
	t.Helper()
	var out, errors bytes.Buffer
	status := run(append([]string{(&server{Server: s.Server}).port(), "-rpcpassword=p"}, args...), &world{
		stdin: strings.NewReader(""), stdout: &out, stderr: &errors, home: t.TempDir(),
		interrupts: func() (<-chan os.Signal, func()) { return hits, func() {} },
	})
	return result{status: status, out: out.String(), errors: errors.String()}
}

const (
	received = `{"type":"receive","amount":0.10000000,"blockhash":"b1","height":840000,"time":1700000000,"txid":"t1","vout":1,` +
		`"output_spk":{"hex":"51","address":"bc1qa"},"desc":"wpkh(x/*)","index":7}`
	spent = `{"type":"spend","amount":21.00000000,"blockhash":"b2","height":840001,"spend_txid":"t2","spend_vin":3,` +
		`"prevout_txid":"t1","prevout_vout":1,"prevout_spk":{"hex":"51"},"desc":"raw(51)"}`
	left        = `{"type":"disconnect","blockhash":"b2","height":840001}`
	unconfirmed = `{"type":"receive","amount":0.00000001,"txid":"t3","vout":0,"output_spk":{"hex":"51","address":"bc1qa"},"desc":"d"}`
	running     = `"height":9,"state":"running","error":""`
)

const asText = "  840000  receive        +0.10000000  bc1qa  in t1:1\n" +
	"  840001  spend         -21.00000000  51  by t2:3\n" +
	"  840001  the block left the chain, and what it has with it  b2\n"

func TestEntriesAsText(t *testing.T) {
	s := newSearchServer(t,
		`"entries":[`+received+`],"cursor":"a","more":true,`+running,
		`"entries":[`+spent+`,`+left+`],"cursor":"b","more":false,"height":9,"state":"done","error":""`)
	s.cli(t, nil, "-follow", "createsearch", `["raw(51)"]`).want(t, 0, asText, "")
	if want := `createsearch[["raw(51)"]]`; s.asked[0] != want {
		t.Errorf("asked %s, want %s", s.asked[0], want)
	}
	last := s.asked[len(s.asked)-1]
	if !strings.HasPrefix(last, `waitforsearch["00c3","a",`) {
		t.Errorf("the second page was asked for by %s", last)
	}
}

func TestEntriesAsJSON(t *testing.T) {
	s := newSearchServer(t, `"entries":[`+received+`,`+spent+`],"cursor":"b","more":false,`+running)
	s.cli(t, nil, "-json", "getsearchentries", "00c3", "x").want(t, 0, received+"\n"+spent+"\n",
		"The search is running; these are its entries up to height 9.\n")
	if last := s.asked[len(s.asked)-1]; last != `getsearchentries["00c3","x",1000]` {
		t.Errorf("asked %s", last)
	}
}

func TestEntriesAsTable(t *testing.T) {
	s := newSearchServer(t, `"entries":[`+received+`,`+spent+`,`+left+`],"cursor":"b","more":false,`+running)
	s.cli(t, nil, "-csv", "-named", "getsearchentries", "id=00c3").want(t, 0, strings.Join(columns, ",")+"\n"+
		"receive,840000,b1,1700000000,0.10000000,t1,1,,,bc1qa,51,wpkh(x/*),7\n"+
		"spend,840001,b2,,21.00000000,t1,1,t2,3,,51,raw(51),\n"+
		"disconnect,840001,b2,,,,,,,,,,\n", "The search is running; these are its entries up to height 9.\n")
}

// An unconfirmed entry is printed once while it is there.
func TestUnconfirmedEntries(t *testing.T) {
	pool := `"cursor":"a","more":false,"unconfirmed":[` + unconfirmed + `],`
	s := newSearchServer(t, `"entries":[],`+pool+running, `"entries":[`+received+`],`+pool+running,
		`"entries":[],"cursor":"b","more":false,"height":9,"state":"done","error":""`)
	s.cli(t, nil, "-follow", "getsearchentries", "00c3").want(t, 0,
		"       -  receive        +0.00000001  bc1qa  in t3:0\n  840000  receive        +0.10000000  bc1qa  in t1:1\n", "")
}

func TestSearchEndsEarly(t *testing.T) {
	for state, want := range map[string]string{
		"failed":  "error: The search failed: no undo data\n",
		"aborted": "error: The search was aborted; these are its entries up to height 9.\n",
	} {
		s := newSearchServer(t,
			`"entries":[`+received+`],"cursor":"a","more":false,"height":9,"error":"no undo data","state":`+strconv.Quote(state))
		first, _, _ := strings.Cut(asText, "\n")
		s.cli(t, nil, "-follow", "getsearchentries", "00c3").want(t, exitFailure, first+"\n", want)
	}
}

func TestSearchPauses(t *testing.T) {
	s := newSearchServer(t, `"entries":[],"cursor":"a","more":false,"height":9,"state":"paused","error":"disk full"`,
		`"entries":[],"cursor":"a","more":false,"height":9,"state":"done","error":""`)
	s.cli(t, nil, "-follow", "getsearchentries", "00c3").want(t, 0, "", "The search pauses: disk full\n")
}

// interruptAtLastPage returns signals that have an interrupt once the last page is asked for.
func (s *searchServer) interruptAtLastPage() chan os.Signal {
	s.hold = make(chan struct{})
	hits, held := make(chan os.Signal, 1), s.hold
	go func() {
		<-held
		hits <- os.Interrupt
	}()
	return hits
}

// An interrupt leaves the search running and prints how to see its further entries.
func TestInterruptLeavesSearch(t *testing.T) {
	s := newSearchServer(t, `"entries":[`+received+`],"cursor":"a",`+`"more":false,`+running,
		`"entries":[],"cursor":"a","more":false,`+running)
	again := "trawl-cli -regtest " + (&server{Server: s.Server}).port() + " '-rpcuser=a b'" // and no password
	s.cli(t, s.interruptAtLastPage(), "-regtest", "-rpcuser=a b", "-follow", "getsearchentries", "00c3").want(t, interrupted,
		strings.SplitAfter(asText, "\n")[0],
		"The search goes on. To see what comes, and to end it:\n"+
			"  "+again+" -follow getsearchentries 00c3 a\n  "+again+" abortsearch 00c3\n")
	s.mu.Lock() // for an answer that nobody waits for
	defer s.mu.Unlock()
	for _, asked := range s.asked {
		if strings.HasPrefix(asked, "abortsearch") {
			t.Error("the search was aborted")
		}
	}
}

func TestRefusedEntries(t *testing.T) {
	s := newSearchServer(t)
	s.cli(t, nil, "-follow", "getsearchentries", "77").want(t, 8, "", "error code: -8\nerror message:\nSearch not found\n")
	s.cli(t, nil, "-csv", "getblockcount").want(t, exitFailure, "",
		"error: -follow, -csv and -json are for createsearch and getsearchentries\n")
	s.cli(t, nil, "-csv", "-json", "getsearchentries", "00c3").want(t, exitFailure, "",
		"error: Only one of -csv, -json may be specified.\n")
}

func TestSearchProgress(t *testing.T) {
	s := newSearchServer(t, `"entries":[],"cursor":"a","more":false,`+running)
	var drawn bytes.Buffer
	c := &client{world: &world{stderr: &drawn}}
	node := api.New(api.Config{URL: s.URL, User: "u"})
	l := &listing{client: c, line: progressLine{w: &drawn}, id: "00c3", node: node}
	l.progress(t.Context())
	want := "\r" + strings.Repeat("▒", 8) + strings.Repeat("░", 12) + "  42%  height 7  3 found  1m15s left"
	if drawn.String() != want {
		t.Errorf("got %q, want %q", drawn.String(), want)
	}
	s.Close()
	l.progress(t.Context())
	if !strings.HasSuffix(drawn.String(), " no answer") {
		t.Errorf("without a node: %q", drawn.String())
	}
}

func TestArgument(t *testing.T) {
	for params, want := range map[string]string{
		`["x"]`: "x", `[]`: "", `{"id":"y"}`: "y", `{"args":["z"]}`: "z", `{}`: "",
	} {
		v, err := jsontree.Parse([]byte(params))
		if err != nil {
			t.Fatal(err)
		}
		if got := argument(v, 0, "id"); got != want {
			t.Errorf("%s: got %q, want %q", params, got, want)
		}
	}
}
