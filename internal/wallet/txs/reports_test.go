package txs

import (
	"errors"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet/book"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// reported is a ledger with a coinbase at height 1, a payment at 2 and one in the
// mempool, at height 3.
func reported(flags walletfile.Flags) (r *rig, coinbase, paid, pooled *wire.MsgTx) {
	r = newRig(flags, scriptOf(1), scriptOf(2), scriptOf(3))
	coinbase = coinbaseOf(1, pay(50, 1))
	paid = txOf(2, []wire.OutPoint{foreign(1)}, pay(20, 2), pay(7, 9))
	pooled = txOf(3, []wire.OutPoint{outOf(paid, 0)}, pay(12, 3), pay(6, 9))
	r.ConnectBlock(blockOf(0), 1)
	r.ConnectBlock(blockOf(1, coinbase), 1)
	r.ConnectBlock(blockOf(2, coinbaseOf(8), paid), 1)
	r.ConnectBlock(blockOf(3), 1)
	r.book.SetLabel(scriptOf(1), "a", book.PurposeReceive)
	r.book.SetLabel(scriptOf(2), "b", book.PurposeReceive)
	r.AddMempoolTx(pooled, 5000)
	return r, coinbase, paid, pooled
}

// While a chain is rebuilt, from its beginning, coins of blocks that it does not have yet are in no balance.
func TestBalancesOfChainBuiltAnew(t *testing.T) {
	const blocks = 150
	r := newRig(0, scriptOf(1), scriptOf(2))
	var want []messages.Balances
	for h := range int32(blocks) {
		number := uint32(h)
		paid := txOf(blocks+number, []wire.OutPoint{foreign(byte(h))}, pay(3, 2))
		block := blockOf(h, coinbaseOf(number, pay(50, 1)), paid)
		r.ConnectBlock(block, 1)
		r.SetTip(messages.Tip{Hash: block.Hash, Height: h})
		want = append(want, r.balances(1), r.balances(4))
	}
	for h := range int32(blocks) {
		r.SetTip(messages.Tip{Hash: blockOf(h).Hash, Height: h})
		for i, minConf := range []int32{1, 4} {
			got, want := r.balances(minConf), want[2*int(h)+i]
			if got.Trusted != want.Trusted || got.Immature != want.Immature || got.Pending != want.Pending {
				t.Fatalf("block %d of %d, %d confirmations: %+v, want %+v", h, blocks, minConf, got, want)
			}
		}
	}
}

func TestListUnspent(t *testing.T) {
	r, coinbase, _, pooled := reported(0)
	every := messages.ListUnspent{MaxConf: 9999, IncludeUnsafe: true}
	for name, test := range map[string]struct {
		change func(*messages.ListUnspent)
		want   []*wire.MsgTx
	}{
		"all":       {func(*messages.ListUnspent) {}, []*wire.MsgTx{pooled, coinbase}},
		"confirmed": {func(r *messages.ListUnspent) { r.MinConf = 1 }, []*wire.MsgTx{coinbase}},
		"too deep":  {func(r *messages.ListUnspent) { r.MaxConf = 2 }, []*wire.MsgTx{pooled}},
		"small":     {func(r *messages.ListUnspent) { r.MaxAmount = 12 }, []*wire.MsgTx{pooled}},
		"large":     {func(r *messages.ListUnspent) { r.MinAmount = 13 }, []*wire.MsgTx{coinbase}},
		"of a script": {
			func(r *messages.ListUnspent) { r.Scripts = [][]byte{scriptOf(3)} }, []*wire.MsgTx{pooled},
		},
		"one":    {func(r *messages.ListUnspent) { r.MaxCount = 1 }, []*wire.MsgTx{pooled}},
		"enough": {func(r *messages.ListUnspent) { r.MinSum = 12 }, []*wire.MsgTx{pooled}},
		"more":   {func(r *messages.ListUnspent) { r.MinSum = 13 }, []*wire.MsgTx{pooled, coinbase}},
	} {
		request := every
		test.change(&request)
		got := r.reports.ListUnspent(request)
		if len(got) != len(test.want) {
			t.Errorf("%s: %d coins, want %d", name, len(got), len(test.want))
			continue
		}
		for i, tx := range test.want { // script 3 is of the first type of address, 1 of the second
			if got[i].TxID != tx.TxHash() {
				t.Errorf("%s: coin %d of %v, want %v", name, i, got[i].TxID, tx.TxHash())
			}
		}
	}
	r.Locks().Lock(outOf(coinbase, 0), false)
	if got := r.reports.ListUnspent(every); len(got) != 1 {
		t.Errorf("%d coins when one is locked", len(got))
	}
	if _, known := r.reports.ListUnspent(every)[0].Label,
		r.book.Label(book.DestinationOf(testNet, scriptOf(3))); known != nil {
		t.Error("change has a label")
	}
}

func TestHistory(t *testing.T) {
	r, coinbase, paid, pooled := reported(0)
	type entry struct {
		tx       *wire.MsgTx
		category string
		amount   btcutil.Amount
	}
	check := func(name string, got []messages.TxEntry, want ...entry) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %d entries, want %d", name, len(got), len(want))
		}
		for i, e := range want {
			if got[i].Tx.TxID != e.tx.TxHash() || got[i].Category != e.category || got[i].Amount != e.amount {
				t.Errorf(
					"%s: entry %d: %s of %v, want %s of %v", name, i, got[i].Category, got[i].Amount, e.category,
					e.amount,
				)
			}
		}
	}
	generated, received := entry{coinbase, "generate", 50}, entry{paid, "receive", 20}
	sent := entry{pooled, "send", -6}
	list := func(count, skip int, label *string) []messages.TxEntry {
		return r.reports.ListTransactions(messages.ListTransactions{Count: count, Skip: skip, Label: label})
	}
	check("all", list(10, 0, nil), generated, received, sent)
	check("the newest", list(1, 0, nil), sent)
	check("before the newest", list(1, 1, nil), received)
	label := "b"
	check("with a label", list(10, 0, &label), received)
	fork := int32(1)
	since := func(r2 messages.ListSinceBlock, s Since) messages.SinceBlock { return r.reports.SinceBlock(r2, s) }
	check("since a block", since(messages.ListSinceBlock{}, Since{Fork: &fork}).Transactions, received, sent)
	change := since(messages.ListSinceBlock{IncludeChange: true}, Since{Fork: &fork}).Transactions
	check("with change", change, received, entry{pooled, "send", -12}, sent, entry{pooled, "receive", 12})
	removed := since(
		messages.ListSinceBlock{IncludeRemoved: true}, Since{Removed: [][]chainhash.Hash{{paid.TxHash(), {1}}}},
	)
	check("removed", removed.Removed, received)

	details, err := r.reports.Transaction(hashOf(pooled))
	if err != nil || details.Fee != -2 || details.Amount != -6 || len(details.Details) != 1 || !details.Tx.Trusted {
		t.Errorf("details %+v, %v", details, err)
	}
	var refused *messages.WalletError
	if _, err := r.reports.Transaction(&chainhash.Hash{}); !errors.As(err, &refused) ||
		refused.Code != codes.AddressOrKey {
		t.Errorf("an unknown transaction: %v", err)
	}
}

