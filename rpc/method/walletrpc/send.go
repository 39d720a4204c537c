package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// sent is a transaction that was sent, or why it was not.
type sent struct {
	PSBT     string `json:"psbt,omitempty"`
	TxID     string `json:"txid,omitempty"`
	Hex      string `json:"hex,omitempty"`
	Complete bool   `json:"complete"`
	pqcSigned
}

var sendResults = []command.Result{{Type: command.Object, Inner: append([]command.Result{
	{Type: command.Bool, Key: "complete", Help: "whether the transaction has all signatures"},
	{Type: command.Hex, Key: "txid", Optional: true, Help: "id of the transaction"},
	{Type: command.Hex, Key: "hex", Optional: true, Help: "(add_to_wallet = false) the transaction"},
	{
		Type: command.String, Key: "psbt", Optional: true,
		Help: "(where signatures are missing, or add_to_wallet = false) the partially signed transaction in base64",
	},
}, pqcSignedResults()...)}}

func (m *methods) send() command.Command {
	return command.Command{
		Name:     "send",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.MovesPool,
		Summary: "EXPERIMENTAL: this may change. Pays; where signatures are missing, nothing is sent.",
		Params: []command.Param{
			outputsParam, confTargetParam, estimateModeParam, feeRateParam,
			{
				Name: "options", Type: command.NamedOptions, Optional: true, Usage: "options",
				Help: "how coins are chosen, and what becomes of the transaction",
				Inner: append([]command.Param{
					addInputsParam, unsafeParam, minConfOptionParam, maxConfOptionParam,
					{
						Name: "add_to_wallet", Type: command.Bool, Default: "true",
						Help: "false to return the transaction, and neither keep nor send it",
					},
					{
						Name: "change_address", Type: command.String, Default: "automatic",
						Help: "the address that change goes to",
					},
					{Name: "change_position", Type: command.Number, Default: "random", Help: "position of the change"},
					changeTypeParam, feeRateParam,
					{
						Name: "include_watching", Type: command.Bool, Default: "false",
						Help: "(DEPRECATED) has no effect",
					},
					inputsParam("what is spent in any case"),
					{
						Name: "locktime", Type: command.Number,
						Default: "locktime close to block height to prevent fee sniping",
						Help:    "height or time before which the transaction is not valid",
					},
					{
						Name: "lock_unspents", Type: command.Bool, Default: "false",
						Help: "whether the coins are locked that are spent",
					},
					{
						Name: "psbt", Type: command.Bool, Default: "automatic",
						Help: "true to return a partially signed transaction, and neither keep nor send it",
					},
					subtractParam("subtract_fee_from_outputs"), maxWeightParam,
				}, fundParams...),
			},
			{Name: "version", Type: command.Number, Default: "2", Help: "version of the transaction"},
			idempotencyParam,
		},
		Results: sendResults,
		Examples: []string{
			`[{"` + exampleAddress + `": 0.1}, 6, "economical"]`, `[{"` + exampleAddress + `": 0.2}, null, "unset", 1.1]`,
		},
		Run: m.on(m.runSend),
	}
}

func (m *methods) runSend(ctx context.Context, w chosen, a *command.Args) (any, error) {
	options, err := feeOptions(a)
	if err != nil {
		return nil, err
	}
	if err := m.refuseOldNames(options); err != nil {
		return nil, err
	}
	if err := m.checkKeys(ctx, w); err != nil {
		return nil, err
	}
	q, err := m.construct(ctx, construction{
		inputs: options.Get("inputs"), outputs: a.Value(0), lockTime: options.Get("locktime"), version: a.Value(5),
		subtract: options.Get("subtract_fee_from_outputs"), options: options,
		weight: options.Get("max_tx_weight"),
	}, false)
	if err != nil {
		return nil, err
	}
	q.Sniped = options.Get("locktime") == nil
	if q.Key, err = idempotencyKey(a, 6); err != nil {
		return nil, err
	}
	return m.finish(ctx, w, options, q)
}

// finish has the wallet sign, and send where that is asked for.
func (*methods) finish(ctx context.Context, w chosen, options *jsontree.Value, q messages.Spend) (any, error) {
	packet, err := optionOr(options, "psbt", false)
	if err != nil {
		return nil, err
	}
	keep, err := optionOr(options, "add_to_wallet", true)
	if err != nil {
		return nil, err
	}
	q.Sign, q.Send = messages.SignSome, keep && !packet
	if q.Key != nil && !q.Send {
		return nil, command.Error{
			Code: command.InvalidParameter,
			Message: "Invalid parameter, idempotency_key goes neither with psbt nor with add_to_wallet=false, " +
				"which send nothing",
		}
	}
	got, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	shown := sent{Complete: got.Complete, pqcSigned: newPQCSigned(got.PQCKeys)}
	if got.Complete {
		shown.TxID = got.TxID.String()
		if !q.Send {
			shown.Hex = txHex(got.Tx)
		}
	}
	if !got.Sent {
		shown.PSBT = got.PSBT
	}
	return shown, nil
}

func optionOr(options *jsontree.Value, name string, otherwise bool) (bool, error) {
	v := options.Get(name)
	if v == nil {
		return otherwise, nil
	}
	return v.AsBool()
}

// feeOptions returns the options of a call, with the fee settings that the call has in
// arguments of their own.
func feeOptions(a *command.Args) (*jsontree.Value, error) {
	options := jsontree.NewObject()
	for name, v := range a.Value(4).Members() {
		options.Add(name, v)
	}
	if options.Get("conf_target") != nil || options.Get("estimate_mode") != nil {
		if a.Has(1) || a.Has(2) {
			return nil, command.Error{
				Code: command.InvalidParameter,
				Message: "Pass conf_target and estimate_mode either as arguments or in the options object, " +
					"but not both",
			}
		}
	} else {
		putIfGiven(options, "conf_target", a.Value(1))
		putIfGiven(options, "estimate_mode", a.Value(2))
	}
	if options.Get("fee_rate") != nil {
		if a.Has(3) {
			return nil, command.Error{
				Code:    command.InvalidParameter,
				Message: "Pass the fee_rate either as an argument, or in the options object, but not both",
			}
		}
	} else {
		putIfGiven(options, "fee_rate", a.Value(3))
	}
	if options.Get("conf_target").IsNull() {
		return options, nil
	}
	mode := "unset"
	if v := options.Get("estimate_mode"); !v.IsNull() {
		var err error
		if mode, err = v.AsString(); err != nil {
			return nil, err
		}
	}
	if mode == "unset" {
		return nil, command.Error{Code: command.InvalidParameter, Message: "Specify estimate_mode"}
	}
	return options, nil
}

func putIfGiven(options *jsontree.Value, name string, v *jsontree.Value) {
	if !v.IsNull() {
		options.Add(name, v)
	}
}

// refuseOldNames refuses options by their names in other methods.
func (m *methods) refuseOldNames(options *jsontree.Value) error {
	for _, pair := range [][2]string{
		{"feeRate", "fee_rate (" + m.Network.Software.Atom + "/vB)"},
		{"changeAddress", "change_address"},
		{"changePosition", "change_position"},
		{"lockUnspents", "lock_unspents"},
		{"subtractFeeFromOutputs", "subtract_fee_from_outputs"},
	} {
		if options.Get(pair[0]) != nil {
			return command.Errorf(command.InvalidParameter, "Use %s instead of %s", pair[1], pair[0])
		}
	}
	return nil
}
