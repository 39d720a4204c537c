package rawtx

import (
	"errors"
	"fmt"
	"sync"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus/script"
	"github.com/seed61375155/trawl/internal/p2mr"
)

// spending is a transaction with the outputs that it spends.
type spending struct {
	tx    *wire.MsgTx
	coins coins
	spent []*wire.TxOut // by input; nil: not known
	all   bool          // every coin is known, which taproot's hashes need
	spend *script.Spend

	hasP2MR bool
	hasher  func() (*p2mr.SigHasher, error) // made once; all coins are known
}

// coins are the outputs that are spent.
type coins map[wire.OutPoint]*wire.TxOut

func newSpending(tx *wire.MsgTx, known map[wire.OutPoint]*wire.TxOut, hasP2MR bool) *spending {
	s := &spending{tx: tx, coins: known, spent: make([]*wire.TxOut, len(tx.TxIn)), all: true, hasP2MR: hasP2MR}
	for i, in := range tx.TxIn {
		s.spent[i] = known[in.PreviousOutPoint]
		s.all = s.all && s.spent[i] != nil
	}
	s.ready()
	return s
}

// ready prepares the hashes that inputs share, which are computed at first use.
// The known spent outputs must be set.
func (s *spending) ready() {
	s.spend = script.NewSpend(s.tx, s.spent)
	s.hasher = sync.OnceValues(func() (*p2mr.SigHasher, error) { return p2mr.NewSigHasher(s.tx, s.spent) })
}

// Verify runs the scripts of all inputs of a transaction with the outputs they
// spend, by the rules for transactions that nodes relay. The error is an
// [*InputScriptError] about the first input that fails.
func Verify(tx *wire.MsgTx, spent []*wire.TxOut) error {
	spend := script.NewSpend(tx, spent)
	for i := range tx.TxIn {
		if err := spend.VerifyInput(i, script.Standard); err != nil {
			return &InputScriptError{Tx: tx, Index: i, Err: err}
		}
	}
	return nil
}

// InputScriptError says which input's scripts fail.
type InputScriptError struct {
	Tx    *wire.MsgTx
	Index int
	Err   error // in Core's words
}

// Error returns the words of the failure.
func (e *InputScriptError) Error() string { return e.Err.Error() }

// Unwrap returns what failed.
func (e *InputScriptError) Unwrap() error { return e.Err }

// Input names the input as Core does.
func (e *InputScriptError) Input() string {
	at := e.Tx.TxIn[e.Index].PreviousOutPoint
	return fmt.Sprintf("input %d of %v (wtxid %v), spending %v:%d",
		e.Index, e.Tx.TxHash(), e.Tx.WitnessHash(), at.Hash, at.Index)
}

// A ScriptError is why an input is not signed completely, in Core's words.
type ScriptError string

// Error implements error.
func (e ScriptError) Error() string { return string(e) }

// These errors have other words for a signer than for a relaying node.
const (
	errSignStack    = ScriptError("Unable to sign input, invalid stack size (possibly missing key)")
	errSignNullFail = ScriptError("CHECK(MULTI)SIG failing with non-zero signature (possibly need more signatures)")
)

// verify runs the scripts of an input with the signatures it has, by the rules
// for transactions that nodes relay. The error is a [ScriptError].
func (s *spending) verify(index int) error {
	if root, ok := s.p2mrRoot(index); ok && len(s.tx.TxIn[index].SignatureScript) == 0 { // it runs first
		return s.verifyP2MR(index, root)
	}
	err := s.spend.VerifyInput(index, script.Standard)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, script.ErrInvalidStackOperation):
		return errSignStack
	case errors.Is(err, script.ErrNullFail):
		return errSignNullFail
	}
	if reason, ok := errors.AsType[script.Error](err); ok {
		err = reason.Coarse() // signers have said so ever since
	}
	return ScriptError(err.Error())
}

// hash returns what a signature of the input by ECDSA signs.
func (s *spending) hash(index int, code []byte, witness bool, hashType txscript.SigHashType) []byte {
	sigHash := s.spend.LegacySigHash
	if witness {
		sigHash = s.spend.WitnessSigHash
	}
	hash := sigHash(index, code, uint32(hashType))
	return hash[:]
}

// checkSig reports whether sig, with its hash type behind it, is a signature of
// the input by a public key.
func (s *spending) checkSig(index int, sig, public, code []byte, witness bool) bool {
	if len(sig) == 0 {
		return false
	}
	hash := s.hash(index, code, witness, txscript.SigHashType(sig[len(sig)-1]))
	return script.VerifyECDSA(public, sig[:len(sig)-1], (*[32]byte)(hash))
}
