package script

import (
	"bytes"
	"crypto/sha256"

	"github.com/btcsuite/btcd/wire"
)

// Sizes of witness programs and of what proves that a script is in an output.
const (
	keyHashLen    = 20
	scriptHashLen = 32
	outputKeyLen  = 32

	controlBase  = 33
	controlNode  = 32
	controlNodes = 128

	annexTag    = 0x50
	leafVersion = 0xc0 // of tapscripts
	leafMask    = 0xfe
)

// anchor is the witness program that anybody may spend without a witness, of
// version 1.
var anchor = []byte{0x4e, 0x73}

// verify executes the scripts of the input.
func (m *machine) verify() Error {
	in, pkScript := m.spend.tx.TxIn[m.index], m.spend.output(m.index).PkScript
	if m.flags&SigPushOnly != 0 && !IsPushOnly(in.SignatureScript) {
		return ErrSigPushOnly
	}
	if e := m.run(in.SignatureScript, legacy); e != none {
		return e
	}
	m.saved = append(m.saved[:0], m.stack...)
	if e := m.runTrue(pkScript, legacy); e != none {
		return e
	}
	clean := len(m.stack) == 1
	witnessed := false
	if v, program, ok := WitnessProgram(pkScript); ok && m.flags&Witness != 0 {
		if len(in.SignatureScript) > 0 {
			return ErrWitnessMalleated
		}
		if e := m.program(v, program, in.Witness, false); e != none {
			return e
		}
		witnessed, clean = true, true
	}
	if m.flags&P2SH != 0 && IsPayToScriptHash(pkScript) {
		var e Error
		if witnessed, e = m.redeem(in); e != none {
			return e
		}
		clean = witnessed || len(m.stack) == 1
	}
	switch {
	case m.flags&CleanStack != 0 && !clean:
		return ErrCleanStack
	case m.flags&Witness != 0 && !witnessed && len(in.Witness) > 0:
		return ErrWitnessUnexpected
	}
	return none
}

// runTrue executes a script, which must leave something true.
func (m *machine) runTrue(script []byte, v version) Error {
	if e := m.run(script, v); e != none {
		return e
	}
	if len(m.stack) == 0 || !truth(m.top(0)) {
		return ErrEvalFalse
	}
	return none
}

// redeem executes the script that the output pays to by its hash (BIP16). It
// reports whether that takes a witness.
func (m *machine) redeem(in *wire.TxIn) (witnessed bool, e Error) {
	if !IsPushOnly(in.SignatureScript) {
		return false, ErrSigPushOnly
	}
	m.stack, m.saved = m.saved, m.stack
	script := m.pop()
	if e := m.runTrue(script, legacy); e != none {
		return false, e
	}
	v, program, ok := WitnessProgram(script)
	if !ok || m.flags&Witness == 0 {
		return false, none
	}
	if !isPushOf(in.SignatureScript, script) {
		return true, ErrWitnessMalleatedP2SH
	}
	return true, m.program(v, program, in.Witness, true)
}

// program verifies a witness program, which may be nested in a script hash.
func (m *machine) program(v int, program []byte, witness wire.TxWitness, nested bool) Error {
	switch {
	case v == 0 && len(program) == scriptHashLen:
		return m.scriptHash(program, witness)
	case v == 0 && len(program) == keyHashLen:
		if len(witness) != 2 {
			return ErrWitnessProgramMismatch
		}
		script := append(m.room(25), opDup, opHash160, keyHashLen)
		script = append(append(script, program...), opEqualVerify, opCheckSig)
		return m.runWitness(script, witness, witnessV0)
	case v == 0:
		return ErrWitnessProgramWrongLength
	case v == 1 && len(program) == outputKeyLen && !nested:
		if m.flags&Taproot == 0 {
			return none
		}
		return m.taproot(program, witness)
	case v == 1 && bytes.Equal(program, anchor) && !nested:
		return none
	case m.flags&DiscourageUpgradableWitnessProgram != 0:
		return ErrDiscourageUpgradableWitnessProgram
	}
	return none
}

