package e2e_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/e2e"
)

// Searches that follow the chain tell no payment twice and lose no payment, although the daemon
// is killed again and again. A client that reads on from the last cursor has all that
// getdescriptoractivity tells of the whole chain.
func TestKill9Searches(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 3))
	kills := count(t, "TRAWL_SOAK", 4)
	d := e2e.Start(t, e2e.Config{
		Chain: "regtest",
		Args:  []string{"-blockfilterindex=1", "-keypool=5", "-searchroom=1", "-fallbackfee=0.0001"},
	})
	d.Get(nil, "createwallet", "w", false, false, "", false, true, true)
	s := searcher{t: t, d: d, rng: random}
	for range 4 {
		var address string
		d.Get(&address, "getnewaddress")
		s.addresses = append(s.addresses, address)
	}
	d.Get(nil, "generatetoaddress", 102, s.addresses[0])
	s.objects = []any{"addr(" + s.addresses[0] + ")", "addr(" + s.addresses[1] + ")"}
	var made struct{ ID string }
	d.Get(&made, "createsearch", s.objects, map[string]any{"name": "shop", "follow": true})
	s.id = made.ID
	d.Get(&made, "createsearch", []any{"raw(51)"}, map[string]any{"name": "told", "follow": true})
	s.told = toldSearch{id: made.ID}
	d.Get(nil, "sendtoaddress", s.addresses[1], 1)
	d.Get(nil, "generatetoaddress", 2, s.addresses[2])
	s.check()
	for range kills {
		s.untilKilled()
		d.Restart()
		d.Get(&made, "createsearch", s.objects, map[string]any{"name": "shop", "follow": true})
		if made.ID != s.id {
			t.Fatal("the search was not there any more")
		}
		s.told.check(t, d)
		s.check()
	}
	spends := 0
	for _, e := range s.entries {
		if e["type"] == "spend" {
			spends++
		}
	}
	if spends == 0 {
		t.Error("nothing was spent")
	}
	t.Logf("%d entries, %d of them spends, %d blocks have left the chain", len(s.entries), spends, s.disconnected)
}

// searcher makes blocks, and reads the list of a search.
type searcher struct {
	t         *testing.T
	d         *e2e.Daemon
	rng       *rand.Rand
	addresses []string
	objects   []any
	joined    bool // some joined later: the entries come in another order

	id, cursor   string
	entries      []map[string]any // that hold
	disconnected int
	told         toldSearch
}

// toldSearch is a search that is told to pause and to go on in turn.
type toldSearch struct {
	id            string
	paused, asked bool // as was acknowledged last, and as was asked for last
}

func (o *toldSearch) tell(call func(result any, method string, params ...any) error) {
	method := "pausesearch"
	if o.asked = !o.paused; o.paused {
		method = "resumesearch"
	}
	if call(nil, method, o.id) == nil {
		o.paused = o.asked
	}
}

// check checks that the search is in the state acknowledged last, or in the state requested after
// that.
func (o *toldSearch) check(t *testing.T, d *e2e.Daemon) {
	t.Helper()
	var st searchState
	d.Get(&st, "getsearch", o.id)
	paused := st.State == "paused"
	if paused != o.paused && paused != o.asked {
		t.Fatalf("paused is %v, which was acknowledged, and %v was asked for then; the search is %s",
			o.paused, o.asked, st.State)
	}
	o.paused, o.asked = paused, paused
}

// untilKilled pays, makes blocks and has some leave the chain, until the daemon is killed.
func (s *searcher) untilKilled() {
	killed := make(chan struct{})
	ctx, cancel := context.WithCancel(s.t.Context())
	call := s.d.Call // of this client
	go func() {
		defer close(killed)
		for ctx.Err() == nil {
			s.told.tell(func(result any, method string, params ...any) error {
				return call(ctx, result, method, params...)
			})
			s.step(func(result any, method string, params ...any) { _ = call(ctx, result, method, params...) })
		}
	}()
	time.Sleep(time.Duration(s.rng.IntN(700)) * time.Millisecond)
	s.d.Kill()
	cancel()
	<-killed
}

func (s *searcher) step(call func(result any, method string, params ...any)) {
	to := s.addresses[rand.IntN(len(s.addresses))]
	call(nil, "sendtoaddress", to, 0.01)
	call(nil, "generatetoaddress", 1, to)
	if rand.IntN(3) > 0 {
		return
	}
	var tip, before string
	call(&tip, "getbestblockhash")
	var header struct{ PreviousBlockHash string }
	call(&header, "getblockheader", tip)
	before = header.PreviousBlockHash
	call(nil, "invalidateblock", before)
	call(nil, "generatetoaddress", 3, to)
}

// page is a reply of waitforsearch.
type searchPage struct {
	Entries   []map[string]any
	Cursor    string
	More      bool
	Height    int
	BlockHash string
	State     string
}

// check reads on until the search is at the tip, and compares what holds.
func (s *searcher) check() {
	s.t.Helper()
	var tip string
	s.d.Get(&tip, "getbestblockhash")
	for deadline := time.Now().Add(time.Minute); ; {
		var p searchPage
		s.d.Get(&p, "waitforsearch", s.id, s.cursor, 200)
		s.add(p.Entries)
		s.cursor = p.Cursor
		if p.State == "following" && p.BlockHash == tip && !p.More {
			break
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("the search is %s at height %d", p.State, p.Height)
		}
	}
	var height int
	s.d.Get(&height, "getblockcount")
	hashes := make([]string, height+1)
	for h := range hashes {
		s.d.Get(&hashes[h], "getblockhash", h)
	}
	var want struct{ Activity []map[string]any }
	s.d.Get(&want, "getdescriptoractivity", hashes, s.objects, false)
	if len(s.entries) != len(want.Activity) {
		s.t.Fatalf("%d entries, want %d", len(s.entries), len(want.Activity))
	}
	if s.joined {
		if !sameMaps(s.entries, want.Activity) {
			s.t.Fatal("the entries are others than those of the chain")
		}
		return
	}
	for i, e := range s.entries {
		if !reflect.DeepEqual(e, want.Activity[i]) {
			got, _ := json.Marshal(e)
			other, _ := json.Marshal(want.Activity[i])
			s.t.Fatalf("entry %d:\n got %s\nwant %s", i, got, other)
		}
	}
}

func (s *searcher) add(entries []map[string]any) {
	for _, e := range entries {
		if e["type"] == "disconnect" {
			s.disconnected++
			s.entries = slices.DeleteFunc(s.entries, func(held map[string]any) bool {
				return held["blockhash"] == e["blockhash"]
			})
			continue
		}
		if desc, _ := e["desc"].(string); !slices.Contains(s.objects, any(desc)) {
			s.t.Fatalf("the entry is of %q, which is none of %q", desc, s.objects)
		}
		delete(e, "desc")
		delete(e, "time")
		s.entries = append(s.entries, e)
	}
}
