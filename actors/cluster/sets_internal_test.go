package cluster

import (
	"encoding/binary"
	"iter"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/filters"
)

// The cost of a set is an upper bound of its memory while its query is made, at most three times the use.
func TestSetCost(t *testing.T) {
	for length, count := range map[int]int{5: 32_000, 22: 32_000, 34: 32_000, 4000: 300} {
		sent, _ := wire.NewSet(func(n int) iter.Seq[[]byte] {
			return func(yield func([]byte) bool) {
				script := make([]byte, length)
				for ; n < count; n++ {
					binary.BigEndian.PutUint32(script, uint32(n))
					if !yield(script) {
						return
					}
				}
			}
		})
		before := heap()
		s := newSets(DefaultMemory, DefaultPassOn).add(setKey{digest: sent.Digest}, &wire.Message{
			Scripts: uint32(sent.Scripts()), Chunks: uint32(sent.Chunks()), Size: sent.Size,
		})
		for i := range sent.Chunks() {
			s.add(uint32(i), slices.Clone(sent.AppendChunk(nil, i)))
		}
		var err error
		if s.query, err = s.prepare(s.chunks); err != nil {
			t.Fatal(err)
		}
		took := heap() - before
		if took > s.cost || took < s.cost/3 {
			t.Errorf("%d scripts of %d bytes take %d bytes, and count for %d", count, length, took, s.cost)
		}
		runtime.KeepAlive(s)
	}
}

// Chunks of more bytes than were announced are refused, and take no memory.
func TestChunksBeyondTheAnnouncedSize(t *testing.T) {
	s := newSets(DefaultMemory, DefaultPassOn).add(setKey{}, &wire.Message{Scripts: 3, Chunks: 2, Size: 100})
	if s == nil {
		t.Fatal("no room for a set of 100 bytes")
	}
	if !s.add(0, make([]byte, 60)) || s.add(1, make([]byte, 41)) || !s.receiving() {
		t.Error("101 bytes of 100 are taken")
	}
	if !s.add(1, make([]byte, 40)) || s.receiving() {
		t.Error("100 bytes of 100 are refused")
	}
}

// announce is a set of n scripts of 100 bytes each, a chunk for each.
func announce(n byte) *wire.Message {
	return &wire.Message{Set: [32]byte{n}, Scripts: uint32(n), Chunks: uint32(n), Size: 100 * uint64(n)}
}

// A set with impossible sizes is refused, as is a set without room. Unused sets make room, the oldest first.
func TestRoomForSets(t *testing.T) {
	for _, wrong := range []wire.Message{
		{Scripts: 0, Chunks: 0, Size: 0},
		{Scripts: 0, Chunks: 1, Size: 9},
		{Scripts: 1, Chunks: 0, Size: 9},
		{Scripts: 2, Chunks: 3, Size: 9},
		{Scripts: 10, Chunks: 3, Size: 9},
	} {
		if newSets(1<<20, 1).add(setKey{}, &wrong) != nil {
			t.Errorf("%+v is taken", wrong)
		}
	}
	if newSets(1<<20, 1).add(setKey{}, &wire.Message{Scripts: 9, Chunks: 9, Size: 9}) == nil {
		t.Error("a set of scripts of one byte, and a chunk for each, is refused")
	}
	cost := newSets(1<<20, 1).add(setKey{}, announce(4)).cost
	if want := int64(2*400 + 100 + 4*scriptCost); cost != want {
		t.Errorf("a set counts for %d bytes, want %d", cost, want)
	}
	if newSets(cost-1, 1).add(setKey{}, announce(4)) != nil || newSets(cost, 1).add(setKey{}, announce(4)) == nil {
		t.Error("a set is taken that is larger than all may be, or refused that is as large")
	}
	synctest.Test(t, func(t *testing.T) {
		sets, coordinator := newSets(3*cost, 1), &session{token: [16]byte{1}}
		var made []*set
		take := func(n byte) *set {
			m := announce(4)
			m.Set = [32]byte{n}
			return sets.take(coordinator, m)
		}
		for n := range byte(3) {
			made = append(made, take(n))
		}
		if take(9) != nil {
			t.Error("there is room for a fourth set, and all are used")
		}
		for _, n := range []int{1, 0, 2} { // the set in the middle is released first
			made[n].query = filters.NewQuery([][]byte{{1}})
			sets.prepared(made[n])
			time.Sleep(time.Second)
			sets.release(made[n])
		}
		if again := take(1); again != made[1] || again.uses != 1 {
			t.Error("a set that is kept is not found again")
		}
		sets.release(made[1]) // now it is the newest
		time.Sleep(time.Second)
		if take(9) == nil || sets.used != 3*cost || len(sets.byKey) != 3 || made[0].ctx.Err() == nil ||
			made[1].ctx.Err() != nil || made[2].ctx.Err() != nil {
			t.Errorf("%d sets of %d bytes are kept", len(sets.byKey), sets.used)
		}
	})
}

// A set is its coordinator's own until its digest was checked, and then all coordinators'. Without a query it is of
// no use to others.
func TestWhoseSetsAre(t *testing.T) {
	sets, one, two := newSets(1<<20, 1), &session{token: [16]byte{1}}, &session{token: [16]byte{2}}
	a, b := sets.take(one, announce(2)), sets.take(two, announce(2))
	if a == b || sets.take(one, announce(2)) != a || a.uses != 2 {
		t.Fatal("two coordinators share a set that was not checked, or one has two")
	}
	a.query = filters.NewQuery([][]byte{{1}})
	sets.prepared(a)
	if sets.take(two, announce(2)) != a || sets.take(&session{token: [16]byte{3}}, announce(2)) != a {
		t.Error("a set that was checked is not shared")
	}
	sets.prepared(b) // it stays its coordinator's
	if sets.byKey[setKey{digest: [32]byte{2}}] != a || sets.byKey[b.key] != b {
		t.Error("a second set has come in the place of the first")
	}
	used := sets.used
	sets.release(b)
	if b.ctx.Err() == nil || sets.used != used-b.cost || sets.byKey[b.key] == b {
		t.Error("a set that is not complete stays without a use")
	}
	a.chunks, a.waiting = [][]byte{{1}}, []waiter{{}}
	for range a.uses {
		if a.chunks == nil {
			t.Error("the chunks of a set are gone that is used")
		}
		sets.release(a)
	}
	if a.chunks != nil || a.waiting != nil || a.ctx.Err() != nil || a.used.IsZero() {
		t.Error("a set without a use keeps its chunks, or is gone")
	}
	sets.prepared(&set{key: setKey{digest: [32]byte{7}}}) // of which nobody waits any more
	if len(sets.byKey) != 1 {
		t.Errorf("%d sets are kept", len(sets.byKey))
	}
}

// Chunks are taken once each, in any order; the first that is missing is known.
func TestChunksOfASet(t *testing.T) {
	s := newSets(1<<20, 1).add(setKey{}, announce(3))
	full := make([]byte, 100)
	for _, step := range []struct {
		index uint32
		chunk []byte
		ok    bool
		first int
		left  int
	}{
		{1, full, true, 0, 2},
		{1, full, true, 0, 2},
		{3, full, false, 0, 2},
		{0, nil, false, 0, 2},
		{0, full, true, 2, 1},
		{2, full[:99], true, 0, 0},
		{2, full, true, 0, 0},
	} {
		if ok := s.add(step.index, step.chunk); ok != step.ok || s.first() != step.first || s.missing != step.left {
			t.Errorf("chunk %d: %v, first %d, %d are missing", step.index, ok, s.first(), s.missing)
		}
	}
}

// heap is the memory that is in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // frees the contents of pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
