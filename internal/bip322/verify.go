package bip322

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// The rules for scripts and signatures.
const (
	required = script.Mandatory | script.SignedMessage | script.ConstScriptCode | script.LowS | script.StrictEnc |
		script.NullFail | script.MinimalData | script.CleanStack | script.MinimalIf
	upgradable = script.DiscourageUpgradableNOPs | script.DiscourageUpgradableWitnessProgram |
		script.DiscourageUpgradableTaprootVersion | script.DiscourageOpSuccess | script.DiscourageUpgradablePubKeyType
)

// Reasons why a text is no signature.
var (
	errBase64   = errors.New("signature is no base64")
	errWitness  = errors.New("signature is no witness")
	errTx       = errors.New("signature is no transaction")
	errPacket   = errors.New("signature is no PSBT")
	errNotFinal = errors.New("signature is a PSBT that is not finalized")
	errFirst    = errors.New("the first input does not spend the output that commits to the message")
	errOutputs  = errors.New("the transaction has other outputs than one of OP_RETURN")
	errInputs   = errors.New("only a proof of funds has more than one input")
	errUnknown  = errors.New("an input's output is not in the PSBT, or without its transaction")
	errSigned   = errors.New("the message is not signed by the address")
)

// Verify tells whether a signature signs a message for the address with an output script. The
// address's network has the rules. A proof of many outputs may take minutes: the end of ctx ends it, and the error is
// the cause of that end.
func Verify(
	ctx context.Context, rules *consensus.Rules, pkScript []byte, message, signature string,
) (Result, error) {
	if txscript.IsPayToPubKeyHash(pkScript) {
		if raw, err := decode(signature); err == nil && len(raw) == compactSize {
			return verifyLegacy(pkScript, message, raw), nil
		}
	}
	toSpend := ToSpend(pkScript, message)
	s, wrong := read(signature, toSpend)
	if wrong == nil {
		wrong = s.check(rules)
	}
	if wrong != nil {
		return s.invalid(wrong), nil
	}
	return s.verify(ctx)
}

// compactSize is the size of a signature from which the key can be recovered, in bytes.
const compactSize = 65

// verifyLegacy verifies the signature of a message that signmessage makes.
func verifyLegacy(pkScript []byte, message string, signature []byte) Result {
	const at = 3 // of the hash of the key in the script
	if !rawtx.VerifyMessage([20]byte(pkScript[at:]), signature, message) {
		return Result{State: Invalid, Form: Legacy, Reason: errSigned.Error()}
	}
	return Result{State: Valid, Form: Legacy}
}

// A signed is the transaction that a signature stands for.
type signed struct {
	form    Form
	toSpend *wire.MsgTx
	tx      *wire.MsgTx
	spent   []*wire.TxOut
}

// read reads a signature. Without a prefix it is taken for the simple form, as before forms had one.
func read(text string, toSpend *wire.MsgTx) (*signed, error) {
	s := &signed{form: Simple, toSpend: toSpend, spent: []*wire.TxOut{toSpend.TxOut[0]}}
	for _, p := range prefixes {
		if rest, ok := strings.CutPrefix(text, p.prefix); ok {
			s.form, text = p.form, rest
			break
		}
	}
	if s.form == ProofOfFunds {
		return s, s.readPacket(text)
	}
	raw, err := decode(text)
	if err != nil {
		return s, err
	}
	if s.form == Full {
		tx, ok := rawtx.Decode(raw, rawtx.WitnessForm)
		if !ok {
			return s, errTx
		}
		s.tx = tx
		return s, nil
	}
	s.tx = ToSign(toSpend)
	s.tx.TxIn[0].Witness, err = readWitness(raw)
	return s, err
}

func decode(text string) ([]byte, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || strings.ContainsAny(text, "\r\n") { // which Go skips
		return nil, errBase64
	}
	return raw, nil
}

// readWitness reads the items of a witness, with nothing behind them.
func readWitness(raw []byte) (wire.TxWitness, error) {
	r := bytes.NewReader(raw)
	n, err := wire.ReadVarInt(r, 0)
	if err != nil || n > uint64(r.Len()) { // an item takes a byte
		return nil, errWitness
	}
	witness := make(wire.TxWitness, n)
	for i := range witness {
		most := uint32(r.Len())
		if witness[i], err = wire.ReadVarBytes(r, 0, most, "item"); err != nil {
			return nil, errWitness
		}
	}
	if r.Len() > 0 {
		return nil, errWitness
	}
	return witness, nil
}

