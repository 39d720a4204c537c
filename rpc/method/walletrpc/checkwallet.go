package walletrpc

import (
	"context"
	"slices"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

const (
	// defaultGap is the gap of checkwallet where keys are made fast, and slowGap where a key takes milliseconds.
	defaultGap = 1000
	slowGap    = 20
)

func (m *methods) checkWallet() command.Command {
	return command.Command{
		Name:     "checkwallet",
		Category: command.Wallet,
		About:    command.Funds, Own: true,
		Summary: "Looks for payments beyond the addresses that the wallet has derived, as after the restore of an " +
			"old backup.\nThe range of each descriptor is widened until a gap of unused indices follows the highest " +
			"index that was paid to,\nand the chain is looked through for all addresses, until no range widens any " +
			"more.\nIt is a rescan: getwalletinfo tells how far it is, abortrescan ends it, and what it has found by " +
			"then stays.\nThe wallet has to be unlocked only where a range cannot be widened without its private keys.",
		Params: []command.Param{{
			Name: "options", Type: command.NamedOptions, Optional: true, Usage: "options",
			Help: "how far to look",
			Inner: []command.Param{
				{
					Name: "gap", Type: command.Number, Default: "1000; 20 where addresses are P2MR",
					Help: "1 to 100000: how many unused indices are to follow the highest used one",
				},
				{
					Name: "start_height", Type: command.Number, Default: "the first block that may concern the wallet",
					Help: "height of the first block that is looked through",
				},
			},
		}},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Number, Key: "gap", Help: "the gap"},
			{Type: command.Number, Key: "from_height", Help: "height of the first block that was looked through"},
			{Type: command.Number, Key: "to_height", Help: "height of the last block"},
			{Type: command.Hex, Key: "blockhash", Help: "hash of the last block"},
			{
				Type: command.Number, Key: "new_transactions",
				Help: "transactions in blocks that the wallet did not have before",
			},
			{
				Type: command.Bool, Key: "exhausted",
				Help: "true: a range ends before its gap does, so that payments beyond it may be missed",
			},
			{
				Type: command.Array, Key: "descriptors", Help: "the wallet's descriptors",
				Inner: []command.Result{{Type: command.Object, Inner: checkedResults}},
			},
			arg.ReceiptResult("what was looked for and found, for verifyreceipt on any node (docs/receipts.md); " +
				"absent where the chain has left the last block meanwhile"),
		}}},
		Examples: []string{`[]`, `[{"gap": 5000}]`},
		Run:      m.on(m.runCheck),
	}
}

var checkedResults = []command.Result{
	{
		Type: command.String, Key: "desc", Optional: true,
		Help: "public descriptor, with its checksum; absent where addresses cannot be derived of it",
	},
	{Type: command.Bool, Key: "active", Help: "whether new addresses are of it"},
	{Type: command.Bool, Key: "internal", Optional: true, Help: "whether for change, where it is active"},
	{
		Type: command.Array, Key: "range_before", Optional: true, Help: "its range before, where it has one",
		Inner: []command.Result{
			{Type: command.Number, Help: "the first index"}, {Type: command.Number, Help: "the last index"},
		},
	},
	arg.RangeResult("its range now", true),
	{Type: command.Number, Key: "highest_used", Optional: true, Help: "highest index that was paid to"},
	{
		Type: command.Bool, Key: "exhausted", Optional: true,
		Help: "where it has a range: true if that ends before the gap does, since further keys cannot be derived",
	},
	{Type: command.Number, Key: "payments", Help: "payments in blocks to its addresses"},
	{Type: command.Number, Key: "new_payments", Help: "those of transactions that the wallet did not have before"},
	{Type: command.Number, Key: "first_height", Optional: true, Help: "height of the first payment"},
	{Type: command.Number, Key: "last_height", Optional: true, Help: "height of the last payment"},
}

// checked is what checkwallet returns.
type checked struct {
	Gap         int32               `json:"gap"`
	From        int32               `json:"from_height"`
	To          int32               `json:"to_height"`
	Block       string              `json:"blockhash"`
	New         int                 `json:"new_transactions"`
	Exhausted   bool                `json:"exhausted"`
	Descriptors []checkedDescriptor `json:"descriptors"`
	Receipt     *receipt.Receipt    `json:"receipt,omitempty"`
}

