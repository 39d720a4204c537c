package walletrpc

import (
	"context"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// construction is the arguments of a transaction that coins are chosen for.
type construction struct {
	inputs, outputs, lockTime, version, subtract, options *jsontree.Value

	weight *jsontree.Value // the most that the transaction weighs, where that is read before the options
}

// construct reads a request to pay. Its order of errors is Core's.
func (m *methods) construct(ctx context.Context, c construction, anyRate bool) (messages.Spend, error) {
	q := messages.Spend{Version: 2, MaxConf: maxDepth, AllowUsed: true, LockTime: new(uint32)}
	replaceable := !m.NotReplaceable
	if v := c.options.Get("replaceable"); v != nil {
		given, err := v.AsBool()
		if err != nil {
			return q, err
		}
		replaceable = given
	}
	if err := readBase(c, &q, replaceable); err != nil {
		return q, err
	}
	members, err := arg.Members(c.outputs)
	if err != nil {
		return q, err
	}
	if q.Payments, err = m.payments(members); err != nil {
		return q, err
	}
	if err := subtractFee(c.subtract, members, q.Payments); err != nil {
		return q, err
	}
	q.OnlyInputs = len(q.Inputs) > 0
	if c.weight != nil {
		if _, err := c.weight.AsInt32(); err != nil {
			return q, err
		}
	}
	if c.options.Get("input_weights") != nil {
		return q, command.Error{
			Code:    command.InvalidParameter,
			Message: "Input weights should be specified in inputs rather than in options.",
		}
	}
	if err := m.readFund(ctx, c.options, &q, anyRate); err != nil {
		return q, err
	}
	return q, givenWeights(c.inputs, m.Network.Rules.WitnessScale, &q)
}

// readBase reads inputs, lock time and version.
func readBase(c construction, q *messages.Spend, replaceable bool) error {
	if !c.lockTime.IsNull() {
		lock, err := arg.Uint32(c.lockTime, "locktime")
		if err != nil {
			return err
		}
		q.LockTime = &lock
	}
	if !c.version.IsNull() {
		version, err := c.version.AsUint32()
		if err != nil {
			return err
		}
		if version < messages.MinTxVersion || version > messages.MaxTxVersion {
			return command.Errorf(command.InvalidParameter, "Invalid parameter, version out of range(%d~%d)",
				messages.MinTxVersion, messages.MaxTxVersion)
		}
		q.Version = int32(version)
	}
	if c.inputs.IsNull() {
		return nil
	}
	inputs, err := arg.Inputs(c.inputs)
	if err != nil {
		return err
	}
	signals := false
	for _, in := range inputs {
		sequence := wire.MaxTxInSequenceNum
		switch {
		case in.Sequence != nil:
			sequence = *in.Sequence
		case replaceable:
			sequence = messages.MaxReplaceableSequence
		case *q.LockTime != 0:
			sequence--
		}
		signals = signals || sequence <= messages.MaxReplaceableSequence
		q.Inputs = append(q.Inputs, messages.SpendInput{At: in.OutPoint, Sequence: &sequence})
	}
	if replaceable && len(inputs) > 0 && !signals {
		return command.Error{
			Code:    command.InvalidParameter,
			Message: "Invalid parameter combination: Sequence number(s) contradict replaceable option",
		}
	}
	return nil
}

// givenWeights reads the weights that inputs themselves have.
func givenWeights(inputs *jsontree.Value, scale int64, q *messages.Spend) error {
	for i, v := range inputs.Elements() {
		if v.Get("weight") == nil {
			continue
		}
		_, weight, err := readWeight(v, scale)
		if err != nil {
			return err
		}
		q.Inputs[i].Weight = weight
	}
	return nil
}

// packet makes a partially signed transaction of a version, and puts in what the wallet knows.
func (*methods) packet(
	ctx context.Context, w chosen, tx *wire.MsgTx, version uint32, q messages.FillPacket,
) (messages.FilledPacket, error) {
	q.PSBT = psbt.New(tx, version).Encode()
	return ask.Ask(ctx, w.ref, q)
}
