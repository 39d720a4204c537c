package rawtx

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/rpc/command"
)

// signResult is a transaction that was signed as far as possible.
type signResult struct {
	Hex      string       `json:"hex"`
	Complete bool         `json:"complete"`
	Errors   []inputError `json:"errors,omitempty"`
}

// inputError is an input that is not signed completely, and why.
type inputError struct {
	TxID      chainhash.Hash `json:"txid"`
	Index     uint32         `json:"vout"`
	Witness   []string       `json:"witness"`
	ScriptSig string         `json:"scriptSig"`
	Sequence  uint32         `json:"sequence"`
	Error     string         `json:"error"`
}

func (m *methods) signRawTransactionWithKey() command.Command {
	return command.Command{
		Name:     "signrawtransactionwithkey",
		Category: command.RawTransactions,
		Summary: "Signs the inputs of a transaction with the given private keys, and no others.\n" +
			"Signatures that are there already are kept.",
		Params: []command.Param{
			{Name: "hexstring", Type: command.String, Help: "the serialized transaction"},
			{Name: "privkeys", Type: command.Array, Help: "private keys", Inner: []command.Param{
				{Name: "privatekey", Type: command.Hex, Optional: true, Help: "a private key in wallet import format"},
			}},
			{
				Name: "prevtxs", Type: command.Array, Optional: true,
				Help:  "outputs that are spent, where the chain does not have them yet",
				Inner: []command.Param{{Type: command.Object, Optional: true, Inner: prevTxParams()}},
			},
			{
				Name: "sighashtype", Type: command.String, Default: "DEFAULT for Taproot, ALL otherwise",
				Help: "what the signatures sign: \"DEFAULT\", \"ALL\", \"NONE\" or \"SINGLE\",\n" +
					"the last three also with \"|ANYONECANPAY\"",
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
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
		}}},
		Examples: []string{`["myhex", ["key1","key2"]]`},
		Run:      m.signWithKey,
	}
}

func (m *methods) signWithKey(ctx context.Context, a *command.Args) (any, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	tx, ok := decodeTx(text, rawtx.AnyForm)
	if !ok {
		return nil, command.Error{
			Code: command.DeserializationError, Message: "TX decode failed. Make sure the tx has at least one input.",
		}
	}
	s := &rawtx.Signing{
		Tx: tx, Scripts: rawtx.Scripts{}, Leaves: rawtx.Leaves{}, UnknownAmount: int64(m.Network.MaxMoney),
	}
	if s.Keys, err = m.readKeys(a.Value(1)); err != nil {
		return nil, err
	}
	if s.Coins, err = m.unspent(ctx, tx); err != nil {
		return nil, err
	}
	if err := m.readPrevTxs(a.Value(2), s); err != nil {
		return nil, err
	}
	if s.HashType, err = readHashType(a.Value(3)); err != nil {
		return nil, err
	}
	failed, err := rawtx.Sign(ctx, s)
	if err != nil {
		return nil, err
	}
	return newSignResult(s, failed)
}

// readKeys reads private keys in wallet import format.
func (m *methods) readKeys(list *jsontree.Value) (rawtx.Keys, error) {
	if _, err := list.AsArray(); err != nil {
		return nil, err
	}
	keys := rawtx.Keys{}
	for _, v := range list.Elements() {
		text, err := v.AsString()
		if err != nil {
			return nil, err
		}
		if !keys.AddWIF(text, m.net) {
			return nil, command.Error{Code: command.InvalidAddressOrKey, Message: "Invalid private key"}
		}
	}
	return keys, nil
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

func readHashType(v *jsontree.Value) (txscript.SigHashType, error) {
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

// newSignResult shows what was signed. A signature that may be worth nothing is
// an error, as in Core.
func newSignResult(s *rawtx.Signing, failed []rawtx.InputError) (any, error) {
	result := signResult{Complete: len(failed) == 0}
	for _, f := range failed {
		in := s.Tx.TxIn[f.Index]
		if errors.Is(f.Err, rawtx.ErrNoAmount) {
			return nil, command.Errorf(command.TypeError, "Missing amount for %s", outputText(s.Coins[in.PreviousOutPoint]))
		}
		result.Errors = append(result.Errors, newInputError(in, f.Err))
	}
	result.Hex = encodeTx(s.Tx)
	return result, nil
}

func newInputError(in *wire.TxIn, err error) inputError {
	shown := inputError{
		TxID:      in.PreviousOutPoint.Hash,
		Index:     in.PreviousOutPoint.Index,
		ScriptSig: hex.EncodeToString(in.SignatureScript),
		Sequence:  in.Sequence,
		Error:     err.Error(),
	}
	for _, item := range in.Witness {
		shown.Witness = append(shown.Witness, hex.EncodeToString(item))
	}
	return shown
}

// outputText prints an output as Core's messages do, with the first bytes of
// its script.
func outputText(out *wire.TxOut) string {
	const shown = 15
	script := out.PkScript[:min(shown, len(out.PkScript))]
	return "CTxOut(nValue=" + jsontree.Amount(out.Value).String() + ", scriptPubKey=" + hex.EncodeToString(script) + ")"
}
