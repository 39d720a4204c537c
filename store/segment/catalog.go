package segment

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// slot is where one filter lies. Slots are numbered in the order of positions
// and do not change once they are in the catalog.
type slot struct {
	block, prev chainhash.Hash
	height      int32
	segment     uint32 // index in catalog.segments
	offset      uint32 // of the filter in the file
	length      uint32 // of the filter in bytes
	crc         uint32 // CRC-32 (IEEE) of the filter
}

func (s *slot) end() int64 { return int64(s.offset) + int64(s.length) }

// segmentInfo is one segment file as its records describe it.
type segmentInfo struct {
	number uint32 // as in the file's name
	first  int    // its first slot
	end    int64  // where its last filter ends
}

// size is the file's right size.
func (i segmentInfo) size() int64 { return i.end + padding }

// catalog is what the store knows without the disk: the slots, the index of
// their blocks, and the active chain. Copies of its slices stay valid, since
// elements are added to them and never changed.
type catalog struct {
	slots    []slot
	segments []segmentInfo
	active   []uint32 // slot by height
	index    hashIndex
}

// add appends the slot of a record. False means that the record contradicts
// what is there: it lies over the last filter, or its block is known.
func (c *catalog) add(r *record) bool {
	if _, known := c.find(&r.block); known || !r.valid() {
		return false
	}
	last := c.last()
	switch {
	case last == nil || last.number < r.segment:
		c.startSegment(r.segment)
	case last.number > r.segment || last.end > int64(r.offset):
		return false
	}
	s := slot{
		block: r.block, prev: r.prev, height: r.height,
		segment: uint32(len(c.segments) - 1),
		offset:  r.offset, length: r.length, crc: r.crc,
	}
	c.last().end = s.end()
	c.slots = append(c.slots, s)
	c.index.add(c.slots)
	return true
}

func (c *catalog) startSegment(number uint32) {
	info := segmentInfo{number: number, first: len(c.slots), end: headerSize}
	c.segments = append(c.segments, info)
}

// last returns the last segment, nil when there is none.
func (c *catalog) last() *segmentInfo {
	if len(c.segments) == 0 {
		return nil
	}
	return &c.segments[len(c.segments)-1]
}

// tip returns the last block of the active chain, zero when it is empty.
func (c *catalog) tip() (block chainhash.Hash) {
	if n := len(c.active); n > 0 {
		block = c.slots[c.active[n-1]].block
	}
	return block
}

// end is the position after the last filter.
func (c *catalog) end() position {
	last := c.last()
	if last == nil {
		return position{}
	}
	return position{last.number, uint32(last.end)}
}

// positionOf is the key of a slot's record.
func (c *catalog) positionOf(s *slot) position {
	return position{c.segments[s.segment].number, s.offset}
}

// slotsOf returns the slots of the i-th segment.
func (c *catalog) slotsOf(i int) []slot {
	end := len(c.slots)
	if i+1 < len(c.segments) {
		end = c.segments[i+1].first
	}
	return c.slots[c.segments[i].first:end]
}

// segmentAt returns the index of a segment.
func (c *catalog) segmentAt(number int) (int, bool) {
	return slices.BinarySearchFunc(c.segments, number, func(i segmentInfo, n int) int {
		return cmp.Compare(int(i.number), n)
	})
}

// truncate forgets all slots from n on, and the active chain.
func (c *catalog) truncate(n int) {
	old := *c
	*c = catalog{}
	for i := range old.slots[:n] {
		s := &old.slots[i]
		c.add(&record{
			position: old.positionOf(s), block: s.block, prev: s.prev,
			height: s.height, length: s.length, crc: s.crc,
		})
	}
}

func (c *catalog) find(block *chainhash.Hash) (slot uint32, ok bool) {
	return c.index.find(c.slots, block)
}

// branch returns the slots from the active chain, exclusive, up to tip, by
// descending height.
func (c *catalog) branch(tip *chainhash.Hash) ([]uint32, error) {
	var slots []uint32
	for block, height := tip, int32(-1); ; {
		n, ok := c.find(block)
		if !ok {
			return nil, fmt.Errorf("block %v: %w", block, ErrNotFound)
		}
		s := &c.slots[n]
		if height >= 0 && s.height != height {
			return nil, fmt.Errorf("%w: height %d of block %v is not %d",
				ErrInvalid, s.height, block, height)
		}
		if int(s.height) < len(c.active) && c.active[s.height] == n {
			return slots, nil
		}
		slots = append(slots, n)
		if s.height == 0 {
			return slots, nil
		}
		block, height = &s.prev, s.height-1
	}
}

// setTip makes the chain that ends in tip active, given its branch. Where the
// old chain is left the slice is copied, since views hold it.
func (c *catalog) setTip(tip *chainhash.Hash, branch []uint32) {
	n, ok := c.find(tip)
	if !ok {
		return // no tip
	}
	fork := int(c.slots[n].height) + 1 - len(branch)
	if fork < len(c.active) {
		c.active = slices.Clone(c.active[:fork])
	}
	for _, n := range slices.Backward(branch) {
		c.active = append(c.active, n)
	}
}

// longest returns the highest block whose ancestors are all there, the one
// stored first among equals.
func (c *catalog) longest() (tip chainhash.Hash, ok bool) {
	byHeight := make([]uint32, len(c.slots))
	for i := range byHeight {
		byHeight[i] = uint32(i)
	}
	slices.SortStableFunc(byHeight, func(a, b uint32) int {
		return cmp.Compare(c.slots[a].height, c.slots[b].height)
	})
	rooted := make([]bool, len(c.slots))
	best := int32(-1)
	for _, n := range byHeight {
		s := &c.slots[n]
		parent, known := c.find(&s.prev)
		rooted[n] = s.height == 0 ||
			known && rooted[parent] && c.slots[parent].height == s.height-1
		if rooted[n] && s.height > best {
			best, tip = s.height, s.block
		}
	}
	return tip, best >= 0
}
