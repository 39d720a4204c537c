package searches

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/searchdb"
)

// memberOf returns a member for a search that is done up to a height.
func memberOf(j *job, last *chainview.Block) *member {
	return &member{job: j, ranges: [][2]uint32{{0, 1}}, to: last.Height, last: last, used: searchdb.Used{}}
}

// Three rounds are of those that are lowest, and the fourth of the search that has waited longest; a search without a
// turn comes at once.
func TestWhoseTurnItIs(t *testing.T) {
	s, chain := alone(t, 30)
	tip := chain.Active().Tip()
	low, high, middle := jobAt(1, 0, -1, 3), jobAt(2, 0, -1, 20), jobAt(3, 0, -1, 9)
	low.served, high.served, middle.served = 9, 2, 5
	ready := []*member{memberOf(middle, tip), memberOf(low, tip), memberOf(high, tip)}
	var order []int
	for range 9 {
		order = append(order, int(planner{s}.choose(ready).Number))
	}
	if want := []int{1, 1, 1, 2, 1, 1, 1, 2, 1}; !slices.Equal(order, want) {
		t.Errorf("turns of %v, want %v", order, want)
	}
	fresh := jobAt(4, 0, -1, 25)
	ready = append(ready, memberOf(fresh, tip))
	if got := (planner{s}).choose(ready); got.job != fresh {
		t.Errorf("the turn of %d, and one had none yet", got.Number)
	}
	if got := (planner{s}).choose(ready[:3]); got.job != low {
		t.Errorf("the turn of %d after that", got.Number)
	}
}

// A round ends where another search would join, where fewer scripts are wanted, and where its blocks are as many as it
// may have, but for a rest of a quarter.
func TestWhereRoundsEnd(t *testing.T) {
	s, chain := alone(t, 100)
	tip := chain.Active().Tip()
	at := func(n int, done int32) *member {
		return memberOf(jobAt(n, 0, -1, done), tip)
	}
	s.rounds.budget = budget{work: workOf(40, 1)}
	p := planner{s}
	for _, test := range []struct{ next, last, want int32 }{
		{11, 100, 50}, {11, 60, 60}, {11, 61, 50}, {11, 20, 20}, {51, 100, 100}, {50, 100, 89}, {11, 11, 11},
	} {
		if got := p.endOf(test.next, 1, test.last); got != test.want {
			t.Errorf("from %d of %d: up to %d, want %d", test.next, test.last, got, test.want)
		}
	}
	s.rounds.budget = budget{work: workOf(5000, 1)}
	s.rounds.batching.now = true
	if got := p.endOf(1, 1, 1_000_000); got != batchBlocks {
		t.Errorf("while searches are made: up to %d", got)
	}
	s.rounds.batching.now = false
	s.rounds.budget = budget{work: workOf(40, 1)}

	first := at(1, 10)
	for _, test := range []struct {
		name    string
		others  []*member
		stop    int32
		members int
	}{
		{"alone there", nil, 50, 1},
		{"one at the same height", []*member{at(2, 10)}, 49, 2}, // as many blocks for one script more
		{"one above", []*member{at(2, 24)}, 24, 1},
		{"one at the end", []*member{at(2, 49)}, 49, 1},
		{"one behind it", []*member{at(2, 50)}, 50, 1},
		{"one below", []*member{at(2, 3)}, 50, 1},
		{"two above", []*member{at(2, 30), at(3, 20)}, 20, 1},
		{"one that wants others from 15 on", func() []*member {
			m := at(2, 10)
			m.to = 15
			return []*member{m}
		}(), 15, 2},
		{"one with rounds of its own", func() []*member {
			m := at(2, 24)
			m.alone = true
			return []*member{m}
		}(), 50, 1},
		{"one at the height with rounds of its own", func() []*member {
			m := at(2, 10)
			m.alone, m.to = true, 15
			return []*member{m}
		}(), 50, 1},
	} {
		r := p.together(first, append([]*member{first}, test.others...))
		if r.stop.Height != test.stop || len(r.members) != test.members {
			t.Errorf("%s: up to %d, %d members; want %d, %d",
				test.name, r.stop.Height, len(r.members), test.stop, test.members)
		}
		if r.base != first.Status.Done {
			t.Errorf("%s: begins behind %v", test.name, r.base)
		}
	}
	first.alone = true
	if r := p.together(first, []*member{first, at(2, 10), at(3, 20)}); r.stop.Height != 50 || len(r.members) != 1 {
		t.Errorf("a round of its own: up to %d, %d members", r.stop.Height, len(r.members))
	}
	first.to = 30
	if r := p.together(first, []*member{first}); r.stop.Height != 30 {
		t.Errorf("up to %d, and others are wanted behind 30", r.stop.Height)
	}
}

