package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// fundedPacket is a partially signed transaction with inputs for all that it
// pays.
type fundedPacket struct {
	PSBT   string          `json:"psbt"`
	Fee    jsontree.Amount `json:"fee"`
	Change int             `json:"changepos"`
}

// inputsParam are inputs that are spent in any case.
func inputsParam(help string) command.Param {
	return command.Param{
		Name: "inputs", Type: command.Array, Default: "[]", Help: help,
		Inner: []command.Param{{Type: command.Object, Optional: true, Inner: []command.Param{
			{Name: "txid", Type: command.Hex, Help: "id of the transaction with the output"},
			{Name: "vout", Type: command.Number, Help: "number of the output"},
			{
				Name: "sequence", Type: command.Number,
				Default: "depends on the value of the 'replaceable' and 'locktime' arguments",
				Help:    "sequence number of the input",
			},
			{
				Name: "weight", Type: command.Number, Default: "Calculated from wallet and solving data",
				Help: "the most that the whole input weighs when it is signed",
			},
		}}},
	}
}

// outputsParam are what is paid.
var outputsParam = command.Param{
	Name: "outputs", Type: command.Array, AnyType: true,
	Help: "what is paid: objects with one member each, or one object with all members.\n" +
		"An address may be paid once, and at most one output may carry data.",
	Inner: []command.Param{
		{Type: command.UserKeys, Optional: true, Inner: []command.Param{{
			Name: "address", Type: command.Amount,
			Help: "the member's name is an address, its value the amount",
		}}},
		{Type: command.Object, Optional: true, Inner: []command.Param{
			{Name: "data", Type: command.Hex, Help: "bytes for an output that cannot be spent"},
		}},
	},
}

var addInputsParam = command.Param{
	Name: "add_inputs", Type: command.Bool, Default: "false when \"inputs\" are specified, true otherwise",
	Help: "whether coins of the wallet are added",
}

func (m *methods) walletCreateFundedPSBT() command.Command {
	return command.Command{
		Name:     "walletcreatefundedpsbt",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Makes a partially signed transaction (BIP174, BIP370) that pays, with coins of the wallet and\n" +
			"with what the wallet knows of them. Nothing is signed.",
		Params: []command.Param{
			inputsParam("what is spent in any case"),
			outputsParam,
			{
				Name: "locktime", Type: command.Number, Default: "0",
				Help: "height or time before which the transaction is not valid",
			},
			{
				Name: "options", Type: command.NamedOptions, Optional: true, Usage: "options",
				Help: "how coins are chosen",
				Inner: append([]command.Param{
					addInputsParam, unsafeParam, minConfOptionParam, maxConfOptionParam,
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
					subtractParam("subtractFeeFromOutputs"), maxWeightParam,
				}, fundParams...),
			},
			{
				Name: "bip32derivs", Type: command.Bool, Default: "true",
				Help: "whether it is told where keys come from (BIP32)",
			},
			{Name: "version", Type: command.Number, Default: "2", Help: "version of the transaction"},
			arg.PSBTVersionParam(m.Network.PSBTVersions),
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "psbt", Help: "the partially signed transaction in base64"},
			{Type: command.Amount, Key: "fee", Help: "its fee"},
			{Type: command.Number, Key: "changepos", Help: "position of the change, -1 if there is none"},
		}}},
		Examples: []string{`[[], [{"` + exampleAddress + `": 0.5}], 0, {"add_inputs": true, "fee_rate": 2}]`},
		Run:      m.on(m.runCreateFunded),
	}
}

// subtractParam says which outputs bear the fee.
func subtractParam(name string) command.Param {
	return command.Param{
		Name: name, Type: command.Array, Default: "[]",
		Help: "positions of the outputs, before change is added, that the fee is taken from",
		Inner: []command.Param{
			{Name: "vout_index", Type: command.Number, Optional: true, Help: "a position"},
		},
	}
}

func (m *methods) runCreateFunded(ctx context.Context, w chosen, a *command.Args) (any, error) {
	options := a.Value(3)
	q, err := m.construct(ctx, construction{
		inputs: a.Value(0), outputs: a.Value(1), lockTime: a.Value(2), version: a.Value(5),
		subtract: options.Get("subtractFeeFromOutputs"), options: options,
	}, true)
	if err != nil {
		return nil, err
	}
	derivations, err := a.BoolOr(4, true)
	if err != nil {
		return nil, err
	}
	got, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	version, err := arg.PSBTVersion(a.Value(6), m.Network.PSBTVersions)
	if err != nil {
		return nil, err
	}
	filled, err := m.packet(ctx, w, got.Tx, version, messages.FillPacket{Derivations: derivations})
	return fundedPacket{filled.PSBT, jsontree.Amount(got.Fee), got.Change}, err
}
