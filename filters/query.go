package filters

import (
	"iter"
	"maps"
	"slices"
)

// Query is a set of scripts to look for, prepared once for a scan. It is
// immutable and safe for concurrent use.
type Query struct {
	scripts map[string]struct{}
	groups  []messages // ascending words
}

// NewQuery returns the query for a set of scripts, as they appear on chain, in
// any order. Equal scripts count once. An empty script is looked for like any
// other, though no filter was built with one.
func NewQuery(scripts [][]byte) *Query {
	q := &Query{scripts: make(map[string]struct{}, len(scripts))}
	byWords := make(map[int]*messages)
	for _, script := range scripts {
		if q.HasScript(script) {
			continue
		}
		q.scripts[string(script)] = struct{}{}
		words := len(script)/8 + 1
		if byWords[words] == nil {
			byWords[words] = &messages{words: words}
		}
		byWords[words].add(script)
	}
	for _, words := range slices.Sorted(maps.Keys(byWords)) {
		q.groups = append(q.groups, *byWords[words])
	}
	return q
}

// Len returns the number of different scripts.
func (q *Query) Len() int { return len(q.scripts) }

// Scripts returns the different scripts, in any order.
func (q *Query) Scripts() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for script := range q.scripts {
			if !yield([]byte(script)) {
				return
			}
		}
	}
}

// HasScript reports whether the script is one of the query's.
func (q *Query) HasScript(script []byte) bool {
	_, found := q.scripts[string(script)]
	return found
}

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
