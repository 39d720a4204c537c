package slhdsa

// A summer hashes blocks, as a hasher does.
type summer interface {
	sums(t *tweak, from *midstate, n int)
}

// byBlocks is a hasher that hashes all as blocks.
type byBlocks struct{ summer }

func (b byBlocks) walk(t *tweak, a address, from, to digits) {
	for s := segmentAt(0, from, to); s.n > 0; s = segmentAt(s.end, from, to) {
		s.walk(t, b, a)
	}
}

// A segment of a walk are steps in which the same chains take part.
type segment struct {
	first, end int
	chains     [chains]int
	n          int // of the chains
}

// segmentAt returns the first segment from a step on in which any chain takes part.
func segmentAt(step int, from, to digits) segment {
	s := segment{first: steps, end: steps}
	for chain := range chains {
		if step < int(to[chain]) && from[chain] < to[chain] {
			s.first = min(s.first, max(step, int(from[chain])))
		}
	}
	for chain := range chains {
		begin, end := int(from[chain]), int(to[chain])
		switch {
		case begin <= s.first && s.first < end:
			s.chains[s.n] = chain
			s.n++
			s.end = min(s.end, end)
		case s.first < begin && begin < end:
			s.end = min(s.end, begin)
		}
	}
	return s
}

// walk does the steps of the segment.
func (s *segment) walk(t *tweak, by summer, a address) {
	for i, chain := range s.chains[:s.n] {
		t.blocks[i].set(a.chain(chain), &t.values[chain])
		t.sums[i] = t.values[chain]
	}
	for step := s.first; step < s.end; step++ {
		for i := range s.n {
			t.blocks[i].advance(step, &t.sums[i])
		}
		by.sums(t, &t.start, s.n)
	}
	for i, chain := range s.chains[:s.n] {
		t.values[chain] = t.sums[i]
	}
}

func (b byBlocks) leaves(t *tweak, a address, first uint32, nodes []node) {
	for done := 0; done < len(nodes); done += lanes {
		n := min(lanes, len(nodes)-done)
		for lane := range n {
			t.blocks[lane].set(a.at(0, first+uint32(done+lane)), &nodes[done+lane])
		}
		b.sums(t, &t.start, n)
		copy(nodes[done:], t.sums[:n])
	}
}

func (b byBlocks) parents(t *tweak, a address, height int, first uint32, nodes []node) {
	parents := len(nodes) / 2
	for done := 0; done < parents; done += lanes {
		n := min(lanes, parents-done)
		for lane := range n {
			parent := done + lane
			t.blocks[lane].setPair(a.at(height, first+uint32(parent)), &nodes[2*parent], &nodes[2*parent+1])
		}
		b.sums(t, &t.start, n)
		copy(nodes[done:], t.sums[:n])
	}
}
