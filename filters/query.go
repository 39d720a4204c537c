package filters

import (
	"iter"
	"slices"

	"github.com/seed61375155/trawl/internal/scriptset"
)

// Query is a set of scripts to look for, prepared once for a scan. It is
// immutable and safe for concurrent use.
type Query struct {
	set    *scriptset.Set
	groups []messages // ascending words
}

// NewQuery returns the query for a set of scripts, as they appear on chain, in
// any order. Equal scripts count once. An empty script is looked for like any
// other, though no filter was built with one. The query keeps the scripts: nobody
// may write to them any more.
func NewQuery(scripts [][]byte) *Query { return QueryOf(slices.Values(scripts), len(scripts)) }

// QueryOf is [NewQuery] of scripts that are in no list, of which there are at most count.
func QueryOf(scripts iter.Seq[[]byte], count int) *Query {
	q := &Query{set: scriptset.New(count)}
	for script := range scripts {
		q.set.Add(script)
	}
	q.groups = newGroups(q.set.List())
	return q
}

// newGroups returns the messages of scripts by their lengths, which are counted
// first, so that nothing grows.
func newGroups(scripts [][]byte) (groups []messages) {
	at := map[int]int{} // by words
	last, words := 0, 0
	groupOf := func(script []byte) int {
		if n := len(script)/8 + 1; n != words { // most are as long as the one before
			words, last = n, at[n]
		}
		return last
	}
	for _, script := range scripts {
		i := groupOf(script)
		if i == len(groups) || groups[i].words != words {
			i = len(groups)
			at[words], last = i, i
			groups = append(groups, messages{words: words})
		}
		groups[i].count++
	}
	for i := range groups {
		g := &groups[i]
		g.tiles, g.count = make([]uint64, 0, tileCeil(g.count)*g.words), 0
	}
	for _, script := range scripts {
		groups[groupOf(script)].add(script)
	}
	slices.SortFunc(groups, func(a, b messages) int { return a.words - b.words })
	return groups
}

// Len returns the number of different scripts.
func (q *Query) Len() int { return q.set.Len() }

// Scripts returns the different scripts, in any order. Nobody may write to them.
func (q *Query) Scripts() iter.Seq[[]byte] { return slices.Values(q.set.List()) }

// Place returns the number of a script among the different ones, from 0 in the order in which
// [NewQuery] was given them; false when it is not one of the query's.
func (q *Query) Place(script []byte) (place int, has bool) { return q.set.Find(script) }

// HasScript reports whether the script is one of the query's.
func (q *Query) HasScript(script []byte) bool { return q.set.Has(script) }

// InBlock reports whether a block really creates or spends one of the query's
// scripts, which tells a right match of its filter from a wrong one. spent are
// the scripts of the outputs that the block spends. Unlike the filter, it
// counts the scripts of OP_RETURN outputs and empty scripts, as Bitcoin Core
// does for scanblocks with filter_false_positives.
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
