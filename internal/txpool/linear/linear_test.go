package linear_test

import (
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/txpool/linear"
)

// Among all ways to cut a small graph none is above what the search finds, and no chunk is larger
// than it must be.
func TestBest(t *testing.T) {
	for name, build := range shapes {
		for seed := range uint64(150) {
			rng := rand.New(rand.NewPCG(seed, 1))
			g := build(rng, 1+rng.IntN(10))
			list, optimal, _ := g.Linearize(linear.Search{Order: cmp.Compare[int], Budget: enough, Seed: seed})
			isList(t, g, list)
			if !optimal {
				t.Errorf("%s %d: no end", name, seed)
			}
			chunks := g.Chunks(list)
			isChunked(t, chunks, g.Len())
			if order, ok := linear.Compare(sums(chunks), best(g)); order != 0 || !ok {
				t.Errorf("%s %d: %v, best %v: %d %v", name, seed, chunks, best(g), order, ok)
			}
			isMinimal(t, g, list, chunks)
		}
	}
}

// Where the search comes to an end, the order depends neither on the indexes, which arrival
// decides, nor on what was known before.
func TestArrival(t *testing.T) {
	for name, build := range shapes {
		for seed := range uint64(40) {
			rng := rand.New(rand.NewPCG(seed, 2))
			g := build(rng, 2+rng.IntN(63))
			first, optimal, _ := g.Linearize(linear.Search{Order: cmp.Compare[int], Budget: enough, Seed: seed})
			if !optimal {
				t.Fatalf("%s %d: no end", name, seed)
			}
			came := anyList(rng, g)
			at := slices.Clone(came)
			other := new(linear.Graph)
			for to, i := range came {
				at[i] = to
				other.Add(g.FeeSize(i))
				var parents linear.Set
				for p := range g.Parents(i).All() {
					parents |= linear.Of(at[p])
				}
				other.Depend(parents, to)
			}
			second, _, _ := other.Linearize(linear.Search{
				Old: anyList(rng, other), Budget: enough, Seed: ^seed,
				Order: func(a, b int) int { return cmp.Compare(came[a], came[b]) },
			})
			for i := range second {
				second[i] = came[second[i]]
			}
			if !slices.Equal(first, second) {
				t.Errorf("%s %d: %v, then %v", name, seed, first, second)
			}
		}
	}
}

// However early the search has to end, what is known does not get worse.
func TestNeverWorse(t *testing.T) {
	for name, build := range shapes {
		for seed := range uint64(100) {
			rng := rand.New(rand.NewPCG(seed, 3))
			g := build(rng, 2+rng.IntN(63))
			old := anyList(rng, g)
			if rng.IntN(2) == 0 {
				old = find(g, seed, nil)
			}
			list, _, cost := g.Linearize(linear.Search{
				Old: old, Order: cmp.Compare[int], Budget: rng.IntN(10_000), Seed: seed,
			})
			isList(t, g, list)
			chunks := g.Chunks(list)
			isChunked(t, chunks, g.Len())
			if order, ok := linear.Compare(sums(chunks), sums(g.Chunks(old))); order < 0 || !ok {
				t.Errorf("%s %d: %v after %v at a cost of %d", name, seed, list, old, cost)
			}
		}
	}
}

// An order that puts a transaction before what it depends on is not used.
func TestNoOrder(t *testing.T) {
	g := chain(rand.New(rand.NewPCG(1, 1)), 20)
	want := find(g, 1, nil)
	for _, old := range [][]int{{1, 0}, slices.Repeat([]int{0}, 20), nil} {
		if got := find(g, 2, old); !slices.Equal(got, want) {
			t.Errorf("from %v: %v, want %v", old, got, want)
		}
	}
}

// Where rates are equal the smaller chunks come first, then those whose last transaction is least;
// within a chunk the order is that of two passes over it.
func TestOrder(t *testing.T) {
	type tx struct {
		fee, size int64
		parents   linear.Set
	}
	for _, test := range []struct {
		name string
		txs  []tx
		want []int
	}{
		{"rates", []tx{{1, 1, 0}, {3, 1, 0}, {2, 1, 0}}, []int{1, 2, 0}},
		{"sizes", []tx{{4, 2, 0}, {2, 1, 0}, {6, 3, 0}}, []int{1, 0, 2}},
		{"ties", []tx{{2, 1, 0}, {2, 1, 0}, {2, 1, 0}}, []int{0, 1, 2}},
		{"last of a chunk", []tx{{0, 1, 0}, {0, 1, 0}, {4, 1, 0b10}, {4, 1, 0b01}}, []int{1, 2, 0, 3}},
		{"child pays", []tx{{0, 1, 0}, {5, 1, 0}, {9, 1, 0b1}}, []int{1, 0, 2}},
		{"equal halves are apart", []tx{{2, 1, 0}, {2, 1, 0b1}}, []int{0, 1}},
		{"equal parts are apart", []tx{{3, 1, 0}, {3, 1, 0}, {4, 1, 0b11}, {4, 1, 0b10}}, []int{1, 3, 0, 2}},
		// All pay for the root. The child with the best child comes first, although its sibling pays
		// more by itself.
		{"passes", []tx{{-1000, 1, 0}, {200, 1, 0b1}, {100, 1, 0b1}, {900, 1, 0b100}}, []int{0, 2, 3, 1}},
	} {
		g := new(linear.Graph)
		for i, x := range test.txs {
			g.Add(linear.FeeSize{Fee: x.fee, Size: x.size})
			g.Depend(x.parents, i)
		}
		for seed := range uint64(50) {
			if got := find(g, seed, nil); !slices.Equal(got, test.want) {
				t.Errorf("%s: %v, want %v", test.name, got, test.want)
			}
		}
	}
}

