package load

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// entriesOfSearch is how many a search of a fakeNode finds. It looks at its blocks whenever it is asked.
const entriesOfSearch = 40

// fakeSearches answers as a node does, but for the fault that it has.
type fakeSearches struct {
	fault searchFault

	mu    sync.Mutex
	made  int
	all   map[string]*fakeSearch
	names []string // of all that were made
}

type searchFault int

const (
	noFault searchFault = iota
	leavesOut
	doubles
	endsEarly
	fails
	abortsItself
	forgets
	refuses
)

type fakeSearch struct {
	name    string
	looked  int // entries that it has found so far
	state   string
	entries []string
}

func (f *fakeSearches) answer(method string, params []json.RawMessage) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch method {
	case "createsearch":
		return f.create(params)
	case "listsearches":
		var list []string
		for id, s := range f.all {
			list = append(list, fmt.Sprintf(`{"id":%q,"name":%q}`, id, s.name))
		}
		return `"result":[` + strings.Join(list, ",") + `]`
	}
	id := strings.Trim(string(params[0]), `"`)
	s := f.all[id]
	if s == nil {
		return `"error":{"code":-8,"message":"No such search"}`
	}
	switch method {
	case "abortsearch":
		if s.state == "running" {
			s.state = "aborted"
		}
		return `"result":true`
	case "removesearch":
		delete(f.all, id)
		return fmt.Sprintf(`"result":%v`, f.fault != forgets || f.made == 1)
	}
	return s.page(params)
}

func (f *fakeSearches) create(params []json.RawMessage) string {
	if f.fault == refuses && len(f.all) > 0 {
		return `"error":{"code":-1,"message":"Limit of -maxsearches is reached"}`
	}
	if f.all == nil {
		f.all = map[string]*fakeSearch{}
	}
	var options struct{ Name string }
	_ = json.Unmarshal(params[1], &options)
	f.made++
	f.names = append(f.names, options.Name)
	s := &fakeSearch{name: options.Name, state: "running"}
	for i := range entriesOfSearch {
		s.entries = append(s.entries, fmt.Sprintf(`{"type":"receive","amount":0.5,"height":%d}`, i))
	}
	if f.made > 1 { // not the undisturbed one
		switch f.fault {
		case leavesOut:
			s.entries = slices.Delete(s.entries, 7, 8)
		case doubles:
			s.entries = slices.Insert(s.entries, entriesOfSearch, s.entries[entriesOfSearch-1])
		case endsEarly:
			s.entries = s.entries[:entriesOfSearch/2]
		case fails:
			s.state = "failed"
		case noFault, forgets, refuses:
		case abortsItself:
			s.state = "aborted"
		}
	}
	id := fmt.Sprintf("%016x", f.made)
	f.all[id] = s
	return fmt.Sprintf(`"result":{"id":%q,"created":true}`, id)
}

// page looks at some more blocks and returns the entries found.
func (s *fakeSearch) page(params []json.RawMessage) string {
	if s.state == "running" {
		s.looked = min(s.looked+15, len(s.entries))
	}
	state := s.state
	if state == "running" && s.looked == len(s.entries) {
		state = "done"
	}
	from, limit := 0, 10
	_, _ = fmt.Sscan(strings.Trim(string(params[1]), `"`), &from)
	if len(params) > 2 {
		_, _ = fmt.Sscan(string(params[2]), &limit)
	}
	to := min(from+limit, s.looked)
	return fmt.Sprintf(`"result":{"entries":[%s],"cursor":"%d","more":%v,"height":%d,"state":%q,"error":""}`,
		strings.Join(s.entries[from:to], ","), to, to < s.looked, tip, state)
}

func TestGoodSearches(t *testing.T) {
	node := new(fakeNode)
	c := node.serve(t, "search:3,status:1")
	c.Count = 400
	r := goRun(t, c)
	counts := r.counts()
	if len(r.Findings) > 0 || counts["search completed"] == 0 || counts["search aborted"] == 0 {
		t.Errorf("found %v; %v", r.Findings, counts)
	}
	if r.Entries != entriesOfSearch || r.Search <= 0 {
		t.Errorf("the undisturbed search: %d entries, %v", r.Entries, r.Search)
	}
	if len(node.searches.all) > 0 {
		t.Errorf("searches are left: %v", node.searches.all)
	}
	slices.Sort(node.searches.names)
	if n := len(slices.Compact(node.searches.names)); n != node.searches.made {
		t.Errorf("%d searches have %d names", node.searches.made, n)
	}
}

func TestWrongSearches(t *testing.T) {
	for fault, want := range map[searchFault]string{
		leavesOut:    "are not those of the undisturbed search",
		doubles:      "41 entries, and the undisturbed search has 40",
		endsEarly:    "it is done with 20 entries",
		fails:        "it failed",
		abortsItself: "it is aborted, and nobody did that",
		forgets:      "was not there",
	} {
		t.Run(want, func(t *testing.T) {
			c := (&fakeNode{searches: fakeSearches{fault: fault}}).serve(t, Search)
			c.Count = 40
			r := goRun(t, c)
			said := fmt.Sprint(r.Findings)
			if len(r.Findings) != 1 || r.Findings[0].Rule != WrongSearch || !strings.Contains(said, want) {
				t.Errorf("found %s", said)
			}
		})
	}
}

// A node that has too many searches says so, and that is no fault.
func TestRefusedSearches(t *testing.T) {
	c := (&fakeNode{searches: fakeSearches{fault: refuses}}).serve(t, Search)
	c.Count = 200
	r := goRun(t, c)
	if counts := r.counts(); len(r.Findings) > 0 || counts["search busy"] == 0 || counts["search completed"] == 0 {
		t.Errorf("found %v; %v", r.Findings, counts)
	}
}

// A run that is over leaves no search behind, even if its calls had no reply.
func TestEndOfSearches(t *testing.T) {
	node := &fakeNode{overloaded: true}
	c := node.serve(t, Search)
	c.Duration = 300 * time.Millisecond
	var r *Result
	for range 5 { // the look at the node is refused, too, if it comes third
		prepared, err := Prepare(t.Context(), c)
		if err != nil {
			continue
		}
		if r, err = prepared.Go(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if r == nil || len(r.Findings) > 0 || r.counts()["search HTTP 503"] == 0 {
		t.Fatalf("%+v", r)
	}
	if len(node.searches.all) > 0 {
		t.Errorf("searches are left: %v", node.searches.all)
	}
}
