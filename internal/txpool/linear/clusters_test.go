package linear_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/txpool/linear"
)

// After any steps all that clusters say is what follows from their transactions.
func TestClusters(t *testing.T) {
	for _, limits := range []linear.Limits{{Count: 5, Size: 1000}, {Count: 12, Size: 25}, {Count: 64, Size: 90}} {
		for seed := range uint64(6) {
			rng := rand.New(rand.NewPCG(seed, 7))
			s := &storm{newModel(t, rng, limits), linear.NewClusters(limits, seed)}
			for range 150 {
				s.step()
				if rng.IntN(3) == 0 || t.Failed() { // else changes add up
					s.check(s.c)
				}
			}
			s.check(s.c)
		}
	}
}

// storm does the same things to clusters and to a model.
type storm struct {
	*model

	c *linear.Clusters
}

func (s *storm) step() {
	switch n := s.rng.IntN(20); {
	case n < 9:
		s.addOne()
	case n < 12:
		for _, tx := range s.some(2) {
			s.c.Remove(tx)
			s.remove(tx)
		}
	case n < 14:
		for _, tx := range s.some(2) {
			fee := s.rng.Int64N(10)
			s.c.SetFee(tx, fee)
			s.fees[tx] = linear.FeeSize{Fee: fee, Size: s.fees[tx].Size}
		}
	case n < 16:
		s.join()
	default:
		s.try()
	}
}

func (s *storm) addOne() {
	tx, parents := s.tx(), s.some(s.rng.IntN(4))
	next := s.clone()
	next.add(tx, parents...)
	if fits := s.c.Add(tx, parents...); fits == next.oversized() || fits != tx.Here() {
		s.t.Fatalf("added: %v, oversized: %v, here: %v", fits, next.oversized(), tx.Here())
	} else if fits {
		s.model = next
	}
}

// try makes a change of several transactions, and drops it mostly.
func (s *storm) try() {
	trial, next := s.c.Try(), s.clone()
	var concerned []*linear.Tx
	gone := s.some(s.rng.IntN(4))
	for _, tx := range gone {
		trial.Remove(tx)
		next.remove(tx)
	}
	concerned = append(concerned, gone...)
	for range s.rng.IntN(4) {
		tx, parents := s.tx(), next.some(s.rng.IntN(3))
		trial.Add(tx, parents...)
		next.add(tx, parents...)
		concerned = append(concerned, parents...)
	}
	if trial.Oversized() != next.oversized() {
		s.t.Fatalf("oversized: %v", trial.Oversized())
	}
	if next.oversized() {
		if trial.Commit() {
			s.t.Fatal("an oversized change was made")
		}
		return
	}
	s.compare(trial, next, concerned)
	if s.rng.IntN(3) == 0 {
		if !trial.Commit() {
			s.t.Fatal("a change was not made")
		}
		s.model = next
	}
}

// compare checks the diagrams of a change.
func (s *storm) compare(trial *linear.Trial, next *model, concerned []*linear.Tx) {
	s.t.Helper()
	before, after := trial.Diagrams()
	wantBefore := s.diagram(func(c []*linear.Tx) bool { return slices.ContainsFunc(c, in(concerned)) })
	stays := make(map[*linear.Tx]bool) // in clusters that the change does not concern
	for _, cluster := range s.clusters() {
		if !slices.ContainsFunc(cluster, in(concerned)) {
			for _, tx := range cluster {
				stays[tx] = true
			}
		}
	}
	wantAfter := next.diagram(func(c []*linear.Tx) bool { return !stays[c[0]] })
	if !slices.Equal(before, wantBefore) || !slices.Equal(after, wantAfter) {
		s.t.Fatalf("diagrams are %v and %v, want %v and %v", before, after, wantBefore, wantAfter)
	}
}

func in(list []*linear.Tx) func(*linear.Tx) bool {
	return func(tx *linear.Tx) bool { return slices.Contains(list, tx) }
}

func (m *model) diagram(of func([]*linear.Tx) bool) (sums []linear.FeeSize) {
	for _, cluster := range m.clusters() {
		if of(cluster) {
			for _, chunk := range m.chunks(cluster) {
				sums = append(sums, chunk.FeeSize)
			}
		}
	}
	linear.Diagram(sums)
	return sums
}

