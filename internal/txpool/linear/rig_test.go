package linear_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/txpool/linear"
)

// enough is a budget that every graph of the tests comes to an end with.
const enough = 50_000_000

// shape makes a graph of n transactions.
type shape func(rng *rand.Rand, n int) *linear.Graph

// fees are of few values, so that many rates are equal, or of many; some are negative.
func fees(rng *rand.Rand, few bool) linear.FeeSize {
	if few {
		return linear.FeeSize{Fee: rng.Int64N(8) - 1, Size: 1 + rng.Int64N(3)}
	}
	return linear.FeeSize{Fee: rng.Int64N(100_000) - 5_000, Size: 400 + rng.Int64N(40_000)}
}

func grow(rng *rand.Rand, n int, parents func(i int) linear.Set) *linear.Graph {
	g, few := new(linear.Graph), rng.IntN(2) == 0
	for i := range n {
		g.Add(fees(rng, few))
		g.Depend(parents(i), i)
	}
	return g
}

func chain(rng *rand.Rand, n int) *linear.Graph {
	return grow(rng, n, func(i int) linear.Set { return linear.Of(i) >> 1 })
}

func tree(rng *rand.Rand, n int) *linear.Graph {
	return grow(rng, n, func(i int) linear.Set {
		if i == 0 {
			return 0
		}
		return linear.Of(rng.IntN(i))
	})
}

// spenders has a half of which each depends on some of the other half.
func spenders(rng *rand.Rand, n int) *linear.Graph {
	return grow(rng, n, func(i int) (parents linear.Set) {
		for range 3 {
			if i >= n/2 && n > 1 {
				parents |= linear.Of(rng.IntN(n / 2))
			}
		}
		return parents
	})
}

// dense has about each third dependency that there may be.
func dense(rng *rand.Rand, n int) *linear.Graph {
	return grow(rng, n, func(i int) linear.Set {
		return linear.Set(rng.Uint64()&rng.Uint64()|rng.Uint64()&rng.Uint64()&rng.Uint64()) & (linear.Of(i) - 1)
	})
}

// sparse has about two dependencies for each transaction.
func sparse(rng *rand.Rand, n int) *linear.Graph {
	return grow(rng, n, func(i int) (parents linear.Set) {
		for range rng.IntN(4) {
			if i > 0 {
				parents |= linear.Of(rng.IntN(i))
			}
		}
		return parents
	})
}

var shapes = map[string]shape{"chain": chain, "tree": tree, "spenders": spenders, "dense": dense, "sparse": sparse}

// find looks for the best linearization, with indexes as ties.
func find(g *linear.Graph, seed uint64, old []int) []int {
	list, _, _ := g.Linearize(linear.Search{Old: old, Order: cmp.Compare[int], Budget: enough, Seed: seed})
	return list
}

// anyList returns some topological order.
func anyList(rng *rand.Rand, g *linear.Graph) (list []int) {
	var done linear.Set
	for len(list) < g.Len() {
		i := rng.IntN(g.Len())
		if !done.Has(i) && g.Ancestors(i)&^done == linear.Of(i) {
			done |= linear.Of(i)
			list = append(list, i)
		}
	}
	return list
}

func sums(chunks []linear.Chunk) []linear.FeeSize {
	list := make([]linear.FeeSize, len(chunks))
	for i, c := range chunks {
		list[i] = c.FeeSize
	}
	return list
}

// closed yields the subsets of a set that have all that their transactions depend on in it.
func closed(g *linear.Graph, in linear.Set, yield func(linear.Set)) {
	for s := in; s != 0; s = (s - 1) & in {
		whole := true
		for i := range s.All() {
			whole = whole && g.Ancestors(i)&in&^s == 0
		}
		if whole {
			yield(s)
		}
	}
}

// best tries all subsets.
func best(g *linear.Graph) (diagram []linear.FeeSize) {
	for left := g.All(); left != 0; {
		var most linear.Set
		closed(g, left, func(s linear.Set) {
			if most == 0 || g.Sum(s).CompareRate(g.Sum(most)) > 0 {
				most = s
			}
		})
		diagram = append(diagram, g.Sum(most))
		left &^= most
	}
	return diagram
}

// isList checks that a linearization is one.
func isList(t *testing.T, g *linear.Graph, list []int) {
	t.Helper()
	var done linear.Set
	for _, i := range list {
		if g.Ancestors(i)&^done != linear.Of(i) {
			t.Fatalf("%v: %d comes before what it depends on, or twice", list, i)
		}
		done |= linear.Of(i)
	}
	if done != g.All() {
		t.Fatalf("%v has not all of %d", list, g.Len())
	}
}

// isChunked checks that the rates of chunks do not rise.
func isChunked(t *testing.T, chunks []linear.Chunk, n int) {
	t.Helper()
	if !slices.IsSortedFunc(chunks, func(a, b linear.Chunk) int { return b.CompareRate(a.FeeSize) }) {
		t.Errorf("rates rise: %v", chunks)
	}
	if chunks[len(chunks)-1].End != n {
		t.Errorf("chunks end at %d of %d", chunks[len(chunks)-1].End, n)
	}
}

// isMinimal checks that no chunk can be split without loss.
func isMinimal(t *testing.T, g *linear.Graph, list []int, chunks []linear.Chunk) {
	t.Helper()
	begin := 0
	for _, c := range chunks {
		var all linear.Set
		for _, i := range list[begin:c.End] {
			all |= linear.Of(i)
		}
		begin = c.End
		closed(g, all, func(s linear.Set) {
			if s != all && g.Sum(s).CompareRate(c.FeeSize) >= 0 {
				t.Errorf("chunk %b of %v can be split at %b", all, list, s)
			}
		})
	}
}