func hashOf(t *wire.MsgTx) *chainhash.Hash {
	id := t.TxHash()
	return &id
}

// Categories of coinbases follow their depth.
func TestCoinbaseCategory(t *testing.T) {
	r := newRig(0, scriptOf(1))
	coinbase := coinbaseOf(1, pay(50, 1))
	r.ConnectBlock(blockOf(0), 1)
	r.ConnectBlock(blockOf(1, coinbase), 1)
	for height := int32(1); height < 6; height++ {
		if height > 1 {
			r.ConnectBlock(blockOf(height), 1)
		}
		depth, want := height, "immature"
		if depth > testMaturity {
			want = "generate"
		}
		got := r.reports.ListTransactions(messages.ListTransactions{Count: 1})
		if got[0].Category != want || got[0].Tx.Confirmations != depth {
			t.Errorf("depth %d: %s at %d, want %s", depth, got[0].Category, got[0].Tx.Confirmations, want)
		}
		b := r.balances(1)
		if mature := b.Trusted == 50; mature != (want == "generate") || b.Trusted+b.Immature != 50 {
			t.Errorf("depth %d: balances %+v", depth, b)
		}
	}
	for height := int32(5); height > 0; height-- {
		prev := messages.Tip{Hash: blockOf(height - 1).Hash, Height: height - 1}
		transactions := []*wire.MsgTx(nil)
		if height == 1 {
			transactions = []*wire.MsgTx{coinbase}
		}
		r.DisconnectBlock(blockOf(height, transactions...), prev, 1)
	}
	got := r.reports.ListTransactions(messages.ListTransactions{Count: 1})
	if got[0].Category != "orphan" || !got[0].Abandoned {
		t.Errorf("out of the chain: %s", got[0].Category)
	}
}