// join makes transactions depend on others as blocks do that leave the chain.
func (s *storm) join() {
	var deps []linear.Dep
	next := s.clone()
	for range 1 + s.rng.IntN(3) {
		pair := s.some(2)
		if len(pair) == 2 && !next.above[pair[0]][pair[1]] {
			deps = append(deps, linear.Dep{Parent: pair[0], Child: pair[1]})
			next.depend(pair[0], pair[1])
		}
	}
	oversized := next.oversized()
	removed := s.c.Join(deps)
	if oversized != (len(removed) > 0) {
		s.t.Fatalf("oversized: %v, removed %d", oversized, len(removed))
	}
	for _, tx := range removed {
		for _, other := range next.txs {
			if next.above[other][tx] && !slices.Contains(removed, other) {
				s.t.Fatal("what depends on a removed transaction stays")
			}
		}
		if tx.Here() {
			s.t.Fatal("a removed transaction is there")
		}
	}
	for _, tx := range removed {
		next.remove(tx)
	}
	if next.oversized() {
		s.t.Fatal("still oversized")
	}
	s.model = next
}

// Too large clusters lose the chunks that pay least.
func TestTrim(t *testing.T) {
	m := newModel(t, rand.New(rand.NewPCG(1, 8)), linear.Limits{Count: 3, Size: 100})
	c := linear.NewClusters(m.limits, 1)
	parent := linear.NewTx([32]byte{9}, linear.FeeSize{Fee: 1, Size: 10})
	rich := linear.NewTx([32]byte{1}, linear.FeeSize{Fee: 90, Size: 10})
	poor := linear.NewTx([32]byte{2}, linear.FeeSize{Fee: 5, Size: 10})
	fair := linear.NewTx([32]byte{3}, linear.FeeSize{Fee: 50, Size: 10})
	after := linear.NewTx([32]byte{4}, linear.FeeSize{Fee: 99, Size: 10})
	for _, tx := range []*linear.Tx{parent, rich, poor, fair} {
		c.Add(tx)
	}
	c.Add(after, poor)
	removed := c.Join([]linear.Dep{
		{Parent: parent, Child: rich}, {Parent: parent, Child: poor}, {Parent: parent, Child: fair},
	})
	// poor pays more than fair, together with its child, for which there is no room left.
	if !slices.Equal(sorted(removed), []*linear.Tx{fair, after}) {
		t.Error(removed)
	}
	if c.Len() != 3 || !parent.Here() || !rich.Here() || !poor.Here() {
		t.Error("the wrong ones are left")
	}
}

// Past a chunk that is skipped nothing of its cluster is visited.
func TestSkip(t *testing.T) {
	c := linear.NewClusters(linear.Limits{Count: 64, Size: 1000}, 1)
	a := linear.NewTx([32]byte{1}, linear.FeeSize{Fee: 9, Size: 1})
	b := linear.NewTx([32]byte{2}, linear.FeeSize{Fee: 5, Size: 1})
	child := linear.NewTx([32]byte{3}, linear.FeeSize{Fee: 7, Size: 1})
	c.Add(a)
	c.Add(b)
	c.Add(child, a)
	walk := c.Walk()
	walk.Skip()
	if got := walk.Chunk(); len(got.Txs) != 1 || got.Txs[0] != b || got.Fee != 5 {
		t.Errorf("%v", got)
	}
	if n := c.Distinct([]*linear.Tx{a, b, child}); n != 2 {
		t.Errorf("%d clusters", n)
	}
}

// A pool of many clusters: what a transaction more and one less cost.
func BenchmarkClusters(b *testing.B) {
	m := newModel(nil, rand.New(rand.NewPCG(1, 9)), linear.Limits{Count: 64, Size: 404_000})
	c := linear.NewClusters(m.limits, 1)
	for range 20_000 {
		tx := m.tx()
		if c.Add(tx, m.some(m.rng.IntN(2))...) {
			m.txs = append(m.txs, tx)
		}
	}
	for b.Loop() {
		tx := m.tx()
		c.Add(tx, m.some(m.rng.IntN(3))...)
		c.Remove(tx)
	}
}
