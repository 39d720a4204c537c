package filters

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"unsafe"

	"github.com/seed61375155/trawl/internal/siphash"
)

// place is where to look for a number among the elements of a filter. Positions
// are in bits of the code.
type place struct {
	want   uint64 // the number
	last   uint64 // the first element of its chunk
	pos    uint32 // where the chunk's first element ends
	base   uint32 // where the first element of the line ends
	end    uint32 // where the last element of the line ends
	sum    uint32 // CRC-32C of the bytes from base to end
	filter uint32 // index among those of a prober
	before uint32 // how many slots of the chunk have elements and are less
}

// placeOf returns where to look for v, whose bit is set in the line.
func placeOf(line *[lineSize]byte, v uint64, filter uint32) place {
	chunk := v >> chunkBits % lineChunks
	base := uint32(get24(line[baseAt:]))
	p := place{
		want:   v,
		last:   v>>chunkBits<<chunkBits + get24(line[firstsAt+3*chunk:]),
		pos:    base,
		base:   base,
		end:    base + uint32(binary.LittleEndian.Uint16(line[endsAt+2*(lineChunks-1):])),
		sum:    binary.LittleEndian.Uint32(line[codeSumAt:]),
		filter: filter,
	}
	if chunk > 0 {
		p.pos += uint32(binary.LittleEndian.Uint16(line[endsAt+2*(chunk-1):]))
	}
	occupancy := binary.LittleEndian.Uint64(line[8*chunk:])
	p.before = uint32(bits.OnesCount64(occupancy & (1<<(v>>slotBits%64) - 1)))
	return p
}

// size is how many bytes the part of the code has that the line is about.
func (p *place) size() uint32 { return (p.end+7)/8 - p.base/8 }

// intact reports whether that part is as it was when the line was written.
func (p *place) intact(code []byte) bool {
	to := (uint64(p.end) + 7) / 8
	return to <= uint64(len(code)) && crc32.Checksum(code[p.base/8:to], castagnoli) == p.sum
}

// find reports whether the number is an element.
func (p *place) find(code []byte) bool {
	l := lane{code: code, pos: uint64(p.pos), last: p.last}
	for l.last < p.want && l.pos < uint64(p.end) {
		l.step()
	}
	return l.last == p.want
}

// walk is find for a place from whose end on some bytes can be read, as for
// codeReader.walk.
func (p *place) walk(code []byte) bool {
	start := unsafe.Pointer(&code[0])
	pos, end, last := uint64(p.pos), uint64(p.end), p.last
	for last < p.want && pos < end {
		w := windowAt(start, pos)
		run := ones(w)
		if run > maxRun {
			return p.find(code)
		}
		w <<= run & 63
		last += run<<P + w>>(64-minBits)
		pos += run + minBits
	}
	return last == p.want
}

// The rest are parts of a prober in plain Go, as kernels have them.

// foundEach is lookAcross.
func foundEach(hashes *row, g *probeGroup) (found uint32) {
	for i, v := range hashes[:g.count] {
		found |= slotOf(g.line(i, v), v) << i
	}
	return found
}

// slotOf returns 1 if the bit for v is set in the line, or 0.
func slotOf(line *[lineSize]byte, v uint64) uint32 {
	word := binary.LittleEndian.Uint64(line[v>>chunkBits%lineChunks*8:])
	return uint32(word >> (v >> slotBits % 64) & 1)
}

// damagedEach is checkAcross.
func damagedEach(hashes *row, g *probeGroup) (bad uint32) {
	for i, v := range hashes[:g.count] {
		if !lineIntact(g.line(i, v), g.seeds[i], int(v>>lineBits)) {
			bad |= 1 << i
		}
	}
	return bad
}

// placesEach is placesAcross.
func placesEach(dst []place, hashes *row, g *probeGroup, found uint32, all []probe) {
	for i := range dst {
		at := bits.TrailingZeros32(found)
		found &= found - 1
		dst[i] = placeOf(g.line(at, hashes[at]), hashes[at], g.first+uint32(at))
	}
	for i := range dst { // all of these wait for memory together
		p := &dst[i]
		if code := all[p.filter].code; uint64(p.end)/8 < uint64(len(code)) {
			touch(code[p.base/8 : p.end/8+1])
		}
	}
}

// touchLines is fetchLines.
func touchLines(hashes *row, g *probeGroup) {
	for i, v := range hashes[:g.count] {
		g.touched += g.line(i, v)[0]
	}
}

// touch reads a byte of each cache line, which is as good as a prefetch as long
// as nothing waits for the result.
//
//go:noinline
func touch(b []byte) (sum byte) {
	for at := 0; at < len(b); at += 64 {
		sum += b[at]
	}
	return sum
}

// sumEach is sumParts.
func sumEach(sums []uint32, places []place, which []uint32, all []probe) {
	for i, at := range which {
		p := &places[at]
		sums[i] = crc32.Checksum(all[p.filter].code[p.base/8:(p.end+7)/8], castagnoli)
	}
}

// walkEach is walk.
func walkEach(places []place, which []uint32, all []probe) {
	for _, i := range which {
		p := &places[i]
		f := &all[p.filter]
		f.hit = f.hit || p.walk(f.code)
	}
}

// findEach is walk for all other places.
func findEach(places []place, which []uint32, all []probe) {
	for _, i := range which {
		p := &places[i]
		f := &all[p.filter]
		f.hit = f.hit || !f.bad && p.find(f.code)
	}
}

// hashEachLane is hashAcross in plain Go.
func hashEachLane(dst *row, message []uint64, words int, keys *laneKeys, n int) {
	for i := 0; i < n; i += 2 {
		j := min(i+1, vectorLanes-1)
		dst[i], dst[j] = hashBoth(
			message[:(words-1)*tileWidth+1], sipKey{keys.k0[i], keys.k1[i]}, sipKey{keys.k0[j], keys.k1[j]},
		)
		dst[i] = reduce(dst[i], keys.limit[i])
		if j > i {
			dst[j] = reduce(dst[j], keys.limit[j])
		}
	}
}

// hashBoth hashes a message, whose words are tileWidth apart, with two keys.
func hashBoth(message []uint64, x, y sipKey) (hashX, hashY uint64) {
	v0, v1, v2, v3 := x.k0^siphash.Init0, x.k1^siphash.Init1, x.k0^siphash.Init2, x.k1^siphash.Init3
	u0, u1, u2, u3 := y.k0^siphash.Init0, y.k1^siphash.Init1, y.k0^siphash.Init2, y.k1^siphash.Init3
	for at := 0; at < len(message); at += tileWidth {
		m := message[at]
		v3 ^= m
		u3 ^= m
		v0, v1, v2, v3 = siphash.Round(v0, v1, v2, v3)
		u0, u1, u2, u3 = siphash.Round(u0, u1, u2, u3)
		v0, v1, v2, v3 = siphash.Round(v0, v1, v2, v3)
		u0, u1, u2, u3 = siphash.Round(u0, u1, u2, u3)
		v0 ^= m
		u0 ^= m
	}
	v2 ^= 0xff
	u2 ^= 0xff
	for range 4 {
		v0, v1, v2, v3 = siphash.Round(v0, v1, v2, v3)
		u0, u1, u2, u3 = siphash.Round(u0, u1, u2, u3)
	}
	return v0 ^ v1 ^ v2 ^ v3, u0 ^ u1 ^ u2 ^ u3
}
