package coinselect

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"
)

// The cluster is parent 1 with children 2 and 3, and 4 alone.
func cluster() *Cluster {
	return NewCluster([]Unconfirmed{
		{ID: chainhash.Hash{1}, Size: 100, Fee: 100},
		{ID: chainhash.Hash{2}, Size: 100, Fee: 900, Parents: []chainhash.Hash{{1}}},
		{ID: chainhash.Hash{3}, Size: 100, Fee: 200, Parents: []chainhash.Hash{{1}}},
		{ID: chainhash.Hash{4}, Size: 200, Fee: 100},
	})
}

func at(id byte) wire.OutPoint { return wire.OutPoint{Hash: chainhash.Hash{id}} }

func TestBumps(t *testing.T) {
	all := []wire.OutPoint{at(1), at(2), at(3), at(4), at(9)}
	for _, c := range []struct {
		rate FeeRate
		want [5]int64
		sum  int64 // of all together
	}{
		{0, [5]int64{}, 0},
		{3000, [5]int64{0, 0, 100, 500, 0}, 600},                   // a child pays for 1
		{5000, [5]int64{0, 0, 300, 900, 0}, 1200},                  // to the last satoshi
		{6000, [5]int64{500, 200, 900, 1100, 0}, 600 + 1100},       // nothing is mined
		{20_000, [5]int64{1900, 3000, 3700, 3900, 0}, 4800 + 3900}, // 1 counts once
	} {
		k := cluster()
		got := k.Bumps(all, c.rate)
		for i, coin := range all {
			if got[coin] != c.want[i] {
				t.Errorf("rate %d: coin %d costs %d, want %d", c.rate, i, got[coin], c.want[i])
			}
		}
		if together, ok := k.Together(all, c.rate); !ok || together != c.sum {
			t.Errorf("rate %d: %d together (%v), want %d", c.rate, together, ok, c.sum)
		}
	}
	k := cluster()
	k.Incomplete = true
	if _, ok := k.Together(all, 1); ok {
		t.Error("an incomplete cluster told of costs")
	}
}

func TestRelatives(t *testing.T) {
	connected := map[byte]int{1: 3, 2: 3, 3: 3, 4: 1, 9: 0}
	for id, want := range map[byte][2]int{1: {1, 3}, 2: {2, 3}, 3: {2, 3}, 4: {1, 1}, 9: {0, 0}} {
		ancestors, descendants := cluster().Relatives(chainhash.Hash{id})
		if got := [2]int{ancestors, descendants}; got != want {
			t.Errorf("%d has %v, want %v", id, got, want)
		}
		if got := cluster().Connected(chainhash.Hash{id}); got != connected[id] {
			t.Errorf("%d is connected with %d, want %d", id, got, connected[id])
		}
	}
}

// A transaction may pay less by itself than together with its ancestors, where two parents pay
// for a grandparent. Then the fee that it lacks itself is asked for, and miners do not take it
// for its ancestors' sake. Together with others the ancestors' surplus counts.
func TestBumpsOfChildThatPaysLess(t *testing.T) {
	const grandparent, first, second, child = 1, 2, 3, 4
	c := NewCluster([]Unconfirmed{
		{ID: chainhash.Hash{grandparent}, Size: 1700, Fee: 1700},
		{ID: chainhash.Hash{first}, Size: 200, Fee: 17_000, Parents: []chainhash.Hash{{grandparent}}},
		{ID: chainhash.Hash{second}, Size: 200, Fee: 3000, Parents: []chainhash.Hash{{grandparent}}},
		{ID: chainhash.Hash{child}, Size: 100, Fee: 900, Parents: []chainhash.Hash{{first}, {second}}},
	})
	got := c.Bumps([]wire.OutPoint{at(first), at(second), at(child)}, 10_000)
	for id, want := range map[byte]int64{
		first:  19_000 - 18_700, // with the grandparent
		second: 19_000 - 4700,
		child:  1000 - 900, // its ancestors pay more than they need
	} {
		if got[at(id)] != want {
			t.Errorf("transaction %d lacks %d, want %d", id, got[at(id)], want)
		}
	}
	if together, ok := c.Together([]wire.OutPoint{at(child)}, 10_000); !ok || together != 22_000-22_600 {
		t.Errorf("together %d (%v), want %d", together, ok, 22_000-22_600)
	}
}

// Of packages that pay the same rate miners look at the smaller first. Here this is the child,
// whose package pays more than its own rate. It comes before a parent with the grandparent, which
// would end the block. At the same size the lesser identifier comes first.
func TestMinersTakeTheSmallerFirst(t *testing.T) {
	const lacks = 340 - 300
	for _, c := range []struct {
		name  string
		child byte
		size  int64
		want  int64 // what a parent lacks
	}{
		{"smaller, the greater identifier", 9, 100, 0},
		{"of the same size, the lesser identifier", 2, 200, 0},
		{"of the same size, the greater identifier", 9, 200, lacks},
		{"greater, the lesser identifier", 2, 300, lacks},
	} {
		cluster := NewCluster([]Unconfirmed{
			{ID: chainhash.Hash{1}, Size: 100},
			{ID: chainhash.Hash{5}, Size: 100, Fee: 300, Parents: []chainhash.Hash{{1}}},
			{ID: chainhash.Hash{6}, Size: 100, Fee: 300, Parents: []chainhash.Hash{{1}}},
			{ID: chainhash.Hash{c.child}, Size: c.size, Fee: c.size * 3 / 2, Parents: []chainhash.Hash{{5}, {6}}},
		})
		if got := cluster.Bumps([]wire.OutPoint{at(5)}, 1700)[at(5)]; got != c.want {
			t.Errorf("%s: the parent lacks %d, want %d", c.name, got, c.want)
		}
	}
}
