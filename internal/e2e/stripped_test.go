package e2e_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

const (
	stripDepth     = 1000 // blocks below the tip that lose their witnesses
	payingBlocks   = 8    // blocks that have some
	blocksOfMaking = 1010 // so that the first coinbases can be spent
)

// A node whose old blocks have lost their witnesses answers like a whole node, also after a kill: scans, filters,
// sums of outputs, rescans and restored wallets. It refuses calls that it could answer only in part.
func TestStrippedBlocks(t *testing.T) {
	e2e.SkipUnderRace(t, "it makes and sends two thousand blocks")
	t.Parallel()
	indexes := []string{"-dialect=qbit", "-blockfilterindex=1", "-coinstatsindex=1", "-fallbackfee=0.00001", "-keypool=4"}
	whole := p2mrNode{startPeer(t, indexes...)}
	whole.Get(nil, "createwallet", "w")
	var paid, other string
	whole.Get(&paid, "getnewaddress")
	whole.Get(&other, "getnewaddress")
	whole.Get(nil, "generatetoaddress", blocksOfMaking, paid)
	var made []string // one payment of each block
	for range payingBlocks {
		var id string
		for range 3 {
			whole.Get(&id, "sendtoaddress", other, 1.5)
		}
		made = append(made, id)
		whole.mine(t, 1)
	}
	whole.mine(t, stripDepth)
	backup := filepath.Join(t.TempDir(), "w.dat")
	whole.Get(nil, "backupwallet", backup)

	stripped := p2mrNode{startPeer(t, append(indexes, "-prunewitnesses=1", "-prune=1", "-fastprune")...)}
	stripped.connect(t, whole.peer)
	agree(t, "the chain", whole, stripped)
	var first string // with payments
	whole.Get(&first, "getblockhash", blocksOfMaking+1)
	const refused = "Verbose block view unavailable: witness data for this historical block was pruned"
	stripped.Stop()
	stripped.Restart() // what is written then can be stripped
	e2e.Eventually(t, syncLimit, "a block loses its witnesses", func() bool {
		whole.mine(t, 1)
		err := stripped.Call(t.Context(), nil, "getblock", first, 1)
		return err != nil && strings.Contains(err.Error(), refused)
	})
	stripped.connect(t, whole.peer)
	agree(t, "some blocks more", whole, stripped)

	compareStripped(t, whole, stripped, first, paid, other)
	for name, n := range map[string]p2mrNode{"as it is": stripped, "whole": whole} {
		n.Get(nil, "restorewallet", "restored of "+name, backup)
	}
	want := received(t, whole, "restored of whole")
	if got := received(t, stripped, "restored of as it is"); got != want || !strings.Contains(want, made[0]) {
		t.Errorf("a restored wallet lists %s\nand that of a whole node %s", got, want)
	}
	stripped.Get(nil, "createwallet", "watch", true, true)
	var info struct{ Descriptor string }
	whole.Get(&info, "getdescriptorinfo", "addr("+other+")")
	request := []any{map[string]any{"desc": info.Descriptor, "timestamp": 0}}
	if err := stripped.CallWallet(t.Context(), "watch", nil, "importdescriptors", request); err != nil {
		t.Fatal(err)
	}
	list := received(t, stripped, "watch")
	for _, id := range made {
		if !strings.Contains(list, id) {
			t.Errorf("a wallet that looked through the blocks does not know %s: %s", id, list)
		}
	}
	err := stripped.Call(t.Context(), nil, "getrawtransaction", made[0], 1, first)
	if err == nil || !strings.Contains(err.Error(), "Raw transaction unavailable") {
		t.Errorf("a transaction without its witness: %v", err)
	}

	stripped.Kill()
	stripped.Restart()
	compareStripped(t, whole, stripped, first, paid, other)

	// Old blocks are deleted whole beside that.
	raw := answer(t, stripped, []any{"getblock", first, 0})
	stripped.Get(nil, "pruneblockchain", blocksOfMaking/2)
	stripped.Kill()
	stripped.Restart()
	var old string
	stripped.Get(&old, "getblockhash", 1)
	err = stripped.Call(t.Context(), nil, "getblock", old, 0)
	if err == nil || !strings.Contains(err.Error(), "Block not available (pruned data)") {
		t.Errorf("a deleted block: %v", err)
	}
	if got := answer(t, stripped, []any{"getblock", first, 0}); got != raw {
		t.Errorf("a block without its witnesses was %s and is %s", raw, got)
	}
}

// compareStripped compares what both say of blocks.
func compareStripped(t *testing.T, whole, stripped p2mrNode, first string, addresses ...string) {
	t.Helper()
	var scripts []string
	for _, address := range addresses {
		scripts = append(scripts, "addr("+address+")")
	}
	calls := [][]any{
		{"scanblocks", "start", scripts},
		{"scanblocks", "start", scripts, 0, blocksOfMaking + payingBlocks, "basic", map[string]any{
			"filter_false_positives": true,
		}},
		{"scantxoutset", "start", scripts},
		{"gettxoutsetinfo", "muhash"},
		{"getblockheader", first},
		{"getblockfilter", first},
	}
	for height := blocksOfMaking; height <= blocksOfMaking+payingBlocks; height++ {
		calls = append(calls, []any{"gettxoutsetinfo", "muhash", height})
	}
	for _, call := range calls {
		got, want := answer(t, stripped, call), answer(t, whole, call)
		if got != want || want == "" {
			t.Errorf("%v: %s\nof a whole node: %s", call, got, want)
		}
	}
}

// answer calls a method once its index has come to the tip, and leaves out what is of the node's disk.
func answer(t *testing.T, n p2mrNode, call []any) string {
	t.Helper()
	var result any
	e2e.Eventually(t, syncLimit, "an answer", func() bool {
		return n.Call(t.Context(), &result, call[0].(string), call[1:]...) == nil
	})
	if members, ok := result.(map[string]any); ok {
		delete(members, "disk_size")
	}
	text, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// received is what a wallet has received by each address.
func received(t *testing.T, n p2mrNode, wallet string) string {
	t.Helper()
	var list json.RawMessage
	if err := n.CallWallet(t.Context(), wallet, &list, "listreceivedbyaddress", 1, false, true); err != nil {
		t.Fatal(err)
	}
	return string(list)
}
