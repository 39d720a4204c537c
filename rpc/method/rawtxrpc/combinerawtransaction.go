package rawtxrpc

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) combineRawTransaction() command.Command {
	return command.Command{
		Name:     "combinerawtransaction",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Puts the signatures of several copies of a transaction into one.",
		Params: []command.Param{
			{Name: "txs", Type: command.Array, Help: "the copies, two or more, signed in part", Inner: []command.Param{
				{Name: "hexstring", Type: command.Hex, Optional: true, Help: "a serialized transaction"},
			}},
		},
		Results:  []command.Result{{Type: command.String, Help: "the serialized transaction with all signatures"}},
		Examples: []string{`[["myhex1", "myhex2", "myhex3"]]`},
		Run:      m.combine,
	}
}

func (m *methods) combine(ctx context.Context, a *command.Args) (any, error) {
	list, err := a.Array(0)
	if err != nil {
		return nil, err
	}
	if list.Len() < 2 {
		return nil, command.Error{
			Code: command.DeserializationError, Message: "Missing transactions. At least two transactions required.",
		}
	}
	copies := make([]*wire.MsgTx, list.Len())
	for i, v := range list.Elements() {
		text, err := v.AsString()
		if err != nil {
			return nil, err
		}
		var ok bool
		if copies[i], ok = decodeTx(text, rawtx.WitnessForm); !ok {
			return nil, command.Errorf(command.DeserializationError,
				"TX decode failed for tx %d. Make sure the tx has at least one input.", i)
		}
	}
	first := unsignedID(copies[0])
	for i, tx := range copies {
		if unsignedID(tx) != first {
			return nil, command.Errorf(command.InvalidParameter,
				"Transaction number %d not compatible with first transaction", i+1)
		}
	}
	coins, err := m.unspent(ctx, copies[0])
	if err != nil {
		return nil, err
	}
	err = m.Network.NewSigning(copies[0], coins).Combine(ctx, copies)
	switch {
	case errors.Is(err, rawtx.ErrNoCoin):
		return nil, command.Error{Code: command.VerifyError, Message: err.Error()}
	case err != nil:
		return nil, err
	}
	return encodeTx(copies[0]), nil
}

// unsignedID is the id that a transaction has without its signatures.
func unsignedID(tx *wire.MsgTx) chainhash.Hash {
	unsigned := tx.Copy()
	for _, in := range unsigned.TxIn {
		in.SignatureScript = nil
	}
	return unsigned.TxHash()
}
