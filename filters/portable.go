package filters

import (
	"encoding/binary"
	"slices"
	"unsafe"

	"github.com/seed61375155/trawl/internal/siphash"
)

// portable has the parts of the kernel in plain Go.
type portable struct{}

func portableKernel() *kernel {
	var k portable
	return &kernel{
		name: "portable", decoder: k, hasher: k, lineReader: k, codeReader: k,
		tuning: tuning{
			lanes:      2,                                   // a third gains 3 % and costs half the code again
			sumsParts:  false,                               // crc32 takes its time for a few bytes
			probeLimit: func(n int) int { return n/12 + 6 }, // BenchmarkModes of package bench
			searches:   searchesValues,
		},
	}
}

func (portable) decode(group []lane) {
	for ; len(group) >= 2; group = group[2:] {
		decodeTwo(&group[0], &group[1])
		group[0].finish()
		group[1].finish()
	}
	if len(group) == 1 {
		group[0].finish()
	}
}

// decodeTwo decodes the filters a and b side by side, up to near the end of the
// shorter filter. It ends earlier at a run that does not fit a window, which
// happens once in 10^10 elements.
func decodeTwo(a, b *lane) {
	for {
		pairs := min(a.safePairs(), b.safePairs())
		if pairs == 0 || !decodePairs(a, b, pairs) {
			return
		}
	}
}

// safePairs returns how many pairs of elements decodePairs can decode safely,
// whatever the bytes are. Safe means to load only readable bytes and to store
// nothing after the values. A pair takes at most two windows of 57 bits.
func (l *lane) safePairs() int {
	size := uint64(l.readable()) * 8
	if l.pos+64 > size {
		return 0
	}
	return min((len(l.values)-l.done)/2, int((size-64-l.pos)/(2*57)))
}

// decodePairs decodes the next pairs of elements of both lanes. Two lanes hide
// the latency of each other's dependent steps, and two elements share a window
// unless their quotients add up to more than what 57 bits hold beside them.
// It returns false, and leaves the lanes where they were, if a quotient exceeds
// maxRun.
//
// The caller has made sure by safePairs that no access is out of range, so the
// loop checks no bounds.
func decodePairs(a, b *lane, pairs int) bool {
	const shared = 57 - 2*minBits

	codeA, codeB := unsafe.Pointer(&a.code[0]), unsafe.Pointer(&b.code[0])
	outA, outB := unsafe.Pointer(&a.values[a.done]), unsafe.Pointer(&b.values[b.done])
	posA, posB := a.pos, b.pos
	valA, valB := a.last, b.last
	for i := 0; i < pairs*16; i += 16 {
		w := windowAt(codeA, posA)
		q := ones(w)
		w <<= q & 63
		valA += q<<P + w>>(64-minBits)
		*(*uint64)(unsafe.Add(outA, i)) = valA
		w <<= minBits
		posA += q + minBits
		r := ones(w)
		if q+r > shared {
			w = windowAt(codeA, posA)
			if r = ones(w); q > maxRun || r > maxRun {
				return false
			}
		}
		w <<= r & 63
		valA += r<<P + w>>(64-minBits)
		*(*uint64)(unsafe.Add(outA, i+8)) = valA
		posA += r + minBits

		w = windowAt(codeB, posB)
		q = ones(w)
		w <<= q & 63
		valB += q<<P + w>>(64-minBits)
		*(*uint64)(unsafe.Add(outB, i)) = valB
		w <<= minBits
		posB += q + minBits
		r = ones(w)
		if q+r > shared {
			w = windowAt(codeB, posB)
			if r = ones(w); q > maxRun || r > maxRun {
				return false
			}
		}
		w <<= r & 63
		valB += r<<P + w>>(64-minBits)
		*(*uint64)(unsafe.Add(outB, i+8)) = valB
		posB += r + minBits
	}
	a.pos, a.last, a.done = posA, valA, a.done+2*pairs
	b.pos, b.last, b.done = posB, valB, b.done+2*pairs
	return true
}

// windowAt is window without its checks.
func windowAt(code unsafe.Pointer, pos uint64) uint64 {
	return binary.BigEndian.Uint64((*[8]byte)(unsafe.Add(code, pos>>3))[:]) << (pos & 7)
}

