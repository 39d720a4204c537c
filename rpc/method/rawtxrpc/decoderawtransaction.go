package rawtxrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/rpc/command"
)

var errTxDecode = command.Error{Code: command.DeserializationError, Message: "TX decode failed"}

func (m *methods) decodeRawTransaction() command.Command {
	return command.Command{
		Name:     "decoderawtransaction",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Shows a serialized transaction as an object.",
		Params: []command.Param{
			{Name: "hexstring", Type: command.Hex, Help: "the serialized transaction"},
			isWitnessParam(),
		},
		Results:  []command.Result{{Type: command.Object, Inner: txResults()}},
		Examples: []string{`["hexstring"]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			form, err := readForm(a.Value(1))
			if err != nil {
				return nil, err
			}
			tx, ok := decodeTx(text, form)
			if !ok {
				return nil, errTxDecode
			}
			return m.printer.Tx(tx, txjson.Options{}), nil
		},
	}
}

// isWitnessParam is how a client says in which form a transaction is.
func isWitnessParam() command.Param {
	return command.Param{
		Name: "iswitness", Type: command.Bool, Default: "depends on heuristic tests",
		Help: "true if the form with witnesses is to be read, false for the one without.\n" +
			"A transaction without inputs can look like either, so say it where you know.",
	}
}

// readForm reads the argument of isWitnessParam.
func readForm(v *jsontree.Value) (rawtx.Form, error) {
	if v.IsNull() {
		return rawtx.AnyForm, nil
	}
	witness, err := v.AsBool()
	if witness {
		return rawtx.WitnessForm, err
	}
	return rawtx.LegacyForm, err
}

// txResults documents a transaction as it is shown.
func txResults() []command.Result {
	return []command.Result{
		{Type: command.Hex, Key: "txid", Help: "id of the transaction"},
		{Type: command.Hex, Key: "hash", Help: "hash with the witnesses; the id if there are none"},
		{Type: command.Number, Key: "version", Help: "version"},
		{Type: command.Number, Key: "size", Help: "bytes"},
		{Type: command.Number, Key: "vsize", Help: "virtual bytes (BIP141)"},
		{Type: command.Number, Key: "weight", Help: "weight (BIP141)"},
		{Type: command.Timestamp, Key: "locktime", Help: "height or time before which it is not valid"},
		{Type: command.Array, Key: "vin", Help: "inputs", Inner: []command.Result{{
			Type: command.Object,
			Inner: []command.Result{
				{
					Type: command.Hex, Key: "coinbase", Optional: true,
					Help: "script of a coinbase, which has none of the next three",
				},
				{Type: command.Hex, Key: "txid", Optional: true, Help: "id of the transaction whose output is spent"},
				{Type: command.Number, Key: "vout", Optional: true, Help: "number of the output"},
				{
					Type: command.Object, Key: "scriptSig", Optional: true, Help: "script of the input",
					Inner: []command.Result{
						{Type: command.String, Key: "asm", Help: "as words"},
						{Type: command.Hex, Key: "hex", Help: "as bytes"},
					},
				},
				{Type: command.Array, Key: "txinwitness", Optional: true, Help: "witness", Inner: []command.Result{
					{Type: command.Hex, Help: "an item"},
				}},
				{Type: command.Number, Key: "sequence", Help: "sequence number"},
			},
		}}},
		{Type: command.Array, Key: "vout", Help: "outputs", Inner: []command.Result{{
			Type: command.Object,
			Inner: []command.Result{
				{Type: command.Amount, Key: "value", Help: "value"},
				{Type: command.Number, Key: "n", Help: "number"},
				{Type: command.Object, Key: "scriptPubKey", Help: "script", Inner: scriptResults()},
			},
		}}},
	}
}

// scriptResults documents an output script as it is shown.
func scriptResults() []command.Result {
	return []command.Result{
		{Type: command.String, Key: "asm", Help: "as words"},
		{Type: command.String, Key: "desc", Help: "descriptor"},
		{Type: command.Hex, Key: "hex", Help: "as bytes"},
		{Type: command.String, Key: "address", Optional: true, Help: "address, if it has one"},
		{Type: command.String, Key: "type", Help: "form, such as pubkeyhash"},
	}
}
