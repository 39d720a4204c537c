package bench

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

const (
	// manySearches run at a time, with so many scripts each.
	manySearches  = 100
	searchScripts = 100

	// searchCallers make searches at the same time; more than the node has workers for by default
	// wait in its queue.
	searchCallers = 32

	// searchPatience is how long a call waits for news, milliseconds: what came between two
	// calls is no news to the second one.
	searchPatience = 20
)

// searcher makes searches of a node and waits until they end.
type searcher struct {
	b *testing.B
	p *peer
}

func (s *searcher) call(result any, method string, params ...any) {
	s.b.Helper()
	if err := s.p.Call(s.b.Context(), result, method, params...); err != nil {
		s.b.Fatal(method, ": ", err)
	}
}

// create makes searches, by searchCallers at a time, and returns their ids.
func (s *searcher) create(objects [][]any, options map[string]any) []string {
	s.b.Helper()
	ids := make([]string, len(objects))
	next := make(chan int)
	var group sync.WaitGroup
	for range searchCallers {
		group.Go(func() {
			for i := range next {
				var made struct{ ID string }
				if err := s.p.Call(s.b.Context(), &made, "createsearch", objects[i], options); err != nil {
					s.b.Error(err)
				}
				ids[i] = made.ID
			}
		})
	}
	for i := range objects {
		next <- i
	}
	close(next)
	group.Wait()
	if s.b.Failed() {
		s.b.FailNow()
	}
	return ids
}

// A searchPage is what waitforsearch answers.
type searchPage struct {
	Entries   []struct{ Type string }
	Cursor    string
	More      bool
	Height    int
	BlockHash string
	State     string
}

// wait reads the entries of a search until a page satisfies.
func (s *searcher) wait(id string, enough func(p *searchPage, entries int) bool) (entries int) {
	s.b.Helper()
	page := searchPage{}
	for {
		cursor := page.Cursor
		page = searchPage{}
		s.call(&page, "waitforsearch", id, cursor, searchPatience)
		if entries += len(page.Entries); page.State == "failed" {
			s.b.Fatal("the search has failed")
		}
		if enough(&page, entries) {
			return entries
		}
	}
}

func (s *searcher) remove(ids []string) {
	s.b.Helper()
	for _, id := range ids {
		s.call(nil, "removesearch", id)
	}
}

// removeAll removes the searches that a benchmark has left that did not come to its end.
func (s *searcher) removeAll() {
	s.b.Helper()
	var left []struct{ ID string }
	s.call(&left, "listsearches")
	for _, one := range left {
		s.call(nil, "removesearch", one.ID)
	}
}

func isDone(p *searchPage, _ int) bool { return p.State == "done" && !p.More }

// searchObjects returns the scan objects of so many searches, without a script in common.
func searchObjects(searches, scripts int) [][]any {
	all := raw(theChain().Queries(searches * scripts))
	objects := make([][]any, searches)
	for i := range objects {
		for n := range scripts {
			objects[i] = append(objects[i], all[n*searches+i])
		}
	}
	return objects
}

// BenchmarkSearches measures a hundred simultaneous searches for a hundred scripts
// each, from the first call until the last entry of each is read. It compares a single
// scanblocks for all scripts together. It also compares Core, which does the searches
// one after the other: scanblocks, then getdescriptoractivity of the blocks found.
func BenchmarkSearches(b *testing.B) {
	defer asDaemon()()
	objects := searchObjects(manySearches, searchScripts)
	var all []any
	for _, o := range objects {
		all = append(all, o...)
	}
	s := &searcher{b, open(b, node(filepath.Join(folder(b), "trawl"), 0))}
	s.removeAll()
	rival := core(b)
	exact := map[string]any{"filter_false_positives": true}
	found := 0
	var ids []string
	clean := func() error {
		s.remove(ids)
		ids = nil
		return nil
	}
	searches := &contender{before: clean, run: func() error {
		if err := clean(); err != nil { // of a run before the rounds
			return err
		}
		ids = s.create(objects, nil)
		found = 0
		for _, id := range ids {
			found += s.wait(id, isDone)
		}
		return nil
	}}
	scan := &contender{run: func() error {
		return s.p.Call(b.Context(), nil, "scanblocks", "start", all, 0, nil, "basic", exact)
	}}
	contenders := []*contender{searches, scan}
	if rival != nil {
		contenders = append(contenders, &contender{run: func() error { return inTurnByCore(b, rival, objects, found) }})
	}
	compete(b, contenders...)
	b.ReportMetric(milliseconds(searches.median()), "ms")
	b.ReportMetric(milliseconds(scan.median()), "scan-ms")
	b.ReportMetric(ratio(searches.median(), scan.median()), "of-scan")
	if scan.cpu > 0 {
		b.ReportMetric(ratio(searches.cpu, scan.cpu), "cpu-of-scan")
	}
	b.ReportMetric(ratio(searches.best(), scan.best()), "best-of-scan")
	b.ReportMetric(float64(found), "entries")
	if rival != nil {
		b.ReportMetric(milliseconds(contenders[2].median()), "core-ms")
		b.ReportMetric(ratio(contenders[2].median(), searches.median()), "x-core")
	}
	reportLoad(b)
}

// inTurnByCore does by Core what the searches do, and compares how much was found.
func inTurnByCore(b *testing.B, rival *peer, objects [][]any, want int) error {
	b.Helper()
	got := 0
	for _, o := range objects {
		var found struct {
			Blocks []string `json:"relevant_blocks"`
		}
		err := rival.Call(b.Context(), &found, "scanblocks", "start", o, 0, nil, "basic",
			map[string]any{"filter_false_positives": true})
		if err != nil {
			return err
		}
		var activity struct{ Activity []struct{ Type string } }
		if err := rival.Call(b.Context(), &activity, "getdescriptoractivity", found.Blocks, o, false); err != nil {
			return err
		}
		got += len(activity.Activity)
	}
	if got != want {
		return fmt.Errorf("%w: %d entries, Core has %d", errWrongAnswer, want, got)
	}
	return nil
}

// BenchmarkSearchTurn measures how long a search waits until it has looked at its first
// blocks, and until its first entry can be read. It runs alone, and beside a search for
// 100,000 scripts that runs all the time.
func BenchmarkSearchTurn(b *testing.B) {
	defer asDaemon()()
	s := &searcher{b, open(b, node(filepath.Join(folder(b), "trawl"), 0))}
	s.removeAll()
	small := searchObjects(1, searchScripts)
	huge := [][]any{{map[string]any{"desc": "wpkh(" + masterKey + "/1/*)", "range": 99_999}}}
	for _, beside := range []string{"nothing", "huge"} {
		b.Run("beside="+beside, func(b *testing.B) {
			s := &searcher{b, s.p}
			var turns, firsts []time.Duration
			for b.Loop() {
				for range 20 {
					var running []string
					if beside == "huge" {
						running = s.create(huge, nil)
						s.wait(running[0], func(p *searchPage, _ int) bool { return p.Height >= 0 })
					}
					began := time.Now()
					id := s.create(small, nil)
					s.wait(id[0], func(p *searchPage, _ int) bool { return p.Height >= 0 })
					turns = append(turns, time.Since(began))
					s.wait(id[0], func(_ *searchPage, entries int) bool { return entries > 0 })
					firsts = append(firsts, time.Since(began))
					s.remove(append(running, id...))
				}
			}
			reportTimes(b, "turn-", turns)
			reportTimes(b, "first-", firsts)
			b.ReportMetric(0, "ns/op")
			reportLoad(b)
		})
	}
}
