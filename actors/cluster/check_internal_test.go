package cluster

import (
	"errors"
	"testing"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
)

// What a member has answered is taken unless it is wrong. Where the member was found wrong meanwhile, only what an audit
// has found right is taken, and the rest is done again.
func TestAnswersThatWereLookedInto(t *testing.T) {
	unreadable := errors.New("a block cannot be read")
	for _, test := range []struct {
		name                   string
		excluded, ended        bool
		verdict                verdict
		err                    error
		settled, back, audited bool
	}{
		{name: "not audited", verdict: unaudited, settled: true},
		{name: "right", verdict: right, settled: true, audited: true},
		{name: "excluded", excluded: true, verdict: unaudited, back: true},
		{name: "excluded, a block cannot be read", excluded: true, verdict: unaudited, err: unreadable, back: true},
		{name: "excluded, and right", excluded: true, verdict: right, settled: true, audited: true},
		{name: "the pass has ended", ended: true, verdict: right},
		{name: "the pass has ended, a block cannot be read", ended: true, verdict: unaudited, err: unreadable},
		{name: "the pass has ended, excluded", excluded: true, ended: true, verdict: unaudited},
	} {
		f := newFront(testConfig(new(sentLink)), nil)
		pass := match.New(match.Config{Query: filters.NewQuery([][]byte{{1}}), Stop: blockAt(1000)})
		j := &job{
			pass: pass, local: true, loans: map[match.Heights][]*loan{}, settled: map[*peer]bool{},
		}
		p := &peer{up: true, excluded: test.excluded, out: map[uint64]*loan{}}
		heights, _ := pass.Lend(func(from int32) int32 { return from + 10 })
		l := &loan{unit: 1, job: j, peer: p, heights: heights}
		j.loans[heights] = []*loan{l}
		if !test.ended {
			f.jobs = []*job{j}
		}
		left := pass.Left()
		f.checked(l, nil, test.verdict, test.err)
		if j.settled[p] != test.settled || (p.counts.Audited > 0) != test.audited || (p.counts.Redone > 0) != test.back {
			t.Errorf("%s: settled %v, %+v", test.name, j.settled[p], p.counts)
		}
		if back := pass.Left() > left; back != test.back {
			t.Errorf("%s: the heights are given back: %v", test.name, back)
		}
		if kept := len(f.jobs) > 0; kept == test.ended {
			t.Errorf("%s: the pass goes on: %v", test.name, kept)
		}
		if kept := len(j.loans) > 0; kept != test.ended {
			t.Errorf("%s: lent still: %v", test.name, kept)
		}
	}
}
