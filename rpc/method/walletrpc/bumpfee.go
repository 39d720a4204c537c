package walletrpc

import (
	"context"
	"slices"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// bumped is a transaction that replaces another transaction.
type bumped struct {
	TxID   string          `json:"txid,omitempty"`
	PSBT   string          `json:"psbt,omitempty"`
	OldFee jsontree.Amount `json:"origfee"`
	Fee    jsontree.Amount `json:"fee"`
	Errors []string        `json:"errors"`
	pqcSigned
}

// bumpedResults declare a [bumped] with the given first and last members.
func bumpedResults(first command.Result, last ...command.Result) []command.Result {
	return []command.Result{{Type: command.Object, Inner: append([]command.Result{
		first,
		{Type: command.Amount, Key: "origfee", Help: "fee of the transaction that is replaced"},
		{Type: command.Amount, Key: "fee", Help: "fee of the new one"},
		{Type: command.Array, Key: "errors", Help: "empty", Inner: []command.Result{
			{Type: command.String, Help: "what went wrong"},
		}},
	}, last...)}}
}

// bumpParams are the parameters that both methods have.
var bumpParams = []command.Param{
	{Name: "txid", Type: command.Hex, Help: "id of the transaction"},
	{
		Name: "options", Type: command.NamedOptions, Optional: true, Usage: "options",
		Help: "what the new transaction pays",
		Inner: []command.Param{
			confTargetParam,
			{
				Name: "fee_rate", Type: command.Amount, Default: "not set, fall back to wallet fee estimation",
				Help: "fee rate in sat/vB; it must be higher than before by what the node asks of replacements",
			},
			{
				Name: "replaceable", Type: command.Bool, Default: "true",
				Help: "whether the new transaction says that it can be replaced in turn (BIP125)",
			},
			estimateModeParam,
			{
				Name: "outputs", Type: command.Array, Default: "[]", AnyType: true,
				Help: "what is paid instead, at least one output; goes not with original_change_index",
				Inner: []command.Param{
					{
						Type: command.UserKeys, Optional: true, Help: "a payment of an amount",
						Inner: []command.Param{{
							Name: "address", Type: command.Amount,
							Help: "the member's name is an address, its value the amount",
						}},
					},
					{Type: command.Object, Optional: true, Inner: []command.Param{
						{Name: "data", Type: command.Hex, Help: "an output that carries data"},
					}},
				},
			},
			{
				Name: "original_change_index", Type: command.Number, Default: "not set, detect change automatically",
				Help: "position of the output that is the change: it becomes greater or less, and stays where it goes",
			},
		},
	},
}

// bumpOptions are the options in the order in which Core checks their types.
func bumpOptions(send bool) []option {
	options := []option{
		{"confTarget", jsontree.Number},
		{"conf_target", jsontree.Number},
		{"estimate_mode", jsontree.String},
		{"fee_rate", jsontree.Null},
		{"original_change_index", jsontree.Number},
		{"outputs", jsontree.Null},
	}
	if !send {
		options = append(options, option{"psbt_version", jsontree.Number})
	}
	return append(options, option{"replaceable", jsontree.Bool})
}

const bumpSummary = "The new one spends all that the other one spends, so that only one of them confirms; more\n" +
	"coins are added, and change is added or lessened, where that is needed. It fails for a\n" +
	"transaction that is spent from."

func (m *methods) bumpFee() command.Command {
	return command.Command{
		Name:     "bumpfee",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.MovesPool,
		Summary: "Replaces a transaction of the wallet that is not confirmed by one that pays a higher fee.\n" +
			bumpSummary,
		Params: bumpParams,
		Results: bumpedResults(command.Result{
			Type: command.Hex, Key: "txid", Help: "id of the new transaction",
		}, pqcSignedResults()...),
		Examples: []string{`["` + exampleTxID + `"]`, `["` + exampleTxID + `", {"fee_rate": 25}]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			s, err := w.state(ctx)
			if err != nil {
				return nil, err
			}
			if !s.PrivateKeys && !hasSigner(s) {
				return nil, command.Error{
					Code: command.WalletError,
					Message: "bumpfee is not available with wallets that have private keys disabled. " +
						"Use psbtbumpfee instead.",
				}
			}
			q, err := m.readBumpFee(a, true)
			if err != nil {
				return nil, err
			}
			got, err := replaceTx(ctx, w, s, q)
			return bumped{
				TxID: got.TxID.String(), OldFee: jsontree.Amount(got.OldFee), Fee: jsontree.Amount(got.Fee),
				Errors: []string{}, pqcSigned: newPQCSigned(got.PQCKeys),
			}, err
		}),
	}
}

func (m *methods) psbtBumpFee() command.Command {
	params := slices.Clone(bumpParams)
	params[1].Inner = append(slices.Clip(params[1].Inner), arg.PSBTVersionParam(m.Network.PSBTVersions))
	return command.Command{
		Name:     "psbtbumpfee",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Makes a transaction that replaces one of the wallet that is not confirmed, and pays a higher fee.\n" +
			"It is neither signed nor sent. " + bumpSummary,
		Params: params,
		Results: bumpedResults(command.Result{
			Type: command.String, Key: "psbt", Help: "the new transaction in base64, without signatures",
		}),
		Examples: []string{`["` + exampleTxID + `"]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			s, err := w.state(ctx)
			if err != nil {
				return nil, err
			}
			q, err := m.readBumpFee(a, false)
			if err != nil {
				return nil, err
			}
			version, err := arg.PSBTVersion(a.Value(1).Get("psbt_version"), m.Network.PSBTVersions)
			if err != nil {
				return nil, err
			}
			got, err := replaceTx(ctx, w, s, q)
			if err != nil {
				return nil, err
			}
			filled, err := m.packet(ctx, w, got.Tx, version, messages.FillPacket{Derivations: true})
			return bumped{
				PSBT: filled.PSBT, OldFee: jsontree.Amount(got.OldFee), Fee: jsontree.Amount(got.Fee),
				Errors: []string{},
			}, err
		}),
	}
}

