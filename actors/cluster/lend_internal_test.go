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

// Heights that another member has had for long are lent once more: the oldest, to a member that has nothing to do.
func TestHeightsThatTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &job{loans: map[match.Heights][]*loan{}}
		idle, busy := &peer{}, &peer{out: map[uint64]*loan{}}
		issued := uint64(0)
		give := func(from int32, ago, expected time.Duration) *loan {
			issued++
			l := &loan{
				unit: issued, job: j, peer: busy, heights: match.Heights{From: from, To: from + 1},
				at: time.Now().Add(-ago), expected: expected,
			}
			busy.out[l.unit] = l
			j.loans[l.heights] = []*loan{l}
			return l
		}
		const least = 200 * time.Millisecond
		give(1, least, 0)
		give(2, 3*time.Second, time.Second)
		if _, ok := j.straggling(idle); ok {
			t.Error("heights are lent once more that take no longer than they should")
		}
		give(3, least+1, 0)
		oldest := give(4, 3*time.Second+1, time.Second)
		give(5, least+2, 0)
		lost := give(6, time.Hour, 0)
		delete(busy.out, lost.unit)
		twice := give(7, time.Hour, 0)
		j.loans[twice.heights] = append(j.loans[twice.heights], &loan{peer: idle})
		if got, ok := j.straggling(idle); !ok || got != oldest.heights {
			t.Errorf("lent once more are %v, %v; want %v", got, ok, oldest.heights)
		}
		if _, ok := j.straggling(busy); ok {
			t.Error("a member gets once more what it has")
		}
	})
}

// There are more passes than members where those that are lent from are more than those that may work.
func TestCrowdedMembers(t *testing.T) {
	f := newFront(testConfig(new(sentLink)), nil)
	f.peers = map[string]*peer{"a": {up: true}, "b": {up: true, excluded: true}, "c": {}, "d": {up: true}}
	for n, want := range []bool{false, false, false, true} {
		if f.crowded() != want {
			t.Errorf("%d passes for two members: crowded %v", n, !want)
		}
		f.jobs = append(f.jobs, &job{set: new(wire.Set)}, new(job))
	}
}

// Units take about as long as they are to, and less towards the end, for all to end at the same time.
func TestSizesOfUnits(t *testing.T) {
	few := filters.NewQuery([][]byte{{1}})
	type member struct{ workers, rate float64 }
	for _, test := range []struct {
		name    string
		of      member
		others  []member
		local   bool
		crowded bool
		left    int32
		want    float64
	}{
		{"of unknown speed", member{2, 0}, nil, false, false, 1000, 8},
		{"of unknown speed and cores", member{0, 0}, nil, false, false, 1000, 4},
		{"alone, in the middle", member{1, 1000}, nil, false, false, 1000, 125},
		{"alone, far from the end", member{1, 1000}, nil, false, false, 100_000, 200},
		{"alone, at the end", member{1, 1000}, nil, false, false, 10, 50},
		{"slow", member{4, 1}, nil, false, false, 10, 4},
		{"crowded", member{1, 1000}, nil, false, true, 10, 1000},
		{"two, far from the end", member{1, 1000}, []member{{1, 1000}}, false, false, 100_000, 200},
		{"two, near the end", member{1, 1000}, []member{{1, 1000}}, false, false, 180, 30},
		{"two, at the end", member{1, 1000}, []member{{1, 1000}}, false, false, 10, 5},
		{"with this node, near the end", member{1, 1000}, nil, true, false, 120, 40},
		{"with this node, far from the end", member{1, 1000}, nil, true, false, 2400, 150},
	} {
		f := newFront(testConfig(new(sentLink)), nil)
		pass := &match.Pass{Config: match.Config{Query: few, Stop: blockAt(test.left - 1)}}
		j := &job{local: test.local, set: new(wire.Set), pass: pass}
		var of *peer
		for i, m := range append([]member{test.of}, test.others...) {
			p := &peer{up: true, workers: int(m.workers), scans: map[*job]*opened{j: {ready: true, rate: m.rate}}}
			f.peers[strconv.Itoa(i)] = p
			if i == 0 {
				of = p
			}
		}
		if test.crowded {
			f.jobs = []*job{j, {set: new(wire.Set)}}
		}
		if got := f.unitSize(of, j, 0); math.Abs(got-test.want) > 0.01 {
			t.Errorf("%s: %v heights, want %v", test.name, got, test.want)
		}
		size := int32(max(test.want, 1))
		if got := f.unitEnd(of, j, 0); got != min(size, test.left) && got != min(size-1, test.left) {
			t.Errorf("%s: up to height %d", test.name, got)
		}
	}
}
