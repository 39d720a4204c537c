package linear

// forest is the state of the search for the best linearization.
//
// Some of the dependencies between parents and children are active, never in a circle. They
// connect transactions to chunks. The search joins two chunks where the child pays no less than
// the parent. It splits a chunk where the upper part pays more than the lower part. No step makes
// the diagram worse. Where no step is left, the chunks are the best.
//
// Each chunk has a place in sets, and so has the upper part of the chunk that each active
// dependency would split off. There are never more of both than transactions.
type forest struct {
	random
	cost int

	parents, children [MaxTxs]Set           // direct ones
	active            [MaxTxs]Set           // children by active dependencies
	tops              [MaxTxs][MaxTxs]uint8 // places of upper parts, by parent and child
	chunkOf           [MaxTxs]uint8         // places of chunks, by transaction
	sets              [MaxTxs]part
	up, down          [MaxTxs]Set // direct ones of a chunk that are outside of it
	chunks            Set         // places of chunks

	queue  []uint8 // places of chunks; some are stale
	queued Set
}

// part is a set of transactions with its sum.
type part struct {
	txs  Set
	fees FeeSize
}

func (p *part) add(o part) { p.txs, p.fees = p.txs|o.txs, p.fees.Plus(o.fees) }

func (p *part) sub(o part) { p.txs, p.fees = p.txs&^o.txs, p.fees.Minus(o.fees) }

// random is a generator of numbers that need not be unpredictable (splitmix64).
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (r *random) below(n int) int { return int(r.next() >> 33 % uint64(n)) }

func (r *random) coin() bool { return r.next()>>63 != 0 }

// newForest returns the state in which each transaction is a chunk.
func newForest(g *Graph, seed uint64) *forest {
	f := &forest{random: random{seed}, chunks: g.All()}
	for i := range g.txs {
		f.parents[i] = g.Parents(i)
		for p := range f.parents[i].All() {
			f.children[p] |= Of(i)
		}
	}
	for i := range g.txs {
		f.chunkOf[i] = uint8(i)
		f.sets[i] = part{Of(i), g.txs[i].FeeSize}
		f.up[i], f.down[i] = f.parents[i], f.children[i]
	}
	f.cost = 90 * len(g.txs)
	return f
}

// activate makes a dependency between two chunks active, and returns the chunk that they make.
func (f *forest) activate(parent, child int) uint8 {
	at, to := f.chunkOf[parent], f.chunkOf[child]
	upper, lower := f.sets[at], f.sets[to]
	for i := range upper.txs.All() {
		f.chunkOf[i] = to
		for c := range f.active[i].All() {
			if top := &f.sets[f.tops[i][c]]; top.txs.Has(parent) {
				top.add(lower)
			}
		}
	}
	for i := range lower.txs.All() {
		for c := range f.active[i].All() {
			if top := &f.sets[f.tops[i][c]]; top.txs.Has(child) {
				top.add(upper)
			}
		}
	}
	whole := &f.sets[to]
	whole.add(upper)
	f.up[to] = (f.up[to] | f.up[at]) &^ whole.txs
	f.down[to] = (f.down[to] | f.down[at]) &^ whole.txs
	f.tops[parent][child] = at
	f.active[parent] |= Of(child)
	f.chunks &^= Of(int(at))
	f.cost += 10 * whole.txs.Len()
	return to
}

// deactivate makes a dependency inactive, and returns the two chunks that are left.
func (f *forest) deactivate(parent, child int) (top, bottom uint8) {
	top, bottom = f.tops[parent][child], f.chunkOf[parent]
	f.active[parent] &^= Of(child)
	f.chunks |= Of(int(top))
	f.cost += 11*f.sets[bottom].txs.Len() + 8
	upper := f.sets[top]
	f.sets[bottom].sub(upper)
	lower := f.sets[bottom]
	for i := range upper.txs.All() {
		f.chunkOf[i] = top
	}
	f.cut(top, parent, lower)
	f.cut(bottom, child, upper)
	return top, bottom
}