func TestReceived(t *testing.T) {
	r, _, _, _ := reported(0)
	unknown, a := "x", "a"
	for name, test := range map[string]struct {
		request messages.GetReceived
		want    btcutil.Amount
		text    string
	}{
		"script":             {messages.GetReceived{Script: scriptOf(2), MinConf: 1}, 20, ""},
		"script, too deep":   {messages.GetReceived{Script: scriptOf(2), MinConf: 3}, 0, ""},
		"unconfirmed":        {messages.GetReceived{Script: scriptOf(3)}, 12, ""},
		"label":              {messages.GetReceived{Label: &a, MinConf: 1}, 50, ""},
		"foreign":            {messages.GetReceived{Script: scriptOf(9)}, 0, "Address not found in wallet"},
		"label of nothing":   {messages.GetReceived{Label: &unknown}, 0, "Label not found in wallet"},
		"own, never paid to": {messages.GetReceived{Script: scriptOf(4)}, 0, "Address not found in wallet"},
	} {
		got, err := r.reports.Received(test.request)
		text := ""
		var refused *messages.WalletError
		if errors.As(err, &refused) {
			text = refused.Text
		}
		if got != test.want || text != test.text {
			t.Errorf("%s: got %v, %v, want %v %s", name, got, err, test.want, test.text)
		}
	}
	list := r.reports.ListReceived(messages.ListReceived{MinConf: 1})
	if len(list) != 2 || list[0].Label != "a" || list[0].Amount != 50 || list[1].Confirmations != 2 ||
		len(list[1].TxIDs) != 1 {
		t.Errorf("received: %+v", list)
	}
	one := r.reports.ListReceived(messages.ListReceived{MinConf: 1, Script: scriptOf(2)})
	if len(one) != 1 || one[0].Label != "b" {
		t.Errorf("received by one: %+v", one)
	}
	r.book.SetLabel(scriptOf(4), "b", book.PurposeReceive)
	byLabel := r.reports.ListReceived(messages.ListReceived{MinConf: 1, ByLabel: true, IncludeEmpty: true})
	if len(byLabel) != 2 || byLabel[1].Label != "b" || byLabel[1].Amount != 20 {
		t.Errorf("received by label: %+v", byLabel)
	}
}

// In a wallet that avoids reuse, coins on addresses that were spent from stand apart.
func TestAvoidReuse(t *testing.T) {
	r, _, _, _ := reported(walletfile.AvoidReuse)
	r.ConnectBlock(blockOf(4, txOf(4, []wire.OutPoint{foreign(4)}, pay(30, 2))), 1)
	got := r.reports.Balances(messages.GetBalances{AvoidReuse: true})
	if !got.HasUsed || got.Used != 30 || got.Trusted != 50+12 {
		t.Errorf("balances %+v", got)
	}
	if all := r.balances(0); all.Trusted != 50+12+30 {
		t.Errorf("with used addresses: %+v", all)
	}
	for _, u := range r.reports.ListUnspent(messages.ListUnspent{MaxConf: 99, IncludeUnsafe: true}) {
		if u.Reused != (u.Amount == 30) || !u.HasReused {
			t.Errorf("coin of %v: reused %v", u.Amount, u.Reused)
		}
	}
}

// A transaction in the mempool is trusted if the wallet made it of trusted coins.
func TestTrust(t *testing.T) {
	r, _, _, pooled := reported(0)
	foreignTx := txOf(5, []wire.OutPoint{foreign(7)}, pay(100, 1))
	child := txOf(6, []wire.OutPoint{outOf(foreignTx, 0)}, pay(90, 1))
	mixed := txOf(7, []wire.OutPoint{outOf(pooled, 0), foreign(8)}, pay(12, 1))
	for _, tx := range []*wire.MsgTx{foreignTx, child, mixed} {
		r.AddMempoolTx(tx, 1)
	}
	trust := newTrust(r.Ledger)
	for tx, want := range map[*wire.MsgTx]bool{pooled: true, foreignTx: false, child: false, mixed: false} {
		if got := trust.trusted(r.txs[tx.TxHash()]); got != want {
			t.Errorf("transaction %d is trusted: %v, want %v", tx.LockTime, got, want)
		}
	}
	r.cfg.OnlyConfirmed = true
	if newTrust(r.Ledger).trusted(r.txs[pooled.TxHash()]) {
		t.Error("where only what is confirmed is trusted, an own one in the mempool is")
	}
}

