package cluster

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
)

// An answer is taken unless it is wrong. If the worker node was excluded meanwhile, only answers that an audit has
// found right are taken, and the rest is done again.
func TestAnswersThatWereLookedInto(t *testing.T) {
	unreadable := errors.New("a block cannot be read")
	for _, test := range []struct {
		name                    string
		excluded, ended         bool
		verdict                 verdict
		err                     error
		answered, back, audited bool
	}{
		{name: "not audited", verdict: unaudited, answered: true},
		{name: "right", verdict: right, answered: true, audited: true},
		{name: "excluded", excluded: true, verdict: unaudited, back: true},
		{name: "excluded, a block cannot be read", excluded: true, verdict: unaudited, err: unreadable, back: true},
		{name: "excluded, and right", excluded: true, verdict: right, answered: true, audited: true},
		{name: "the pass has ended", ended: true, verdict: right},
		{name: "the pass has ended, a block cannot be read", ended: true, verdict: unaudited, err: unreadable},
		{name: "the pass has ended, excluded", excluded: true, ended: true, verdict: unaudited},
	} {
		co := newCoordinator(testConfig(new(sentLink)), nil)
		pass := match.New(match.Config{Query: filters.NewQuery([][]byte{{1}}), Stop: blockAt(1000)})
		j := &job{
			pass: pass, local: true, leases: map[match.Heights][]*lease{}, answered: map[*peer]bool{},
		}
		p := &peer{up: true, excluded: test.excluded, out: map[uint64]*lease{}}
		heights, _ := pass.Lease(func(from int32) int32 { return from + 10 })
		l := &lease{unit: 1, job: j, peer: p, heights: heights}
		j.leases[heights] = []*lease{l}
		if !test.ended {
			co.jobs = []*job{j}
		}
		left := pass.Left()
		l.checked(co, nil, test.verdict, test.err)
		audited, back := p.counts.Audited > 0, p.counts.Redone > 0
		if j.answered[p] != test.answered || audited != test.audited || back != test.back {
			t.Errorf("%s: answered %v, %+v", test.name, j.answered[p], p.counts)
		}
		if back := pass.Left() > left; back != test.back {
			t.Errorf("%s: the heights are given back: %v", test.name, back)
		}
		if kept := len(co.jobs) > 0; kept == test.ended {
			t.Errorf("%s: the pass goes on: %v", test.name, kept)
		}
		if kept := len(j.leases) > 0; kept != test.ended {
			t.Errorf("%s: still leased: %v", test.name, kept)
		}
	}
}

// A worker node is down once it answers Unknown or Refused: its leased heights come back, and it gets a new
// session. For a worker node that is down already, such an answer makes no difference.
func TestWorkerNodesThatKnowNothing(t *testing.T) {
	for _, kind := range []wire.Kind{wire.Unknown, wire.Refused} {
		for _, up := range []bool{true, false} {
			co := newCoordinator(testConfig(new(sentLink)), nil)
			co.listed([]string{"a:1"})
			p := co.peers["a:1"]
			p.up = up
			pass := match.New(match.Config{Query: filters.NewQuery([][]byte{{1}}), Stop: blockAt(1000)})
			j := &job{pass: pass, local: true, leases: map[match.Heights][]*lease{}}
			heights, _ := pass.Lease(func(from int32) int32 { return from + 10 })
			l := &lease{unit: 1, job: j, peer: p, heights: heights}
			p.out[1], j.leases[heights] = l, []*lease{l}
			session := p.session
			co.receive(nil, &wire.Message{Kind: kind, Session: session, Text: "no"})
			if p.up || (p.session != session) != up || (pass.Left() == 1001) != up || (len(p.out) == 0) != up {
				t.Errorf("%v, up %v: up %v, another session %v, %d heights are left, %d leased",
					kind, up, p.up, p.session != session, pass.Left(), len(p.out))
			}
			if refusals := p.counts.Refusals; (refusals == 1) != (kind == wire.Refused) {
				t.Errorf("%v: %d refusals", kind, refusals)
			}
		}
	}
}

// The time of a unit is estimated from the speed of its worker node; a unit behind another takes as long as both.
func TestHowLongUnitsTake(t *testing.T) {
	for _, test := range []struct {
		rate     float64
		expected []time.Duration
	}{
		{0, []time.Duration{0, 0}},
		{100, []time.Duration{200 * time.Millisecond, 400 * time.Millisecond}},
	} {
		co := newCoordinator(testConfig(new(sentLink)), nil)
		p := &peer{up: true, workers: 1, out: map[uint64]*lease{}}
		pass := match.New(match.Config{Query: filters.NewQuery([][]byte{{1}}), Stop: blockAt(100_000)})
		j := &job{pass: pass, leases: map[match.Heights][]*lease{}}
		p.scans = map[*job]*opened{j: {ready: true, rate: test.rate}}
		co.jobs = []*job{j}
		co.fill(p)
		for unit, want := range test.expected {
			if l := p.out[uint64(unit+1)]; l == nil || l.expected != want || l.takes != test.expected[0] {
				t.Errorf("%v blocks a second: unit %d is %+v", test.rate, unit+1, l)
			}
		}
	}
}

// Cutting of scripts stops, after at most lookEvery of them, once nobody waits for them any more.
func TestCutScriptsAreWaitedFor(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	for ctx, want := range map[context.Context]int{ended: lookEvery - 1, t.Context(): 3 * lookEvery} {
		count := 0
		for range until(ctx, func(yield func([]byte) bool) {
			for range 3 * lookEvery {
				if !yield(nil) {
					return
				}
			}
		}) {
			count++
		}
		if count != want {
			t.Errorf("%d scripts, want %d", count, want)
		}
	}
}

// A scan that is open already is reported as it is, even if the chain cannot be read any more.
func TestOpenedTwice(t *testing.T) {
	link := new(sentLink)
	cfg := testConfig(link)
	cfg.Chain = noChain()
	m := newWorkerNode(cfg, nil)
	s := &session{coordinator: "a:1", scans: map[uint64]*served{}}
	s.scans[7] = &served{session: s, id: 7, set: m.sets.take(s, announce(3))}
	for scan, want := range map[uint64]wire.Message{
		7: {Need: true}, 8: {Text: "its chain cannot be read yet", Retry: true},
	} {
		link.sent = nil
		m.open(s, &wire.Message{Kind: wire.Open, Scan: scan})
		if got := link.sent; len(got) != 1 || got[0].Kind != wire.Opened || got[0].Scan != scan ||
			got[0].Need != want.Need || got[0].Retry != want.Retry || got[0].Text != want.Text {
			t.Errorf("scan %d: %+v", scan, got)
		}
	}
}
