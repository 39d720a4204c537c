package mempoolrpc

import (
	"context"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func getTxSpendingPrevOut(d *Deps) command.Command {
	return command.Command{
		Name:     "gettxspendingprevout",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Finds the transactions of the memory pool that spend outputs.",
		Params: []command.Param{{Name: "outputs", Type: command.Array, Help: "the outputs", Inner: []command.Param{
			{Name: "output", Type: command.Object, Optional: true, Inner: []command.Param{
				{Name: "txid", Type: command.Hex, Help: "id of a transaction"},
				{Name: "vout", Type: command.Number, Help: "number of its output"},
			}},
		}}},
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{{
			Type: command.Object,
			Inner: []command.Result{
				{Type: command.Hex, Key: "txid", Help: "as given"},
				{Type: command.Number, Key: "vout", Help: "as given"},
				{Type: command.Hex, Key: "spendingtxid", Optional: true, Help: "id of the transaction that spends it"},
			},
		}}}},
		Examples: []string{`[[{"txid": "a08e6907dbbd3d809776dbfc5d82e371b764ed838b5655e72f463568df1aadf0", "vout": 3}]]`},
		Run:      func(ctx context.Context, a *command.Args) (any, error) { return d.spending(ctx, a) },
	}
}

type spentOutput struct {
	TxID     chainhash.Hash  `json:"txid"`
	Vout     uint32          `json:"vout"`
	Spending *chainhash.Hash `json:"spendingtxid,omitempty"`
}

func (d *Deps) spending(ctx context.Context, a *command.Args) (any, error) {
	list, err := a.Array(0)
	if err != nil {
		return nil, err
	}
	if list.Len() == 0 {
		return nil, command.Error{Code: command.InvalidParameter, Message: "Invalid parameter, outputs are missing"}
	}
	var outs []wire.OutPoint
	for _, v := range list.Elements() {
		at, err := readOutPoint(v)
		if err != nil {
			return nil, err
		}
		outs = append(outs, at)
	}
	spenders, err := ask.Ask(ctx, d.Pool, messages.GetPoolSpenders{Outs: outs})
	if err != nil {
		return nil, err
	}
	shown := make([]spentOutput, len(outs))
	for i, at := range outs {
		shown[i] = spentOutput{at.Hash, at.Index, spenders[i]}
	}
	return shown, nil
}

// readOutPoint reads an object with exactly a txid and a vout.
func readOutPoint(v *jsontree.Value) (wire.OutPoint, error) {
	if _, err := v.AsObject(); err != nil {
		return wire.OutPoint{}, err
	}
	for _, want := range []struct {
		key  string
		kind jsontree.Kind
	}{{"txid", jsontree.String}, {"vout", jsontree.Number}} {
		member := v.Get(want.key)
		if member == nil {
			return wire.OutPoint{}, command.Errorf(command.TypeError, "Missing %s", want.key)
		}
		if got := member.Kind(); got != want.kind {
			return wire.OutPoint{}, command.Errorf(command.TypeError,
				"JSON value of type %v for field %s is not of expected type %v", got, want.key, want.kind)
		}
	}
	for key := range v.Members() {
		if key != "txid" && key != "vout" {
			return wire.OutPoint{}, command.Errorf(command.TypeError, "Unexpected key %s", key)
		}
	}
	id, err := arg.Hash(v.Get("txid"), "txid")
	if err != nil {
		return wire.OutPoint{}, err
	}
	n, err := v.Get("vout").AsInt32()
	if err != nil {
		return wire.OutPoint{}, err
	}
	if n < 0 {
		return wire.OutPoint{}, command.Error{
			Code: command.InvalidParameter, Message: "Invalid parameter, vout cannot be negative",
		}
	}
	return wire.OutPoint{Hash: id, Index: uint32(n)}, nil
}
