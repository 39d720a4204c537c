package filters

import "runtime"

// avx2 has the parts of the kernel for processors with AVX2, BMI2 and LZCNT: it hashes in
// vectors. It decodes by scalar instructions, for without AVX-512 there is none
// that counts the leading bits of each number in a vector.
type avx2 struct{ lookups }

func avx2Kernel() *kernel {
	var k avx2
	return &kernel{
		name: "avx2", decoder: k, hasher: k, lineReader: k, codeReader: k,
		tuning: tuning{
			lanes: scalarLanes, sumsParts: true, searches: searchesValues,
			probeLimit: func(n int) int { return n/9 + 10 }, // BenchmarkModes of package bench
		},
	}
}

// scalarLanes is how many filters decodeFour decodes side by side.
const scalarLanes = 4

// lanes4 is the state of four filters that are decoded side by side, as the
// assembly has it.
type lanes4 struct {
	pos  [scalarLanes]uint64  // address of the next bit
	last [scalarLanes]uint64  // the last element
	out  [scalarLanes]uintptr // address of the end of the elements to decode
}

func (k avx2) decode(group []lane) {
	if len(group) == scalarLanes {
		for k.decodeRound(group) {
		}
	}
	k.portable.decode(group)
}

// decodeRound decodes as many pairs of all four lanes as are sure to be there.
// It returns false when there are none, or a quotient does not fit a window.
func (avx2) decodeRound(group []lane) bool {
	pairs := group[0].safePairs()
	for i := range group {
		pairs = min(pairs, group[i].safePairs())
	}
	if pairs == 0 {
		return false
	}
	var s lanes4
	for i := range group {
		l := &group[i]
		s.pos[i], s.last[i] = bitAddress(l)+l.pos, l.last
		s.out[i] = address(l.values[l.done:]) + 16*uintptr(pairs)
	}
	turns := decodeFour(&s, pairs)
	for i := range group {
		l := &group[i]
		l.pos, l.last = s.pos[i]-bitAddress(l), s.last[i]
		l.done += (turns + scalarLanes - 1 - i) / scalarLanes * 2
	}
	runtime.KeepAlive(group)
	return turns == pairs*scalarLanes
}

// hash leaves up to three messages, for which eight lanes do not pay, to plain
// Go.
func (k avx2) hash(dst, tiles []uint64, words int, key sipKey, limit uint64) {
	tileCount(dst, tiles, words)
	for at := 0; at < len(dst); at += tileWidth {
		part, tile := dst[at:min(at+tileWidth, len(dst))], tiles[at*words:]
		if len(part) <= 3 {
			k.portable.hash(part, tile, words, key, limit)
			return
		}
		hashTile256(&part[0], &tile[0], (len(part)+7)/8, words, key.k0, key.k1, limit)
	}
}

func (avx2) mark(e *elements) {
	markValues(e)
	e.finish()
}

func (k avx2) hashAndTest(dst, tiles []uint64, words int, key sipKey, limit uint64, now, _ *elements) int {
	k.hash(dst, tiles, words, key, limit)
	return now.sift(dst)
}

func (avx2) hashAcross(dst *row, message []uint64, words int, keys *laneKeys, n int) {
	_ = message[(words-1)*tileWidth]
	eights := (n + 7) / 8
	hashLanes256(&dst[0], &message[0], words, keys, eights)
	clear(dst[8*eights:]) // what was there is of other filters, and lines are looked at for all
}

func (k avx2) search(group []lane, q *Query, s *scratch) { searchValues(k, k, group, q, s) }

//go:noescape
func hashTile256(dst, tile *uint64, eights, words int, k0, k1, limit uint64)

//go:noescape
func markValues(e *elements)

//go:noescape
func hashLanes256(dst, message *uint64, words int, keys *laneKeys, eights int)

//go:noescape
func decodeFour(l *lanes4, pairs int) (turns int)
