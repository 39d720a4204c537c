package chainrpc

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func getTxOut(d *Deps) command.Command {
	printer := &txjson.Printer{Net: d.Network.Descriptors(), WitnessScale: int(d.Network.Rules.WitnessScale)}
	return command.Command{
		Name:     "gettxout",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns an output that is not spent.",
		Params: []command.Param{
			{Name: "txid", Type: command.String, Help: "id of the transaction"},
			{Name: "n", Type: command.Number, Help: "index of the output"},
			{
				Name: "include_mempool", Type: command.Bool, Default: "true",
				Help: "know outputs in the mempool, and leave out those that are spent there",
			},
		},
		Results: []command.Result{
			{Type: command.Null, When: "if there is no such unspent output"},
			{Type: command.Object, When: "otherwise", Inner: []command.Result{
				{Type: command.Hex, Key: "bestblock", Help: "hash of the tip"},
				{Type: command.Number, Key: "confirmations", Help: "number of confirmations, 0 in the mempool"},
				{Type: command.Amount, Key: "value", Help: "its value"},
				{Type: command.Object, Key: "scriptPubKey", Help: "its script", Inner: scriptResults},
				{Type: command.Bool, Key: "coinbase", Help: "whether a coinbase created it"},
			}},
		},
		Examples: []string{`["txid", 1]`},
		Run:      func(ctx context.Context, a *command.Args) (any, error) { return d.txOut(ctx, printer, a) },
	}
}

// scriptResults are the members of an output script.
var scriptResults = []command.Result{
	{Type: command.String, Key: "asm", Help: "the script in words"},
	{Type: command.String, Key: "desc", Help: "descriptor inferred for it"},
	{Type: command.Hex, Key: "hex", Help: "the script"},
	{Type: command.String, Key: "address", Optional: true, Help: "its address, where it has one"},
	{Type: command.String, Key: "type", Help: "its form"},
}

// txOutResult is what gettxout returns.
type txOutResult struct {
	BestBlock     chainhash.Hash      `json:"bestblock"`
	Confirmations int32               `json:"confirmations"`
	Value         jsontree.Amount     `json:"value"`
	Script        txjson.ScriptPubKey `json:"scriptPubKey"`
	Coinbase      bool                `json:"coinbase"`
}

func (d *Deps) txOut(ctx context.Context, p *txjson.Printer, a *command.Args) (any, error) {
	hash, err := arg.Hash(a.Value(0), "txid")
	if err != nil {
		return nil, err
	}
	index, err := a.Uint32(1)
	if err != nil {
		return nil, err
	}
	unconfirmed, err := a.BoolOr(2, true)
	if err != nil {
		return nil, err
	}
	out := wire.OutPoint{Hash: hash, Index: index}
	coin, err := d.coin(ctx, out, unconfirmed)
	if err != nil || coin == nil {
		return nil, err
	}
	result := txOutResult{
		BestBlock: coin.Tip.Hash, Confirmations: coin.Tip.Height - coin.Height + 1,
		Value: jsontree.Amount(coin.Output.Value), Script: p.ScriptPubKey(coin.Output.PkScript),
		Coinbase: coin.Coinbase,
	}
	if coin.Height == messages.PoolHeight {
		result.Confirmations = 0
	}
	return result, nil
}

// coin returns an output with the tip at which it is unspent, nil when there is
// none. With the mempool, its outputs count, and what it spends does not.
func (d *Deps) coin(ctx context.Context, out wire.OutPoint, pool bool) (*messages.Coin, error) {
	if !pool || d.Pool.IsAbsent() {
		coin, err := ask.Ask(ctx, d.Actor, messages.GetCoin{Out: out})
		if errors.Is(err, messages.ErrNoCoin) {
			return nil, nil //nolint:nilnil // nothing is an answer
		}
		return &coin, err
	}
	coins, err := ask.Ask(ctx, d.Pool, messages.GetPoolCoins{Outs: []wire.OutPoint{out}, View: messages.PoolUnspent})
	if err != nil || coins[0] == nil {
		return nil, err
	}
	coin := *coins[0]
	if coin.Tip == (messages.Tip{}) {
		active, err := d.active()
		if err != nil {
			return nil, err
		}
		coin.Tip = messages.Tip{Hash: active.Tip().Hash, Height: active.Height()}
	}
	return &coin, nil
}
