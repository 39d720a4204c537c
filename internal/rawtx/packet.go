package rawtx

import (
	"encoding/binary"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// Why an input of a packet cannot be worked on, in Core's words.
const (
	ErrMissingInput = PacketError("Inputs missing or spent")
	ErrHashType     = PacketError("Specified sighash value does not match value stored in PSBT")
	ErrSignature    = PacketError("Invalid cached P2MR script signature in PSBT input")
	ErrNoTx         = PacketError("The transaction cannot be valid") // see [psbt.Packet.NoTx]
)

// A PacketError is why an input of a packet cannot be worked on.
type PacketError string

// Error implements error.
func (e PacketError) Error() string { return string(e) }

// A PacketSigning signs and completes the inputs of a partially signed transaction (BIP174, BIP370). The packet must
// have the spent outputs before NewPacketSigning is called.
type PacketSigning struct {
	packet   *psbt.Packet
	nothing  *Signing // to sign with
	spending *spending
}

// NewSigningFunc makes what signs a transaction on a network: see [NewSigning].
type NewSigningFunc = func(tx *wire.MsgTx, coins map[wire.OutPoint]*wire.TxOut) *Signing

// NewPacketSigning returns the signing of a packet, which changes the packet.
func NewPacketSigning(p *psbt.Packet, newSigning NewSigningFunc) *PacketSigning {
	tx := p.Tx.Copy()
	s := newSigning(tx, nil)
	s.packet = true
	spending := &spending{tx: tx, spent: make([]*wire.TxOut, len(tx.TxIn)), all: true, hasP2MR: s.P2MR != nil}
	for i := range tx.TxIn {
		spending.spent[i] = p.Coin(i)
		spending.all = spending.all && spending.spent[i] != nil
	}
	spending.ready()
	return &PacketSigning{p, s, spending}
}

// A PacketRole says what becomes of an input.
type PacketRole struct {
	Known    *Signing // keys and scripts; nil: nothing
	HashType *int32   // nil: that of its kind
	Finalize bool     // it gets its final scripts when it has all signatures

	by signatureMaker
}

// Verified reports whether an input has final scripts that are right.
func (s *PacketSigning) Verified(i int) bool {
	if s.packet.Coin(i) == nil || s.packet.NoTx {
		return false
	}
	s.final(i)
	return s.spending.verify(i) == nil
}

// final puts the final scripts of an input into the transaction that is verified.
func (s *PacketSigning) final(i int) {
	in := s.spending.tx.TxIn[i]
	in.SignatureScript, _ = s.packet.Inputs[i].One(psbt.FinalScriptSig)
	in.Witness = nil
	if raw, ok := s.packet.Inputs[i].One(psbt.FinalWitness); ok {
		in.Witness = psbt.NewValue(raw).Witness()
	}
}

// Input signs an input as far as it can, and puts what it has learnt of it into the packet. It reports
// whether nothing is missing.
//
// Errors: [ErrNoTx], [ErrMissingInput], [ErrHashType], [ErrSignature]; with them nothing has changed but, perhaps,
// how the input is said to be signed, and to which root of P2MR the output pays that it spends.
func (s *PacketSigning) Input(i int, role PacketRole) (complete bool, missing Missing, err error) {
	if s.packet.NoTx {
		return false, missing, ErrNoTx
	}
	in := &s.packet.Inputs[i]
	coin := s.packet.Coin(i)
	// Where sizes are computed, Core has not what signatures of taproot and P2MR are verified by.
	root, isP2MR := s.spending.p2mrRoot(i)
	verifies := role.by != byDummy || coin != nil && !txscript.IsPayToTaproot(coin.PkScript) && !isP2MR
	if verifies && s.Verified(i) {
		return true, missing, nil
	}
	if coin == nil {
		return false, missing, ErrMissingInput
	}
	if isP2MR {
		in.Put(psbt.P2MRRoot, nil, root[:])
	}
	hashType, err := chooseHashType(in, isP2MR || txscript.IsPayToTaproot(coin.PkScript), role.HashType)
	if err != nil {
		return false, missing, err
	}
	with := role.Known
	if with == nil {
		with = s.nothing
	}
	with.HashType, with.packet = txscript.SigHashType(hashType), true
	data := inputSignatures(*in)
	p := &producer{s.spending, i, with, data, role.by}
	if !data.complete {
		p.produce()
	}
	if len(data.p2mr.invalid) > 0 {
		return false, missing, ErrSignature
	}
	done := data.complete
	if !in.Has(psbt.NonWitnessUTXO) && !data.witnessed {
		return false, missing, nil // the amount could be wrong
	}
	data.complete = done && role.Finalize
	signed := signaturesIn(*in)
	s.fillInput(i, data)
	if role.Known != nil && (data.complete || signaturesIn(*in) > signed) {
		s.packet.NoteSignature(with.HashType)
	}
	if data.witnessed {
		in.PutOutput(psbt.WitnessUTXO, coin)
	}
	return done, data.missing, nil
}

// signaturesIn counts the signatures of an input that is not final.
func signaturesIn(in psbt.Map) int {
	count := 0
	for _, kind := range []uint64{psbt.PartialSig, psbt.TapKeySig, psbt.TapScriptSig, psbt.MusigPartialSig} {
		count += len(in.Of(kind))
	}
	return count
}

// chooseHashType returns the hash type of an input's signatures, and notes it in the input unless it is the
// default of the input's kind. Taproot and P2MR have a default type of their own. An input whose noted type or
// signatures differ is refused with [ErrHashType].
func chooseHashType(in *psbt.Map, hasDefault bool, wanted *int32) (int32, error) {
	const byDefault, all = int32(txscript.SigHashDefault), int32(txscript.SigHashAll)
	hashType := all
	switch {
	case wanted != nil:
		hashType = *wanted
	case hasDefault:
		hashType = byDefault
	}
	if raw, ok := in.One(psbt.SigHash); ok && int32(binary.LittleEndian.Uint32(raw)) != hashType {
		return 0, ErrHashType
	}
	if hashType != byDefault && (hasDefault || hashType != all) {
		in.Put(psbt.SigHash, nil, binary.LittleEndian.AppendUint32(nil, uint32(hashType)))
	}
	fits := func(sig []byte, size int) bool {
		if hashType == byDefault {
			return len(sig) == size
		}
		return len(sig) == size+1 && int32(sig[size]) == hashType
	}
	for _, e := range *in {
		size, bare := bareSizes[e.Type]
		if bare && !fits(e.Value, size) {
			return 0, ErrHashType
		}
	}
	for _, e := range in.Of(psbt.PartialSig) {
		if hashType != byDefault && int32(e.Value[len(e.Value)-1]) != hashType {
			return 0, ErrHashType
		}
	}
	return hashType, nil
}

// bareSizes are the sizes of signatures that have no hash type behind them if it is that by default.
var bareSizes = map[uint64]int{
	psbt.TapKeySig: schnorr.SignatureSize, psbt.TapScriptSig: schnorr.SignatureSize,
	psbt.P2MRSig: slhdsa.SignatureSize,
}

// Finalize gives final scripts to the inputs that have what it takes, and reports whether those are all.
func (s *PacketSigning) Finalize() bool {
	complete := true
	for i := range s.packet.Inputs {
		role := PacketRole{Finalize: true}
		if raw, ok := s.packet.Inputs[i].One(psbt.SigHash); ok {
			role.HashType = new(int32(binary.LittleEndian.Uint32(raw)))
		}
		done, _, err := s.Input(i, role)
		complete = complete && done && err == nil
	}
	return complete
}

// Output puts into an output what is known of its script.
func (s *PacketSigning) Output(i int, known *Signing) {
	out := &s.packet.Outputs[i]
	data := outputSignatures(*out)
	p := &producer{spending: s.spending, with: known, data: data, by: byNone}
	p.assemble(s.packet.Tx.TxOut[i].PkScript)
	fillOutput(out, data)
}
