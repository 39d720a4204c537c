package linear

// optimize improves chunks until nothing is left to improve, and reports whether the budget
// sufficed.
func (f *forest) optimize(budget int) bool {
	f.enqueueAll()
	for f.cost < budget {
		chunk, ok := f.dequeue()
		if !ok {
			return true
		}
		if parent, child, found := f.weakest(chunk); found {
			f.improve(parent, child)
		}
	}
	return false
}

// weakest returns any active dependency of a chunk by which the upper part pays more than the
// lower part.
func (f *forest) weakest(chunk uint8) (parent, child int, found bool) {
	whole := f.sets[chunk]
	var chance uint64
	for i := range whole.txs.All() {
		for c := range f.active[i].All() {
			if f.sets[f.tops[i][c]].fees.CompareRate(whole.fees) <= 0 {
				continue
			}
			if draw := f.next(); !found || draw >= chance {
				parent, child, found, chance = i, c, true, draw
			}
		}
	}
	f.cost += 8*whole.txs.Len() + 9
	return parent, child, found
}

// improve splits a chunk, and joins both parts with their neighbours.
func (f *forest) improve(parent, child int) {
	top, bottom := f.deactivate(parent, child)
	if f.up[top]&f.sets[bottom].txs != 0 { // they depend on each other
		f.enqueue(f.join(bottom, top))
		return
	}
	f.mergeAll(top, true)
	f.mergeAll(bottom, false)
}

// attempt is one at splitting a chunk into parts of the same fee rate.
type attempt struct {
	chunk uint8
	pivot int  // transaction of either part
	down  bool // the lower one, else the upper one
	last  bool // the other way round it has failed
}

// minimize splits the chunks of the best state into the smallest ones of the same fee rates, and
// reports whether the budget sufficed. Which transaction of a chunk is its pivot does not matter:
// it is in the upper or in the lower part of any split.
func (f *forest) minimize(budget int) bool {
	var queue []attempt
	for c := range f.chunks.All() {
		queue = append(queue, f.begin(uint8(c)))
	}
	f.cost += 18 * len(queue)
	for f.cost < budget {
		if len(queue) == 0 {
			return true
		}
		try := queue[0]
		queue = append(queue[1:], f.halve(try)...)
	}
	return false
}

func (f *forest) begin(chunk uint8) attempt {
	txs := f.sets[chunk].txs
	return attempt{chunk: chunk, pivot: txs.nth(f.below(txs.Len())), down: f.coin()}
}

// halve splits a chunk where it can be, and returns what is to be tried next.
func (f *forest) halve(try attempt) []attempt {
	parent, child, some, found := f.even(try)
	switch {
	case !some || !found && try.last:
		return nil // it is minimal
	case !found:
		try.down, try.last = !try.down, true
		return []attempt{try}
	}
	top, bottom := f.deactivate(parent, child)
	if f.up[top]&f.sets[bottom].txs != 0 { // they depend on each other
		try.chunk = f.join(bottom, top)
		return []attempt{try}
	}
	if try.down {
		try.chunk = bottom
		return []attempt{f.begin(top), try}
	}
	try.chunk = top
	return []attempt{try, f.begin(bottom)}
}

// even returns an active dependency of a chunk of which both parts have the same fee rate and the
// pivot is in the wanted one. It reports too whether there is any of that rate.
func (f *forest) even(try attempt) (parent, child int, some, found bool) {
	whole := f.sets[try.chunk]
	var chance uint64
	for i := range whole.txs.All() {
		for c := range f.active[i].All() {
			top := &f.sets[f.tops[i][c]]
			if top.fees.CompareRate(whole.fees) < 0 {
				continue
			}
			some = true
			if top.txs.Has(try.pivot) == try.down {
				continue
			}
			if draw := f.next(); !found || draw >= chance {
				parent, child, found, chance = i, c, true, draw
			}
		}
	}
	f.cost += 11*whole.txs.Len() + 11
	return parent, child, some, found
}

// list returns the linearization of the state, which must be settled. Chunks come after those that
// they depend on, then by fee rate, then the smaller ones first, then those of which the last
// transaction by order is the least. So do transactions of a chunk, each by itself.
func (f *forest) list(g *Graph, order func(a, b int) int) []int {
	list := make([]int, 0, g.Len())
	var done Set
	for left := f.chunks; left != 0; {
		best := -1
		var bestLast int
		for c := range left.All() {
			if f.up[c]&^done != 0 {
				continue
			}
			last := greatest(f.sets[c].txs, order)
			if best < 0 || before(f.sets[c].fees, f.sets[best].fees, last, bestLast, order) {
				best, bestLast = c, last
			}
		}
		left &^= Of(best)
		list = f.listChunk(list, g, done, f.sets[best].txs, order)
		done |= f.sets[best].txs
	}
	return list
}

func (f *forest) listChunk(list []int, g *Graph, done, left Set, order func(a, b int) int) []int {
	for left != 0 {
		best := -1
		for i := range left.All() {
			if f.parents[i]&^done == 0 && (best < 0 || before(g.FeeSize(i), g.FeeSize(best), i, best, order)) {
				best = i
			}
		}
		left &^= Of(best)
		done |= Of(best)
		list = append(list, best)
	}
	return list
}

// greatest returns the last transaction of a set by an order.
func greatest(s Set, order func(a, b int) int) int {
	last := s.first()
	for i := range s.All() {
		if order(i, last) > 0 {
			last = i
		}
	}
	return last
}

func before(a, b FeeSize, tieA, tieB int, order func(a, b int) int) bool {
	switch rate := a.CompareRate(b); {
	case rate != 0:
		return rate > 0
	case a.Size != b.Size:
		return a.Size < b.Size
	}
	return order(tieA, tieB) < 0
}