// readBumpFee reads the arguments.
func (m *methods) readBumpFee(a *command.Args, send bool) (messages.BumpFee, error) {
	txid, err := arg.Hash(a.Value(0), "txid")
	if err != nil {
		return messages.BumpFee{}, err
	}
	q := messages.BumpFee{TxID: txid, Send: send}
	if a.Has(1) {
		err = m.readBump(a.Value(1), &q)
	}
	return q, err
}

// replaceTx has the wallet make the transaction.
func replaceTx(ctx context.Context, w chosen, s state, q messages.BumpFee) (messages.Bumped, error) {
	if err := s.needUnlocked(); err != nil {
		return messages.Bumped{}, err
	}
	if q.Send {
		if err := s.needCheckedKeys(toSignOrSend); err != nil {
			return messages.Bumped{}, err
		}
	}
	return ask.Ask(ctx, w.ref, q)
}

func (m *methods) readBump(options *jsontree.Value, q *messages.BumpFee) error {
	if err := checkOptions(options, bumpOptions(q.Send)); err != nil {
		return err
	}
	if options.Get("confTarget") != nil && options.Get("conf_target") != nil {
		return command.Error{
			Code: command.InvalidParameter,
			Message: "confTarget and conf_target options should not both be set. " +
				"Use conf_target (confTarget is deprecated).",
		}
	}
	if v := options.Get("replaceable"); v != nil {
		replaceable, err := v.AsBool()
		if err != nil {
			return err
		}
		q.Irreplaceable = !replaceable
	}
	fee := feeArgs{
		target: either(options, "confTarget", "conf_target"), mode: options.Get("estimate_mode"),
		rate: options.Get("fee_rate"),
	}
	var read messages.Spend
	if err := fee.read(m, &read); err != nil {
		return err
	}
	q.FeeRate, q.ConfTarget, q.Conservative = read.FeeRate, read.ConfTarget, read.Conservative
	if err := m.readNewOutputs(options.Get("outputs"), q); err != nil {
		return err
	}
	if v := options.Get("original_change_index"); v != nil {
		index, err := v.AsUint32()
		if err != nil {
			return err
		}
		q.ChangeIndex = &index
	}
	return nil
}

// readNewOutputs reads what is paid instead.
func (m *methods) readNewOutputs(outputs *jsontree.Value, q *messages.BumpFee) error {
	if outputs.IsNull() {
		return nil
	}
	if outputs.Kind() == jsontree.Array && outputs.Len() == 0 {
		return command.Error{
			Code: command.InvalidParameter, Message: "Invalid parameter, output argument cannot be an empty array",
		}
	}
	members, err := arg.Members(outputs)
	if err != nil {
		return err
	}
	payments, err := m.payments(members)
	q.Payments = slices.Clip(payments)
	return err
}
