package searches

import (
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/store/searchdb"
)

// A search whose last block is on a branch that has left the chain shares no round with searches
// on the chain: they look at other blocks.
func TestRoundsAreOfOneBranch(t *testing.T) {
	chain := chaintest.New(&chaincfg.RegressionNetParams)
	fork := chain.MineN(3)
	stale := chain.MineN(3)
	active := fork
	for range 5 {
		active = chain.MineOn(active, chaintest.Template{Version: 0x20000004})
	}
	needs := func(last, done *chainview.Block) *member {
		m := &member{job: &job{Search: new(searchdb.Search)}, ranges: [][2]uint32{{0, 1}}, to: last.Height, last: last}
		m.Status.Done = blockOf(done)
		return m
	}
	s := planner{new(Searches)}
	for _, c := range []struct {
		name  string
		other *member
		joins bool
	}{
		{"the same branch", needs(active, fork), true},
		{"an end below", needs(active.Parent, fork), true},
		{"an end before the branch", needs(fork, fork.Parent), false}, // at another height
		{"another branch", needs(stale, fork), false},
	} {
		first := needs(active, fork)
		if got := len(s.together(first, []*member{first, c.other}).members) == 2; got != c.joins {
			t.Errorf("%s: joins: %v", c.name, got)
		}
	}
}

// A small disk keeps a fixed room free, a large disk a share of its size.
func TestLeastRoom(t *testing.T) {
	s := planner{new(Searches)}
	for total, want := range map[uint64]uint64{
		1 << 30: leastRoom, leastRoom * leastShare: leastRoom, 1 << 40: (1 << 40) / leastShare,
	} {
		if got := s.leastRoom(total); got != want {
			t.Errorf("of %d bytes %d are to be free, want %d", total, got, want)
		}
	}
	s.cfg.LeastRoom = 7
	if got := s.leastRoom(1 << 40); got != 7 {
		t.Errorf("%d bytes are to be free, and 7 are set", got)
	}
}

// A pruned block that pays to a taproot script may spend that script too, if an input may spend
// any taproot output. Then its spends are not known.
func TestDoubtOfPaidTaproot(t *testing.T) {
	paid := append([]byte{0x51, 32}, make([]byte, 32)...)
	block := &chainview.Block{Height: 1}
	for _, c := range []struct {
		seen    map[string]bool
		taproot bool
		want    bool
	}{
		{map[string]bool{string(paid): true}, true, true},
		{map[string]bool{string(paid): true}, false, false},
		{map[string]bool{"\x00\x14": true}, true, false},
	} {
		err := new(pass).doubt(block, search.NewScriptSet(1), c.seen, &match.Evidence{Taproot: c.taproot})
		if errors.Is(err, chainview.ErrPruned) != c.want {
			t.Errorf("paid %x, taproot spent %v: %v", slices.Collect(maps.Keys(c.seen)), c.taproot, err)
		}
	}
}
