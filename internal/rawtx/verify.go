package rawtx

import (
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2mr"
)

// spending is a transaction with what it spends.
type spending struct {
	tx    *wire.MsgTx
	coins coins
	all   bool // every coin is known, which taproot's hashes need

	hashes *txscript.TxSigHashes

	hasP2MR bool
	hasher  *p2mr.SigHasher // nil: not made yet
}

// coins are the outputs that are spent. One that is not known reads as empty.
type coins map[wire.OutPoint]*wire.TxOut

var noCoin = &wire.TxOut{Value: -1}

// FetchPrevOutput implements txscript.PrevOutputFetcher.
func (c coins) FetchPrevOutput(at wire.OutPoint) *wire.TxOut {
	if coin := c[at]; coin != nil {
		return coin
	}
	return noCoin
}

func newSpending(tx *wire.MsgTx, spent map[wire.OutPoint]*wire.TxOut, hasP2MR bool) *spending {
	s := &spending{tx: tx, coins: spent, all: true, hasP2MR: hasP2MR}
	for _, in := range tx.TxIn {
		s.all = s.all && spent[in.PreviousOutPoint] != nil
	}
	s.hashes = txscript.NewTxSigHashes(tx, s.coins)
	return s
}

// Verify runs the scripts of all inputs of a transaction with the outputs they
// spend, by the rules for transactions that nodes relay. The error is an
// [*InputScriptError] about the first input that fails.
func Verify(tx *wire.MsgTx, spent []*wire.TxOut) error {
	known := make(coins, len(spent))
	for i, in := range tx.TxIn {
		known[in.PreviousOutPoint] = spent[i]
	}
	s := newSpending(tx, known, false)
	for i := range tx.TxIn {
		if err := s.verifyRelayed(i); err != nil {
			return err
		}
	}
	return nil
}

// VerifyInput is Verify of one input, by its number.
func VerifyInput(tx *wire.MsgTx, spent []*wire.TxOut, i int) error {
	known := make(coins, len(spent))
	for i, in := range tx.TxIn {
		known[in.PreviousOutPoint] = spent[i]
	}
	return newSpending(tx, known, false).verifyRelayed(i)
}

func (s *spending) verifyRelayed(i int) error {
	if err := s.verify(i); err != nil {
		return &InputScriptError{Tx: s.tx, Index: i, Err: relayed(err)}
	}
	return nil
}

// relayed puts an error into the words for transactions that are relayed, where
// those for signing differ.
func relayed(err error) error {
	switch {
	case errors.Is(err, ScriptError(textSignStack)):
		return ScriptError(textInvalidStack)
	case errors.Is(err, ScriptError(textSignNullFail)):
		return ScriptError(textNullFail)
	}
	return err
}

// InputScriptError says which input's scripts fail.
type InputScriptError struct {
	Tx    *wire.MsgTx
	Index int
	Err   error // a [ScriptError]
}

// Error returns the words of the failure.
func (e *InputScriptError) Error() string { return e.Err.Error() }

// Unwrap returns the [ScriptError].
func (e *InputScriptError) Unwrap() error { return e.Err }

// Input names the input as Core does.
func (e *InputScriptError) Input() string {
	at := e.Tx.TxIn[e.Index].PreviousOutPoint
	return fmt.Sprintf("input %d of %v (wtxid %v), spending %v:%d",
		e.Index, e.Tx.TxHash(), e.Tx.WitnessHash(), at.Hash, at.Index)
}

