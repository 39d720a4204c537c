package rawtx

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/btcutil"
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
// outputs becomes part of the request, because the builder may have another
// one with what stands before it.
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
		if req.LockTime, err = uint32Of(a.Value(2), "locktime"); err != nil {
			return req, err
		}
	}
	if req.Inputs, req.Unread = readInputs(a.Value(0)); req.Unread == nil {
		req.Outputs, req.Unread = readOutputs(a.Value(1), jsontree.Amount(m.Network.Rules.MaxMoney))
	}
	return req, nil
}

func readInputs(list *jsontree.Value) ([]messages.TxInput, error) {
	if _, err := list.AsArray(); err != nil {
		return nil, err
	}
	inputs := make([]messages.TxInput, 0, list.Len())
	for _, v := range list.Elements() {
		input, err := readInput(v)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, input)
	}
	return inputs, nil
}

func readInput(v *jsontree.Value) (messages.TxInput, error) {
	var input messages.TxInput
	if _, err := v.AsObject(); err != nil {
		return input, err
	}
	txid, err := arg.Hash(v.Get("txid"), "txid")
	if err != nil {
		return input, err
	}
	vout := v.Get("vout")
	if vout.Kind() != jsontree.Number {
		return input, command.Error{Code: command.InvalidParameter, Message: "Invalid parameter, missing vout key"}
	}
	index, err := vout.AsInt32()
	if err != nil {
		return input, err
	}
	if index < 0 {
		return input, command.Error{
			Code: command.InvalidParameter, Message: "Invalid parameter, vout cannot be negative",
		}
	}
	input.OutPoint = wire.OutPoint{Hash: txid, Index: uint32(index)}
	// As in Core, a sequence that is no number counts as none.
	if sequence := v.Get("sequence"); sequence.Kind() == jsontree.Number {
		n, err := uint32Of(sequence, "sequence number is")
		if err != nil {
			return input, err
		}
		input.Sequence = &n
	}
	return input, nil
}

// uint32Of reads a number that Core reads with 64 bits and compares with the
// limits of 32 afterwards. what begins the error's second half.
func uint32Of(v *jsontree.Value, what string) (uint32, error) {
	n, err := v.AsInt64()
	if err != nil {
		return 0, err
	}
	if n != int64(uint32(n)) {
		return 0, command.Errorf(command.InvalidParameter, "Invalid parameter, %s out of range", what)
	}
	return uint32(n), nil
}

// dataKey is the member's name of an output that carries data.
const dataKey = "data"

// readOutputs reads the outputs up to the first that cannot be read.
func readOutputs(v *jsontree.Value, maximum jsontree.Amount) ([]messages.TxOutput, error) {
	members, err := outputMembers(v)
	if err != nil {
		return nil, err
	}
	// Core finds a member's value by its name, so that one that is there again
	// has the value of the first.
	first := make(map[string]*jsontree.Value, len(members))
	outputs := make([]messages.TxOutput, 0, len(members))
	for _, member := range members {
		value, again := first[member.key]
		if !again {
			value, first[member.key] = member.value, member.value
		}
		if again && member.key == dataKey {
			return outputs, command.Error{
				Code: command.InvalidParameter, Message: "Invalid parameter, duplicate key: data",
			}
		}
		output, err := readOutput(member.key, value, maximum)
		if err != nil {
			return outputs, err
		}
		outputs = append(outputs, output)
	}
	return outputs, nil
}

func readOutput(key string, value *jsontree.Value, maximum jsontree.Amount) (messages.TxOutput, error) {
	if key == dataKey {
		data, err := parseHexText(textOf(value), "Data")
		return messages.TxOutput{Data: data}, err
	}
	amount, err := value.AsAmount(maximum)
	return messages.TxOutput{Address: key, Amount: btcutil.Amount(amount)}, err
}

// textOf returns the text behind a value, whatever it is: that of true is 1,
// that of false, null, arrays and objects is empty.
func textOf(v *jsontree.Value) string {
	if on, _ := v.AsBool(); on {
		return "1"
	}
	return v.Text()
}

// outputMember is one output as the client gave it.
type outputMember struct {
	key   string
	value *jsontree.Value
}

// outputMembers returns the members of an object, or of the objects in an
// array that have one each.
func outputMembers(v *jsontree.Value) ([]outputMember, error) {
	if v.IsNull() {
		return nil, command.Error{
			Code: command.InvalidParameter, Message: "Invalid parameter, output argument must be non-null",
		}
	}
	var members []outputMember
	if v.Kind() == jsontree.Object {
		return appendMembers(members, v), nil
	}
	if _, err := v.AsArray(); err != nil {
		return nil, err
	}
	for _, pair := range v.Elements() {
		if pair.Kind() != jsontree.Object {
			return nil, command.Error{
				Code: command.InvalidParameter, Message: "Invalid parameter, key-value pair not an object as expected",
			}
		}
		if pair.Len() != 1 {
			return nil, command.Error{
				Code:    command.InvalidParameter,
				Message: "Invalid parameter, key-value pair must contain exactly one key",
			}
		}
		members = appendMembers(members, pair)
	}
	return members, nil
}

func appendMembers(members []outputMember, object *jsontree.Value) []outputMember {
	for key, value := range object.Members() {
		members = append(members, outputMember{key, value})
	}
	return members
}
