package cluster

import (
	"context"
	"slices"
	"time"

	"github.com/seed61375155/trawl/actors/cluster/wire"
	"github.com/seed61375155/trawl/filters"
)

const (
	// scriptCost is what a script takes beside its bytes.
	scriptCost = 48

	// lookEvery is after how many scripts it is looked whether anybody still waits.
	lookEvery = 1 << 12

	maxWaiting = 64 // worker nodes that wait for chunks of a set, by chunks
)

// A set is the scripts of a scan, as they come in and when they can be looked for.
type set struct {
	key     setKey
	scripts uint32
	size    int64    // bytes of all chunks
	left    uint64   // bytes that are to come
	missing int      // chunks that are to come
	chunks  [][]byte // until all are there, and where others may fetch them, as long as it is used
	from    *source  // another worker node that it is fetched from; nil: the coordinator sends it
	waiting []waiter
	query   *filters.Query
	ctx     context.Context //nolint:containedctx // ends when the set is removed
	cancel  context.CancelFunc

	cost int64
	uses int       // scans that look for it
	used time.Time // when the last one ended
}

// setKey names a set: by its digest alone once that was checked.
type setKey struct {
	digest  [32]byte
	session [16]byte
}

// waiter is a worker node that has asked for a chunk that is to come.
type waiter struct {
	address string
	token   [16]byte
	index   uint32
}

// receiving reports whether chunks are to come.
func (s *set) receiving() bool { return s.missing > 0 }

// first returns the number of the first chunk that is missing.
func (s *set) first() int {
	return max(slices.IndexFunc(s.chunks, func(chunk []byte) bool { return chunk == nil }), 0)
}

// add takes a chunk. It reports false if the chunk cannot be of the set.
func (s *set) add(index uint32, chunk []byte) bool {
	if int(index) >= len(s.chunks) || len(chunk) == 0 {
		return false
	}
	if s.chunks[index] != nil {
		return true // asked again
	}
	if uint64(len(chunk)) > s.left {
		return false
	}
	s.chunks[index] = chunk
	s.left -= uint64(len(chunk))
	s.missing--
	return true
}

// prepare makes the query, unless the set is removed meanwhile.
func (s *set) prepare(chunks [][]byte) (*filters.Query, error) {
	scripts, err := wire.Scripts(chunks, s.key.digest, s.scripts)
	if err != nil {
		return nil, err
	}
	return filters.QueryOf(until(s.ctx, scripts), int(s.scripts)), s.ctx.Err()
}

// sets are the kept sets of scripts, within a bound of memory.
type sets struct {
	byKey     map[setKey]*set
	used, max int64
	passOn    int64 // bytes, from which on others may fetch a set
}

func newSets(most, passOn int64) *sets {
	return &sets{byKey: make(map[setKey]*set), max: most, passOn: passOn}
}

// take returns the set that a coordinator announces, for one scan more; nil where there is no room
// for it, or where it cannot be.
func (s *sets) take(from *session, r *wire.Message) *set {
	key := setKey{digest: r.Set}
	found := s.byKey[key]
	if found == nil {
		key.session = from.token
		found = s.byKey[key]
	}
	if found == nil {
		if found = s.add(key, r); found == nil {
			return nil
		}
	}
	found.uses++
	return found
}

func (s *sets) add(key setKey, r *wire.Message) *set {
	if r.Scripts == 0 || r.Chunks == 0 || r.Chunks > r.Scripts || uint64(r.Scripts) > r.Size {
		return nil
	}
	// While a set is made ready its bytes are there twice: in chunks, and in the query, which has room to grow.
	cost := 2*int64(r.Size) + int64(r.Size)/4 + int64(r.Scripts)*scriptCost
	if cost > s.max || !s.makeRoom(cost) {
		return nil
	}
	added := &set{
		key: key, scripts: r.Scripts, size: int64(r.Size), cost: cost,
		left: r.Size, missing: int(r.Chunks), chunks: make([][]byte, r.Chunks),
	}
	added.ctx, added.cancel = context.WithCancel(context.Background())
	if r.Source != "" {
		added.from = newSource(r.Source)
	}
	s.byKey[key] = added
	s.used += cost
	return added
}

// makeRoom removes sets that nobody uses, the oldest first.
func (s *sets) makeRoom(cost int64) bool {
	for s.used+cost > s.max {
		var oldest *set
		for _, x := range s.byKey {
			if x.uses == 0 && (oldest == nil || x.used.Before(oldest.used)) {
				oldest = x
			}
		}
		if oldest == nil {
			return false
		}
		s.remove(oldest)
	}
	return true
}

// prepared keeps a set by its digest alone, which was checked.
func (s *sets) prepared(x *set) {
	if s.byKey[x.key] != x {
		return // nobody waits for it any more
	}
	key := setKey{digest: x.key.digest}
	if s.byKey[key] != nil {
		return // another coordinator has sent it too
	}
	delete(s.byKey, x.key)
	x.key = key
	s.byKey[key] = x
}

// release ends the use of a set by a scan. An unused set is removed if its query was never made, as others
// cannot use it either.
func (s *sets) release(x *set) {
	x.uses--
	x.used = time.Now()
	if x.uses > 0 {
		return
	}
	if x.query == nil {
		s.remove(x)
		return
	}
	x.chunks, x.waiting = nil, nil
}

func (s *sets) remove(x *set) {
	if s.byKey[x.key] == x {
		x.cancel()
		delete(s.byKey, x.key)
		s.used -= x.cost
	}
}