type checkedDescriptor struct {
	Desc      string  `json:"desc,omitempty"`
	Active    bool    `json:"active"`
	Internal  *bool   `json:"internal,omitempty"`
	Before    []int32 `json:"range_before,omitempty"`
	Range     []int32 `json:"range,omitempty"`
	Highest   *int32  `json:"highest_used,omitempty"`
	Exhausted *bool   `json:"exhausted,omitempty"`
	Payments  int     `json:"payments"`
	New       int     `json:"new_payments"`
	First     *int32  `json:"first_height,omitempty"`
	Last      *int32  `json:"last_height,omitempty"`
}

func (m *methods) runCheck(ctx context.Context, w chosen, a *command.Args) (any, error) {
	q, err := m.readCheck(a)
	if err != nil {
		return nil, err
	}
	got, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	shown := checked{
		Gap: got.Gap, From: got.From, To: got.Tip.Height, Block: got.Tip.Hash.String(), New: got.New,
		Descriptors: make([]checkedDescriptor, len(got.Descriptors)),
	}
	for i := range got.Descriptors {
		shown.Descriptors[i] = showChecked(&got.Descriptors[i])
		shown.Exhausted = shown.Exhausted || got.Descriptors[i].Exhausted
	}
	shown.Receipt = m.checkReceipt(ctx, &got)
	return shown, nil
}

// readCheck reads the options of checkwallet.
func (m *methods) readCheck(a *command.Args) (q messages.CheckWallet, err error) {
	q.Gap = defaultGap
	if m.Network.Wallet().SlowKeys {
		q.Gap = slowGap
	}
	options := a.Value(0)
	if v := options.Get("gap"); !v.IsNull() {
		if q.Gap, err = v.AsInt32(); err != nil {
			return q, err
		}
		if q.Gap < 1 || q.Gap > arg.MaxGap {
			return q, command.Errorf(command.InvalidParameter, "gap must be between 1 and %d", arg.MaxGap)
		}
	}
	if v := options.Get("start_height"); !v.IsNull() {
		start, err := v.AsInt32()
		if err != nil {
			return q, err
		}
		q.Start = &start
	}
	return q, nil
}

func showChecked(d *messages.CheckedDescriptor) checkedDescriptor {
	shown := checkedDescriptor{Desc: d.Desc, Active: d.Active, Payments: d.Payments, New: d.New}
	if d.Active {
		shown.Internal = &d.Internal
	}
	if d.Ranged {
		shown.Before, shown.Range, shown.Exhausted = rangeOf(d.Before), rangeOf(d.Range), &d.Exhausted
		if d.HighestUsed >= 0 {
			shown.Highest = &d.HighestUsed
		}
	}
	if d.FirstHeight >= 0 {
		shown.First, shown.Last = &d.FirstHeight, &d.LastHeight
	}
	return shown
}

// rangeOf returns a range, nil for one without indices.
func rangeOf(r [2]int32) []int32 {
	if r[1] < r[0] {
		return nil
	}
	return r[:]
}

// checkReceipt makes the receipt of a check, nil where the last block has left the chain meanwhile.
func (m *methods) checkReceipt(ctx context.Context, got *messages.WalletChecked) *receipt.Receipt {
	r := &receipt.Receipt{From: got.From}
	var told []receipt.Descriptor
	for i := range got.Descriptors {
		d := &got.Descriptors[i]
		one := receipt.Descriptor{Text: d.Desc}
		if d.Ranged {
			if d.Range[1] < d.Range[0] {
				continue
			}
			one.Ranged, one.First, one.Last = true, uint32(d.Range[0]), uint32(d.Range[1])
		}
		told = append(told, one)
	}
	r.SetDescriptors(told)
	r.SetScripts(slices.Values(got.Scripts))
	r.SetFound(got.Blocks)
	if m.Complete == nil || m.Complete(ctx, r, &got.Tip.Hash) != nil || r.To < r.From {
		return nil
	}
	return r
}
