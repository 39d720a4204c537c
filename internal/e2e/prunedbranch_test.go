package e2e_test

import (
	"strings"
	"testing"
)

// A pruned node returns to a branch that has more work again and whose first blocks it has
// deleted: it fetches them from a peer.
func TestReturnToPrunedBranch(t *testing.T) {
	t.Parallel()
	const fork = 300
	full := startPeer(t)
	pruned := startPeer(t, "-prune=1", "-fastprune=1")
	full.mine(t, fork)
	big := "raw(" + strings.Repeat("51", 9000) + ")" // few such blocks fill a file
	for range 30 {
		full.Get(nil, "generateblock", big, []string{})
	}
	pruned.connect(t, full.peer)
	agree(t, "first branch", full, pruned)
	pruned.disconnect(t, full.peer)

	var first, rival string
	full.Get(&first, "getblockhash", fork+1)
	full.Get(nil, "invalidateblock", first)
	full.Get(nil, "generatetodescriptor", 300, "raw(52)")
	full.Get(&rival, "getblockhash", fork+1)
	pruned.connect(t, full.peer)
	agree(t, "second branch", full, pruned)
	pruned.disconnect(t, full.peer)
	pruned.Get(nil, "pruneblockchain", fork+300)
	err := pruned.Call(t.Context(), nil, "getblock", first)
	if err == nil || !strings.Contains(err.Error(), "pruned data") {
		t.Fatalf("a block that was to be pruned: %v", err)
	}

	full.Get(nil, "reconsiderblock", first)
	full.Get(nil, "invalidateblock", rival)
	full.mine(t, 275)
	pruned.connect(t, full.peer)
	agree(t, "first branch again", full, pruned)
	best := full.best(t)
	for range 2 {
		pruned.Get(nil, "getblock", first)
		if got := pruned.best(t); got != best {
			t.Errorf("the tip is %s, want %s", got, best)
		}
		pruned.Stop()
		pruned.Restart()
	}
	pruned.Stop()
}
