package filters

import (
	"math/bits"
	"slices"
)

// avx512 has the parts of the kernel for processors with AVX-512 (F, BW, CD, DQ, VL): it
// decodes 32 filters side by side, one in each lane of four vectors.
type avx512 struct{ lookups }

func avx512Kernel() *kernel {
	var k avx512
	return &kernel{
		name: "avx512", decoder: k, hasher: k, lineReader: k, codeReader: k,
		tuning: tuning{lanes: vectorLanes, sumsParts: true, probeLimit: probeLimit512, searches: searches512},
	}
}

func (avx512) decode(group []lane) {
	if len(group) < minLanes {
		portable{}.decode(group)
		return
	}
	var r vectorRun
	r.begin(group)
	for steps := r.steps(blockStep); steps > 0; steps = r.steps(blockStep) {
		r.advance(steps, decodeLanes(&r.lanes32, steps), blockStep)
	}
	r.drain()
}

func (avx512) hash(dst, tiles []uint64, words int, key sipKey, limit uint64) {
	if count := tileCount(dst, tiles, words); count > 0 {
		hashTiles512(&dst[0], &tiles[0], count, words, key.k0, key.k1, limit)
	}
}

func (avx512) mark(e *elements) { avx2{}.mark(e) }

func (avx512) hashAndTest(dst, tiles []uint64, words int, key sipKey, limit uint64, now, ahead *elements) int {
	if tileCount(dst, tiles, words) == 0 {
		return 0
	}
	return seek512(&dst[0], &tiles[0], len(dst), words, key.k0, key.k1, limit, &now.cells[0], ahead)
}

func (avx512) hashAcross(dst *row, message []uint64, words int, keys *laneKeys, _ int) {
	_ = message[(words-1)*tileWidth]
	hashLanes512(&dst[0], &message[0], words, keys)
}

// probeLimit512 is by BenchmarkProbe, for more filters than a cache holds: from memory
// decoding catches up at 300 scripts for 2,000 elements and at 740 for 5,000. In a
// cache it does later (BenchmarkModes of package bench).
func probeLimit512(n int) int { return n/7 + 10 }

// maxSorted is the most scripts whose hashes are sorted: their rows of 32 take
// half of a second-level cache of 1 MB.
const maxSorted = 2_048

// searches512 is true where hashing and sorting the scripts for all lanes is faster
// than making bitmaps of the elements. The time for hashing and sorting is in
// proportion to k*log(k)^2. BenchmarkModes: it is faster up to about 55 scripts for
// 20 elements, 60 for 200, 280 for 2,000, 800 for 8,000.
func searches512(group, n, k int) bool {
	if group < minLanes {
		return searchesValues(group, n, k)
	}
	log := bits.Len(uint(k))
	return k <= maxSorted && k*log*log <= 10*n+1_900
}

// search hashes each script for all lanes at once, sorts the hashes of each
// lane, and merges them with the elements as these are decoded.
func (k avx512) search(group []lane, q *Query, s *scratch) {
	if len(group) < minLanes {
		searchValues(k, k, group, q, s)
		return
	}
	hashRows(group, q, s)
	r := vectorRun{rows: s.rows}
	r.begin(group)
	for steps := r.steps(fourStep); steps > 0; steps = r.steps(fourStep) {
		r.advance(steps, mergeLanes(&r.lanes32, steps, &s.rows[0]), fourStep)
	}
	r.drain()
	for i := range group {
		l := &group[i]
		l.hit = l.err == nil && (l.hit || r.found>>i&1 != 0)
	}
}

// hashRows makes the rows that mergeLanes needs: one for each script, sorted in
// each lane, and one of all ones.
func hashRows(group []lane, q *Query, s *scratch) {
	var keys laneKeys
	for i := range group {
		l := &group[i]
		keys.k0[i], keys.k1[i], keys.limit[i] = l.key.k0, l.key.k1, l.limit()
	}
	size := (q.Len() + 1) * vectorLanes
	s.rows = slices.Grow(s.rows[:0], size)[:size]
	row := 0
	for i := range q.groups {
		m := &q.groups[i]
		for j := range m.count {
			hashLanes512(&s.rows[row], &m.tile(j)[0], m.words, &keys)
			row += vectorLanes
		}
	}
	for i := range vectorLanes {
		s.rows[row+i] = ^uint64(0)
	}
	if s.sorted != q.Len() {
		s.order, s.sorted = sortingNetwork(s.order[:0], q.Len()), q.Len()
	}
	if len(s.order) > 0 {
		exchange512(&s.rows[0], &s.order[0], len(s.order))
	}
}

// sortingNetwork appends the pairs to compare, and exchange if in wrong order,
// to sort n numbers: Batcher's merge exchange (Knuth, The Art of Computer
// Programming 3, 5.2.2, algorithm M).
func sortingNetwork(pairs [][2]uint32, n int) [][2]uint32 {
	top := 1
	for 2*top < n {
		top *= 2
	}
	for p := top; p > 0; p /= 2 {
		q, r, d := top, 0, p
		for {
			for i := range max(n-d, 0) {
				if i&p == r {
					pairs = append(pairs, [2]uint32{uint32(i), uint32(i + d)})
				}
			}
			if q == p {
				break
			}
			d, q, r = q-p, q/2, p
		}
	}
	return pairs
}

//go:noescape
func hashTiles512(dst, tiles *uint64, count, words int, k0, k1, limit uint64)

//go:noescape
func seek512(dst, tiles *uint64, count, words int, k0, k1, limit uint64, cells *uint64, ahead *elements) (kept int)

//go:noescape
func hashLanes512(dst, message *uint64, words int, keys *laneKeys)

//go:noescape
func exchange512(rows *uint64, pairs *[2]uint32, count int)

//go:noescape
func decodeLanes(l *lanes32, blocks int) (done int)

//go:noescape
func mergeLanes(l *lanes32, fours int, hashes *uint64) (done int)
