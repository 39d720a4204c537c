package rawtxrpc

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// defaultTxVersion is the version of a transaction that no version was asked
// for.
const defaultTxVersion = 2

// buildParams are the parameters of the methods that build a transaction.
func buildParams() []command.Param {
	return []command.Param{
		{
			Name: "inputs", Type: command.Array, Help: "what is spent",
			Inner: []command.Param{{Type: command.Object, Optional: true, Inner: []command.Param{
				{Name: "txid", Type: command.Hex, Help: "id of the transaction with the output"},
				{Name: "vout", Type: command.Number, Help: "number of the output"},
				{
					Name: "sequence", Type: command.Number,
					Default: "depends on the value of the 'replaceable' and 'locktime' arguments",
					Help:    "sequence number of the input",
				},
			}}},
		},
		{
			Name: "outputs", Type: command.Array, AnyType: true,
			Help: "what is paid: objects with one member each, or one object with all members.\n" +
				"An address may be paid once, and at most one output may carry data.",
			Inner: []command.Param{
				{Type: command.UserKeys, Optional: true, Inner: []command.Param{
					{
						Name: "address", Type: command.Amount,
						Help: "the member's name is an address, its value the amount",
					},
				}},
				{Type: command.Object, Optional: true, Inner: []command.Param{
					{Name: "data", Type: command.Hex, Help: "bytes for an output that cannot be spent"},
				}},
			},
		},
		{
			Name: "locktime", Type: command.Number, Default: "0",
			Help: "height or time before which the transaction is not valid; other than 0, it takes effect through " +
				"the sequence numbers",
		},
		{
			Name: "replaceable", Type: command.Bool, Default: "true",
			Help: "whether the transaction may be replaced by one with a higher fee (BIP125).\n" +
				"Given as true, it is an error if the sequence numbers say otherwise.",
		},
		{Name: "version", Type: command.Number, Default: "2", Help: "version of the transaction"},
	}
}

// build has the transaction built that the arguments describe.
func (m *methods) build(ctx context.Context, a *command.Args) (*wire.MsgTx, error) {
	req, err := m.readRequest(a)
	if err != nil {
		return nil, err
	}
	tx, err := ask.Ask(ctx, m.Builder, req)
	return tx, m.buildError(err)
}

// buildError puts the builder's errors into Core's words.
func (m *methods) buildError(err error) error {
	invalid := func(format string, args ...any) error {
		return command.Errorf(command.InvalidParameter, "Invalid parameter"+format, args...)
	}
	wrong, ok := errors.AsType[*messages.TxAddressError](err)
	switch {
	case ok && errors.Is(err, messages.ErrTxAddress):
		return command.Errorf(command.InvalidAddressOrKey, "Invalid %s address: %s", m.Currency, wrong.Address)
	case ok:
		return invalid(", duplicated address: %s", wrong.Address)
	case errors.Is(err, messages.ErrTxVersion):
		return invalid(", version out of range(%d~%d)", messages.MinTxVersion, messages.MaxTxVersion)
	case errors.Is(err, messages.ErrNoTxOutputs):
		return invalid(", at least one output is required")
	case errors.Is(err, messages.ErrTxReplaceable):
		return invalid(" combination: Sequence number(s) contradict replaceable option")
	default:
		return err
	}
}

// readRequest reads the arguments in Core's order. An error in the inputs or
// outputs becomes part of the request, because the builder may find an error in
// an earlier part.
func (m *methods) readRequest(a *command.Args) (messages.BuildTx, error) {
	req := messages.BuildTx{Version: defaultTxVersion}
	var err error
	if a.Has(3) {
		replaceable, err := a.Bool(3)
		if err != nil {
			return req, err
		}
		req.Replaceable = &replaceable
	}
	if a.Has(4) {
		if req.Version, err = a.Uint32(4); err != nil {
			return req, err
		}
	}
	if a.Has(2) {
		if req.LockTime, err = arg.Uint32(a.Value(2), "locktime"); err != nil {
			return req, err
		}
	}
	if req.Inputs, req.Unread = arg.Inputs(a.Value(0)); req.Unread == nil {
		req.Outputs, req.Unread = arg.ReadOutputs(a.Value(1), jsontree.Amount(m.Network.Rules.MaxMoney))
	}
	return req, nil
}
