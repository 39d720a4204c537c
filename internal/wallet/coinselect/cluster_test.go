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
	for id, want := range map[byte][2]int{1: {1, 3}, 2: {2, 3}, 3: {2, 3}, 4: {1, 1}, 9: {0, 0}} {
		ancestors, descendants := cluster().Relatives(chainhash.Hash{id})
		if got := [2]int{ancestors, descendants}; got != want {
			t.Errorf("%d has %v, want %v", id, got, want)
		}
	}
}
