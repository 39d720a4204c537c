package arg

import (
	"encoding/hex"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
)

// ErrDecode answers a text that is no transaction.
var ErrDecode = command.Error{
	Code: command.DeserializationError, Message: "TX decode failed. Make sure the tx has at least one input.",
}

// Signed is a transaction that was signed as far as possible.
type Signed struct {
	Hex      string       `json:"hex"`
	Complete bool         `json:"complete"`
	Errors   []InputError `json:"errors,omitempty"`
}

// InputError is an input that is not signed completely, and why.
type InputError struct {
	TxID      chainhash.Hash `json:"txid"`
	Index     uint32         `json:"vout"`
	Witness   []string       `json:"witness"`
	ScriptSig string         `json:"scriptSig"`
	Sequence  uint32         `json:"sequence"`
	Error     string         `json:"error"`
}

// SignedResults declares a [Signed].
func SignedResults() []command.Result {
	return []command.Result{{Type: command.Object, Inner: []command.Result{
		{Type: command.Hex, Key: "hex", Help: "the serialized transaction"},
		{Type: command.Bool, Key: "complete", Help: "whether all inputs are signed"},
		{Type: command.Array, Key: "errors", Optional: true, Help: "inputs that are not", Inner: []command.Result{
			{Type: command.Object, Inner: []command.Result{
				{Type: command.Hex, Key: "txid", Help: "id of the transaction whose output is spent"},
				{Type: command.Number, Key: "vout", Help: "number of the output"},
				{Type: command.Array, Key: "witness", Help: "witness of the input", Inner: []command.Result{
					{Type: command.Hex, Help: "an item"},
				}},
				{Type: command.Hex, Key: "scriptSig", Help: "script of the input"},
				{Type: command.Number, Key: "sequence", Help: "sequence number"},
				{Type: command.String, Key: "error", Help: "what is wrong"},
			}},
		}},
	}}}
}

// HexItems prints the items of a witness.
func HexItems(items [][]byte) []string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = hex.EncodeToString(item)
	}
	return texts
}

// HashTypeParam declares which parts signatures sign.
func HashTypeParam() command.Param {
	return command.Param{
		Name: "sighashtype", Type: command.String, Default: "DEFAULT for Taproot, ALL otherwise",
		Help: "what the signatures sign: \"DEFAULT\", \"ALL\", \"NONE\" or \"SINGLE\",\n" +
			"the last three also with \"|ANYONECANPAY\"",
	}
}

// hashTypes are the hash types by their names.
var hashTypes = map[string]txscript.SigHashType{
	"DEFAULT":             txscript.SigHashDefault,
	"ALL":                 txscript.SigHashAll,
	"NONE":                txscript.SigHashNone,
	"SINGLE":              txscript.SigHashSingle,
	"ALL|ANYONECANPAY":    txscript.SigHashAll | txscript.SigHashAnyOneCanPay,
	"NONE|ANYONECANPAY":   txscript.SigHashNone | txscript.SigHashAnyOneCanPay,
	"SINGLE|ANYONECANPAY": txscript.SigHashSingle | txscript.SigHashAnyOneCanPay,
}

// wantedHashType reads which parts signatures sign; nil without one.
func wantedHashType(v *jsontree.Value) (*int32, error) {
	hashType, err := HashType(v)
	if v.IsNull() || err != nil {
		return nil, err
	}
	return new(int32(hashType)), nil
}

// HashType reads which parts signatures sign; null stands for the default.
func HashType(v *jsontree.Value) (txscript.SigHashType, error) {
	if v.IsNull() {
		return txscript.SigHashDefault, nil
	}
	text, err := v.AsString()
	if err != nil {
		return 0, err
	}
	hashType, ok := hashTypes[text]
	if !ok {
		return 0, command.Errorf(command.InvalidParameter, "'%s' is not a valid sighash parameter.", text)
	}
	return hashType, nil
}
