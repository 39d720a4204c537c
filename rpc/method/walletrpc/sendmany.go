package walletrpc

import (
	"context"
	"slices"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func (m *methods) sendMany() command.Command {
	return command.Command{
		Name:     "sendmany",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.MovesPool,
		Summary: "Pays to several addresses in one transaction. The wallet must be unlocked.",
		Params: []command.Param{
			{Name: "dummy", Type: command.String, Default: `""`, Help: `must be ""`},
			{
				Name: "amounts", Type: command.UserKeys, Help: "the addresses and amounts",
				Inner: []command.Param{{
					Name: "address", Type: command.Amount,
					Help: "the member's name is an address, its value the amount",
				}},
			},
			{Name: "minconf", Type: command.Number, Optional: true, Help: "(DEPRECATED) has no effect"},
			{
				Name: "comment", Type: command.String, Optional: true,
				Help: "what the payment is for; only kept in the wallet",
			},
			{
				Name: "subtractfeefrom", Type: command.Array, Optional: true,
				Help: "addresses, or positions, of payments that the fee is taken from in equal shares",
				Inner: []command.Param{{
					Name: "address", Type: command.String, Optional: true, AnyType: true, Help: "one of the addresses",
				}},
			},
			replaceableParam, confTargetParam, estimateModeParam, feeRateParam,
			{Name: "verbose", Type: command.Bool, Default: "false", Help: "whether more is told than the id"},
			idempotencyParam,
		},
		Results: sentResults,
		Examples: []string{
			`["", {"` + exampleAddress + `": 0.01, "bc1q02ad21edsxd23d32dfgqqsz4vv4nmtfzuklhy3": 0.02}]`,
		},
		Run: m.on(m.runSendMany),
	}
}

func (m *methods) runSendMany(ctx context.Context, w chosen, a *command.Args) (any, error) {
	dummy, err := a.StringOr(0, "")
	if err != nil {
		return nil, err
	}
	if dummy != "" {
		return nil, command.Error{Code: command.InvalidParameter, Message: `Dummy value must be set to ""`}
	}
	amounts, err := a.Object(1)
	if err != nil {
		return nil, err
	}
	q := newSend(a)
	if err := readNotes(a, &q, 3, -1); err != nil {
		return nil, err
	}
	if a.Has(5) {
		replaceable, err := a.Bool(5)
		if err != nil {
			return nil, err
		}
		q.Replaceable = &replaceable
	}
	fee := feeArgs{target: a.Value(6), mode: a.Value(7), rate: a.Value(8)}
	if err := fee.read(m, &q); err != nil {
		return nil, err
	}
	outputs := arg.MembersOf(amounts)
	if q.Payments, err = m.payments(outputs); err != nil {
		return nil, err
	}
	if err := subtractFee(a.Value(4), outputs, q.Payments); err != nil {
		return nil, err
	}
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.needUnlocked(); err != nil {
		return nil, err
	}
	return m.sendMoney(ctx, w, a, s, q, 9)
}

// subtractFee marks the payments that bear the fee: they are named by their address or
// their position.
func subtractFee(list *jsontree.Value, outputs []arg.Member, payments []messages.Payment) error {
	invalid := func(format string, args ...any) error {
		return command.Errorf(command.InvalidParameter,
			"Invalid parameter 'subtract fee from output', "+format, args...)
	}
	for _, v := range list.Elements() {
		var at int
		switch v.Kind() {
		case jsontree.String:
			at = slices.IndexFunc(outputs, func(out arg.Member) bool { return out.Key == v.Text() })
			if at < 0 {
				return invalid("destination %s not found in tx outputs", v.Text())
			}
		case jsontree.Number:
			n, err := v.AsInt32()
			if err != nil {
				return err
			}
			at = int(n)
		default:
			return invalid("invalid value type: %v", v.Kind())
		}
		switch {
		case at >= 0 && at < len(payments) && payments[at].SubtractFee:
			return invalid("duplicated position: %d", at)
		case at < 0:
			return invalid("negative position: %d", at)
		case at >= len(payments):
			return invalid("position too large: %d", at)
		}
		payments[at].SubtractFee = true
	}
	return nil
}
