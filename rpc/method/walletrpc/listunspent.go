package walletrpc

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// unspent is one coin.
type unspent struct {
	TxID          chainhash.Hash  `json:"txid"`
	Index         uint32          `json:"vout"`
	Address       string          `json:"address,omitempty"`
	Label         *string         `json:"label,omitempty"`
	RedeemScript  string          `json:"redeemScript,omitempty"`
	WitnessScript string          `json:"witnessScript,omitempty"`
	Script        string          `json:"scriptPubKey"`
	Amount        jsontree.Amount `json:"amount"`
	Confirmations int32           `json:"confirmations"`
	*ancestors
	Spendable   bool     `json:"spendable"`
	Solvable    bool     `json:"solvable"`
	Desc        string   `json:"desc,omitempty"`
	ParentDescs []string `json:"parent_descs"`
	Reused      *bool    `json:"reused,omitempty"` // wallets that avoid reuse
	Safe        bool     `json:"safe"`
}

// ancestors are the transactions in the mempool that a coin depends on, its own
// included.
type ancestors struct {
	Count int   `json:"ancestorcount"`
	Size  int   `json:"ancestorsize"` // virtual bytes
	Fees  int64 `json:"ancestorfees"` // in the smallest unit, unlike all other amounts
}

func (m *methods) listUnspent() command.Command {
	return command.Command{
		Name:     "listunspent",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns the wallet's coins.",
		Params:  unspentParams,
		Results: []command.Result{
			{Type: command.Array, Inner: []command.Result{{Type: command.Object, Inner: unspentResults}}},
		},
		Examples: []string{
			`[]`, `[6, 9999999, ["` + exampleAddress + `"]]`, `[6, 9999999, [], true, {"minimumAmount": 0.005}]`,
		},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			q, err := m.readListUnspent(a)
			if err != nil {
				return nil, err
			}
			got, err := ask.Ask(ctx, w.ref, q)
			if err != nil {
				return nil, err
			}
			coins := make([]unspent, len(got))
			for i := range got {
				coins[i] = m.unspentOf(&got[i])
				if coins[i].ancestors, err = m.ancestorsOf(ctx, &got[i]); err != nil {
					return nil, err
				}
			}
			return coins, nil
		}),
	}
}

// ancestorsOf tells what a coin of the mempool depends on, nil for another.
func (m *methods) ancestorsOf(ctx context.Context, c *messages.Unspent) (*ancestors, error) {
	if c.HasAncestors {
		return &ancestors{c.AncestorCount, c.AncestorSize, int64(c.AncestorFees)}, nil
	}
	if m.Pool.IsAbsent() || c.Confirmations != 0 {
		return nil, nil
	}
	tx, err := ask.Ask(ctx, m.Pool, messages.GetPoolTx{ID: c.TxID})
	if errors.Is(err, messages.ErrNotInPool) {
		return nil, nil
	}
	return &ancestors{tx.Ancestors, int(tx.AncestorVSize), tx.AncestorFees}, err
}

func (m *methods) unspentOf(c *messages.Unspent) unspent {
	shown := unspent{
		TxID: c.TxID, Index: c.Index, Address: m.addressOf(c.Script),
		RedeemScript: hex.EncodeToString(c.RedeemScript), WitnessScript: hex.EncodeToString(c.WitnessScript),
		Script: hex.EncodeToString(c.Script), Amount: jsontree.Amount(c.Amount), Confirmations: c.Confirmations,
		Spendable: c.Spendable, Solvable: c.Solvable, Desc: c.Desc, ParentDescs: c.ParentDescs, Safe: c.Safe,
	}
	if c.HasLabel {
		shown.Label = &c.Label
	}
	if c.HasReused {
		shown.Reused = &c.Reused
	}
	return shown
}

var unspentParams = []command.Param{
	{Name: "minconf", Type: command.Number, Default: "1", Help: "least number of confirmations"},
	{Name: "maxconf", Type: command.Number, Default: "9999999", Help: "greatest number of confirmations"},
	{
		Name: "addresses", Type: command.Array, Default: "[]", Help: "the only addresses to look at; empty for all",
		Inner: []command.Param{{Name: "address", Type: command.String, Optional: true, Help: "an address"}},
	},
	{
		Name: "include_unsafe", Type: command.Bool, Default: "true",
		Help: "whether coins are listed that are not safe to spend, see \"safe\" below",
	},
	{
		Name: "query_options", Type: command.NamedOptions, Optional: true, Usage: "query_options",
		Help: "further limits",
		Inner: []command.Param{
			{Name: "minimumAmount", Type: command.Amount, Default: "0.00", Help: "least value of a coin"},
			{Name: "maximumAmount", Type: command.Amount, Default: "unlimited", Help: "greatest value of a coin"},
			{
				Name: "maximumCount", Type: command.Number, Default: "unlimited",
				Help: "how many coins are listed at most",
			},
			{
				Name: "minimumSumAmount", Type: command.Amount, Default: "unlimited",
				Help: "value of all coins together from which on no more are listed",
			},
			{
				Name: "include_immature_coinbase", Type: command.Bool, Default: "false",
				Help: "whether coinbase outputs are listed that are too young to be spent",
			},
		},
	},
}

var unspentResults = []command.Result{
	{Type: command.Hex, Key: "txid", Help: "id of the transaction with the output"},
	{Type: command.Number, Key: "vout", Help: "number of the output"},
	{Type: command.String, Key: "address", Optional: true, Help: "its address, if it has one"},
	{Type: command.String, Key: "label", Optional: true, Help: "label of the address, if it has one"},
	{Type: command.Hex, Key: "redeemScript", Optional: true, Help: "(P2SH) the script behind it"},
	{Type: command.Hex, Key: "witnessScript", Optional: true, Help: "(P2WSH, also within P2SH) the script behind it"},
	{Type: command.Hex, Key: "scriptPubKey", Help: "its script"},
	{Type: command.Amount, Key: "amount", Help: "its value"},
	{Type: command.Number, Key: "confirmations", Help: "its confirmations"},
	{
		Type: command.Number, Key: "ancestorcount", Optional: true,
		Help: "(in the mempool) how many unconfirmed transactions it depends on, its own included",
	},
	{Type: command.Number, Key: "ancestorsize", Optional: true, Help: "(in the mempool) virtual size of those"},
	{
		Type: command.Number, Key: "ancestorfees", Optional: true,
		Help: "(in the mempool) fees of those, in the smallest unit",
	},
	{Type: command.Bool, Key: "spendable", Help: "(DEPRECATED) always true"},
	{Type: command.Bool, Key: "solvable", Help: "whether the wallet could spend it, had it the private keys"},
	{Type: command.String, Key: "desc", Optional: true, Help: "(solvable ones) descriptor of this script alone"},
	{
		Type: command.Array, Key: "parent_descs", Help: "descriptors of the wallet that its script comes from",
		Inner: []command.Result{{Type: command.String, Help: "a descriptor"}},
	},
	{
		Type: command.Bool, Key: "reused", Optional: true,
		Help: "(only for wallets that avoid reuse) whether its address was spent from before",
	},
	{
		Type: command.Bool, Key: "safe",
		Help: "whether it is safe to spend: unconfirmed payments of others, and replacements, are not",
	},
}