// hash hashes two messages at a time, again for the latency.
func (portable) hash(dst, tiles []uint64, words int, key sipKey, limit uint64) {
	for i := 0; i < len(dst); i += 2 {
		x, y := hashTwo(tiles[tileAt(i, words):][:(words-1)*tileWidth+2], key, limit)
		dst[i] = x
		if i+1 < len(dst) {
			dst[i+1] = y
		}
	}
}

// hashTwo hashes two neighbours in a tile, which begins with the first.
func hashTwo(tile []uint64, key sipKey, limit uint64) (hashX, hashY uint64) {
	v0, v1, v2, v3 := key.k0^siphash.Init0, key.k1^siphash.Init1, key.k0^siphash.Init2, key.k1^siphash.Init3
	u0, u1, u2, u3 := v0, v1, v2, v3
	for at := 1; at < len(tile); at += tileWidth {
		m, n := tile[at-1], tile[at]
		v3 ^= m
		u3 ^= n
		v0, v1, v2, v3 = siphash.Round(v0, v1, v2, v3)
		u0, u1, u2, u3 = siphash.Round(u0, u1, u2, u3)
		v0, v1, v2, v3 = siphash.Round(v0, v1, v2, v3)
		u0, u1, u2, u3 = siphash.Round(u0, u1, u2, u3)
		v0 ^= m
		u0 ^= n
	}
	v2 ^= 0xff
	u2 ^= 0xff
	v0, v1, v2, v3 = siphash.Round(v0, v1, v2, v3)
	u0, u1, u2, u3 = siphash.Round(u0, u1, u2, u3)
	v0, v1, v2, v3 = siphash.Round(v0, v1, v2, v3)
	u0, u1, u2, u3 = siphash.Round(u0, u1, u2, u3)
	v0, v1, v2, v3 = siphash.Round(v0, v1, v2, v3)
	u0, u1, u2, u3 = siphash.Round(u0, u1, u2, u3)
	v0, v1, v2, v3 = siphash.Round(v0, v1, v2, v3)
	u0, u1, u2, u3 = siphash.Round(u0, u1, u2, u3)
	return reduce(v0^v1^v2^v3, limit), reduce(u0^u1^u2^u3, limit)
}

func (portable) mark(e *elements) { e.finish() }

func (k portable) hashAndTest(dst, tiles []uint64, words int, key sipKey, limit uint64, now, _ *elements) int {
	k.hash(dst, tiles, words, key, limit)
	return now.sift(dst)
}

func (portable) hashAcross(dst *row, message []uint64, words int, keys *laneKeys, n int) {
	hashEachLane(dst, message, words, keys, n)
}

func (portable) fetchLines(hashes *row, g *probeGroup) { touchLines(hashes, g) }

func (portable) fetch(_ []byte) {}

func (portable) lookAcross(hashes *row, g *probeGroup) uint32 { return foundEach(hashes, g) }

func (portable) checkAcross(hashes *row, g *probeGroup) uint32 { return damagedEach(hashes, g) }

func (portable) intactLines(lines []byte, seed uint32) bool { return intactLines(lines, seed) }

func (portable) placesAcross(dst []place, hashes *row, g *probeGroup, found uint32, all []probe) {
	placesEach(dst, hashes, g, found, all)
}

func (portable) sumParts(sums []uint32, places []place, which []uint32, all []probe) {
	sumEach(sums, places, which, all)
}

func (portable) walk(places []place, which []uint32, all []probe) { walkEach(places, which, all) }

// searchesValues is true where looking up each script among the values is faster
// than making a bitmap of the values. A lookup takes some sqrt(n) steps
// (BenchmarkModes: the same number at 200, 2,000 and 8,000 elements, with AVX2
// too).
func searchesValues(_, n, k int) bool { return uint64(k)*uint64(k) <= 9*uint64(n) }

func (k portable) search(group []lane, q *Query, s *scratch) { searchValues(k, k, group, q, s) }

// searchValues is search by decoding all values, and looking up each hash.
func searchValues(d decoder, h hasher, group []lane, q *Query, s *scratch) {
	d.decode(group)
	for i := range group {
		l := &group[i]
		l.hit = l.err == nil && len(l.values) > 0 && q.eachHash(h, l.key, l.limit(), s, func(hashes []uint64) bool {
			return slices.ContainsFunc(hashes, l.contains)
		})
	}
}
