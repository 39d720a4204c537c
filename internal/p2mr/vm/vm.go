// Package vm decides whether an input may spend a P2MR output: it checks the
// proof that a script is in the output's tree, and executes the script.
//
// The scripts are tapscripts (BIP342) with the signatures of package slhdsa and
// with BIP119's template check. The package is pure, and safe for concurrent use.
package vm

import (
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2mr"
)

// Limits of what a script begins with and holds.
const (
	maxStackItems   = 1000
	maxInitialItem  = 16_384
	maxInitialBytes = 131_072
	maxPush         = 520
)

// The validation budget of an input is the size of its witness and the base; each
// signature takes its cost.
const (
	budgetBase = 50
	costV1     = 3730
	costV2     = 3683
)

// annexTag begins an annex.
const annexTag = 0x50

// Rules say what holds for a spend beside the rules that always do.
type Rules struct {
	WeightV1    bool // signatures cost what they did first
	NoCheckLock bool // OP_CHECKLOCKTIMEVERIFY does nothing yet
	NoCheckSeq  bool // OP_CHECKSEQUENCEVERIFY does nothing yet
	Policy      bool // refuse what mempools do: what later rules may give a meaning, and longer pushes than needed
}

// A Spend is an input of a transaction that spends a P2MR output.
type Spend struct {
	Tx      *wire.MsgTx
	Input   int // number of the input
	Program p2mr.Hash
	Hasher  *p2mr.SigHasher // of Tx, with the outputs that it spends
	Rules   Rules

	// Known are signatures of transactions that were right; Remember has those added that are found right now. nil:
	// all are verified.
	Known    *Signatures
	Remember bool
}

// Verify returns nil for a right spend, and else an [Error].
func (s *Spend) Verify() error {
	in := s.Tx.TxIn[s.Input]
	if len(in.SignatureScript) > 0 {
		return ErrMalleated
	}
	stack := in.Witness
	if len(stack) == 0 {
		return ErrWitnessEmpty
	}
	var annex []byte
	if last := stack[len(stack)-1]; len(stack) >= 2 && len(last) > 0 && last[0] == annexTag {
		annex, stack = last, stack[:len(stack)-1]
	}
	if len(stack) < 2 {
		return ErrWitnessEmpty
	}
	control, script, stack := stack[len(stack)-1], stack[len(stack)-2], stack[:len(stack)-2]
	version, leaf, err := s.prove(control, script)
	if err != nil {
		return err
	}
	if version != p2mr.ScriptVersion {
		if s.Rules.Policy {
			return ErrUpgradableVersion
		}
		return nil
	}
	if err := checkInitial(stack); err != nil {
		return err
	}
	m := &machine{
		spend: s, script: script, budget: int64(in.Witness.SerializeSize() + budgetBase), cost: costV2,
		at: p2mr.Spend{Input: s.Input, Leaf: leaf, Annex: annex, CodeSeparator: p2mr.NoCodeSeparator},
	}
	if s.Rules.WeightV1 {
		m.cost = costV1
	}
	return m.run(stack)
}

// Standard reports whether a witness is of the form that mempools take, whatever it
// proves. An empty witness passes: it is left to [Spend.Verify].
func Standard(witness wire.TxWitness) bool {
	n := len(witness)
	if n == 0 {
		return true
	}
	if n < 2 || len(witness[n-1]) == 0 || witness[n-1][0] == annexTag {
		return false
	}
	return witness[n-1][0]&^1 != p2mr.ScriptVersion || checkInitial(witness[:n-2]) == nil || n-2 > maxStackItems
}

// prove checks that the script is in the output's tree.
func (s *Spend) prove(control, script []byte) (version byte, leaf p2mr.Hash, err error) {
	const node = len(p2mr.Hash{})
	if len(control)%node != 1 || len(control)/node > p2mr.MaxDepth {
		return 0, leaf, ErrControlSize
	}
	block, err := p2mr.ParseControlBlock(control)
	if err != nil {
		return 0, leaf, ErrControlBit // its size is right
	}
	root, leaf := block.Root(script)
	if root != s.Program {
		return 0, leaf, ErrMismatch
	}
	return block.Version, leaf, nil
}

// checkInitial bounds the stack that a script begins with.
func checkInitial(stack [][]byte) error {
	if len(stack) > maxStackItems {
		return ErrStackSize
	}
	total := 0
	for _, item := range stack {
		if total += len(item); len(item) > maxInitialItem || total > maxInitialBytes {
			return ErrPushSize
		}
	}
	return nil
}
