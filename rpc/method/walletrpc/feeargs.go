package walletrpc

import (
	"strings"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// maxConfTarget is the most blocks that a fee is estimated for.
const maxConfTarget = 1008

// rateDecimals is how many digits a rate for one virtual byte has after the point: the
// unit is that for 1000.
const rateDecimals = 3

// Parameters about fees.
var (
	confTargetParam = command.Param{
		Name: "conf_target", Type: command.Number, Default: "wallet -txconfirmtarget",
		Help: "within how many blocks the transaction should be confirmed",
	}
	estimateModeParam = command.Param{
		Name: "estimate_mode", Type: command.String, Default: `"unset"`,
		Help: `how the fee is estimated: "unset", "economical" or "conservative", in any case;` + "\n" +
			"unset is economical for a transaction that can be replaced and conservative for others",
	}
	feeRateParam = command.Param{
		Name: "fee_rate", Type: command.Amount, Default: "not set, fall back to wallet fee estimation",
		Help: "fee rate in sat/vB",
	}
	replaceableParam = command.Param{
		Name: "replaceable", Type: command.Bool, Default: "wallet default",
		Help: "whether the transaction says that it can be replaced by one with a higher fee (BIP125)",
	}
)

// feeArgs says what a request pays.
type feeArgs struct {
	target, mode, rate *jsontree.Value
	anyRate            bool // the rate may be lower than what the node asks for
}

// read puts the choice of a fee into a request.
func (f *feeArgs) read(m *methods, q *messages.Spend) error {
	if !f.rate.IsNull() {
		return f.readRate(m, q)
	}
	if !f.mode.IsNull() {
		mode, err := f.mode.AsString()
		if err != nil {
			return err
		}
		switch strings.ToUpper(mode) {
		case "UNSET":
		case "ECONOMICAL":
			q.Conservative = new(false)
		case "CONSERVATIVE":
			q.Conservative = new(true)
		default:
			return command.Error{
				Code:    command.InvalidParameter,
				Message: `Invalid estimate_mode parameter, must be one of: "unset", "economical", "conservative"`,
			}
		}
	}
	if f.target.IsNull() {
		return nil
	}
	target, err := f.target.AsInt32()
	if err != nil {
		return err
	}
	if target < 1 || target > maxConfTarget {
		return command.Errorf(command.InvalidParameter,
			"Invalid conf_target, must be between %d and %d", 1, maxConfTarget)
	}
	q.ConfTarget = int(target)
	return nil
}

func (f *feeArgs) readRate(m *methods, q *messages.Spend) error {
	if !f.target.IsNull() {
		return command.Error{Code: command.InvalidParameter, Message: "Cannot specify both conf_target and fee_rate. " +
			"Please provide either a confirmation target in blocks for automatic fee estimation, " +
			"or an explicit fee rate."}
	}
	if !f.mode.IsNull() {
		mode, err := f.mode.AsString()
		if err != nil {
			return err
		}
		if mode != "unset" {
			return command.Error{
				Code: command.InvalidParameter, Message: "Cannot specify both estimate_mode and fee_rate",
			}
		}
	}
	rate, err := f.rate.AsDecimal(rateDecimals, jsontree.Amount(m.Network.Rules.MaxMoney))
	if err != nil {
		return err
	}
	q.FeeRate, q.AnyFeeRate = new(int64(rate)), f.anyRate
	if q.Replaceable == nil {
		q.Replaceable = new(true)
	}
	return nil
}
