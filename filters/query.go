package filters

import (
	"iter"
	"slices"
	"sort"
)

// Query is a set of scripts to look for, prepared once for a scan. It is
// immutable and safe for concurrent use.
//
// Ten million scripts of 22 bytes take some 0.5 GB, of 34 bytes some 0.7 GB: each is kept once,
// in the form in which it is hashed.
type Query struct {
	groups []messages // ascending words
	count  int
	index  scriptIndex
}

// NewQuery returns the query for a set of scripts, as they appear on chain, in
// any order. Equal scripts count once. An empty script is looked for like any
// other, though no filter was built with one. The query keeps a copy. For scripts that are
// not all there at the same time use a [QueryBuilder].
func NewQuery(scripts [][]byte) *Query {
	b := NewQueryBuilder(len(scripts))
	b.reserve(scripts)
	for _, script := range scripts {
		b.Add(script)
	}
	return b.Query()
}

// QueryOf is [NewQuery] of scripts that are in no list, of which there are about count.
func QueryOf(scripts iter.Seq[[]byte], count int) *Query {
	b := NewQueryBuilder(count)
	for script := range scripts {
		b.Add(script)
	}
	return b.Query()
}

// QueryBuilder makes a query of scripts that come one by one. It is not safe for concurrent use.
type QueryBuilder struct {
	q    Query
	last int // group of the script before
}

// NewQueryBuilder returns a builder without a script, with room for about n.
func NewQueryBuilder(n int) *QueryBuilder {
	b := new(QueryBuilder)
	b.q.index.grow(n, nil)
	return b
}

// reserve makes room for scripts, so that nothing grows.
func (b *QueryBuilder) reserve(scripts [][]byte) {
	for _, script := range scripts {
		b.groupOf(script).expected++
	}
	for i := range b.q.groups {
		b.q.groups[i].reserve()
	}
}

// Add adds a script, which the caller may overwrite afterwards, and reports whether it is a new one.
func (b *QueryBuilder) Add(script []byte) bool {
	q := &b.q
	q.index.grow(q.count+1, q.groups)
	g := b.groupOf(script)
	hash := q.index.hash(script)
	cell, place := q.index.find(hash, script, g)
	if place >= 0 {
		return false
	}
	q.index.set(cell, hash, g.count)
	g.add(script)
	g.places = append(g.places, uint32(q.count))
	q.count++
	return true
}

// groupOf returns the group of a script, which it makes where there is none. Most scripts are as long
// as the one before.
func (b *QueryBuilder) groupOf(script []byte) *messages {
	groups, words := &b.q.groups, wordsOf(script)
	if b.last < len(*groups) && (*groups)[b.last].words == words {
		return &(*groups)[b.last]
	}
	at, there := findGroup(*groups, words)
	if !there {
		*groups = slices.Insert(*groups, at, messages{words: words})
	}
	b.last = at
	return &(*groups)[at]
}

// Query returns the query of the scripts that were added. The builder must not be used any more.
func (b *QueryBuilder) Query() *Query { return &b.q }

// findGroup returns where the group of messages of so many words is, or would be.
func findGroup(groups []messages, words int) (at int, there bool) {
	at = sort.Search(len(groups), func(i int) bool { return groups[i].words >= words })
	return at, at < len(groups) && groups[at].words == words
}

// Len returns the number of different scripts.
func (q *Query) Len() int { return q.count }

// Scripts returns the different scripts in an order that is always the same. Each is valid until the
// next one comes.
func (q *Query) Scripts() iter.Seq[[]byte] { return q.ScriptsFrom(0) }

// ScriptsFrom is [Query.Scripts] without so many at the beginning, which take no time.
func (q *Query) ScriptsFrom(n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var script []byte
		skip := n
		for i := range q.groups {
			g := &q.groups[i]
			for at := min(skip, g.count); at < g.count; at++ {
				script = g.appendScript(script[:0], at)
				if !yield(script) {
					return
				}
			}
			skip = max(skip-g.count, 0)
		}
	}
}

// Select returns the query for some of the scripts, by their numbers in the order of [Query.Scripts],
// from 0 on.
func (q *Query) Select(numbers []uint32) *Query {
	ends, end := make([]int, len(q.groups)), 0
	for i := range q.groups {
		end += q.groups[i].count
		ends[i] = end
	}
	b := NewQueryBuilder(len(numbers))
	var script []byte
	for _, n := range numbers {
		at := sort.SearchInts(ends, int(n)+1)
		g := &q.groups[at]
		script = g.appendScript(script[:0], int(n)-(ends[at]-g.count))
		b.Add(script)
	}
	return b.Query()
}

// Place returns the number of a script among the different ones, from 0 in the order in which
// [NewQuery] was given them; false when it is not one of the query's.
func (q *Query) Place(script []byte) (place int, has bool) {
	g, at := q.find(q.index.hash(script), script)
	if at < 0 {
		return 0, false
	}
	return int(g.places[at]), true
}

// HasScript reports whether the script is one of the query's.
func (q *Query) HasScript(script []byte) bool {
	if q.count == 0 {
		return false
	}
	hash := q.index.hash(script)
	if q.index.marks != nil && !q.index.marked(hash) {
		return false
	}
	_, at := q.find(hash, script)
	return at >= 0
}

// find returns where a script with a hash is, -1 where it is not.
func (q *Query) find(hash uint64, script []byte) (g *messages, at int) {
	group, there := findGroup(q.groups, wordsOf(script))
	if !there {
		return nil, -1
	}
	g = &q.groups[group]
	_, at = q.index.find(hash, script, g)
	return g, at
}

// InBlock reports whether a block really creates or spends one of the query's
// scripts, which tells right matches of its filter from wrong matches. The
// slice spent has the scripts of the outputs that the block spends. Unlike the
// filter, it counts the scripts of OP_RETURN outputs and empty scripts, as
// Bitcoin Core does for scanblocks with filter_false_positives.
//
// The block is as for [EachOutputScript]. The error wraps [ErrBadBlock]; it is
// not sure to be noticed when a script is found.
func (q *Query) InBlock(rawBlock []byte, headerLen int, spent [][]byte) (bool, error) {
	if slices.ContainsFunc(spent, q.HasScript) {
		return true, nil
	}
	found := false
	err := EachOutputScript(rawBlock, headerLen, func(script []byte) bool {
		found = q.HasScript(script)
		return !found
	})
	return found, err
}