// readPacket reads a proof of funds.
func (s *signed) readPacket(text string) error {
	p, err := psbt.DecodeCore32(text)
	switch {
	case err != nil:
		return errPacket
	case p.NoTx || len(p.Inputs) == 0:
		return errPacket
	}
	for i := range p.Inputs {
		if !p.Final(i) {
			return errNotFinal
		}
	}
	s.tx = p.Extract()
	whole := make(map[chainhash.Hash]*wire.MsgTx)
	for i := range p.Inputs {
		if raw, ok := p.Inputs[i].One(psbt.NonWitnessUTXO); ok {
			tx := psbt.NewValue(raw).Tx(true)
			if id := tx.TxHash(); whole[id] == nil {
				whole[id] = tx
			}
		}
		if i == 0 {
			continue // its output is known
		}
		coin := coinOf(p, i, whole)
		if coin == nil {
			return errUnknown
		}
		s.spent = append(s.spent, coin)
	}
	return nil
}

// coinOf returns the output that an input spends. Its transaction has to be in the packet, with this input or an
// earlier one, unless the signature commits to the output's amount.
func coinOf(p *psbt.Packet, i int, whole map[chainhash.Hash]*wire.MsgTx) *wire.TxOut {
	at := p.Tx.TxIn[i].PreviousOutPoint
	if tx := whole[at.Hash]; tx != nil {
		if int64(at.Index) >= int64(len(tx.TxOut)) {
			return nil
		}
		return tx.TxOut[at.Index]
	}
	if coin := p.Coin(i); coin != nil && p.Inputs[i].Has(psbt.FinalWitness) {
		return coin
	}
	return nil
}

// check checks what the form of the transaction has to be.
func (s *signed) check(rules *consensus.Rules) error {
	first := wire.OutPoint{Hash: s.toSpend.TxHash()}
	switch {
	case len(s.tx.TxIn) == 0 || s.tx.TxIn[0].PreviousOutPoint != first:
		return errFirst
	case len(s.tx.TxIn) > 1 && s.form != ProofOfFunds:
		return errInputs
	case len(s.tx.TxOut) != 1 || s.tx.TxOut[0].Value != 0 ||
		!bytes.Equal(s.tx.TxOut[0].PkScript, []byte{txscript.OP_RETURN}):
		return errOutputs
	}
	if v := rules.CheckTx(s.tx); v != nil {
		return v
	}
	// The outputs that are spent may not be worth more than there can be: they are the outputs of one transaction here.
	return asError(rules.CheckTx(&wire.MsgTx{TxIn: s.tx.TxIn, TxOut: s.spent}))
}

func asError(v *consensus.Violation) error {
	if v == nil {
		return nil
	}
	return v
}

// invalid is the result for a signature with something wrong.
func (s *signed) invalid(wrong error) Result {
	return Result{State: Invalid, Form: s.form, Reason: wrong.Error()}
}

// verify runs the scripts of all inputs.
func (s *signed) verify(ctx context.Context) (Result, error) {
	r := Result{
		State: Valid, Form: s.form, Time: s.tx.LockTime, Age: s.tx.TxIn[0].Sequence,
	}
	for i, in := range s.tx.TxIn[1:] {
		r.Funds = append(r.Funds, Fund{in.PreviousOutPoint, *s.spent[i+1]})
	}
	spend := script.NewSpend(s.tx, s.spent)
	for i := range s.tx.TxIn {
		if ctx.Err() != nil {
			return Result{}, context.Cause(ctx)
		}
		unknown := spend.VerifyInput(i, required|upgradable)
		if unknown == nil {
			continue
		}
		if wrong := spend.VerifyInput(i, required); wrong != nil {
			return s.invalid(wrong), nil
		}
		if r.State == Valid {
			r.State, r.Reason = Inconclusive, unknown.Error()
		}
	}
	if v := s.tx.Version; v != 0 && v != 2 && r.State == Valid {
		r.State, r.Reason = Inconclusive, "the transaction is of an unknown version"
	}
	return r, nil
}
