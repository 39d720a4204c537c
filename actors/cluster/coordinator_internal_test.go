package cluster

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/internal/match"
)

// A name of the cluster that cannot be found is logged once, until it is found.
func TestNamesNotFoundAreLoggedOnce(t *testing.T) {
	var text bytes.Buffer
	log := slog.New(slog.NewTextHandler(&text, nil))
	no := errors.New("no")
	var before []string
	for _, step := range []struct {
		unknown map[string]error
		logged  []string
	}{
		{map[string]error{"b:1": no, "a:1": no}, []string{"a:1", "b:1"}},
		{map[string]error{"b:1": no, "a:1": no}, nil},
		{map[string]error{"a:1": no}, nil},
		{map[string]error{"b:1": no, "a:1": no}, []string{"b:1"}},
	} {
		text.Reset()
		before = notFound(log, before, step.unknown)
		if n := strings.Count(text.String(), "cannot be found"); n != len(step.logged) {
			t.Errorf("%v: logged %s", step.unknown, text.String())
		}
		for _, node := range step.logged {
			if !strings.Contains(text.String(), node) {
				t.Errorf("%s is not logged: %s", node, text.String())
			}
		}
	}
}

// An address stands for itself, and a name for all that it has; what has no port, or no address, is an error.
func TestAddressesOfNodes(t *testing.T) {
	cfg := testConfig(new(sentLink))
	cfg.Resolve = func(_ context.Context, host string) ([]string, error) {
		if host == "two" {
			return []string{"10.0.0.1", "fd00::2"}, nil
		}
		return nil, &net.DNSError{Err: "no", Name: host}
	}
	co := newCoordinator(cfg, nil)
	for node, want := range map[string][]string{
		"two:7": {"10.0.0.1:7", "[fd00::2]:7"}, "10.1.1.1:7": {"10.1.1.1:7"}, "[fd00::3]:7": {"[fd00::3]:7"},
		"none:7": nil, "two": nil, "10.1.1.1": nil,
	} {
		got, err := co.addresses(t.Context(), node)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%s: %v, %v", node, got, err)
		}
	}
}

// Each listed node becomes a peer, except this node itself and those beyond the bound. A peer that left the list
// goes, unless it is up.
func TestPeersOfAList(t *testing.T) {
	link := new(sentLink)
	co := newCoordinator(testConfig(link), nil)
	co.listed([]string{"a:1", "self:1", "b:1", "a:1"})
	if len(co.peers) != 2 || len(co.sessions) != 2 || !slices.Equal(link.to, []string{"a:1", "b:1"}) {
		t.Errorf("%d peers, %d sessions, said hello to %v", len(co.peers), len(co.sessions), link.to)
	}
	co.peers["a:1"].up = true
	co.listed([]string{"c:1"})
	a := co.peers["a:1"]
	if a == nil || a.listed || co.peers["b:1"] != nil || !co.peers["c:1"].listed || len(co.sessions) != 2 {
		t.Errorf("%d peers, %d sessions", len(co.peers), len(co.sessions))
	}
	co.gone(nil, "a:1")
	if co.peers["a:1"] != nil || len(co.sessions) != 1 {
		t.Error("a node that is down and not listed is kept")
	}
	var many []string
	for n := range 2 * maxPeers {
		many = append(many, string(rune('A'+n))+":1")
	}
	if co.listed(many); len(co.peers) != maxPeers {
		t.Errorf("%d peers", len(co.peers))
	}
}

