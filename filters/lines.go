package filters

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Probe lines are an index of a filter's elements that is kept beside the
// filter, so that looking up a script takes its hash and a single line. The
// line rules out two of three numbers as elements. For the others it says where
// in the filter to decode at most a chunk of some 21 elements.
//
// A line is a cache line. Line i covers the numbers from i<<lineBits on, in four
// chunks of 2^chunkBits. Numbers are little-endian:
//
//	0   8 each  the chunks' occupancy: bit (v>>slotBits)%64 is set for each element v
//	32  3 each  the chunks' first elements, less the number where the chunk begins
//	44  3       where in the code the line's first element ends, in bits
//	47  2 each  where the first elements of chunks 1 to 3 end, in bits from there
//	53  2       where the line's last element ends, in bits from there
//	55  1       zero
//	56  4       CRC-32C of the bytes of the code between these ends
//	60  4       CRC-32C of the 60 bytes before, begun with a number that depends on
//	            the block, the number of elements and i
//
// So every answer rests on bytes whose checksum was looked at: of the line, and
// of the part of the filter that it points to.
const (
	chunkBits = 24
	slotBits  = chunkBits - 6
	lineBits  = chunkBits + 2

	lineSize   = 64
	lineChunks = 4

	firstsAt  = 32
	baseAt    = 44
	endsAt    = 47
	codeSumAt = 56
	lineSumAt = 60

	// numberFactor makes the sums of a filter's lines differ.
	numberFactor = 0x85ebca6b

	maxBase = 1<<24 - 1
	maxEnd  = 1<<16 - 1
)

// castagnoli is the polynomial that processors have an instruction for.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// LinesSize returns the size in bytes of the probe lines of a filter of n
// elements.
func LinesSize(n uint32) int { return lineCount(n) * lineSize }

func lineCount(n uint32) int { return int((uint64(n)*M + 1<<lineBits - 1) >> lineBits) }

// AppendLines appends the probe lines of a block's filter, as [Filter] has
// them, and returns how many elements the filter has. It appends nothing for a
// filter that has none, is longer than 2 MiB, or has some thousand elements
// where 85 are usual. The error wraps [ErrBadFilter].
func AppendLines(dst []byte, block *chainhash.Hash, filter []byte) (lines []byte, n uint32, err error) {
	count, code, err := split(filter)
	if err != nil {
		return dst, 0, err
	}
	w := lineWriter{out: dst, start: len(dst), key: keyOf(block), n: uint32(count), code: code}
	l, size := lane{code: code}, uint64(len(code))*8
	for i := range count {
		if l.step(); l.pos > size {
			return dst, 0, fmt.Errorf("%w: ends in element %d of %d", ErrBadFilter, i, count)
		}
		w.add(l.last, l.pos)
	}
	if err := l.ended(count); err != nil {
		return dst, 0, err
	}
	w.flush(lineCount(w.n))
	if w.unfit {
		return w.out[:w.start], w.n, nil
	}
	return w.out, w.n, nil
}

// lineWriter writes lines one after the other.
type lineWriter struct {
	out   []byte
	start int // of the lines in out
	key   sipKey
	n     uint32
	code  []byte
	line  [lineSize]byte // the one being filled
	next  int            // its number
	base  uint64         // where its first element ends; 0 while it has none
	end   uint64         // where its last one does
	unfit bool           // there can be no lines
}

// add takes the next element, and where in the code it ends.
func (w *lineWriter) add(v, end uint64) {
	at := int(v >> lineBits)
	if at >= lineCount(w.n) {
		w.unfit = true // and out of range, as will be noticed
		return
	}
	w.flush(at)
	chunk := int(v>>chunkBits) % lineChunks
	if w.base == 0 {
		w.base = end
	}
	occupancy := binary.LittleEndian.Uint64(w.line[8*chunk:])
	if occupancy == 0 {
		put24(w.line[firstsAt+3*chunk:], v%(1<<chunkBits))
		if chunk > 0 {
			w.putEnd(chunk-1, end)
		}
	}
	binary.LittleEndian.PutUint64(w.line[8*chunk:], occupancy|1<<(v>>slotBits%64))
	w.end = end
}

// putEnd stores one of the ends that are counted from base.
func (w *lineWriter) putEnd(i int, end uint64) {
	if end-w.base > maxEnd {
		w.unfit = true
	}
	binary.LittleEndian.PutUint16(w.line[endsAt+2*i:], uint16(end-w.base))
}

// flush completes the lines before line at.
func (w *lineWriter) flush(at int) {
	for ; w.next < at; w.next++ {
		if w.base > maxBase {
			w.unfit = true
		}
		put24(w.line[baseAt:], w.base)
		w.putEnd(lineChunks-1, w.end)
		sum := crc32.Checksum(w.code[w.base/8:(w.end+7)/8], castagnoli)
		binary.LittleEndian.PutUint32(w.line[codeSumAt:], sum)
		binary.LittleEndian.PutUint32(w.line[lineSumAt:], lineSum(&w.line, w.key.seed(w.n), w.next))
		w.out = append(w.out, w.line[:]...)
		w.line, w.base, w.end = [lineSize]byte{}, 0, 0
	}
}

// seed makes the checksums of lines differ between filters.
func (k sipKey) seed(n uint32) uint32 { return uint32(k.k0) ^ uint32(k.k1>>32) ^ n*0x9e3779b1 }

func lineSum(line *[lineSize]byte, seed uint32, number int) uint32 {
	return crc32.Update(seed^uint32(number)*numberFactor, castagnoli, line[:lineSumAt])
}

// lineIntact reports whether a line is as it was written, for this filter and
// place.
func lineIntact(line *[lineSize]byte, seed uint32, number int) bool {
	return lineSum(line, seed, number) == binary.LittleEndian.Uint32(line[lineSumAt:])
}

// intactLines reports whether all lines of a filter are as they were written.
func intactLines(lines []byte, seed uint32) bool {
	for i := range len(lines) / lineSize {
		if !lineIntact((*[lineSize]byte)(lines[i*lineSize:]), seed, i) {
			return false
		}
	}
	return true
}

func put24(b []byte, v uint64) {
	binary.LittleEndian.PutUint16(b, uint16(v))
	b[2] = byte(v >> 16)
}

func get24(b []byte) uint64 { return uint64(binary.LittleEndian.Uint16(b)) | uint64(b[2])<<16 }
