package wallets

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/rawtx"
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

// signing is what signing needs of a wallet.
type signing interface {
	open() *wallet.Wallet // nil: it is closed
	beside(c actor.Context, work func() (then func()))
	save(c actor.Context, then func(error))
	writable(c actor.Context, then func(error)) // tries where the file could not be written
}

// signer signs transactions with the keys of a wallet.
type signer struct {
	*home
	of  signing
	ctx context.Context //nolint:containedctx // ends the workers when the actor stops

	nonces rawtx.MusigNonces
}

// sign signs the inputs of a transaction that spend outputs of the wallet.
func (g *signer) sign(c actor.Context, m *ask.Call[messages.SignWithWallet, messages.Signed]) {
	g.run(c, &m.Req, func(got messages.Signed, err error) { m.Answer(got, err) })
}

// run signs, and calls back.
func (g *signer) run(c actor.Context, req *messages.SignWithWallet, then func(messages.Signed, error)) {
	tx, ok := rawtx.Decode(req.RawTx, rawtx.WitnessForm)
	hashType, known := hashTypes[req.HashType]
	var err error
	switch {
	case g.of.open().Vault().Locked():
		err = errLocked
	case !ok:
		err = codes.Errorf(codes.Decode, "TX decode failed. Make sure the tx has at least one input.")
	case !known:
		err = codes.Errorf(codes.Parameter, "'%s' is not a valid sighash parameter.", req.HashType)
	default:
		err = g.of.open().Vault().CheckSigning()
	}
	if err != nil {
		then(messages.Signed{}, err)
		return
	}
	s := g.cfg.Network.NewSigning(tx, g.coins(tx, req.Prevs))
	s.HashType, s.Threads = hashType, g.cfg.Spending.SignThreads
	s.MaySign(g.of.open().Vault().CanSign)
	k := gatherKeys(g.of.open().Keys(), s, g.cfg.Network.NewSigning)
	wanted := s.PlanP2MR()
	if len(wanted) == 0 {
		g.signWith(c, s, k, nil, then)
		return
	}
	k.spenders.Wipe() // no private key waits for the disk: they are gathered again
	s.Zero()
	g.of.writable(c, func(err error) {
		if err != nil {
			then(messages.Signed{}, err)
			return
		}
		g.signP2MR(c, s, wanted, then)
	})
}

// signP2MR signs with keys that count their signatures, and with all others for the other inputs.
func (g *signer) signP2MR(
	c actor.Context, s *rawtx.Signing, wanted map[slhdsa.PublicKey]uint32, then func(messages.Signed, error),
) {
	g.reserve(c, wanted, func(r reserved, err error) {
		if err != nil {
			then(messages.Signed{}, err)
			return
		}
		k := gatherKeys(g.of.open().Keys(), s, g.cfg.Network.NewSigning)
		r.give(s)
		g.signWith(c, s, k, r.uses, then)
	})
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

// reserve counts signatures, and calls back when that is on disk: none may be made before.
func (g *signer) reserve(c actor.Context, wanted map[slhdsa.PublicKey]uint32, then func(reserved, error)) {
	if g.of.open().Vault().Locked() {
		then(reserved{}, errLocked) // since the request came
		return
	}
	uses, right, err := g.of.open().Vault().ReserveSignatures(wanted)
	if err != nil {
		then(reserved{}, codes.Errorf(codes.Wallet, "%v", err))
		return
	}
	g.of.save(c, func(err error) {
		if err == nil && g.of.open() == nil {
			err = ask.ErrStopped
		}
		if err != nil {
			then(reserved{}, err)
			return
		}
		g.logUses(uses)
		r := reserved{uses: uses, right: right}
		for public := range wanted {
			if key := g.of.open().Vault().PQCSecret(public); key != nil {
				r.keys = append(r.keys, key)
			}
		}
		then(r, nil)
	})
}

// logUses warns in the log of keys that come near their last signature.
func (g *signer) logUses(uses []messages.PQCUse) {
	for _, use := range uses {
		if text := use.Warning(); text != "" {
			corelog.Printf(g.cfg.Log, infoLevel, "[%s] PQC usage warning: %s", g.label(), text)
		}
	}
}

// signWith signs in a worker. k has keys that are to be derived there.
func (g *signer) signWith(
	c actor.Context, s *rawtx.Signing, k *gathering, uses []messages.PQCUse, then func(messages.Signed, error),
) {
	g.of.beside(c, func() func() {
		defer s.Zero()
		failed, err := signGathered(g.ctx, s, k)
		return func() {
			if err != nil {
				then(messages.Signed{}, err)
				return
			}
			got, err := signed(s, failed)
			if g.of.open().Keys().Len() == 0 { // as in Core, where nobody tries then
				got.Complete, got.Errors = false, nil
			}
			got.PQCKeys = uses
			then(got, err)
		}
	})
}

// signMessage signs a message.
func (g *signer) signMessage(r *messages.SignMessage) ([]byte, error) {
	if g.of.open().Vault().Locked() {
		return nil, errLocked
	}
	if !txscript.IsPayToPubKeyHash(r.Script) {
		return nil, codes.Errorf(codes.Type, "Address does not refer to key")
	}
	s := g.cfg.Network.NewSigning(new(wire.MsgTx), nil)
	defer s.Zero()
	if d, index, ok := g.of.open().Keys().SigningDescriptor(r.Script); ok {
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
func (g *signer) coins(tx *wire.MsgTx, prevs []messages.PrevOut) map[wire.OutPoint]*wire.TxOut {
	coins := make(map[wire.OutPoint]*wire.TxOut)
	for _, prev := range prevs {
		amount := g.cfg.Network.Rules.MaxMoney
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
		own, err := g.of.open().Reports().Transaction(&at.Hash)
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
	var raw bytes.Buffer
	if err := s.Tx.Serialize(&raw); err != nil {
		return messages.Signed{}, err
	}
	got.RawTx = raw.Bytes()
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
