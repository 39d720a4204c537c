package cluster

import (
	"math"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
)

// Heights that another worker node has had for long are leased a second time: the oldest, to a worker node that has
// nothing to do.
func TestHeightsThatTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &job{leases: map[match.Heights][]*lease{}}
		idle, busy := &peer{}, &peer{out: map[uint64]*lease{}}
		issued := uint64(0)
		give := func(from int32, ago, expected time.Duration) *lease {
			issued++
			l := &lease{
				unit: issued, job: j, peer: busy, heights: match.Heights{From: from, To: from + 1},
				at: time.Now().Add(-ago), expected: expected,
			}
			busy.out[l.unit] = l
			j.leases[l.heights] = []*lease{l}
			return l
		}
		const least = 200 * time.Millisecond
		give(1, least, 0)
		give(2, 3*time.Second, time.Second)
		if _, ok := j.straggling(idle); ok {
			t.Error("heights are leased twice that take no longer than they should")
		}
		give(3, least+1, 0)
		oldest := give(4, 3*time.Second+1, time.Second)
		give(5, least+2, 0)
		lost := give(6, time.Hour, 0)
		delete(busy.out, lost.unit)
		twice := give(7, time.Hour, 0)
		j.leases[twice.heights] = append(j.leases[twice.heights], &lease{peer: idle})
		if got, ok := j.straggling(idle); !ok || got != oldest.heights {
			t.Errorf("leased a second time are %v, %v; want %v", got, ok, oldest.heights)
		}
		if _, ok := j.straggling(busy); ok {
			t.Error("a worker node gets once more what it has")
		}
	})
}

// Only passes whose heights are leased, and worker nodes that may work, are counted against each other.
func TestMorePassesThanWorkerNodes(t *testing.T) {
	co := newCoordinator(testConfig(new(sentLink)), nil)
	co.peers = map[string]*peer{"a": {up: true}, "b": {up: true, excluded: true}, "c": {}, "d": {up: true}}
	for n, want := range []bool{false, false, false, true} {
		if co.oversubscribed() != want {
			t.Errorf("%d passes for two worker nodes: oversubscribed %v", n, !want)
		}
		co.jobs = append(co.jobs, &job{set: new(wire.Set)}, new(job))
	}
}

// Units take about as long as they are to, and less towards the end, for all to end at the same time.
func TestSizesOfUnits(t *testing.T) {
	few := filters.NewQuery([][]byte{{1}})
	type workerNode struct{ workers, rate float64 }
	for _, test := range []struct {
		name           string
		of             workerNode
		others         []workerNode
		local          bool
		oversubscribed bool
		left           int32
		want           float64
	}{
		{"of unknown speed", workerNode{2, 0}, nil, false, false, 1000, 8},
		{"of unknown speed and cores", workerNode{0, 0}, nil, false, false, 1000, 4},
		{"alone, in the middle", workerNode{1, 1000}, nil, false, false, 1000, 125},
		{"alone, far from the end", workerNode{1, 1000}, nil, false, false, 100_000, 200},
		{"alone, at the end", workerNode{1, 1000}, nil, false, false, 10, 50},
		{"slow", workerNode{4, 1}, nil, false, false, 10, 4},
		{"more passes than worker nodes", workerNode{1, 1000}, nil, false, true, 10, 1000},
		{"two, far from the end", workerNode{1, 1000}, []workerNode{{1, 1000}}, false, false, 100_000, 200},
		{"two, near the end", workerNode{1, 1000}, []workerNode{{1, 1000}}, false, false, 180, 30},
		{"two, at the end", workerNode{1, 1000}, []workerNode{{1, 1000}}, false, false, 10, 5},
		{"with this node, near the end", workerNode{1, 1000}, nil, true, false, 120, 40},
		{"with this node, far from the end", workerNode{1, 1000}, nil, true, false, 2400, 150},
	} {
		co := newCoordinator(testConfig(new(sentLink)), nil)
		pass := &match.Pass{Config: match.Config{Query: few, Stop: blockAt(test.left - 1)}}
		j := &job{local: test.local, set: new(wire.Set), pass: pass}
		var of *peer
		for i, m := range append([]workerNode{test.of}, test.others...) {
			p := &peer{up: true, workers: int(m.workers), scans: map[*job]*opened{j: {ready: true, rate: m.rate}}}
			co.peers[strconv.Itoa(i)] = p
			if i == 0 {
				of = p
			}
		}
		if test.oversubscribed {
			co.jobs = []*job{j, {set: new(wire.Set)}}
		}
		if got := co.unitSize(of, j, 0); math.Abs(got-test.want) > 0.01 {
			t.Errorf("%s: %v heights, want %v", test.name, got, test.want)
		}
		size := int32(max(test.want, 1))
		if got := co.unitEnd(of, j, 0); got != min(size, test.left) && got != min(size-1, test.left) {
			t.Errorf("%s: up to height %d", test.name, got)
		}
	}
}

