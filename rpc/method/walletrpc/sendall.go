package walletrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func (m *methods) sendAll() command.Command {
	return command.Command{
		Name:     "sendall",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.MovesPool,
		Summary: "EXPERIMENTAL: this may change. Spends all coins of the wallet, or those that are named,\n" +
			"without change. " +
			"Locked coins and unconfirmed payments of others are left. Where signatures are missing, nothing\n" +
			"is sent. \"send_max\" leaves coins as well that cost more to spend than they are worth.",
		Params: []command.Param{
			{
				Name: "recipients", Type: command.Array,
				Help: "what is paid: each address once, at least one of them without an amount",
				Inner: []command.Param{
					{Name: "address", Type: command.String, Help: "gets an equal share of what is left"},
					{
						Type: command.UserKeys, Optional: true, Help: "a payment of an amount",
						Inner: []command.Param{{
							Name: "address", Type: command.Amount,
							Help: "the member's name is an address, its value the amount",
						}},
					},
				},
			},
			confTargetParam, estimateModeParam, feeRateParam,
			{
				Name: "options", Type: command.NamedOptions, Optional: true, Usage: "options",
				Help:  "which coins are spent, and what becomes of the transaction",
				Inner: append(sweepParams, fundParams...),
			},
			idempotencyParam,
		},
		Results: sendResults,
		Examples: []string{
			`{"recipients": ["` + exampleAddress + `"], "fee_rate": 1}`,
			`[["` + exampleAddress + `", {"bc1q02ad21edsxd23d32dfgqqsz4vv4nmtfzuklhy3": 0.25}], null, "unset", 1.1]`,
		},
		Run: m.on(m.runSendAll),
	}
}

// sweepParams are the options that sendall has of its own.
var sweepParams = []command.Param{
	{
		Name: "add_to_wallet", Type: command.Bool, Default: "true",
		Help: "false to return the transaction, and neither keep nor send it",
	},
	feeRateParam,
	{Name: "include_watching", Type: command.Bool, Default: "false", Help: "(DEPRECATED) has no effect"},
	{
		Name: "inputs", Type: command.Array, Default: "[]",
		Help: "exactly what is spent; goes with none of send_max, minconf and maxconf",
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
		Name: "locktime", Type: command.Number,
		Default: "locktime close to block height to prevent fee sniping",
		Help:    "height or time before which the transaction is not valid",
	},
	{Name: "lock_unspents", Type: command.Bool, Default: "false", Help: "whether the coins are locked that are spent"},
	{
		Name: "psbt", Type: command.Bool, Default: "automatic",
		Help: "true to return a partially signed transaction, and neither keep nor send it",
	},
	{
		Name: "send_max", Type: command.Bool, Default: "false",
		Help: "whether coins are left that cost more to spend than they are worth",
	},
	{
		Name: "minconf", Type: command.Number, Default: "0",
		Help: "least number of confirmations of coins that are spent",
	},
	{
		Name: "maxconf", Type: command.Number, Optional: true,
		Help: "greatest number of confirmations of coins that are spent",
	},
	{Name: "version", Type: command.Number, Default: "2", Help: "version of the transaction"},
}

func (m *methods) runSendAll(ctx context.Context, w chosen, a *command.Args) (any, error) {
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
	recipients, named, err := readRecipients(a.Value(0))
	if err != nil {
		return nil, err
	}
	q := messages.Spend{
		MaxConf: maxDepth, Version: 2, AllowUsed: true, All: new(messages.AllCoins),
		Sniped: options.Get("locktime") == nil,
	}
	fee := feeArgs{
		target: options.Get("conf_target"), mode: options.Get("estimate_mode"), rate: options.Get("fee_rate"),
	}
	if err := fee.read(m, &q); err != nil {
		return nil, err
	}
	q.Replaceable = nil
	if err := readSweep(options, &q); err != nil {
		return nil, err
	}
	err = m.readSweptTo(options, recipients, named, &q)
	if e, ok := errors.AsType[command.Error](err); ok {
		q.All.Refused = &messages.WalletError{Code: int(e.Code), Text: e.Message}
	} else if err != nil {
		return nil, err
	}
	if q.Key, err = idempotencyKey(a, 5); err != nil {
		return nil, err
	}
	return m.finish(ctx, w, options, q)
}