// A node that does not answer is asked at growing intervals. A node that is up is asked every pingEvery, and is down
// after deadAfter of silence.
func TestHellos(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := new(sentLink)
		co := newCoordinator(testConfig(link), nil)
		co.listed([]string{"a:1"})
		p := co.peers["a:1"]
		link.kinds()
		var at []time.Duration
		began := time.Now()
		for range 1600 {
			time.Sleep(10 * time.Millisecond)
			if co.keepUp(p, time.Now()); len(link.kinds()) > 0 {
				at = append(at, time.Since(began))
			}
		}
		const ms = time.Millisecond
		if want := []time.Duration{500 * ms, 1500 * ms, 3500 * ms, 7500 * ms, 12500 * ms}; !slices.Equal(at, want) {
			t.Errorf("asked at %v", at)
		}
		co.receive(nil, &wire.Message{
			Kind: wire.Welcome, Session: p.session, Protocols: []uint32{wire.Protocol}, Network: "regtest",
			Workers: 5000, Height: 8, Text: "build",
		})
		if st := p.state(); st.Workers != 1<<12 || st.Height != 8 || st.Build != "build" || st.State != "up" {
			t.Errorf("%+v", st)
		}
		before := p.session
		at, began = nil, time.Now()
		for range 650 {
			time.Sleep(10 * time.Millisecond)
			if co.keepUp(p, time.Now()); slices.Contains(link.kinds(), wire.Hello) {
				at = append(at, time.Since(began))
			}
		}
		if len(at) < 3 || at[1]-at[0] != pingEvery || p.up || p.session == before || co.sessions[before] != nil {
			t.Errorf("asked at %v, up %v", at, p.up)
		}
	})
}

// A node of another network, or with another protocol, is no worker node.
func TestNoWelcome(t *testing.T) {
	for name, m := range map[string]wire.Message{
		"network": {Protocols: []uint32{wire.Protocol}, Network: "main"},
		"version": {Protocols: []uint32{wire.Protocol + 1}, Network: "regtest"},
	} {
		co := newCoordinator(testConfig(new(sentLink)), nil)
		co.listed([]string{"a:1"})
		p := co.peers["a:1"]
		m.Kind, m.Session = wire.Welcome, p.session
		if co.receive(nil, &m); p.up || p.counts.Refusals != 1 || p.counts.Refusal == "" {
			t.Errorf("%s: up %v, %+v", name, p.up, p.counts)
		}
	}
}

// The reported state of a worker node is the worst that applies.
func TestStatesOfWorkerNodes(t *testing.T) {
	for _, test := range []struct {
		up, late, excluded bool
		want               string
	}{
		{true, false, false, "up"},
		{true, true, false, "late"},
		{false, true, false, "down"},
		{false, false, false, "down"},
		{true, true, true, "excluded"},
		{false, false, true, "excluded"},
	} {
		p := &peer{up: test.up, late: test.late, excluded: test.excluded}
		if got := p.state().State; got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
		j := new(job)
		p.scans = map[*job]*opened{j: {ready: true}}
		if p.works(j) != (test.want == "up") {
			t.Errorf("%+v works: %v", test, p.works(j))
		}
	}
	if (&peer{up: true}).works(new(job)) {
		t.Error("a worker node works on what it has not opened")
	}
}

// A worker node's speed is an average over its answers, with a weight of 0.7 on all earlier answers.
func TestSpeedOfWorkerNodes(t *testing.T) {
	o := new(opened)
	o.measure(match.Heights{From: 10, To: 110}, time.Second)
	if o.rate < 99.9 || o.rate > 100.1 {
		t.Errorf("first %v", o.rate)
	}
	o.measure(match.Heights{From: 0, To: 100}, 2*time.Second)
	if o.rate < 84.9 || o.rate > 85.1 {
		t.Errorf("then %v", o.rate)
	}
	o.measure(match.Heights{From: 0, To: 1}, 0)
	if want := 0.7*85 + 0.3*1e5; o.rate < want-1 || o.rate > want+1 {
		t.Errorf("in no time %v", o.rate)
	}
}

// Heights are free when the last lease of them is removed, and no empty list is left behind.
func TestLeasesOfTheSameHeights(t *testing.T) {
	j := &job{leases: map[match.Heights][]*lease{}}
	h := match.Heights{From: 1, To: 5}
	one, two := &lease{job: j, heights: h}, &lease{job: j, heights: h}
	j.leases[h] = []*lease{one, two}
	if one.remove() || len(j.leases[h]) != 1 {
		t.Error("the first of two is the last")
	}
	if one.remove() {
		t.Error("a lease is removed twice")
	}
	if !two.remove() {
		t.Error("the last is not")
	}
	if _, left := j.leases[h]; left || two.remove() {
		t.Error("something is left of heights that nobody has")
	}
}

