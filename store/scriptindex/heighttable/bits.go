package heighttable

import (
	"encoding/binary"
	"math/bits"
)

// A bitWriter writes numbers, their lowest bits first.
type bitWriter struct {
	buf []byte
	acc uint64
	n   uint // bits in acc, fewer than 8
}

// put writes the lowest n bits of v, which has no others; n is at most 56.
func (w *bitWriter) put(v uint64, n uint) {
	w.acc |= v << w.n
	for w.n += n; w.n >= 8; w.n -= 8 {
		w.buf = append(w.buf, byte(w.acc))
		w.acc >>= 8
	}
}

// unary writes q zeros and a one.
func (w *bitWriter) unary(q uint64) {
	for ; q >= 32; q -= 32 {
		w.put(0, 32)
	}
	w.put(1<<q, uint(q)+1)
}

// end fills the last byte with zeros.
func (w *bitWriter) end() {
	if w.n > 0 {
		w.buf = append(w.buf, byte(w.acc))
	}
	w.acc, w.n = 0, 0
}

// A bitReader reads what a bitWriter wrote. Behind the end it reads zeros.
type bitReader struct {
	b   []byte
	pos uint
}

// peek returns the next 56 bits or more.
func (r *bitReader) peek() uint64 {
	at := r.pos >> 3
	if at+8 <= uint(len(r.b)) {
		return binary.LittleEndian.Uint64(r.b[at:]) >> (r.pos & 7)
	}
	var last [8]byte
	if at < uint(len(r.b)) {
		copy(last[:], r.b[at:])
	}
	return binary.LittleEndian.Uint64(last[:]) >> (r.pos & 7)
}

// take reads n bits, at most 56.
func (r *bitReader) take(n uint) uint64 {
	v := r.peek() & (1<<n - 1)
	r.pos += n
	return v
}

// unary reads what bitWriter.unary wrote.
func (r *bitReader) unary() (q uint64) {
	const most = 56
	for !r.over() {
		if v := r.peek() & (1<<most - 1); v != 0 {
			z := uint(bits.TrailingZeros64(v))
			r.pos += z + 1
			return q + uint64(z)
		}
		q += most
		r.pos += most
	}
	return q
}

// over reports whether something behind the end was read.
func (r *bitReader) over() bool { return r.pos > uint(len(r.b))*8 }
