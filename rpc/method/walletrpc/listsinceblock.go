package walletrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

var (
	errNoBlock       = command.Error{Code: command.InvalidAddressOrKey, Message: "Block not found"}
	errTargetConfirm = command.Error{Code: command.InvalidParameter, Message: "Invalid parameter"}
)

// sinceBlock is what listsinceblock returns.
type sinceBlock struct {
	Transactions []jsontree.Members  `json:"transactions"`
	Removed      *[]jsontree.Members `json:"removed,omitempty"`
	LastBlock    chainhash.Hash      `json:"lastblock"`
}

func (m *methods) listSinceBlock() command.Command {
	return command.Command{
		Name:     "listsinceblock",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns the payments from and to the wallet in blocks after a given one, and unconfirmed ones.\n" +
			"If the block is not in the chain any more, that is from where its branch left the chain on.",
		Params: []command.Param{
			{
				Name: "blockhash", Type: command.String, Optional: true,
				Help: "the block; without it all payments are returned",
			},
			{
				Name: "target_confirmations", Type: command.Number, Default: "1",
				Help: "how deep the block is that is returned as lastblock, 1 for the tip; nothing else depends on it",
			},
			noWatchOnlyParam,
			{
				Name: "include_removed", Type: command.Bool, Default: "true",
				Help: "whether payments are returned that were in blocks which left the chain",
			},
			{Name: "include_change", Type: command.Bool, Default: "false", Help: "whether change is returned too"},
			{Name: "label", Type: command.String, Optional: true, Help: "only payments to addresses with this label"},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Array, Key: "transactions", Help: "the payments", Inner: []command.Result{listedEntry}},
			{
				Type: command.Array, Key: "removed", Optional: true,
				Help:  "payments in blocks that left the chain, even where they are in other blocks now",
				Inner: []command.Result{{Type: command.Elision, Help: "members as above"}},
			},
			{Type: command.Hex, Key: "lastblock", Help: "the block to ask from the next time"},
		}}},
		Examples: []string{
			`[]`, `["000000000000000bacf66f7497b7dc45ef753ee9a7d38571037cdb1a57f663ad", 6]`,
		},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			q, err := m.readSinceBlock(a)
			if err != nil {
				return nil, err
			}
			got, err := ask.Ask(ctx, w.ref, q)
			if err != nil {
				return nil, err
			}
			shown := sinceBlock{Transactions: m.entries(got.Transactions, true), LastBlock: got.LastBlock}
			if q.IncludeRemoved {
				shown.Removed = new(m.entries(got.Removed, true))
			}
			return shown, nil
		}),
	}
}

func (m *methods) readSinceBlock(a *command.Args) (q messages.ListSinceBlock, err error) {
	if q.Block, err = m.readBlock(a.Value(0)); err != nil {
		return q, err
	}
	if q.TargetConf, err = a.Int32Or(1, 1); err != nil {
		return q, err
	}
	if q.TargetConf < 1 {
		return q, errTargetConfirm
	}
	if q.IncludeRemoved, err = a.BoolOr(3, true); err != nil {
		return q, err
	}
	if q.IncludeChange, err = a.BoolOr(4, false); err != nil {
		return q, err
	}
	if a.Has(5) {
		name, err := label(a.Value(5))
		if err != nil {
			return q, err
		}
		q.Label = &name
	}
	return q, nil
}

// readBlock reads the hash of a block that the node knows; nil when none is
// given.
func (m *methods) readBlock(v *jsontree.Value) (*chainhash.Hash, error) {
	if v.IsNull() || v.Text() == "" {
		return nil, nil
	}
	hash, err := arg.Hash(v, "blockhash")
	if err != nil {
		return nil, err
	}
	chain := m.Chain.Open()
	if chain == nil {
		return nil, chainview.ErrNotReady
	}
	if chain.Lookup(&hash) == nil {
		return nil, errNoBlock
	}
	return &hash, nil
}