// scriptHash executes the script that a program of version 0 has the hash of.
func (m *machine) scriptHash(program []byte, witness wire.TxWitness) Error {
	if len(witness) == 0 {
		return ErrWitnessProgramWitnessEmpty
	}
	script := witness[len(witness)-1]
	if sha256.Sum256(script) != [32]byte(program) {
		return ErrWitnessProgramMismatch
	}
	return m.runWitness(script, witness[:len(witness)-1], witnessV0)
}

// runWitness executes a script on the stack that a witness brings.
func (m *machine) runWitness(script []byte, stack [][]byte, v version) Error {
	for _, item := range stack {
		if len(item) > maxPush {
			return ErrPushSize
		}
	}
	m.stack = append(m.stack[:0], stack...)
	if e := m.run(script, v); e != none {
		return e
	}
	switch {
	case len(m.stack) != 1:
		return ErrCleanStack
	case !truth(m.top(0)):
		return ErrEvalFalse
	}
	return none
}

// taproot verifies a spend of an output's key (BIP341).
func (m *machine) taproot(key []byte, stack [][]byte) Error {
	if len(stack) == 0 {
		return ErrWitnessProgramWitnessEmpty
	}
	m.weight = int64(wire.TxWitness(stack).SerializeSize()) + weightBase
	m.place = tapPlace{separator: NoSeparator}
	if last := stack[len(stack)-1]; len(stack) >= 2 && len(last) > 0 && last[0] == annexTag {
		m.place.annexed, m.place.annex = true, hashAnnex(last)
		stack = stack[:len(stack)-1]
	}
	if len(stack) == 1 {
		return m.checkSchnorr(stack[0], key)
	}
	control, script, stack := stack[len(stack)-1], stack[len(stack)-2], stack[:len(stack)-2]
	nodes := len(control) - controlBase
	if nodes < 0 || nodes > controlNode*controlNodes || nodes%controlNode != 0 {
		return ErrTaprootWrongControlSize
	}
	m.leaf = LeafHash(control[0]&leafMask, script)
	root := treeRoot(&m.leaf, control[controlBase:])
	if !commits(key, control[1:controlBase], &root, control[0]&1 == 1) {
		return ErrWitnessProgramMismatch
	}
	if control[0]&leafMask == leafVersion {
		return m.tapscript(script, stack)
	}
	if m.flags&DiscourageUpgradableTaprootVersion != 0 {
		return ErrDiscourageUpgradableTaprootVersion
	}
	return none
}

// tapscript executes a leaf (BIP342).
func (m *machine) tapscript(script []byte, stack [][]byte) Error {
	for at := 0; at < len(script); {
		op, _, end, good := next(script, at)
		switch {
		case !good:
			return ErrBadOpcode
		case success(op) && m.flags&DiscourageOpSuccess != 0:
			return ErrDiscourageOpSuccess
		case success(op):
			return none
		}
		at = end
	}
	if len(stack) > maxStack {
		return ErrStackSize
	}
	m.place.leaf = &m.leaf
	return m.runWitness(script, stack, tapscript)
}

// LeafHash returns the hash of a leaf in a tree of scripts.
func LeafHash(version byte, script []byte) [32]byte {
	d := newDigest()
	defer d.release()
	d.bytes(tagLeaf[:])
	d.byte(version)
	d.script(script)
	return d.sum()
}

// treeRoot returns the hash of a tree with a leaf whose path has the given nodes.
func treeRoot(leaf *[32]byte, nodes []byte) [32]byte {
	d := newDigest()
	defer d.release()
	at := *leaf
	for ; len(nodes) > 0; nodes = nodes[controlNode:] {
		low, high := at[:], nodes[:controlNode]
		if bytes.Compare(low, high) > 0 {
			low, high = high, low
		}
		d.reset()
		d.bytes(tagBranch[:])
		d.bytes(low)
		d.bytes(high)
		at = d.sum()
	}
	return at
}
