package walletrpc

import (
	"bytes"
	"context"
	"encoding/hex"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// funded is a transaction with inputs for all that it pays.
type funded struct {
	Hex    string          `json:"hex"`
	Fee    jsontree.Amount `json:"fee"`
	Change int             `json:"changepos"`
}

func (m *methods) fundRawTransaction() command.Command {
	return command.Command{
		Name:     "fundrawtransaction",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Adds coins of the wallet to a transaction until they pay for its outputs and the fee,\n" +
			"and an output of change where one is needed. The outputs that are there stay as they\n" +
			"are, but for the fee that \"subtractFeeFromOutputs\" takes from them. Nothing is signed, and\n" +
			"signatures that are there may not hold any more. Of inputs that are not the wallet's,\n" +
			"\"solving_data\" must tell how to spend them. Where coins are not confirmed, more is paid\n" +
			"so that they come into a block as well.",
		Params: []command.Param{
			{Name: "hexstring", Type: command.Hex, Help: "the serialized transaction"},
			{
				Name: "options", Type: command.NamedOptions, Optional: true, Usage: "options",
				AnyType: m.Network.Answers.BoolFunding,
				Help:    "how coins are chosen; true or false has no effect",
				Inner: append([]command.Param{
					{
						Name: "add_inputs", Type: command.Bool, Default: "true",
						Help: "whether coins are added where those of the transaction are not enough",
					},
					unsafeParam, minConfOptionParam, maxConfOptionParam,
					{
						Name: "changeAddress", Type: command.String, Default: "automatic",
						Help: "the address that change goes to",
					},
					{Name: "changePosition", Type: command.Number, Default: "random", Help: "position of the change"},
					changeTypeParam,
					{Name: "includeWatching", Type: command.Bool, Default: "false", Help: "(DEPRECATED) has no effect"},
					{
						Name: "lockUnspents", Type: command.Bool, Default: "false",
						Help: "whether the coins are locked that are spent",
					},
					feeRateParam,
					{
						Name: "feeRate", Type: command.Amount, Default: "not set, fall back to wallet fee estimation",
						Help: "fee rate in coins for 1000 virtual bytes",
					},
					{
						Name: "subtractFeeFromOutputs", Type: command.Array, Default: "[]",
						Help: "positions of the outputs, before change is added, that the fee is taken from",
						Inner: []command.Param{
							{Name: "vout_index", Type: command.Number, Optional: true, Help: "a position"},
						},
					},
					inputWeightsParam, maxWeightParam,
				}, fundParams...),
			},
			{
				Name: "iswitness", Type: command.Bool, Default: "depends on heuristic tests",
				Help: "true if the form with witnesses is to be read, false for the one without",
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Hex, Key: "hex", Help: "the transaction"},
			{Type: command.Amount, Key: "fee", Help: "its fee"},
			{Type: command.Number, Key: "changepos", Help: "position of the change, -1 if there is none"},
		}}},
		Examples: []string{`["rawtransactionhex"]`},
		Run:      m.on(m.runFundRawTransaction),
	}
}

func (m *methods) runFundRawTransaction(ctx context.Context, w chosen, a *command.Args) (any, error) {
	tx, err := readAnyTx(a)
	if err != nil {
		return nil, err
	}
	q := messages.Spend{Version: tx.Version, MaxConf: maxDepth, AllowUsed: true, LockTime: &tx.LockTime}
	for _, out := range tx.TxOut {
		q.Payments = append(q.Payments, messages.Payment{Script: out.PkScript, Amount: btcutil.Amount(out.Value)})
	}
	for _, in := range tx.TxIn {
		q.Inputs = append(q.Inputs, messages.SpendInput{
			At: in.PreviousOutPoint, Sequence: &in.Sequence, SigScript: in.SignatureScript, Witness: in.Witness,
		})
	}
	options := a.Value(1)
	outputs := make([]arg.Member, len(q.Payments))
	for i := range outputs {
		outputs[i].Key = "dummy"
	}
	if err := subtractFee(options.Get("subtractFeeFromOutputs"), outputs, q.Payments); err != nil {
		return nil, err
	}
	if err := m.checkPayments(q.Payments); err != nil {
		return nil, err
	}
	if err := m.readFund(ctx, options, &q, true); err != nil {
		return nil, err
	}
	q.Refused = m.notAllowed(q.Payments)
	got, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	var raw bytes.Buffer
	if err := got.Tx.Serialize(&raw); err != nil {
		return nil, err
	}
	return funded{hex.EncodeToString(raw.Bytes()), jsontree.Amount(got.Fee), got.Change}, nil
}

var errTxDecode = command.Error{Code: command.DeserializationError, Message: "TX decode failed"}

// readAnyTx reads a transaction in the form that the third argument names.
func readAnyTx(a *command.Args) (*wire.MsgTx, error) {
	form := rawtx.AnyForm
	if a.Has(2) {
		witness, err := a.Bool(2)
		if err != nil {
			return nil, err
		}
		if form = rawtx.LegacyForm; witness {
			form = rawtx.WitnessForm
		}
	}
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	raw, err := hex.DecodeString(text)
	if err != nil {
		return nil, errTxDecode
	}
	tx, ok := rawtx.Decode(raw, form)
	if !ok {
		return nil, errTxDecode
	}
	return tx, nil
}
