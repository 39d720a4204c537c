package linear_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/txpool/linear"
)

// model has what clusters are made of, and makes all else anew each time.
type model struct {
	t      *testing.T
	rng    *rand.Rand
	limits linear.Limits
	txs    []*linear.Tx
	fees   map[*linear.Tx]linear.FeeSize
	above  map[*linear.Tx]map[*linear.Tx]bool // ancestors, itself included
}

func newModel(t *testing.T, rng *rand.Rand, limits linear.Limits) *model {
	t.Helper()
	return &model{
		t: t, rng: rng, limits: limits,
		fees: make(map[*linear.Tx]linear.FeeSize), above: make(map[*linear.Tx]map[*linear.Tx]bool),
	}
}

// tx makes a transaction that is nowhere yet.
func (m *model) tx() *linear.Tx {
	var id [32]byte
	for i := range 4 {
		binary.LittleEndian.PutUint64(id[8*i:], m.rng.Uint64())
	}
	f := linear.FeeSize{Fee: m.rng.Int64N(10) - 1, Size: 1 + m.rng.Int64N(4)}
	tx := linear.NewTx(id, f)
	m.fees[tx] = f
	return tx
}

// some returns up to n transactions, each once.
func (m *model) some(n int) (list []*linear.Tx) {
	for range n {
		if len(m.txs) > 0 {
			if tx := m.txs[m.rng.IntN(len(m.txs))]; !slices.Contains(list, tx) {
				list = append(list, tx)
			}
		}
	}
	return list
}

func (m *model) add(tx *linear.Tx, parents ...*linear.Tx) {
	m.txs = append(m.txs, tx)
	m.above[tx] = map[*linear.Tx]bool{tx: true}
	for _, p := range parents {
		m.depend(p, tx)
	}
}

func (m *model) depend(parent, child *linear.Tx) {
	for _, tx := range m.txs {
		if m.above[tx][child] {
			for a := range m.above[parent] {
				m.above[tx][a] = true
			}
		}
	}
}

func (m *model) remove(tx *linear.Tx) {
	m.txs = slices.DeleteFunc(m.txs, func(other *linear.Tx) bool { return other == tx })
	delete(m.above, tx)
	for _, other := range m.txs {
		delete(m.above[other], tx)
	}
}

func (m *model) clone() *model {
	other := newModel(m.t, m.rng, m.limits)
	other.fees = m.fees
	for _, tx := range m.txs {
		other.txs = append(other.txs, tx)
		other.above[tx] = make(map[*linear.Tx]bool)
		for a := range m.above[tx] {
			other.above[tx][a] = true
		}
	}
	return other
}

// clusters returns the connected transactions.
func (m *model) clusters() (all [][]*linear.Tx) {
	seen := make(map[*linear.Tx]bool)
	for _, begin := range m.txs {
		if seen[begin] {
			continue
		}
		cluster := []*linear.Tx{begin}
		seen[begin] = true
		for i := 0; i < len(cluster); i++ {
			for _, tx := range m.txs {
				if !seen[tx] && (m.above[tx][cluster[i]] || m.above[cluster[i]][tx]) {
					seen[tx] = true
					cluster = append(cluster, tx)
				}
			}
		}
		all = append(all, cluster)
	}
	return all
}

func (m *model) clusterOf(tx *linear.Tx) []*linear.Tx {
	for _, cluster := range m.clusters() {
		if slices.Contains(cluster, tx) {
			return cluster
		}
	}
	return nil
}

func (m *model) oversized() bool {
	return slices.ContainsFunc(m.clusters(), func(cluster []*linear.Tx) bool {
		size := int64(0)
		for _, tx := range cluster {
			size += m.fees[tx].Size
		}
		return len(cluster) > m.limits.Count || size > m.limits.Size
	})
}

// modelChunk is a chunk with its place among all.
type modelChunk struct {
	linear.TxChunk

	prefix int64
}

func compareIDs(a, b *linear.Tx) int { return bytes.Compare(a.ID[:], b.ID[:]) }

func (c *modelChunk) last() *linear.Tx { return slices.MaxFunc(c.Txs, compareIDs) }