// readRecipients returns the outputs of a list of addresses and payments, and which
// addresses are to share what is left. They are checked later.
func readRecipients(list *jsontree.Value) (recipients []*jsontree.Value, named map[string]bool, err error) {
	named = make(map[string]bool)
	for _, v := range list.Elements() {
		if v.Kind() == jsontree.String {
			named[v.Text()] = true
		}
		recipients = append(recipients, v)
	}
	if len(named) == 0 {
		err = command.Error{
			Code: command.InvalidParameter, Message: "Must provide at least one address without a specified amount",
		}
	}
	return recipients, named, err
}

// readSweep reads which coins are spent.
func readSweep(options *jsontree.Value, q *messages.Spend) (err error) {
	if v := options.Get("minconf"); v != nil {
		if q.MinConf, err = v.AsInt32(); err != nil {
			return err
		}
		if q.MinConf < 0 {
			return command.Errorf(command.InvalidParameter,
				"Invalid minconf (minconf cannot be negative): %d", q.MinConf)
		}
	}
	if v := options.Get("maxconf"); v != nil {
		if q.MaxConf, err = v.AsInt32(); err != nil {
			return err
		}
		if q.MaxConf < q.MinConf {
			return command.Errorf(command.InvalidParameter, "maxconf can't be lower than minconf: %d < %d",
				q.MaxConf, q.MinConf)
		}
	}
	if v := options.Get("version"); v != nil {
		if q.Version, err = v.AsInt32(); err != nil {
			return err
		}
	}
	if v := options.Get("replaceable"); v != nil {
		replaceable, err := v.AsBool()
		if err != nil {
			return err
		}
		q.Replaceable = &replaceable
	}
	return nil
}

// readSweptTo reads lock time, inputs and outputs, in this order.
func (m *methods) readSweptTo(
	options *jsontree.Value, recipients []*jsontree.Value, named map[string]bool, q *messages.Spend,
) error {
	if v := options.Get("locktime"); !v.IsNull() {
		lock, err := arg.Uint32(v, "locktime")
		if err != nil {
			return err
		}
		q.LockTime = &lock
	}
	if q.Version < messages.MinTxVersion || q.Version > messages.MaxTxVersion {
		return command.Errorf(command.InvalidParameter, "Invalid parameter, version out of range(%d~%d)",
			messages.MinTxVersion, messages.MaxTxVersion)
	}
	if v := options.Get("inputs"); !v.IsNull() {
		inputs, err := arg.Inputs(v)
		if err != nil {
			return err
		}
		for _, in := range inputs {
			q.Inputs = append(q.Inputs, messages.SpendInput{At: in.OutPoint, Sequence: in.Sequence})
		}
	}
	if err := m.readShares(recipients, named, q); err != nil {
		return err
	}
	return readKept(options, q)
}

// readShares reads the payments.
func (m *methods) readShares(recipients []*jsontree.Value, named map[string]bool, q *messages.Spend) error {
	var members []arg.Member
	nothing := jsontree.NewInt(0)
	for _, v := range recipients {
		if v.Kind() == jsontree.String {
			members = append(members, arg.Member{Key: v.Text(), Value: nothing})
			continue
		}
		some, err := arg.Members(jsontree.NewArray(v))
		if err != nil {
			return err
		}
		members = append(members, some...)
	}
	payments, err := m.payments(members)
	for i := range payments {
		address := m.addressOf(payments[i].Script)
		payments[i].Address, payments[i].Rest = address, named[address]
	}
	q.Payments = payments
	return err
}

// readKept reads which coins are left, and refuses options that cannot be combined.
func readKept(options *jsontree.Value, q *messages.Spend) (err error) {
	if q.All.Worth, err = optionOr(options, "send_max", false); err != nil {
		return err
	}
	q.All.Given = options.Get("inputs") != nil
	var with string
	switch {
	case !q.All.Given:
	case options.Get("send_max") != nil:
		with = "send_max"
	case options.Get("minconf") != nil || options.Get("maxconf") != nil:
		with = "minconf or maxconf"
	}
	if with != "" {
		return command.Errorf(command.InvalidParameter, "Cannot combine %s with specific inputs.", with)
	}
	q.LockCoins, err = optionOr(options, "lock_unspents", false)
	return err
}
