package eventstream

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/messages"
)

// Only a search that has come past the height of an entry has taken the entry back. A
// search that has not, and does not follow, has still to look at that height.
func TestTakenBack(t *testing.T) {
	r := newListRig(t)
	r.move(r.tip, 5)
	gone := &messages.SearchEntry{Height: 4}
	for _, c := range []struct {
		height int32
		state  messages.SearchState
		want   bool
	}{
		{-1, messages.SearchRunning, true}, // all is taken back
		{4, messages.SearchRunning, true},
		{3, messages.SearchRunning, false},
		{3, messages.SearchDone, false},
		{3, messages.SearchFollowing, true},
	} {
		page := &messages.SearchPage{Height: c.height, State: c.state}
		if c.height >= 0 {
			page.Block = r.chain.Active().At(c.height).Hash
		}
		if got := takenBack(r.chain, page, gone); got != c.want {
			t.Errorf("at height %d, %s: %v", c.height, c.state, got)
		}
		page.Block = chainhash.Hash{1} // of a chain that has left meanwhile
		if takenBack(r.chain, page, gone) && c.height >= 0 {
			t.Errorf("at height %d of another chain: taken back", c.height)
		}
	}
}
