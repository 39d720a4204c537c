package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// The names of texts that are kept with transactions.
const (
	noteComment = "comment"
	noteTo      = "to"
)

// sentResults declare a [sentReason] or an id alone.
var sentResults = []command.Result{
	{Type: command.Hex, When: "for verbose = false", Help: "id of the transaction"},
	{Type: command.Object, When: "for verbose = true", Inner: append([]command.Result{
		{Type: command.Hex, Key: "txid", Help: "id of the transaction"},
		{Type: command.String, Key: "fee_reason", Help: "why the fee is what it is"},
	}, pqcSignedResults()...)},
}

// sentReason is a transaction that was sent.
type sentReason struct {
	TxID   string `json:"txid"`
	Reason string `json:"fee_reason"`
	pqcSigned
}

func (m *methods) sendToAddress() command.Command {
	return command.Command{
		Name:     "sendtoaddress",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.MovesPool,
		Summary: "Pays to an address. The wallet must be unlocked.",
		Params: []command.Param{
			{Name: "address", Type: command.String, Help: "the address"},
			{Name: "amount", Type: command.Amount, Help: "the amount"},
			{
				Name: "comment", Type: command.String, Optional: true,
				Help: "what the payment is for; only kept in the wallet",
			},
			{
				Name: "comment_to", Type: command.String, Optional: true,
				Help: "whom it is to; only kept in the wallet",
			},
			{
				Name: "subtractfeefromamount", Type: command.Bool, Default: "false",
				Help: "whether the fee is taken from the amount, so that less arrives",
			},
			replaceableParam, confTargetParam, estimateModeParam,
			{
				Name: "avoid_reuse", Type: command.Bool, Default: "true",
				Help: "(only for wallets that avoid reuse) whether coins are left that are on addresses\n" +
					"that were spent from; then all coins of an address are spent together",
			},
			feeRateParam,
			{Name: "verbose", Type: command.Bool, Default: "false", Help: "whether more is told than the id"},
			idempotencyParam,
		},
		Results: sentResults,
		Examples: []string{
			`["` + exampleAddress + `", 0.1]`,
			`["` + exampleAddress + `", 0.1, "donation", "sean's outpost", false, true, 6, "economical"]`,
			`{"address": "` + exampleAddress + `", "amount": 0.5, "fee_rate": 25}`,
		},
		Run: m.on(m.runSendToAddress),
	}
}

func (m *methods) runSendToAddress(ctx context.Context, w chosen, a *command.Args) (any, error) {
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	q := newSend(a)
	if err := readNotes(a, &q, 2, 3); err != nil {
		return nil, err
	}
	if a.Has(5) {
		replaceable, err := a.Bool(5)
		if err != nil {
			return nil, err
		}
		q.Replaceable = &replaceable
	}
	avoid, err := s.avoidReuse(a.Value(8))
	if err != nil {
		return nil, err
	}
	q.AvoidPartial, q.AllowUsed = avoid, !avoid
	fee := feeArgs{target: a.Value(6), mode: a.Value(7), rate: a.Value(9)}
	if err := fee.read(m, &q); err != nil {
		return nil, err
	}
	if err := s.needUnlocked(); err != nil {
		return nil, err
	}
	address, err := a.String(0)
	if err != nil {
		return nil, err
	}
	subtract, err := a.BoolOr(4, false)
	if err != nil {
		return nil, err
	}
	outputs := []arg.Member{{Key: address, Value: a.Value(1)}}
	if q.Payments, err = m.payments(outputs); err != nil {
		return nil, err
	}
	q.Payments[0].SubtractFee = subtract
	return m.sendMoney(ctx, w, a, s, q, 10)
}

// newSend returns a request that signs and sends.
func newSend(*command.Args) messages.Spend {
	return messages.Spend{
		Version: 2, MaxConf: maxDepth, AllowUsed: true, Sign: messages.SignAll, Send: true, Shuffle: true,
	}
}

// maxDepth is more confirmations than any coin has.
const maxDepth = 9_999_999

// readNotes reads the texts that are kept with a transaction.
func readNotes(a *command.Args, q *messages.Spend, comment, to int) error {
	q.Values = make(map[string]string)
	for name, i := range map[string]int{noteComment: comment, noteTo: to} {
		text, err := a.StringOr(i, "")
		if err != nil {
			return err
		}
		if text != "" {
			q.Values[name] = text
		}
	}
	return nil
}

// avoidReuse reads whether coins are to be left that are on addresses that were spent
// from.
func (s *state) avoidReuse(v *jsontree.Value) (bool, error) {
	if v.IsNull() {
		return s.AvoidReuse, nil
	}
	avoid, err := v.AsBool()
	if err == nil && avoid && !s.AvoidReuse {
		err = command.Error{
			Code: command.WalletError, Message: `wallet does not have the "avoid reuse" feature enabled`,
		}
	}
	return avoid, err
}

// payments reads outputs: addresses with amounts, and data.
func (m *methods) payments(outputs []arg.Member) ([]messages.Payment, error) {
	read, err := arg.Outputs(outputs, jsontree.Amount(m.Network.Rules.MaxMoney))
	paid := make(map[string]bool)
	var list []messages.Payment
	for _, out := range read {
		if out.Data != nil {
			list = append(list, messages.Payment{Script: rawtx.DataScript(out.Data)})
			continue
		}
		script, err := m.script(out.Address, ": "+out.Address)
		if err != nil {
			return nil, err
		}
		if paid[string(script)] {
			return nil, command.Errorf(command.InvalidParameter,
				"Invalid parameter, duplicated address: %s", out.Address)
		}
		paid[string(script)] = true
		list = append(list, messages.Payment{Script: script, Amount: out.Amount})
	}
	if err == nil {
		err = m.checkPayments(list)
	}
	return list, err
}

var errNeedsSend = command.Error{
	Code: command.WalletError,
	Message: "Error: sendtoaddress and sendmany are not supported for wallets with external signers; use send " +
		"instead",
}

// sendMoney has the wallet pay, and tells as much as argument verbose asks for.
func (m *methods) sendMoney(
	ctx context.Context, w chosen, a *command.Args, s state, q messages.Spend, verbose int,
) (any, error) {
	tell, err := a.BoolOr(verbose, false)
	if err != nil {
		return nil, err
	}
	if q.Key, err = idempotencyKey(a, verbose+1); err != nil {
		return nil, err
	}
	if m.Network.DevicesNeedSend && hasSigner(s) {
		return nil, errNeedsSend
	}
	got, err := ask.Ask(ctx, w.ref, q)
	switch {
	case err != nil:
		return nil, err
	case tell:
		return sentReason{got.TxID.String(), got.Reason, newPQCSigned(got.PQCKeys)}, nil
	}
	return got.TxID.String(), nil
}
