package chainrpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/rpc/method/chainrpc"
)

// A block that is stored again without its undo data counts as pruned for pruneheight, and so does a missing block.
func TestPruneHeight(t *testing.T) {
	r := newRig(t, "regtest")
	r.deps.Pruning = &chainrpc.Pruning{}
	r.build()
	for range 5 {
		r.chain.Mine(chaintest.Template{})
	}
	const has = chainview.HasData
	set := func(height int32, s chainview.Status) {
		b := r.chain.Active().At(height)
		r.chain.SetStatus(b, b.Status()&^(has|chainview.Pruned|chainview.NoUndo)|s)
	}
	for _, test := range []struct {
		height int32
		status chainview.Status
		want   int
	}{
		{1, has | chainview.Pruned, 2}, {3, has | chainview.Pruned, 4}, {3, has | chainview.NoUndo, 4}, {3, has, 2},
		{2, 0, 3}, {2, has, 2}, {1, has, 0},
	} {
		set(test.height, test.status)
		got := r.call("getblockchaininfo", `[]`)
		if want := fmt.Sprintf(`"pruneheight":%d,`, test.want); !strings.Contains(got, want) {
			t.Errorf("height %d has status %b: got %s, want %s", test.height, test.status, got, want)
		}
	}
}
