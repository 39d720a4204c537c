package slhdsa

import "encoding/binary"

// A row is a word of each of 16 lanes. Lane i is of the node laneNode(i).
type row [lanes]uint32

// laneNode returns the node, or chain, that a lane hashes: four nodes are loaded
// as one vector, and their words become rows.
func laneNode(lane int) int { return lane%4*4 + lane/4 }

// opening is what hashes of an address have in common whose first five words
// stay: the assembly makes the rest of these words.
type opening struct {
	word  [5]row // of the address
	state [8]row // after five rounds

	// The known parts of the words 16 to 19 of the schedule. With one node, the
	// words 17 and 19 are known whole: by themselves, with their rounds'
	// constants, and as other words have them.
	part16, part17, part18, part19 row
	w17, w19, round17, round19     row
	early17, early19, late19       row
}

// lanes16 is what the assembly knows of 16 lanes.
type lanes16 struct {
	opening
	tag      row // the sixth word's upper half: the end of the address
	at       row // the step
	from, to row // in which steps a lane takes part
	words    [4]row
	schedule [16]row // scratch memory
}

// vectorScratch is what a tweak has for vectors.
type vectorScratch = lanes16

// vectors is a hasher by vectors of many lanes.
type vectors struct {
	lanes  int // of a vector
	few    int // up to so many blocks are faster by the summer
	summer     // for these

	open   func(o *opening, start *[8]uint32)
	step   func(nodes *node, l *lanes16, start *[8]uint32, steps int)
	pairs  func(dst, nodes *node, l *lanes16, start *[8]uint32, index, groups int)
	blocks func(dst *node, start *[8]uint32, blocks *block, l *lanes16, groups int)
}

func (v *vectors) sums(t *tweak, from *midstate, n int) {
	if n <= v.few {
		v.summer.sums(t, from, n)
		return
	}
	v.blocks(&t.sums[0], from.registers, &t.blocks[0], &t.scratch, (n+v.lanes-1)/v.lanes)
}

func (v *vectors) walk(t *tweak, a address, from, to digits) {
	s := segmentAt(0, from, to)
	for ; s.n > 0 && s.n <= v.few; s = segmentAt(s.end, from, to) {
		s.walk(t, v.summer, a)
	}
	if s.n == 0 {
		return
	}
	first, end := s.first, s.end
	for ; s.n > v.few; s = segmentAt(s.end, from, to) {
		end = s.end
	}
	v.walkAll(t, a, first, end, from, to)
	for ; s.n > 0; s = segmentAt(s.end, from, to) {
		s.walk(t, v, a)
	}
}

// walkAll does the steps from one to another of all chains side by side, whether
// they take part or not.
func (v *vectors) walkAll(t *tweak, a address, first, end int, from, to digits) {
	l := &t.scratch
	l.set(a)
	for lane := range lanes {
		chain := laneNode(lane)
		a = a.chain(chain)
		l.word[4][lane] = binary.BigEndian.Uint32(a[16:])
		l.tag[lane], l.at[lane] = uint32(first)<<16, uint32(first)
		l.from[lane], l.to[lane] = uint32(from[chain]), uint32(to[chain])
	}
	v.open(&l.opening, t.start.registers)
	v.step(&t.values[0], l, t.start.registers, end-first)
}

// set gives all lanes the same address.
func (l *lanes16) set(a address) {
	for i := range l.word {
		word := binary.BigEndian.Uint32(a[4*i:])
		for lane := range lanes {
			l.word[i][lane] = word
		}
	}
}

func (v *vectors) leaves(t *tweak, a address, first uint32, nodes []node) {
	l := &t.scratch
	l.set(a.at(0, first))
	v.open(&l.opening, t.start.registers)
	for lane := range lanes {
		l.from[lane], l.to[lane] = 0, 1
	}
	whole := len(nodes) / lanes * lanes
	for done := 0; done < whole; done += lanes {
		for lane := range lanes {
			l.tag[lane], l.at[lane] = (first+uint32(done+laneNode(lane)))<<16, 0
		}
		v.step(&nodes[done], l, t.start.registers, 1)
	}
	byBlocks{v}.leaves(t, a, first+uint32(whole), nodes[whole:])
}

func (v *vectors) parents(t *tweak, a address, height int, first uint32, nodes []node) {
	parents := len(nodes) / 2
	if parents < v.lanes {
		byBlocks{v}.parents(t, a, height, first, nodes)
		return
	}
	t.scratch.set(a.at(height, first))
	v.open(&t.scratch.opening, t.start.registers)
	v.pairs(&nodes[0], &nodes[0], &t.scratch, t.start.registers, int(first), parents/v.lanes)
}

//go:noescape
func open512(o *opening, start *[8]uint32)

//go:noescape
func walk512(nodes *node, l *lanes16, start *[8]uint32, steps int)

//go:noescape
func pairs512(dst, nodes *node, l *lanes16, start *[8]uint32, index, groups int)

//go:noescape
func sums512(dst *node, start *[8]uint32, blocks *block, l *lanes16, groups int)

//go:noescape
func open256(o *opening, start *[8]uint32)

//go:noescape
func walk256(nodes *node, l *lanes16, start *[8]uint32, steps int)

//go:noescape
func pairs256(dst, nodes *node, l *lanes16, start *[8]uint32, index, groups int)

//go:noescape
func sums256(dst *node, start *[8]uint32, blocks *block, l *lanes16, groups int)
