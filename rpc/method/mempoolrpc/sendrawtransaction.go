package mempoolrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func sendRawTransaction(d *Deps) command.Command {
	return command.Command{
		Name:     "sendrawtransaction",
		Category: command.RawTransactions,
		About:    command.State, Effect: command.MovesPool | command.SendsTx,
		Summary: "Puts a transaction into the pool and announces it to all peers, which tells them that it comes " +
			"from here.\n" +
			"With -privatebroadcast it is handed to a few nodes instead, through Tor or I2P, and comes into the pool " +
			"when the network sends it back: see getprivatebroadcastinfo and abortprivatebroadcast.",
		Params: []command.Param{
			{Name: "hexstring", Type: command.Hex, Help: "the serialized transaction"},
			maxFeeRateParam, burnParam,
		},
		Results:  []command.Result{{Type: command.Hex, Help: "id of the transaction"}},
		Examples: []string{`["signedhex"]`},
		Run:      func(ctx context.Context, a *command.Args) (any, error) { return d.send(ctx, a) },
	}
}

func (d *Deps) send(ctx context.Context, a *command.Args) (any, error) {
	burn, err := d.maxBurn(a, 2)
	if err != nil {
		return nil, err
	}
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	tx, ok := readTx(text)
	if !ok {
		return nil, command.Error{
			Code: command.DeserializationError, Message: "TX decode failed. Make sure the tx has at least one input.",
		}
	}
	if err := checkBurn(tx, burn); err != nil {
		return nil, err
	}
	rate, err := d.maxFeeRate(a, 1)
	if err != nil {
		return nil, err
	}
	if d.Private {
		if err := d.isHidden(ctx); err != nil {
			return nil, err
		}
	}
	q := messages.SubmitTx{Tx: tx, MaxFee: feeFor(rate, virtualSize(tx, d.Network)), Test: d.Private}
	if _, err = ask.Ask(ctx, d.Pool, q); err != nil {
		return nil, sendError(err)
	}
	if d.Private {
		if err := d.handOver(ctx, tx); err != nil {
			return nil, err
		}
	}
	d.seen(ctx)
	return tx.TxHash(), nil
}

// sendError puts a refusal into Core's words.
func sendError(err error) error {
	reject, refused := errors.AsType[*messages.TxReject](err)
	switch {
	case errors.Is(err, messages.ErrTxConfirmed):
		return command.Error{Code: command.VerifyAlreadyInUTXOs, Message: "Transaction outputs already in utxo set"}
	case errors.Is(err, messages.ErrTxFee):
		return command.Error{
			Code: command.VerifyError, Message: "Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)",
		}
	case refused && reject.Kind == messages.TxMissingInputs:
		return command.Error{Code: command.VerifyError, Message: reject.Error()}
	case refused:
		return command.Error{Code: command.VerifyRejected, Message: reject.Error()}
	}
	return err
}