// Where blocks have much for each, a round is of some searches, always of that whose turn it is.
func TestBatchSizeIsBounded(t *testing.T) {
	s, chain := alone(t, 30)
	var ready []*member
	for n := range 5 {
		ready = append(ready, memberOf(jobAt(n, 0, -1, 3), chain.Active().Tip()))
	}
	for batchSize, want := range map[int]int{0: 5, 1: 1, 2: 2, 4: 4, 5: 5, 6: 5} {
		s.rounds.batchSize = batchSize
		r := planner{s}.together(ready[3], slices.Clone(ready))
		if first := slices.Contains(r.members, ready[3]); len(r.members) != want || !first {
			t.Errorf("at most %d: %d members, with the first: %v", batchSize, len(r.members), first)
		}
	}
}

// A round that has found too much is made smaller: of fewer blocks, or of one block for fewer searches; and rounds
// that find little are of more searches again.
func TestHeavyRounds(t *testing.T) {
	s, chain := alone(t, 100)
	round := func(blocks int32, members int) *round {
		r := &round{base: search.Block{Height: 10}, stop: chain.Active().At(10 + blocks)}
		for n := range members {
			r.members = append(r.members, memberOf(jobAt(n, 0, -1, 10), r.stop))
		}
		return r
	}
	p := planner{s}
	many := round(50, 4)
	p.lighten(&pass{round: many, blocks: 20, weight: 4 * maxWeight})
	if got := s.rounds.budget.blocks(many.scripts()); got != 2 { // half of what makes the weight
		t.Errorf("the next round is of %d blocks", got)
	}
	p.lighten(&pass{round: many, blocks: 50, weight: 1})
	if got := s.rounds.budget.blocks(many.scripts()); got != 49 {
		t.Errorf("the next round is of %d blocks, and of less than before", got)
	}
	if s.rounds.batchSize != 0 {
		t.Error("the next round is of fewer searches")
	}
	one := round(1, 8)
	p.lighten(&pass{round: one, blocks: 1, weight: 2 * maxWeight})
	if s.rounds.batchSize != 4 {
		t.Errorf("the next round is of %d searches", s.rounds.batchSize)
	}
	p.lighten(&pass{round: one, blocks: 1, weight: 100 * maxWeight})
	if s.rounds.batchSize != 1 {
		t.Errorf("the next round is of %d searches", s.rounds.batchSize)
	}
	for n := range 9 {
		s.jobs[searchdb.ID(n)] = jobAt(n, 0, -1, 10)
	}
	for _, want := range []int{2, 4, 8, 0, 0} {
		if p.resize(many, time.Second); s.rounds.batchSize != want {
			t.Errorf("at most %d searches after a light round, want %d", s.rounds.batchSize, want)
		}
	}
	s.rounds.batchSize = 2
	many.members[0].found = make([]search.Entry, maxWeight/2-1)
	if p.resize(many, time.Second); s.rounds.batchSize != 4 {
		t.Errorf("at most %d searches after a round that found less", s.rounds.batchSize)
	}
	s.rounds.batchSize = 2
	many.members[0].found = make([]search.Entry, maxWeight/2)
	if p.resize(many, time.Second); s.rounds.batchSize != 2 {
		t.Errorf("at most %d searches after a round that found much", s.rounds.batchSize)
	}
}

// A round ends where it has found more than it may, unless it cannot be made smaller.
func TestWeightOfRounds(t *testing.T) {
	_, chain := alone(t, 20)
	one, two := memberOf(jobAt(1, 0, -1, 9), chain.Active().Tip()), memberOf(jobAt(2, 0, -1, 9), chain.Active().Tip())
	for _, test := range []struct {
		name    string
		stop    int32
		members []*member
		weights []int
		heavy   bool
	}{
		{"as much as it may", 20, []*member{one}, []int{maxWeight - 1, 1}, false},
		{"one more", 20, []*member{one}, []int{maxWeight, 1}, true},
		{"of one block for one", 10, []*member{one}, []int{10 * maxWeight}, false},
		{"of two blocks for one", 11, []*member{one}, []int{10 * maxWeight}, true},
		{"of one block for two", 10, []*member{one, two}, []int{10 * maxWeight}, true},
	} {
		r := &round{base: search.Block{Height: 9}, stop: chain.Active().At(test.stop), members: test.members}
		p := &pass{round: r}
		var err error
		for _, w := range test.weights {
			err = p.weigh(w)
		}
		if errors.Is(err, errHeavy) != test.heavy || p.blocks != len(test.weights) {
			t.Errorf("%s: %v after %d blocks", test.name, err, p.blocks)
		}
	}
}

