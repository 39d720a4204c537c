package wallets_test

import (
	"fmt"
	"testing"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
)

// A rescan ends at the first block that only a node has that does not answer, and tells why. All blocks from there on
// count as not looked at.
func TestRescanWhileNodeIsAway(t *testing.T) {
	chain := newChain()
	chain.MineN(10)
	r := newRig(t, chain, setup{noFilters: true, now: genesis})
	do(t, r.ref, messages.CreateWallet{Name: "w", DisablePrivateKeys: true, Blank: true})
	w := r.wallet(t, "w")
	chain.Fail(chain.Active().At(4), fmt.Errorf("%w: %w", chainview.ErrNotYet, messages.ErrNodeAway))
	_, err := try(t, w, messages.Rescan{})
	wantRefusal(t, "rescan", err, "Rescan failed. Bitcoin Core does not answer")
	results := do(t, w, messages.ImportDescriptors{Items: []messages.ImportItem{{Desc: foreignKey}}})
	wantRefusal(t, "import", results[0].Err, "Rescan failed for descriptor")
	chain.Fail(chain.Active().At(4), nil)
	if got := do(t, w, messages.Rescan{}); got.Stop == nil || *got.Stop != 10 {
		t.Errorf("rescanned %+v", got)
	}
}
