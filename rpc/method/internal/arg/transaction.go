package arg

import (
	"encoding/hex"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// Inputs reads what is spent.
func Inputs(list *jsontree.Value) ([]messages.TxInput, error) {
	if _, err := list.AsArray(); err != nil {
		return nil, err
	}
	inputs := make([]messages.TxInput, 0, list.Len())
	for _, v := range list.Elements() {
		in, err := input(v)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, in)
	}
	return inputs, nil
}

func input(v *jsontree.Value) (messages.TxInput, error) {
	var input messages.TxInput
	if _, err := v.AsObject(); err != nil {
		return input, err
	}
	txid, err := Hash(v.Get("txid"), "txid")
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
		n, err := Uint32(sequence, "sequence number is")
		if err != nil {
			return input, err
		}
		input.Sequence = &n
	}
	return input, nil
}

// Uint32 reads a number that Core reads with 64 bits and compares with the
// limits of 32 afterwards. what begins the error's second half.
func Uint32(v *jsontree.Value, what string) (uint32, error) {
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

// ReadOutputs reads the outputs, in one of the forms of [Members], up to the first that
// cannot be read.
func ReadOutputs(v *jsontree.Value, maximum jsontree.Amount) ([]messages.TxOutput, error) {
	members, err := Members(v)
	if err != nil {
		return nil, err
	}
	return Outputs(members, maximum)
}

// Outputs reads the outputs up to the first that cannot be read.
func Outputs(members []Member, maximum jsontree.Amount) ([]messages.TxOutput, error) {
	// Core finds a member's value by its name, so that a repeated member has the value
	// of the first.
	first := make(map[string]*jsontree.Value, len(members))
	outputs := make([]messages.TxOutput, 0, len(members))
	for _, member := range members {
		value, again := first[member.Key]
		if !again {
			value, first[member.Key] = member.Value, member.Value
		}
		if again && member.Key == dataKey {
			return outputs, command.Error{
				Code: command.InvalidParameter, Message: "Invalid parameter, duplicate key: data",
			}
		}
		out, err := output(member.Key, value, maximum)
		if err != nil {
			return outputs, err
		}
		outputs = append(outputs, out)
	}
	return outputs, nil
}

func output(key string, value *jsontree.Value, maximum jsontree.Amount) (messages.TxOutput, error) {
	if key == dataKey {
		data, err := HexText(textOf(value), "Data")
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

// Member is one output as the client gave it.
type Member struct {
	Key   string
	Value *jsontree.Value
}

// Members returns the members of an object, or of the objects in an
// array that have one each.
func Members(v *jsontree.Value) ([]Member, error) {
	if v.IsNull() {
		return nil, command.Error{
			Code: command.InvalidParameter, Message: "Invalid parameter, output argument must be non-null",
		}
	}
	var members []Member
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

// MembersOf returns the members of an object.
func MembersOf(object *jsontree.Value) []Member { return appendMembers(nil, object) }

func appendMembers(members []Member, object *jsontree.Value) []Member {
	for key, value := range object.Members() {
		members = append(members, Member{key, value})
	}
	return members
}

// HexText reads bytes, at least one. name is what error messages call them.
func HexText(text, name string) ([]byte, error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) == 0 {
		return nil, command.Errorf(command.InvalidParameter, "%s must be hexadecimal string (not '%s')", name, text)
	}
	return raw, nil
}