// A worker node has two units of the passes in turns, and none of a pass of which many answers are looked into
// here, or while it is late.
func TestUnitsOfAWorkerNode(t *testing.T) {
	for _, test := range []struct {
		name        string
		checks      [2]int // of each pass
		late, ready bool
		want        [2]int // units of each pass
	}{
		{"in turns", [2]int{0, mostChecks - 1}, false, true, [2]int{1, 1}},
		{"one has many checks", [2]int{mostChecks, 0}, false, true, [2]int{0, 2}},
		{"both have", [2]int{mostChecks, mostChecks + 1}, false, true, [2]int{}},
		{"late", [2]int{}, true, true, [2]int{}},
		{"not ready", [2]int{}, false, false, [2]int{}},
	} {
		link := new(sentLink)
		co := newCoordinator(testConfig(link), nil)
		p := &peer{up: true, late: test.late, out: map[uint64]*lease{}, scans: map[*job]*opened{}}
		for i, checks := range test.checks {
			pass := match.New(match.Config{Query: filters.NewQuery([][]byte{{1}}), Stop: blockAt(1000)})
			j := &job{id: uint64(i), pass: pass, checks: checks, leases: map[match.Heights][]*lease{}}
			co.jobs = append(co.jobs, j)
			p.scans[j] = &opened{ready: test.ready}
		}
		co.fill(p)
		var got [2]int
		for _, m := range link.sent {
			got[m.Scan]++
		}
		if got != test.want || len(p.out) != got[0]+got[1] {
			t.Errorf("%s: %v units of the passes are leased, want %v", test.name, got, test.want)
		}
	}
}

// knownRange is a source of filters with one known range, which ends at a height.
type knownRange struct{ end int32 }

func (r knownRange) View() match.View { return knownView{end: r.end} }

type knownView struct {
	match.View

	end int32
}

func (v knownView) RangeEnd(int32) int32 { return v.end }
func (knownView) Release()               {}

// If hits are looked into and there are at least fewest scripts, a unit reaches at least to the end of a known
// range. Otherwise the range would be looked up twice.
func TestUnitsOfKnownRanges(t *testing.T) {
	for _, test := range []struct {
		scripts int
		exact   bool
		end     int32
		want    int32
	}{
		{fewest, true, 300, 300},
		{fewest - 1, true, 300, 104},
		{fewest, false, 300, 104},
		{fewest, true, 102, 104},
		{fewest, true, 100, 104},
		{fewest, true, math.MaxInt32, 100 + wire.MaxHits},
	} {
		var scripts [][]byte
		for n := range test.scripts {
			scripts = append(scripts, []byte{byte(n)})
		}
		pass := match.New(match.Config{
			Query: filters.NewQuery(scripts), Stop: blockAt(1 << 30), Exact: test.exact,
			Source: knownRange{test.end},
		})
		j := &job{pass: pass}
		p := &peer{workers: 1, scans: map[*job]*opened{j: {}}}
		if got := newCoordinator(testConfig(new(sentLink)), nil).unitEnd(p, j, 100); got != test.want {
			t.Errorf("%+v: up to height %d", test, got)
		}
		pass.Stop = blockAt(102)
		if got := newCoordinator(testConfig(new(sentLink)), nil).unitEnd(p, j, 100); got != 103 {
			t.Errorf("%+v: up to height %d, and the last is 102", test, got)
		}
	}
}