// A search pauses that would have more entries than all may, and a search that finds nothing goes on.
func TestRoomForEntries(t *testing.T) {
	for _, test := range []struct {
		limit, there uint64
		found        int
		want         bool
	}{{0, 1000, 5, true}, {10, 5, 5, true}, {10, 6, 5, false}, {10, 10, 0, true}, {10, 20, 0, true}} {
		s, _ := alone(t, 3)
		s.cfg.Limits.Entries, s.found = test.limit, test.there
		j := jobAt(1, 0, -1, 0)
		got := planner{s}.hasRoom(j, make([]search.Entry, test.found))
		if got != test.want || (j.Status.Mode == searchdb.Paused) == got {
			t.Errorf("%+v: %v, mode %v", test, got, j.Status.Mode)
		}
	}
}

// A round is wanted by a search that is where the round found it: there, running, with the same scripts.
func TestWantedRounds(t *testing.T) {
	for name, change := range map[string]func(*Searches, *job){
		"": func(*Searches, *job) {}, "removed": func(s *Searches, j *job) { delete(s.jobs, j.ID) },
		"made again": func(s *Searches, j *job) { s.jobs[j.ID] = jobAt(1, 0, -1, 5) },
		"paused":     func(_ *Searches, j *job) { j.Status.Mode = searchdb.Paused },
		"elsewhere":  func(_ *Searches, j *job) { j.Status.Done.Height++ },
		"extended":   func(_ *Searches, j *job) { j.Scripts = append(j.Scripts, searchdb.Script{}) },
	} {
		s, chain := alone(t, 9)
		j := jobAt(1, 0, -1, 5)
		s.add(j)
		m := memberOf(j, chain.Active().Tip())
		ctx, cancel := context.WithCancel(t.Context())
		s.rounds.running = &round{
			base: j.Status.Done, stop: chain.Active().Tip(), members: []*member{m}, cancel: cancel,
		}
		change(s, j)
		if wants := (planner{s}).wants(s.rounds.running, m); wants != (name == "") {
			t.Errorf("%q: wanted %v", name, wants)
		}
		if s.leave(); (ctx.Err() != nil) != (name != "") {
			t.Errorf("%q: the round has ended: %v", name, ctx.Err() != nil)
		}
		cancel()
	}
}

// A round ends when the only search that wants it is removed, and goes on if another search wants it too.
func TestRemovedFromARound(t *testing.T) {
	for _, others := range []int{0, 1} {
		s, chain := alone(t, 9)
		s.writer.running = true
		r := &round{stop: chain.Active().Tip()}
		for n := range 1 + others {
			j := jobAt(n, 0, -1, 5)
			s.add(j)
			r.base, r.members = j.Status.Done, append(r.members, memberOf(j, r.stop))
		}
		ctx, cancel := context.WithCancel(t.Context())
		r.cancel, s.rounds.running = cancel, r
		s.remove(&ask.Call[messages.RemoveSearch, bool]{Req: messages.RemoveSearch{ID: searchdb.ID(0).String()}})
		if (ctx.Err() != nil) != (others == 0) || len(s.jobs) != others {
			t.Errorf("%d others: the round has ended: %v; %d searches are left", others, ctx.Err() != nil, len(s.jobs))
		}
		cancel()
	}
}

// Blocks that have left the chain are entries of a search, and count as such.
func TestDisconnectedCount(t *testing.T) {
	s, chain := alone(t, 9)
	j := jobAt(1, 0, -1, 8)
	left := chain.Active().At(8)
	j.Status.Done = blockOf(left)
	j.Status.Top = j.Status.Done
	s.add(j)
	s.found = 5
	at := chain.Active().At(5)
	for n := range 6 {
		at = chain.MineOn(at, chaintest.Template{Script: []byte{byte(n)}})
	}
	reader := s.cfg.Chain.Open()
	if !(planner{s}).disconnect(reader, reader.Active(), j) || j.Status.Top.Height != 5 {
		t.Errorf("at height %d", j.Status.Top.Height)
	}
	if n := len(s.writer.change.Entries); n != 3 || s.found != 8 {
		t.Errorf("%d entries more, %d of all", n, s.found)
	}
	if !(planner{s}).disconnect(reader, reader.Active(), j) || s.found != 8 {
		t.Errorf("%d entries after another look", s.found)
	}
}