// verify runs the scripts of an input with the signatures it has, by the rules
// for transactions that nodes relay. The error is a [ScriptError].
func (s *spending) verify(index int) error {
	in := s.tx.TxIn[index]
	coin := s.coins[in.PreviousOutPoint]
	if root, ok := s.p2mrRoot(index); ok {
		return s.verifyP2MR(index, root)
	}
	f, _ := formOf(coin.PkScript)
	switch {
	case f == payToAnchor && len(in.SignatureScript) == 0 && len(in.Witness) == 0:
		return nil // txscript does not know of anchors
	case f == payToTaproot && !s.all && len(in.Witness) > 0:
		return ScriptError(textSchnorrType) // its hash cannot be computed
	}
	err := s.execute(index, coin)
	switch {
	case err == nil:
		return nil
	case f == payToScriptHash && len(in.Witness) == 0 && txscript.IsErrorCode(err, txscript.ErrCleanStack):
		return withoutWitness(lastOf(pushed(in.SignatureScript)))
	default:
		return scriptError(err)
	}
}

// execute runs the scripts of an input.
func (s *spending) execute(index int, coin *wire.TxOut) error {
	flags := txscript.StandardVerifyFlags
	start := func() (*txscript.Engine, error) {
		return txscript.NewEngine(coin.PkScript, s.tx, index, flags, nil, s.hashes, coin.Value, s.coins)
	}
	engine, err := start()
	if err == nil {
		err = engine.Execute()
	}
	if txscript.IsErrorCode(err, txscript.ErrCleanStack) {
		// Core looks at what is on top before it looks at how much there is.
		flags &^= txscript.ScriptVerifyCleanStack
		if again, failed := start(); failed == nil && txscript.IsErrorCode(again.Execute(), txscript.ErrEvalFalse) {
			return txscript.Error{ErrorCode: txscript.ErrEvalFalse, Description: err.Error()}
		}
		return err
	}
	if !txscript.IsErrorCode(err, txscript.ErrInvalidStackOperation) {
		return err
	}
	// Core says of a condition without a value what it says of one without an end.
	if again, failed := start(); failed == nil && endsAtCondition(again) {
		return txscript.Error{ErrorCode: txscript.ErrUnbalancedConditional, Description: err.Error()}
	}
	return err
}

// endsAtCondition reports whether an engine fails at the beginning of a
// condition.
func endsAtCondition(engine *txscript.Engine) bool {
	for {
		at, err := engine.DisasmPC()
		if err != nil {
			return false
		}
		if done, err := engine.Step(); done || err != nil {
			return strings.HasSuffix(at, " OP_IF") || strings.HasSuffix(at, " OP_NOTIF")
		}
	}
}

// withoutWitness says why a script fails that an output pays to by its hash and
// that has no witness. txscript does not see that it should have one.
func withoutWitness(redeem []byte) error {
	switch f, _ := formOf(redeem); f {
	case payToWitnessKeyHash:
		return ScriptError(textMismatch)
	case payToWitnessScriptHash:
		return ScriptError(textWitnessEmpty)
	case payToTaproot, payToAnchor, unknownWitness:
		return ScriptError(textWitnessVersion)
	default:
		return ScriptError(textCleanStack)
	}
}

// hash returns what a signature of the input by ECDSA signs.
func (s *spending) hash(index int, script []byte, witness bool, hashType txscript.SigHashType) ([]byte, error) {
	if !witness {
		return txscript.CalcSignatureHash(script, hashType, s.tx, index)
	}
	coin := s.coins[s.tx.TxIn[index].PreviousOutPoint]
	return txscript.CalcWitnessSigHash(script, s.hashes, hashType, s.tx, index, coin.Value)
}

// checkSig reports whether sig, with its hash type behind it, is a signature of
// the input by a public key.
func (s *spending) checkSig(index int, sig, public, script []byte, witness bool) bool {
	if len(sig) == 0 {
		return false
	}
	der, hashType := sig[:len(sig)-1], txscript.SigHashType(sig[len(sig)-1])
	key, err := btcec.ParsePubKey(public)
	if err != nil {
		return false
	}
	parsed, err := ecdsa.ParseSignature(der)
	if err != nil {
		return false
	}
	hash, err := s.hash(index, script, witness, hashType)
	return err == nil && parsed.Verify(hash, key)
}