func TestReplaceable(t *testing.T) {
	signals := func(number uint32, spent wire.OutPoint) *wire.MsgTx {
		tx := txOf(number, []wire.OutPoint{spent}, pay(9, 1))
		tx.TxIn[0].Sequence = wire.MaxTxInSequenceNum - 2
		return tx
	}
	r := newRig(0, scriptOf(1))
	r.ConnectBlock(blockOf(0), 1)
	parent := signals(1, foreign(1))
	child := txOf(2, []wire.OutPoint{outOf(parent, 0)}, pay(8, 1))
	final := txOf(3, []wire.OutPoint{foreign(3)}, pay(8, 1))
	gone := txOf(4, []wire.OutPoint{foreign(4)}, pay(8, 1))
	mined := signals(5, foreign(5))
	for _, tx := range []*wire.MsgTx{parent, child, final, gone} {
		r.AddMempoolTx(tx, 1)
	}
	r.RemoveMempoolTx(gone)
	r.ConnectBlock(blockOf(1, mined), 1)
	for tx, want := range map[*wire.MsgTx]string{
		parent: "yes", child: "yes", final: "no", gone: "unknown", mined: "no",
	} {
		if got := r.reports.replaceable(r.txs[tx.TxHash()]); got != want {
			t.Errorf("transaction %d: %s, want %s", tx.LockTime, got, want)
		}
	}
}

// A transaction that replaces another, or is replaced, is not safe until it is mined.
func TestSafe(t *testing.T) {
	for note, want := range map[string]bool{"": true, noteReplaces: false, noteReplacedBy: false} {
		r, coinbase, _, pooled := reported(0)
		for _, tx := range []*wire.MsgTx{coinbase, pooled} {
			record := r.txs[tx.TxHash()].record
			record.Values = map[string]string{note: "x"}
		}
		trust := newTrust(r.Ledger)
		if got := r.reports.safe(r.txs[pooled.TxHash()], trust); got != want {
			t.Errorf("in the mempool with %q: %v, want %v", note, got, want)
		}
		if !r.reports.safe(r.txs[coinbase.TxHash()], trust) {
			t.Errorf("in a block with %q: not safe", note)
		}
		safe := r.reports.ListUnspent(messages.ListUnspent{MaxConf: 99})
		if (len(safe) == 2) != want {
			t.Errorf("with %q: %d coins that are safe", note, len(safe))
		}
	}
}

// Coins of a coinbase are listed when they can be spent, or if they are asked for.
// Coins that have just been mined are as safe as deep coins.
func TestYoungCoins(t *testing.T) {
	r := newRig(0, scriptOf(1))
	replacing := txOf(2, []wire.OutPoint{foreign(2)}, pay(7, 1))
	r.ConnectBlock(blockOf(0), 1)
	r.ConnectBlock(blockOf(1, coinbaseOf(1, pay(50, 1)), replacing), 1)
	r.txs[replacing.TxHash()].record.Values[noteReplaces] = "x"
	for _, immature := range []bool{false, true} {
		got := r.reports.ListUnspent(messages.ListUnspent{MaxConf: 99, IncludeImmature: immature})
		if want := 1 + len(got)/2; len(got) != want || immature != (len(got) == 2) || !got[0].Safe {
			t.Errorf("immature %v: %d coins", immature, len(got))
		}
	}
	inactive := txOf(3, []wire.OutPoint{foreign(3)}, pay(9, 1))
	r.AddMempoolTx(inactive, 1)
	r.RemoveMempoolTx(inactive)
	got := r.reports.ListUnspent(messages.ListUnspent{MaxConf: 99, IncludeUnsafe: true})
	if len(got) != 1 {
		t.Errorf("%d coins with what is nowhere", len(got))
	}
}

func TestHashNote(t *testing.T) {
	id := chainhash.Hash{1, 2}
	for text, want := range map[string]*chainhash.Hash{
		"": nil, "x": nil, id.String(): &id, id.String() + "00": nil,
	} {
		got := hashNote(text)
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
