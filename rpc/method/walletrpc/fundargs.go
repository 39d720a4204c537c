package walletrpc

import (
	"context"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// Bounds of the weight of an input.
const (
	minInputSize   = 32 + 4 + 1 + 4 // bytes, without a witness
	maxInputWeight = 400_000
)

// fundOptions are the options of the methods that choose coins, sorted by name: Core checks their
// types in this order.
var fundOptions = []option{
	{"add_inputs", jsontree.Bool},
	{"add_to_wallet", jsontree.Bool},
	{"changeAddress", jsontree.String},
	{"changePosition", jsontree.Number},
	{"change_address", jsontree.String},
	{"change_position", jsontree.Number},
	{"change_type", jsontree.String},
	{"conf_target", jsontree.Number},
	{"estimate_mode", jsontree.String},
	{"feeRate", jsontree.Null},
	{"fee_rate", jsontree.Null},
	{"includeWatching", jsontree.Bool},
	{"include_unsafe", jsontree.Bool},
	{"include_watching", jsontree.Bool},
	{"input_weights", jsontree.Array},
	{"inputs", jsontree.Array},
	{"lockUnspents", jsontree.Bool},
	{"lock_unspents", jsontree.Bool},
	{"locktime", jsontree.Number},
	{"max_tx_weight", jsontree.Number},
	{"maxconf", jsontree.Number},
	{"minconf", jsontree.Number},
	{"psbt", jsontree.Bool},
	{"replaceable", jsontree.Bool},
	{"solving_data", jsontree.Object},
	{"subtractFeeFromOutputs", jsontree.Array},
	{"subtract_fee_from_outputs", jsontree.Array},
}

// either returns the option that has one of two names, the first before the second.
func either(options *jsontree.Value, first, second string) *jsontree.Value {
	if v := options.Get(first); v != nil {
		return v
	}
	return options.Get(second)
}

// readFund reads the options of a method that chooses coins. The payments of the request
// are there already.
func (m *methods) readFund(ctx context.Context, options *jsontree.Value, q *messages.Spend, anyRate bool) error {
	switch options.Kind() {
	case jsontree.Null, jsontree.Bool: // that once said whether what is watched is spent
	default:
		if err := checkOptions(options, fundOptions); err != nil {
			return err
		}
		for _, read := range []func(*jsontree.Value, *messages.Spend) error{
			m.readChange, readCoins, m.readOldRate, readDepths,
		} {
			if err := read(options, q); err != nil {
				return err
			}
		}
		fee := feeArgs{
			target: options.Get("conf_target"), mode: options.Get("estimate_mode"), rate: options.Get("fee_rate"),
			anyRate: anyRate,
		}
		if err := fee.read(m, q); err != nil {
			return err
		}
	}
	known, err := m.solvingData(options.Get("solving_data"))
	if err != nil {
		return err
	}
	if err := readWeights(options.Get("input_weights"), m.Network.Rules.WitnessScale, q); err != nil {
		return err
	}
	if v := options.Get("max_tx_weight"); v != nil {
		weight, err := v.AsInt32()
		if err != nil {
			return err
		}
		q.MaxWeight = new(int(weight))
	}
	if len(q.Payments) == 0 {
		return command.Error{Code: command.InvalidParameter, Message: "TX must have at least one output"}
	}
	return m.findInputs(ctx, q, known)
}

// readChange reads where change goes.
func (m *methods) readChange(options *jsontree.Value, q *messages.Spend) error {
	if v := options.Get("add_inputs"); v != nil {
		add, err := v.AsBool()
		if err != nil {
			return err
		}
		q.OnlyInputs = !add
	}
	address := either(options, "change_address", "changeAddress")
	if address != nil {
		text, err := address.AsString()
		if err != nil {
			return err
		}
		if q.ChangeScript, err = descriptor.ScriptOfAddress(text, m.net); err != nil {
			return command.Errorf(command.InvalidAddressOrKey, "Change address must be a valid %s address",
				strings.ToLower(m.Currency))
		}
		if err := m.checkReserved(q.ChangeScript); err != nil {
			return err
		}
	}
	if v := either(options, "change_position", "changePosition"); v != nil {
		at, err := v.AsInt32()
		if err != nil {
			return err
		}
		if at < 0 || int(at) > len(q.Payments) {
			return command.Error{Code: command.InvalidParameter, Message: "changePosition out of bounds"}
		}
		q.ChangePosition = new(int(at))
	}
	v := options.Get("change_type")
	if v == nil {
		return nil
	}
	if address != nil {
		return command.Error{
			Code: command.InvalidParameter, Message: "Cannot specify both change address and address type options",
		}
	}
	kind, err := v.AsString()
	if err != nil {
		return err
	}
	q.ChangeType = kind
	return m.checkType(kind, "change type")
}

// readCoins reads which coins are locked and chosen.
func readCoins(options *jsontree.Value, q *messages.Spend) (err error) {
	if v := either(options, "lock_unspents", "lockUnspents"); v != nil {
		if q.LockCoins, err = v.AsBool(); err != nil {
			return err
		}
	}
	if v := options.Get("include_unsafe"); v != nil {
		if q.Unsafe, err = v.AsBool(); err != nil {
			return err
		}
	}
	return nil
}

// readOldRate reads a fee rate in coins for 1000 virtual bytes, and whether the
// transaction can be replaced.
func (m *methods) readOldRate(options *jsontree.Value, q *messages.Spend) error {
	if v := options.Get("feeRate"); v != nil {
		var problem string
		switch {
		case options.Get("fee_rate") != nil:
			problem = "Cannot specify both fee_rate (" + m.Network.Software.Atom + "/vB) and feeRate (" +
				m.Network.Software.Unit + "/kvB)"
		case options.Get("conf_target") != nil:
			problem = "Cannot specify both conf_target and feeRate. Please provide either a confirmation target in " +
				"blocks for automatic fee estimation, or an explicit fee rate."
		case options.Get("estimate_mode") != nil:
			problem = "Cannot specify both estimate_mode and feeRate"
		}
		if problem != "" {
			return command.Error{Code: command.InvalidParameter, Message: problem}
		}
		rate, err := v.AsAmount(jsontree.Amount(m.Network.Rules.MaxMoney))
		if err != nil {
			return err
		}
		q.FeeRate, q.AnyFeeRate = new(int64(rate)), true
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

// readDepths reads how many confirmations coins have that are chosen.
func readDepths(options *jsontree.Value, q *messages.Spend) (err error) {
	if v := options.Get("minconf"); v != nil {
		if q.MinConf, err = v.AsInt32(); err != nil {
			return err
		}
		if q.MinConf < 0 {
			return command.Error{Code: command.InvalidParameter, Message: "Negative minconf"}
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
	return nil
}

// readWeights reads what inputs weigh, where a byte that is not of a witness weighs scale. An
// outpoint that the transaction does not spend becomes an input too, as in Core.
func readWeights(list *jsontree.Value, scale int64, q *messages.Spend) error {
	places := make(map[wire.OutPoint]int, len(q.Inputs))
	for i := range q.Inputs {
		places[q.Inputs[i].At] = i
	}
	for _, v := range list.Elements() {
		at, weight, err := readWeight(v, scale)
		if err != nil {
			return err
		}
		i, there := places[at]
		if !there {
			i = len(q.Inputs)
			places[at] = i
			q.Inputs = append(q.Inputs, messages.SpendInput{At: at})
		}
		q.Inputs[i].Weight = weight
	}
	return nil
}

func readWeight(v *jsontree.Value, scale int64) (at wire.OutPoint, weight int, err error) {
	invalid := func(text string) error {
		return command.Error{Code: command.InvalidParameter, Message: "Invalid parameter, " + text}
	}
	if at.Hash, err = arg.Hash(v.Get("txid"), "txid"); err != nil {
		return at, 0, err
	}
	vout := v.Get("vout")
	if vout.Kind() != jsontree.Number {
		return at, 0, invalid("missing vout key")
	}
	index, err := vout.AsInt32()
	if err != nil {
		return at, 0, err
	}
	if index < 0 {
		return at, 0, invalid("vout cannot be negative")
	}
	at.Index = uint32(index)
	given := v.Get("weight")
	if given.Kind() != jsontree.Number {
		return at, 0, invalid("missing weight key")
	}
	least := minInputSize*scale + 1
	n, err := given.AsInt64()
	switch {
	case err != nil:
		return at, 0, err
	case n < least:
		return at, 0, invalid(fmt.Sprintf(
			"weight cannot be less than %d (%d bytes (size of outpoint + sequence + empty scriptSig) "+
				"* %d (witness scaling factor)) + 1 (empty witness)", least, minInputSize, scale,
		))
	case n > maxInputWeight:
		return at, 0, invalid("weight cannot be greater than the maximum standard tx weight of 400000")
	}
	return at, int(n), nil
}

// findInputs looks up what the inputs of a request spend, for those that are not the
// wallet's.
func (m *methods) findInputs(ctx context.Context, q *messages.Spend, known *descriptor.Known) error {
	if m.Unspent == nil {
		return nil
	}
	for i := range q.Inputs {
		in := &q.Inputs[i]
		out, err := m.Unspent(ctx, &in.At)
		if err != nil {
			return err
		}
		if out == nil {
			continue
		}
		in.Out = out
		if size, ok := known.InputSize(out.PkScript); ok { //nolint:contextcheck // a single script
			in.Known = new(messages.KnownSize(size))
		}
	}
	return nil
}
