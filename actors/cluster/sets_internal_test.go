package cluster

import (
	"encoding/binary"
	"iter"
	"runtime"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/actors/cluster/wire"
)

// What is counted for a set is what it takes at most, while its query is made, and not much more.
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

// heap is the memory that is in use.
func heap() int64 {
	runtime.GC()
	runtime.GC() // of what was in pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
