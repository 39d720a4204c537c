package txs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/book"
)

// shownGroups prints groups by the first byte of the programs.
func (r *rig) shownGroups(t *testing.T) string {
	t.Helper()
	var groups []string
	for _, group := range r.reports.Groupings() {
		var list []string
		for _, a := range group {
			script, err := descriptor.ScriptOfAddress(a.Address, testNet)
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%d:%d", script[2], int64(a.Amount))
			if a.HasLabel {
				text += "=" + a.Label
			}
			list = append(list, text)
		}
		groups = append(groups, strings.Join(list, " "))
	}
	return strings.Join(groups, " | ")
}

// Addresses are joined by being spent from together and by change, not by being paid to.
func TestGroupings(t *testing.T) {
	r := newRig(0, scriptOf(1), scriptOf(2), scriptOf(3), scriptOf(4), scriptOf(5), scriptOf(6))
	r.ConnectBlock(blockOf(0), 1)
	r.book.SetLabel(scriptOf(3), "c", book.PurposeReceive)
	r.book.SetLabel(scriptOf(5), "", book.PurposeReceive)
	in := txOf(1, []wire.OutPoint{foreign(1)}, pay(10, 3), pay(20, 1), pay(40, 5), pay(9, 8))
	r.ConnectBlock(blockOf(1, in), 1)
	const apart = "1:20 | 3:10=c | 5:40="
	if got := r.shownGroups(t); got != apart {
		t.Errorf("got %s, want %s", got, apart)
	}
	// 1 and 3 are spent together; 5 has a label, so that it is no change, and 2 has none.
	both := txOf(2, []wire.OutPoint{outOf(in, 0), outOf(in, 1)}, pay(11, 2), pay(5, 5), pay(1, 9))
	r.ConnectBlock(blockOf(2, both), 1)
	const joined = "1:0 2:11 3:0=c | 5:45="
	if got := r.shownGroups(t); got != joined {
		t.Errorf("got %s, want %s", got, joined)
	}
	// Own change counts before it is confirmed, payments of others do not. 4 comes to the
	// others by way of 5.
	out := txOf(3, []wire.OutPoint{outOf(in, 2)}, pay(30, 4))
	r.AddMempoolTx(out, 1)
	r.AddMempoolTx(txOf(4, []wire.OutPoint{foreign(2)}, pay(7, 6)), 1)
	const pooled = "1:0 2:11 3:0=c | 4:30 5:5= | 6:0"
	if got := r.shownGroups(t); got != pooled {
		t.Errorf("got %s, want %s", got, pooled)
	}
	r.AddMempoolTx(txOf(5, []wire.OutPoint{outOf(out, 0), outOf(both, 0)}, pay(1, 9)), 1)
	const all = "1:0 2:0 3:0=c 4:0 5:5= | 6:0"
	if got := r.shownGroups(t); got != all {
		t.Errorf("got %s, want %s", got, all)
	}
}