// chunks finds the best order of a cluster.
func (m *model) chunks(cluster []*linear.Tx) (list []modelChunk) {
	g := new(linear.Graph)
	txs := slices.Clone(cluster)
	m.rng.Shuffle(len(txs), func(i, j int) { txs[i], txs[j] = txs[j], txs[i] })
	slices.SortStableFunc(txs, func(a, b *linear.Tx) int { return cmp.Compare(len(m.above[a]), len(m.above[b])) })
	for i, tx := range txs {
		g.Add(m.fees[tx])
		var parents linear.Set
		for j := range i {
			if m.above[tx][txs[j]] {
				parents |= linear.Of(j)
			}
		}
		g.Depend(parents, i)
	}
	order, optimal, _ := g.Linearize(linear.Search{
		Budget: enough, Seed: m.rng.Uint64(), Order: func(a, b int) int { return compareIDs(txs[a], txs[b]) },
	})
	if !optimal {
		m.t.Fatal("no end")
	}
	begin := 0
	for _, c := range g.Chunks(order) {
		one := modelChunk{linear.TxChunk{FeeSize: c.FeeSize}, c.Size}
		for ; begin < c.End; begin++ {
			one.Txs = append(one.Txs, txs[order[begin]])
		}
		if n := len(list); n > 0 && list[n-1].CompareRate(c.FeeSize) == 0 {
			one.prefix += list[n-1].prefix
		}
		list = append(list, one)
	}
	return list
}

// mined returns all chunks in the order of mining.
func (m *model) mined() (all []modelChunk) {
	for _, cluster := range m.clusters() {
		all = append(all, m.chunks(cluster)...)
	}
	slices.SortFunc(all, func(a, b modelChunk) int {
		return cmp.Or(b.CompareRate(a.FeeSize), cmp.Compare(a.prefix, b.prefix), compareIDs(a.last(), b.last()))
	})
	return all
}

func sorted(list []*linear.Tx) []*linear.Tx {
	return slices.SortedFunc(slices.Values(list), compareIDs)
}

func sameChunk(a, b linear.TxChunk) bool { return a.FeeSize == b.FeeSize && slices.Equal(a.Txs, b.Txs) }

// check compares all that clusters say with what follows from their transactions.
func (m *model) check(c *linear.Clusters) {
	m.t.Helper()
	for range 100 {
		if c.Work() {
			break
		}
	}
	if c.Len() != len(m.txs) {
		m.t.Fatalf("%d transactions, want %d", c.Len(), len(m.txs))
	}
	mined := m.mined()
	var order []*linear.Tx
	walk := c.Walk()
	for i, want := range mined {
		if got := walk.Chunk(); !sameChunk(got, want.TxChunk) {
			m.t.Fatalf("chunk %d is %v, want %v", i, got, want)
		}
		walk.Take()
		order = append(order, want.Txs...)
	}
	if rest := walk.Chunk(); rest.Txs != nil {
		m.t.Fatalf("more chunks than %d", len(mined))
	}
	m.checkWorst(c, mined)
	for i, tx := range order {
		m.checkTx(c, tx)
		if other := m.rng.IntN(len(order)); c.Compare(tx, order[other]) != cmp.Compare(i, other) {
			m.t.Fatalf("%d and %d are out of order", i, other)
		}
	}
}

func (m *model) checkWorst(c *linear.Clusters, mined []modelChunk) {
	m.t.Helper()
	got, want := c.Worst(), linear.TxChunk{}
	if len(mined) > 0 {
		want = mined[len(mined)-1].TxChunk
	}
	if !sameChunk(got, want) {
		m.t.Fatalf("worst chunk is %v, want %v", got, want)
	}
}

func (m *model) checkTx(c *linear.Clusters, tx *linear.Tx) {
	m.t.Helper()
	var above, below, together []*linear.Tx
	for _, other := range m.txs {
		if m.above[tx][other] {
			above = append(above, other)
		}
		if m.above[other][tx] {
			below = append(below, other)
		}
	}
	for _, chunk := range c.Cluster(tx) {
		together = append(together, chunk.Txs...)
		if slices.Contains(chunk.Txs, tx) && !sameChunk(chunk, c.Chunk(tx)) {
			m.t.Fatalf("chunk is %v, want %v", c.Chunk(tx), chunk.FeeSize)
		}
	}
	for _, test := range []struct {
		name      string
		got, want []*linear.Tx
	}{
		{"ancestors", c.Ancestors(tx), above},
		{"descendants", c.Descendants(tx), below},
		{"cluster", together, m.clusterOf(tx)},
	} {
		if !slices.Equal(sorted(test.got), sorted(test.want)) {
			m.t.Fatalf("%s: %d, want %d", test.name, len(test.got), len(test.want))
		}
	}
}
