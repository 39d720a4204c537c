package wallets

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/slhdsa"
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

// sign signs the inputs of a transaction that spend outputs of the wallet.
func (t *caller) sign(j *ask.Job, q messages.SignWithWallet) (messages.Signed, error) {
	tx, ok := rawtx.Decode(q.RawTx, rawtx.WitnessForm)
	hashType, known := hashTypes[q.HashType]
	var (
		s      *rawtx.Signing
		k      *gathering
		wanted map[slhdsa.PublicKey]uint32
		uses   []messages.PQCUse
		none   bool
	)
	err := t.try(j, func() error {
		switch {
		case t.ledger.Vault().Locked():
			return errLocked
		case !ok:
			return codes.Errorf(codes.Decode, "TX decode failed. Make sure the tx has at least one input.")
		case !known:
			return codes.Errorf(codes.Parameter, "'%s' is not a valid sighash parameter.", q.HashType)
		}
		if err := t.ledger.Vault().CheckSigning(); err != nil {
			return err
		}
		s = t.cfg.Network.NewSigning(tx, t.coins(tx, q.Prevs))
		s.HashType, s.Threads = hashType, t.cfg.Spending.SignThreads
		s.MaySign(t.ledger.Vault().CanSign)
		k, none = gatherKeys(t.ledger.Keys(), s, t.cfg.Network.NewSigning), t.ledger.Keys().Len() == 0
		if wanted = s.PlanP2MR(); len(wanted) > 0 {
			k.spenders.Wipe() // no private key waits for the disk: they are gathered again
			s.Zero()
		}
		return nil
	})
	if err == nil && len(wanted) > 0 {
		err = t.reserve(j, wanted, func(r *reserved) {
			k, uses = gatherKeys(t.ledger.Keys(), s, t.cfg.Network.NewSigning), r.uses
			r.give(s)
		})
	}
	if err != nil {
		return messages.Signed{}, err
	}
	defer s.Zero()
	failed, err := signGathered(j.Context(), s, k)
	if err != nil {
		return messages.Signed{}, err
	}
	got, err := signed(s, failed)
	if none { // as in Core, where nobody tries then
		got.Complete, got.Errors = false, nil
	}
	got.PQCKeys = uses
	return got, err
}

// reserved are keys of P2MR with the right to make signatures, which are counted on disk.
type reserved struct {
	uses  []messages.PQCUse
	right *slhdsa.Reservation
	keys  []*slhdsa.PrivateKey
}

// give has a signing sign with the keys and no others.
func (r *reserved) give(to *rawtx.Signing) {
	to.Reserved(r.right)
	to.MaySign(func(slhdsa.PublicKey) bool { return false })
	for _, key := range r.keys {
		to.AddPQCKey(key)
	}
}

// reserve counts signatures, and has the actor call use when that is on disk: none may be made before.
func (t *caller) reserve(j *ask.Job, wanted map[slhdsa.PublicKey]uint32, use func(*reserved)) error {
	r := &reserved{}
	err := t.await(j, func(then func(error)) { t.writable(t.c, then) })
	if err == nil {
		err = t.change(j, func() (err error) {
			if t.ledger.Vault().Locked() {
				return errLocked // since the request came
			}
			if r.uses, r.right, err = t.ledger.Vault().ReserveSignatures(wanted); err != nil {
				return codes.Errorf(codes.Wallet, "%v", err)
			}
			return nil
		})
	}
	if err != nil {
		return err
	}
	for _, use := range r.uses {
		if text := use.Warning(); text != "" {
			t.logf("PQC usage warning: %s", text)
		}
	}
	return t.do(j, func() {
		for public := range wanted {
			if key := t.ledger.Vault().PQCSecret(public); key != nil {
				r.keys = append(r.keys, key)
			}
		}
		use(r)
	})
}

// signMessage signs a message.
func (w *Wallet) signMessage(r messages.SignMessage) ([]byte, error) {
	if w.ledger.Vault().Locked() {
		return nil, errLocked
	}
	if !txscript.IsPayToPubKeyHash(r.Script) {
		return nil, codes.Errorf(codes.Type, "Address does not refer to key")
	}
	s := w.cfg.Network.NewSigning(new(wire.MsgTx), nil)
	defer s.Zero()
	if d, index, ok := w.ledger.Keys().SigningDescriptor(r.Script); ok {
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

// coins are the outputs that a transaction spends, as far as the request has
// them, or the wallet's own transactions.
func (t *caller) coins(tx *wire.MsgTx, prevs []messages.PrevOut) map[wire.OutPoint]*wire.TxOut {
	coins := make(map[wire.OutPoint]*wire.TxOut)
	for _, prev := range prevs {
		amount := t.cfg.Network.Rules.MaxMoney
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
		own, err := t.ledger.Reports().Transaction(&at.Hash)
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

// signed is the answer for a transaction that was signed as far as possible.
func signed(s *rawtx.Signing, failed []rawtx.InputError) (messages.Signed, error) {
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
