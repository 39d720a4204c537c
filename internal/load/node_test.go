package load

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// tip is the height of the chain of a fakeNode. Every tenth block is relevant.
const tip = 100

// fakeNode answers as a node does. A scan takes a few milliseconds a block.
// Its faults are what tests are about.
type fakeNode struct {
	slots      int // scans at a time; a good node has 1
	perBlock   time.Duration
	slower     int  // times perBlock, for all scans but the first
	wrongID    bool // of replies to statuses
	shuffled   bool // relevant blocks of aborted scans
	unasked    bool // ends scans halfway
	overloaded bool // refuses every third call with 503
	searches   fakeSearches

	mu    sync.Mutex
	calls int
	scans []*fakeScan
}

type fakeScan struct {
	began    time.Time
	perBlock time.Duration
	aborted  chan struct{}
	once     sync.Once
}

// serve starts the node and returns a configuration to call it with.
func (n *fakeNode) serve(tb testing.TB, mix string) Config {
	tb.Helper()
	n.slots, n.perBlock, n.slower = max(n.slots, 1), max(n.perBlock, 200*time.Microsecond), max(n.slower, 1)
	server := httptest.NewServer(n)
	tb.Cleanup(server.Close)
	m, err := ParseMix(mix)
	if err != nil {
		tb.Fatal(err)
	}
	return Config{
		Addr: strings.TrimPrefix(server.URL, "http://"), Login: "u:p", Timeout: time.Minute,
		Callers: 20, Mix: m, Seed: 1, Keys: 10,
	}
}

func (n *fakeNode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q struct {
		ID     json.RawMessage   `json:"id"`
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if user, password, _ := r.BasicAuth(); user != "u" || password != "p" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	action := ""
	if q.Method == scanBlocks {
		_ = json.Unmarshal(q.Params[0], &action)
	}
	n.mu.Lock()
	n.calls++
	undisturbed := string(q.ID) == `"prepare"`
	refuse := n.overloaded && !undisturbed && n.calls%3 == 0
	n.mu.Unlock()
	if refuse {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	result := n.answer(q.Method, action, q.Params, undisturbed)
	if n.wrongID && action == Status {
		q.ID = json.RawMessage(`"another"`)
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0",%s,"id":%s}`, result, q.ID)
}

// answer returns the member that is the result or the error.
func (n *fakeNode) answer(method, action string, params []json.RawMessage, undisturbed bool) string {
	switch method + action {
	case "getblockchaininfo":
		return fmt.Sprintf(`"result":{"chain":"regtest","blocks":%d}`, tip)
	case "getnetworkinfo":
		return `"result":{"subversion":"/Satoshi:30.2.0/Trawl:0.0.0/"}`
	case "getblockheader":
		return fmt.Sprintf(`"result":{"height":%s}`, strings.Trim(string(params[0]), `"`))
	case scanBlocks + Start:
		return n.start(undisturbed)
	case scanBlocks + Status:
		return n.status()
	case scanBlocks + Abort:
		return n.abort()
	case "createsearch", "getsearchentries", "waitforsearch", "abortsearch", "removesearch", "listsearches":
		return n.searches.answer(method, params)
	case "fail":
		return `"error":{"code":-1,"message":"no"}`
	default:
		return `"result":null`
	}
}

func (n *fakeNode) start(undisturbed bool) string {
	n.mu.Lock()
	if len(n.scans) >= n.slots {
		n.mu.Unlock()
		return `"error":{"code":-8,"message":"Scan already in progress, use action \"abort\" or \"status\""}`
	}
	s := &fakeScan{began: time.Now(), perBlock: n.perBlock, aborted: make(chan struct{})}
	if !undisturbed {
		s.perBlock = time.Duration(n.slower) * n.perBlock
	}
	n.scans = append(n.scans, s)
	n.mu.Unlock()

	whole := tip * s.perBlock
	if n.unasked && !undisturbed {
		whole /= 2
	}
	end := time.NewTimer(whole)
	defer end.Stop()
	select {
	case <-s.aborted:
	case <-end.C:
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	height, kept := s.height(), n.scans[:0]
	for _, other := range n.scans {
		if other != s {
			kept = append(kept, other)
		}
	}
	n.scans = kept
	var blocks []string
	for h := 0; h <= height; h += 10 {
		blocks = append(blocks, fmt.Sprintf(`"%d"`, h))
	}
	if n.shuffled && len(blocks) > 1 && height < tip {
		blocks[0], blocks[1] = blocks[1], blocks[0]
	}
	return fmt.Sprintf(`"result":{"from_height":0,"to_height":%d,"relevant_blocks":[%s],"completed":%v}`,
		height, strings.Join(blocks, ","), height == tip)
}

// height is how far a scan is.
func (s *fakeScan) height() int {
	return min(int(time.Since(s.began)/s.perBlock), tip)
}

func (n *fakeNode) status() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.scans) == 0 {
		return `"result":null`
	}
	height := n.scans[0].height()
	return fmt.Sprintf(`"result":{"progress":%d,"current_height":%d}`, height*100/tip, height)
}

func (n *fakeNode) abort() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.scans {
		s.once.Do(func() { close(s.aborted) })
	}
	return fmt.Sprintf(`"result":%v`, len(n.scans) > 0)
}
