package vm

import (
	"slices"

	"github.com/seed61375155/trawl/internal/p2mr"
)

// A machine executes one script.
type machine struct {
	spend  *Spend
	script []byte
	at     p2mr.Spend // what signatures sign of the place they are in

	budget, cost int64

	stack, alt [][]byte
	branches   []bool // whether each open branch is executed, innermost last
	skipping   int    // how many of branches are not
}

// run executes the script on a stack, whose items it does not write to.
func (m *machine) run(stack [][]byte) error {
	if done, err := m.scan(); done || err != nil {
		return err
	}
	m.stack = slices.Clone(stack)
	position := uint32(0)
	for rest := m.script; len(rest) > 0; position++ {
		var op byte
		var data []byte
		var ok bool
		if op, data, rest, ok = next(rest); !ok {
			return ErrBadOpcode
		}
		if len(data) > maxPush {
			return ErrPushSize
		}
		if err := m.step(op, data, position); err != nil {
			return err
		}
		if len(m.stack)+len(m.alt) > maxStackItems {
			return ErrStackSize
		}
	}
	switch {
	case len(m.branches) > 0:
		return ErrConditional
	case len(m.stack) != 1:
		return ErrCleanStack
	case !truth(m.stack[0]):
		return ErrFalse
	}
	return nil
}

// scan looks for an opcode that makes the script succeed at once.
func (m *machine) scan() (done bool, err error) {
	for rest := m.script; len(rest) > 0; {
		var op byte
		var ok bool
		if op, _, rest, ok = next(rest); !ok {
			return true, ErrBadOpcode
		}
		if success(op) {
			if m.spend.Rules.Policy {
				return true, ErrUpgradableSuccess
			}
			return true, nil
		}
	}
	return false, nil
}

// step executes one opcode, or passes over it in a branch that is not taken.
func (m *machine) step(op byte, data []byte, position uint32) error {
	const opIf, opEndIf = 0x63, 0x68
	executed := m.skipping == 0
	switch {
	case op >= opIf && op <= opEndIf:
		return m.branch(op, executed)
	case !executed:
		return nil
	case op <= opPushData4:
		if m.spend.Rules.Policy && !shortest(op, data) {
			return ErrMinimalData
		}
		m.push(data)
		return nil
	case op == op1Negate:
		m.push(encode(-1))
		return nil
	case op >= op1 && op <= op16:
		m.push(encode(int64(op-op1) + 1))
		return nil
	}
	if do := operations[op]; do != nil {
		return do(m)
	}
	return m.rest(op, position)
}

// branch executes the opcodes of conditions.
func (m *machine) branch(op byte, executed bool) error {
	const opIf, opNotIf, opElse, opEndIf = 0x63, 0x64, 0x67, 0x68
	switch op {
	case opIf, opNotIf:
		taken := false
		if executed {
			if len(m.stack) == 0 {
				return ErrConditional
			}
			condition := m.pop()
			if len(condition) > 1 || len(condition) == 1 && condition[0] != 1 {
				return ErrMinimalIf
			}
			taken = (len(condition) == 1) == (op == opIf)
		}
		m.branches = append(m.branches, taken)
		m.count(taken, 1)
	case opElse:
		if len(m.branches) == 0 {
			return ErrConditional
		}
		last := &m.branches[len(m.branches)-1]
		m.count(*last, -1)
		*last = !*last
		m.count(*last, 1)
	case opEndIf:
		if len(m.branches) == 0 {
			return ErrConditional
		}
		m.count(m.branches[len(m.branches)-1], -1)
		m.branches = m.branches[:len(m.branches)-1]
	default: // OP_VERIF and OP_VERNOTIF, taken or not
		return ErrBadOpcode
	}
	return nil
}

// count keeps the number of branches that are not taken.
func (m *machine) count(taken bool, n int) {
	if !taken {
		m.skipping += n
	}
}

// rest executes what needs more than the stack.
func (m *machine) rest(op byte, position uint32) error {
	switch op {
	case 0x6a:
		return ErrReturn
	case 0xab:
		m.at.CodeSeparator = position
		return nil
	case 0xac, 0xad:
		return ErrCheckSig
	case 0xae, 0xaf:
		return ErrCheckMultiSig
	case p2mr.OpCheckSigPQC:
		return m.checkSig()
	case p2mr.OpCheckSigAdd:
		return m.checkSigAdd()
	case p2mr.OpCheckTemplate:
		return m.checkTemplate()
	case p2mr.OpCheckDataSigPQC:
		return m.checkDataSig()
	case p2mr.OpCheckDataSigAddPQC:
		return m.checkDataSigAdd()
	case 0xb1:
		if m.spend.Rules.NoCheckLock {
			return nil
		}
		return m.checkLockTime()
	case 0xb2:
		if m.spend.Rules.NoCheckSeq {
			return nil
		}
		return m.checkSequence()
	case 0xb0, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9:
		if m.spend.Rules.Policy {
			return ErrUpgradableNOP
		}
		return nil
	}
	return ErrBadOpcode
}

func (m *machine) push(item []byte) { m.stack = append(m.stack, item) }

// pop takes the top item; the caller has made sure that there is one.
func (m *machine) pop() []byte {
	top := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return top
}

// top returns the item so far from the top, 0 for the top itself.
func (m *machine) top(depth int) []byte { return m.stack[len(m.stack)-1-depth] }

func (m *machine) number(item []byte) (int64, error) {
	return number(item, numberLen, m.spend.Rules.Policy)
}