// An answer after its heights were given back ends the wait for the worker node; the answer to a cancelled unit
// does not.
func TestLateAnswers(t *testing.T) {
	co := newCoordinator(testConfig(new(sentLink)), nil)
	co.listed([]string{"a:1"})
	p := co.peers["a:1"]
	j, other := &job{local: true}, &job{local: true}
	h := match.Heights{From: 1, To: 5}
	p.up, p.scans[j], p.scans[other] = true, &opened{ready: true}, &opened{ready: true}
	p.lost[7], p.late = &lease{unit: 7, job: j, peer: p, heights: h}, true
	refused := func(unit uint64) *wire.Message { return &wire.Message{Kind: wire.Done, Unit: unit, Text: "no"} }
	co.done(nil, p, j, refused(8))
	co.done(nil, p, other, refused(7))
	if !p.late || len(p.lost) != 1 || p.counts.Refusals != 0 {
		t.Error("an answer to nothing counts")
	}
	co.done(nil, p, j, refused(7))
	if p.late || len(p.lost) != 0 || p.counts.Refusal != "no" || p.counts.Redone != 0 || p.scans[j].ready {
		t.Errorf("after the answer: late %v, %d lost, %+v", p.late, len(p.lost), p.counts)
	}
}

// A node that begins to lease heights of a pass waits just as long as it is to before, whatever its timer was set to.
func TestFirstLookAtAPass(t *testing.T) {
	k := &Cluster{cfg: Config{Options: Options{After: 20 * time.Millisecond}}}
	k.coordinator = newCoordinator(&k.cfg, nil)
	now := time.Unix(1000, 0)
	for _, test := range []struct {
		jobs []*job
		want time.Duration
	}{
		{nil, idleTick},
		{[]*job{{waited: true}}, busyTick},
		{[]*job{{began: now}}, 20 * time.Millisecond},
		{[]*job{{began: now.Add(-5 * time.Millisecond)}, {waited: true}}, 15 * time.Millisecond},
		{[]*job{{began: now.Add(-time.Hour)}}, 0},
	} {
		k.coordinator.jobs = test.jobs
		if got := k.next(now); got != test.want {
			t.Errorf("%d passes: %v, want %v", len(test.jobs), got, test.want)
		}
	}
}

// A worker node is about to open a pass for as long as it answers, but no longer than that may take.
func TestWorkerNodesThatGetReady(t *testing.T) {
	now := time.Unix(1000, 0)
	j := &job{cutting: true}
	for _, test := range []struct {
		name            string
		since, lastSeen time.Duration
		change          func(*peer, *opened)
		want            bool
	}{
		{"just asked", 0, time.Hour, nil, true},
		{"a moment ago", overdue - 1, time.Hour, nil, true},
		{"silent since", overdue, overdue, nil, false},
		{"answered since", overdue, overdue - 1, nil, true},
		{"for long, and has answered", readyWithin - 1, 0, nil, true},
		{"for too long", readyWithin, 0, nil, false},
		{"down", 0, 0, func(p *peer, _ *opened) { p.up = false }, false},
		{"late", 0, 0, func(p *peer, _ *opened) { p.late = true }, false},
		{"excluded", 0, 0, func(p *peer, _ *opened) { p.excluded = true }, false},
		{"refused", 0, 0, func(_ *peer, o *opened) { o.refused = true }, false},
		{"to be asked later", 0, 0, func(_ *peer, o *opened) { o.retryAt = now }, false},
	} {
		o := &opened{since: now.Add(-test.since)}
		p := &peer{up: true, lastSeen: now.Add(-test.lastSeen), scans: map[*job]*opened{j: o}}
		if test.change != nil {
			test.change(p, o)
		}
		if got := p.getsReady(j, now); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
	p := &peer{up: true}
	for _, test := range []struct {
		cutting bool
		set     *wire.Set
		want    bool
	}{{true, nil, true}, {false, nil, false}, {true, new(wire.Set), false}} {
		if got := p.getsReady(&job{cutting: test.cutting, set: test.set}, now); got != test.want {
			t.Errorf("%+v, not asked yet: %v", test, got)
		}
	}
}