// In a round of several searches, each script belongs to its search, and a shared script to all its searches. A
// merged query serves later rounds of the same scripts, as long as there are few others.
func TestMergedQueriesOfSearches(t *testing.T) {
	_, chain := alone(t, 3)
	of := func(n int, from, to uint32) *member {
		j := jobAt(n, 0, -1, 0)
		m := memberOf(j, chain.Active().Tip())
		for i := range to {
			m.scripts = append(m.scripts, searchdb.Script{Script: fmt.Appendf(nil, "script %d", i)})
		}
		m.ranges = [][2]uint32{{from, to}}
		return m
	}
	a, b, c := of(1, 0, 3), of(2, 2, 5), of(3, 0, 1)
	u := newMergedQuery([]*member{a, b, c})
	for script, want := range map[string][]owner{
		"script 0": {{0, 0}, {2, 0}}, "script 1": {{0, 1}}, "script 2": {{0, 2}, {1, 2}}, "script 4": {{1, 4}},
	} {
		at, ok := u.Find([]byte(script))
		if got := u.ownersOf(uint32(at)); !ok || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", script, got, want)
		}
	}
	if _, ok := u.Find([]byte("script 5")); ok {
		t.Error("a script is found of no search")
	}
	if u.scripts != 7 || a.count() != 3 {
		t.Errorf("%d scripts, the first has %d", u.scripts, a.count())
	}
	if got := u.numbered([]*member{c, a}); !slices.Equal(got, []*member{a, nil, c}) {
		t.Errorf("numbered %v", got)
	}
	if !u.has([]*member{b}) || u.has([]*member{of(4, 0, 1)}) || u.has([]*member{of(2, 1, 5)}) {
		t.Error("a merged query serves others than its own, or not its own")
	}
	for _, test := range []struct {
		needed, others uint32
		want           bool
	}{
		{1, fewScripts, true},
		{1, fewScripts + 1, false},
		{20 * fewScripts, 5 * fewScripts, true},
		{20 * fewScripts, 5*fewScripts + 1, false},
	} {
		x, y := of(1, 0, test.needed), of(2, 0, test.others)
		if got := newMergedQuery([]*member{x, y}).has([]*member{x}); got != test.want {
			t.Errorf("%d others beside %d: %v", test.others, test.needed, got)
		}
	}
}

// The merged queries of the last rounds are kept, the last one first, but no more than there is room for; those
// with a removed search are not.
func TestMergedQueriesAreKept(t *testing.T) {
	var us mergedQueries
	made := make([]*mergedQuery, maxMergedQueries+2)
	for i := range made {
		made[i] = &mergedQuery{scripts: 10, places: map[searchdb.ID]int{searchdb.ID(i): 0}}
		us.used(made[i])
	}
	if want := (mergedQueries{made[5], made[4], made[3], made[2]}); !slices.Equal(us, want) {
		t.Errorf("%d are kept", len(us))
	}
	us.used(made[3])
	if want := (mergedQueries{made[3], made[5], made[4], made[2]}); !slices.Equal(us, want) {
		t.Errorf("%d are kept in another order", len(us))
	}
	us.drop(5)
	if want := (mergedQueries{made[3], made[4], made[2]}); !slices.Equal(us, want) {
		t.Errorf("%d are kept after a removal", len(us))
	}
	made[4].scripts, made[2].scripts = keptForScripts-3, 4
	us.used(made[5]) // 3 with 10, 4 with all that is left but 7, 2 with 4
	if want := (mergedQueries{made[5], made[3], made[2]}); !slices.Equal(us, want) {
		t.Errorf("%d are kept of large ones", len(us))
	}
	made[4].scripts = keptForScripts - 14
	us = mergedQueries{made[3], made[4], made[2]}
	us.used(made[5])
	if want := (mergedQueries{made[5], made[3], made[4], made[2]}); !slices.Equal(us, want) {
		t.Errorf("%d are kept of those that just fit", len(us))
	}
}
