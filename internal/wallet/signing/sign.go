package signing

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
)

// hashTypes are the hash types by their names in requests.
var hashTypes = map[string]txscript.SigHashType{
	"":                    txscript.SigHashDefault,
	"DEFAULT":             txscript.SigHashDefault,
	"ALL":                 txscript.SigHashAll,
	"NONE":                txscript.SigHashNone,
	"SINGLE":              txscript.SigHashSingle,
	"ALL|ANYONECANPAY":    txscript.SigHashAll | txscript.SigHashAnyOneCanPay,
	"NONE|ANYONECANPAY":   txscript.SigHashNone | txscript.SigHashAnyOneCanPay,
	"SINGLE|ANYONECANPAY": txscript.SigHashSingle | txscript.SigHashAnyOneCanPay,
}

// HashType returns a hash type by its name in requests.
func HashType(name string) (t txscript.SigHashType, known bool) {
	t, known = hashTypes[name]
	return t, known
}

// Reserved are keys of P2MR with the right to make signatures, which are counted on disk.
type Reserved struct {
	Uses  []messages.PQCUse
	Right *slhdsa.Reservation
	Keys  []*slhdsa.PrivateKey
}

// Give has a signing sign with the keys and no others.
func (r *Reserved) Give(to *rawtx.Signing) {
	to.Reserved(r.Right)
	to.MaySign(func(slhdsa.PublicKey) bool { return false })
	for _, key := range r.Keys {
		to.AddPQCKey(key)
	}
}

// Message signs a message.
//
// Errors: [*messages.WalletError].
func Message(w *wallet.Wallet, r *messages.SignMessage, newSigning rawtx.NewSigningFunc) ([]byte, error) {
	if w.Vault().Locked() {
		return nil, codes.ErrLocked
	}
	if !txscript.IsPayToPubKeyHash(r.Script) {
		return nil, codes.Errorf(codes.Type, "Address does not refer to key")
	}
	s := newSigning(new(wire.MsgTx), nil)
	defer s.Zero()
	if d, index, ok := w.Keys().SigningDescriptor(r.Script); ok {
		defer d.Wipe()
		_ = s.AddDescriptor(d, index, true) // what cannot be derived is not there
	}
	const hashAt = 3 // in P2PKH
	signature, ok := s.Keys.SignMessage([20]byte(r.Script[hashAt:]), r.Message)
	if !ok {
		return nil, codes.Errorf(codes.Wallet, "Private key not available")
	}
	return signature, nil
}

// Coins are the outputs that a transaction spends, as far as the request has
// them, or the wallet's own transactions. An output whose amount is not known counts as most.
func Coins(
	w *wallet.Wallet, tx *wire.MsgTx, prevs []messages.PrevOut, most int64,
) map[wire.OutPoint]*wire.TxOut {
	coins := make(map[wire.OutPoint]*wire.TxOut)
	for _, prev := range prevs {
		amount := most
		if prev.Amount != nil {
			amount = int64(*prev.Amount)
		}
		coins[wire.OutPoint{Hash: prev.TxID, Index: prev.Index}] = wire.NewTxOut(amount, prev.Script)
	}
	for _, in := range tx.TxIn {
		at := in.PreviousOutPoint
		if coins[at] != nil {
			continue
		}
		own, err := w.Reports().Transaction(&at.Hash)
		if err != nil {
			continue
		}
		var from wire.MsgTx
		if err := from.Deserialize(bytes.NewReader(own.Tx.Raw)); err == nil && int(at.Index) < len(from.TxOut) {
			coins[at] = from.TxOut[at.Index]
		}
	}
	return coins
}

// Signed is the answer for a transaction that was signed as far as possible.
func Signed(s *rawtx.Signing, failed []rawtx.InputError) (messages.Signed, error) {
	got := messages.Signed{Complete: len(failed) == 0}
	for _, f := range failed {
		in := s.Tx.TxIn[f.Index]
		if errors.Is(f.Err, rawtx.ErrNoAmount) {
			return messages.Signed{},
				codes.Errorf(codes.Type, "Missing amount for %s", outputText(s.Coins[in.PreviousOutPoint]))
		}
		got.Errors = append(got.Errors, messages.SignError{
			TxID: in.PreviousOutPoint.Hash, Index: in.PreviousOutPoint.Index, Witness: in.Witness,
			ScriptSig: in.SignatureScript, Sequence: in.Sequence, Text: f.Err.Error(),
		})
	}
	got.RawTx = psbt.Serialize(s.Tx, true)
	return got, nil
}

// outputText prints an output as Core's messages do, with the first bytes of its
// script.
func outputText(out *wire.TxOut) string {
	const shown = 15
	script := out.PkScript[:min(shown, len(out.PkScript))]
	return fmt.Sprintf("CTxOut(nValue=%d.%08d, scriptPubKey=%s)",
		out.Value/btcutil.SatoshiPerBitcoin, out.Value%btcutil.SatoshiPerBitcoin, hex.EncodeToString(script))
}