// cut mends what is known of a chunk that the rest, beyond a transaction of it, has left.
func (f *forest) cut(chunk uint8, end int, rest part) {
	var up, down Set
	txs := f.sets[chunk].txs
	for i := range txs.All() {
		up |= f.parents[i]
		down |= f.children[i]
		for c := range f.active[i].All() {
			if top := &f.sets[f.tops[i][c]]; top.txs.Has(end) {
				top.sub(rest)
			}
		}
	}
	f.up[chunk], f.down[chunk] = up&^txs, down&^txs
}

// join activates one of the dependencies by which a chunk depends on another.
func (f *forest) join(upper, lower uint8) uint8 {
	above, below := f.sets[upper].txs, f.sets[lower].txs
	n := 0
	for i := range above.All() {
		n += (f.children[i] & below).Len()
	}
	f.cost += 4 * above.Len()
	pick := f.below(n)
	for i := range above.All() {
		between := f.children[i] & below
		if pick < between.Len() {
			return f.activate(i, between.nth(pick))
		}
		pick -= between.Len()
	}
	return lower // not reached: a dependency was counted
}

// merge joins a chunk with the neighbour that most needs it, and reports whether there is any.
// Upwards that is the parent that pays least, if it does not pay more. Downwards it is the child
// that pays most, if it does not pay less.
func (f *forest) merge(chunk uint8, up bool) (uint8, bool) {
	best, found := f.sets[chunk].fees, false
	var at uint8
	var chance uint64
	todo := f.down[chunk]
	if up {
		todo = f.up[chunk]
	}
	for todo != 0 {
		other := f.chunkOf[todo.first()]
		todo &^= f.sets[other].txs
		f.cost += 8
		order := f.sets[other].fees.CompareRate(best)
		if up {
			order = -order
		}
		if order < 0 {
			continue
		}
		if draw := f.next(); order > 0 || !found || draw >= chance {
			best, at, found, chance = f.sets[other].fees, other, true, draw
		}
	}
	switch {
	case !found:
		return chunk, false
	case up:
		return f.join(at, chunk), true
	}
	return f.join(chunk, at), true
}

// mergeAll joins a chunk in one direction as long as there is a need to, and queues the outcome.
func (f *forest) mergeAll(chunk uint8, up bool) {
	for merged := true; merged; {
		chunk, merged = f.merge(chunk, up)
	}
	f.enqueue(chunk)
}

func (f *forest) enqueue(chunk uint8) {
	if !f.queued.Has(int(chunk)) {
		f.queued |= Of(int(chunk))
		f.queue = append(f.queue, chunk)
	}
}

// enqueueAll queues all chunks in any order.
func (f *forest) enqueueAll() {
	for c := range f.chunks.All() {
		f.enqueue(uint8(c))
		last := len(f.queue) - 1
		other := f.below(last + 1)
		f.queue[last], f.queue[other] = f.queue[other], f.queue[last]
	}
	f.cost += 15 * len(f.queue)
}

// dequeue returns the next chunk; false: none is left.
func (f *forest) dequeue() (uint8, bool) {
	for len(f.queue) > 0 {
		c := f.queue[0]
		f.queue = f.queue[1:]
		f.queued &^= Of(int(c))
		f.cost += 5
		if f.chunks.Has(int(c)) {
			return c, true
		}
	}
	return 0, false
}

// load makes chunks by a linearization, which must be topological. They are as good as its own.
func (f *forest) load(list []int) {
	for _, i := range list {
		chunk := f.chunkOf[i]
		for merged := true; merged; {
			chunk, merged = f.merge(chunk, true)
		}
	}
}

// settle joins chunks until each pays less than all that it depends on.
func (f *forest) settle() {
	f.enqueueAll()
	for {
		chunk, ok := f.dequeue()
		if !ok {
			return
		}
		up := f.coin()
		merged, did := f.merge(chunk, up)
		if !did {
			merged, did = f.merge(chunk, !up)
		}
		if did {
			f.enqueue(merged)
		}
	}
}