// A graph has no circles, and knows of each transaction what is between.
func TestGraph(t *testing.T) {
	g := new(linear.Graph)
	for range 4 {
		g.Add(linear.FeeSize{Fee: 1, Size: 1})
	}
	g.Depend(0b0001, 1)
	g.Depend(0b0010, 2)
	g.Depend(0b0101, 3)
	g.Depend(0b1000, 0) // a circle
	for i, want := range []struct{ above, below, parents linear.Set }{
		{0b0001, 0b1111, 0}, {0b0011, 0b1110, 0b0001}, {0b0111, 0b1100, 0b0010}, {0b1111, 0b1000, 0b0100},
	} {
		if g.Ancestors(i) != want.above || g.Descendants(i) != want.below || g.Parents(i) != want.parents {
			t.Errorf("%d: %b, %b, %b", i, g.Ancestors(i), g.Descendants(i), g.Parents(i))
		}
	}
	g.SetFee(2, 1<<60)
	if got := g.Sum(0b1100); got.Fee != linear.MaxFee+1 || got.Size != 2 {
		t.Error(got)
	}
}

// Diagrams are compared as if at each size.
func TestCompare(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		a, b := diagram(rng), diagram(rng)
		if rng.IntN(4) == 0 {
			b = slices.Clone(a)
			if len(b) > 0 && rng.IntN(2) == 0 {
				b[rng.IntN(len(b))].Fee++
			}
			linear.Diagram(b)
		}
		order, ok := linear.Compare(a, b)
		above, below := false, false
		for size := range int64(60) {
			side := at(a, size).Cmp(at(b, size))
			above, below = above || side > 0, below || side < 0
		}
		want := 0
		switch {
		case above && !below:
			want = 1
		case below && !above:
			want = -1
		}
		if order != want || ok != (!above || !below) {
			t.Errorf("%v and %v: %d %v, want %d %v %v", a, b, order, ok, want, above, below)
		}
	}
}

func diagram(rng *rand.Rand) []linear.FeeSize {
	list := make([]linear.FeeSize, rng.IntN(5))
	for i := range list {
		list[i] = linear.FeeSize{Fee: rng.Int64N(20) - 4, Size: 1 + rng.Int64N(8)}
	}
	linear.Diagram(list)
	return list
}

// at returns what a diagram has at a size.
func at(chunks []linear.FeeSize, size int64) *big.Rat {
	sum := new(big.Rat)
	for _, c := range chunks {
		n := min(size, c.Size)
		sum.Add(sum, big.NewRat(c.Fee*n, c.Size))
		size -= n
	}
	return sum
}

// Rates are compared without loss.
func TestCompareRate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for range 5000 {
		a := linear.FeeSize{Fee: rng.Int64() >> rng.IntN(63), Size: 1 + rng.Int64()>>(1+rng.IntN(60))}
		b := linear.FeeSize{Fee: rng.Int64() >> rng.IntN(63), Size: 1 + rng.Int64()>>(1+rng.IntN(60))}
		if rng.IntN(2) == 0 {
			a.Fee = -a.Fee
		}
		if rng.IntN(2) == 0 {
			b.Fee = -b.Fee
		}
		if got, want := a.CompareRate(b), big.NewRat(a.Fee, a.Size).Cmp(big.NewRat(b.Fee, b.Size)); got != want {
			t.Errorf("%v and %v: %d, want %d", a, b, got, want)
		}
	}
}

// FuzzLinearize holds small graphs of any form against all ways to cut them.
func FuzzLinearize(f *testing.F) {
	f.Add([]byte{3, 1, 0, 5, 1, 1, 2, 2, 3})
	f.Add([]byte{0, 9, 0, 7, 1, 1, 7, 1, 2, 7, 1, 4, 255, 30, 15})
	f.Fuzz(func(t *testing.T, data []byte) {
		g := new(linear.Graph)
		for len(data) >= 3 && g.Len() < 10 {
			i := g.Add(linear.FeeSize{Fee: int64(int8(data[0])), Size: 1 + int64(data[1]%32)})
			g.Depend(linear.Set(data[2])&(linear.Of(i)-1), i)
			data = data[3:]
		}
		if g.Len() == 0 {
			return
		}
		budget, seed := enough, uint64(0)
		if len(data) == 2 {
			budget, seed = int(data[0])*50, uint64(data[1])
		}
		list, optimal, _ := g.Linearize(linear.Search{Order: cmp.Compare[int], Budget: budget, Seed: seed})
		isList(t, g, list)
		chunks := g.Chunks(list)
		isChunked(t, chunks, g.Len())
		order, ok := linear.Compare(sums(chunks), best(g))
		if !ok || order > 0 || optimal && order < 0 || !optimal && budget == enough {
			t.Errorf("%v: %d, %v, optimal %v", list, order, ok, optimal)
		}
		if optimal {
			isMinimal(t, g, list, chunks)
		}
	})
}

func BenchmarkLinearize(b *testing.B) {
	for name, build := range shapes {
		for _, n := range []int{16, 64} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				graphs := []*linear.Graph{}
				for seed := range uint64(50) {
					graphs = append(graphs, build(rand.New(rand.NewPCG(seed, 6)), n))
				}
				total, most := 0, 0
				i := 0
				for b.Loop() {
					_, _, cost := graphs[i%50].Linearize(linear.Search{
						Order: cmp.Compare[int], Budget: enough, Seed: uint64(i),
					})
					total, most, i = total+cost, max(most, cost), i+1
				}
				b.ReportMetric(float64(total)/float64(i), "cost/op")
				b.ReportMetric(float64(most), "cost-max")
			})
		}
	}
}
