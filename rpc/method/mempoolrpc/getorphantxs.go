package mempoolrpc

import (
	"bytes"
	"context"
	"encoding/hex"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/rpc/command"
)

func getOrphanTxs(d *Deps) command.Command {
	orphan := []command.Result{
		{Type: command.Hex, Key: "txid", Help: "its id"},
		{Type: command.Hex, Key: "wtxid", Help: "its id with witnesses"},
		{Type: command.Number, Key: "bytes", Help: "its serialized size"},
		{Type: command.Number, Key: "vsize", Help: "its virtual size"},
		{Type: command.Number, Key: "weight", Help: "its weight"},
		{Type: command.Array, Key: "from", Help: "the peer that sent it", Inner: []command.Result{
			{Type: command.Number, Help: "id of a peer"},
		}},
	}
	return command.Command{
		Name:     "getorphantxs",
		Category: command.Hidden,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns the transactions of peers that wait for their parents.",
		Params: []command.Param{{
			Name: "verbosity", Type: command.Number, Default: "0", AnyType: true,
			Help: "0 for a list of ids, 1 for objects with details, 2 for those with the transactions",
		}},
		Results: []command.Result{
			{Type: command.Array, When: "for verbosity = 0", Inner: []command.Result{
				{Type: command.Hex, Help: "id of a transaction"},
			}},
			{Type: command.Array, When: "for verbosity = 1", Inner: []command.Result{
				{Type: command.Object, Inner: orphan},
			}},
			{Type: command.Array, When: "for verbosity = 2", Inner: []command.Result{{
				Type: command.Object,
				Inner: append(
					orphan[:len(orphan):len(orphan)],
					command.Result{Type: command.Hex, Key: "hex", Help: "the serialized transaction"},
				),
			}}},
		},
		Examples: []string{`[2]`},
		Run:      func(ctx context.Context, a *command.Args) (any, error) { return d.orphans(ctx, a) },
	}
}

// orphanTx is what is told of a transaction that waits.
type orphanTx struct {
	TxID   chainhash.Hash `json:"txid"`
	WTxID  chainhash.Hash `json:"wtxid"`
	Bytes  int            `json:"bytes"`
	VSize  int64          `json:"vsize"`
	Weight int            `json:"weight"`
	From   []int64        `json:"from"`
	Hex    string         `json:"hex,omitempty"`
}

func (d *Deps) orphans(ctx context.Context, a *command.Args) (any, error) {
	verbosity, err := readVerbosity(a.Value(0))
	if err != nil {
		return nil, err
	}
	var list []nodemsg.Orphan
	if !d.Relay.IsAbsent() {
		if list, err = ask.Ask(ctx, d.Relay, nodemsg.GetOrphans{}); err != nil {
			return nil, err
		}
	}
	ids, shown := make([]chainhash.Hash, len(list)), make([]orphanTx, len(list))
	for i := range list {
		tx := list[i].Tx
		ids[i] = tx.TxHash()
		shown[i] = orphanTx{
			TxID: ids[i], WTxID: tx.WitnessHash(), Bytes: tx.SerializeSize(), VSize: virtualSize(tx, d.Network),
			Weight: int(weightOf(tx, d.Network)), From: list[i].Peers,
		}
		if verbosity == 2 {
			var raw bytes.Buffer
			_ = tx.Serialize(&raw) // a buffer does not fail
			shown[i].Hex = hex.EncodeToString(raw.Bytes())
		}
	}
	switch verbosity {
	case 0:
		return ids, nil
	case 1, 2:
		return shown, nil
	}
	return nil, command.Errorf(command.InvalidParameter, "Invalid verbosity value %d", verbosity)
}

func readVerbosity(v *jsontree.Value) (int32, error) {
	if v.IsNull() {
		return 0, nil
	}
	if v.Kind() == jsontree.Bool {
		return 0, command.Error{Code: command.TypeError, Message: "Verbosity was boolean but only integer allowed"}
	}
	return v.AsInt32()
}
