package heighttable

import (
	"math/bits"
	"slices"
)

const (
	// classes is how many classes of numbers a code knows: class n has the numbers of n bits.
	classes = 26

	// escape is the class of the count of a list that lies elsewhere.
	escape = classes - 1

	// maxLength is how many bits the code of a class has at most. With it a class and 24 bits fit a peek.
	maxLength = 14

	codeSize = classes / 2 // four bits for each length
)

// A code is a canonical prefix code of classes. Classes of many numbers have short codes.
type code struct {
	length [classes]uint8
	bits   [classes]uint16
	first  []uint16 // by the next maxLength bits: the class and its length; class 31: no code begins so
}

// frequencies is how many numbers there are of each class.
type frequencies [classes]uint64

// lengths returns the lengths of the best code in which every class has one.
func (f frequencies) lengths() (length [classes]uint8) {
	for i := range f {
		f[i]++
	}
	for {
		length = huffman(f)
		if slices.Max(length[:]) <= maxLength {
			return length
		}
		for i := range f {
			f[i] = f[i]/2 + 1
		}
	}
}

// huffman returns the lengths of Huffman's code.
func huffman(f frequencies) (length [classes]uint8) {
	type node struct {
		weight  uint64
		members []int
	}
	nodes := make([]node, classes)
	for i := range nodes {
		nodes[i] = node{f[i], []int{i}}
	}
	for len(nodes) > 1 {
		slices.SortStableFunc(nodes, func(a, b node) int {
			switch {
			case a.weight > b.weight:
				return -1
			case a.weight < b.weight:
				return 1
			}
			return 0
		})
		a, b := &nodes[len(nodes)-2], nodes[len(nodes)-1]
		a.weight += b.weight
		a.members = append(a.members, b.members...)
		for _, class := range a.members {
			length[class]++
		}
		nodes = nodes[:len(nodes)-1]
	}
	return length
}

// newCode returns the code with such lengths; false where there is none.
func newCode(length [classes]uint8) (*code, bool) {
	c := &code{length: length, first: make([]uint16, 1<<maxLength)}
	for i := range c.first {
		c.first[i] = 31 << 4
	}
	next := uint32(0)
	for n := uint8(1); n <= maxLength; n++ {
		for class, of := range length {
			if of != n {
				continue
			}
			if next >= 1<<n {
				return nil, false
			}
			c.bits[class] = bits.Reverse16(uint16(next)) >> (16 - n)
			for at := int(c.bits[class]); at < len(c.first); at += 1 << n {
				c.first[at] = uint16(class)<<4 | uint16(n)
			}
			next++
		}
		next <<= 1
	}
	return c, slices.Min(length[:]) > 0 && slices.Max(length[:]) <= maxLength
}

// append writes the lengths.
func (c *code) append(b []byte) []byte {
	for i := 0; i < classes; i += 2 {
		b = append(b, c.length[i]|c.length[i+1]<<4)
	}
	return b
}

// parseCode reads what append wrote.
func parseCode(b []byte) (*code, bool) {
	var length [classes]uint8
	for i := range length {
		length[i] = b[i/2] >> (4 * (i % 2)) & 15
	}
	return newCode(length)
}

func (c *code) putClass(w *bitWriter, class int) { w.put(uint64(c.bits[class]), uint(c.length[class])) }

// put writes a number of at most 24 bits: its class, and the bits below the highest.
func (c *code) put(w *bitWriter, v uint32) {
	class := bits.Len32(v)
	c.putClass(w, class)
	if class > 1 {
		w.put(uint64(v)&(1<<(class-1)-1), uint(class-1))
	}
}

// class reads a class.
func (c *code) class(r *bitReader) int {
	at := c.first[r.peek()&(1<<maxLength-1)]
	r.pos += max(1, uint(at&15))
	return int(at >> 4)
}

// take reads a number; ok is false where there is none.
func (c *code) take(r *bitReader) (v uint32, ok bool) {
	class := c.class(r)
	return c.below(r, class), class <= heightBits
}

// below reads the bits below the highest.
func (*code) below(r *bitReader, class int) uint32 {
	if class < 2 {
		return uint32(class)
	}
	class = min(class, heightBits)
	return uint32(r.take(uint(class-1))) | 1<<(class-1)
}
