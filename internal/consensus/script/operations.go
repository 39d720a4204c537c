package script

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"slices"

	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // OP_RIPEMD160
)

// An operation executes an opcode.
type operation func(*machine) Error

// operations are the opcodes but for pushes and conditions, by their numbers. A
// script fails where it executes an opcode that is missing here.
var operations [256]operation

func init() {
	for op := 0x4f; op <= op16; op++ {
		if op != 0x50 {
			operations[op] = pushSmall
		}
	}
	nop := func(*machine) Error { return none }
	upgradable := func(m *machine) Error {
		if m.op == 0xb3 && m.flags&ReservedNOP4 != 0 && m.version != tapscript {
			return ErrBadOpcode
		}
		if m.flags&DiscourageUpgradableNOPs != 0 {
			return ErrDiscourageUpgradableNOPs
		}
		return none
	}
	operations[0x61] = nop
	for _, op := range []byte{0xb0, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9} {
		operations[op] = upgradable
	}
	operations[0xb1] = checkLockTime
	operations[0xb2] = checkSequence
	operations[0x69] = verifies(1, (*machine).popTruth, ErrVerify)
	operations[0x6a] = func(*machine) Error { return ErrReturn }
	initStack()
	initNumbers()
	initHashes()
	operations[opCodeSeparator] = func(m *machine) Error {
		m.code, m.place.separator = m.rest, m.pos
		return none
	}
	operations[opCheckSig] = checkSig
	operations[opCheckSigVerify] = checkSig
	operations[opCheckMultiSig] = checkMultiSig
	operations[opCheckMultiSigVerify] = checkMultiSig
	operations[0xba] = checkSigAdd
}

// pushSmall pushes a number from -1 to 16.
func pushSmall(m *machine) Error {
	m.push(small[m.op-op1Negate])
	return none
}

// small are what [pushSmall] pushes, by the opcodes from OP_1NEGATE on.
var small = func() (items [op16 - op1Negate + 1][]byte) {
	for i := range items {
		items[i] = appendNumber(nil, int64(i)-1)
	}
	return items
}()

func initStack() {
	operations[0x6b] = needs(1, func(m *machine) { m.alt = append(m.alt, m.pop()) })
	operations[0x6c] = func(m *machine) Error {
		if len(m.alt) == 0 {
			return ErrInvalidAltStackOperation
		}
		m.push(m.alt[len(m.alt)-1])
		m.alt = m.alt[:len(m.alt)-1]
		return none
	}
	operations[0x6d] = needs(2, func(m *machine) { m.drop(2) })
	operations[0x6e] = needs(2, func(m *machine) { m.stack = append(m.stack, m.top(1), m.top(0)) })
	operations[0x6f] = needs(3, func(m *machine) { m.stack = append(m.stack, m.top(2), m.top(1), m.top(0)) })
	operations[0x70] = needs(4, func(m *machine) { m.stack = append(m.stack, m.top(3), m.top(2)) })
	operations[0x71] = needs(6, func(m *machine) { m.roll(5); m.roll(5) })
	operations[0x72] = needs(4, func(m *machine) { m.roll(3); m.roll(3) })
	operations[0x73] = needs(1, func(m *machine) {
		if truth(m.top(0)) {
			m.push(m.top(0))
		}
	})
	operations[0x74] = func(m *machine) Error { m.pushNumber(int64(len(m.stack))); return none }
	operations[0x75] = needs(1, func(m *machine) { m.drop(1) })
	operations[opDup] = needs(1, func(m *machine) { m.push(m.top(0)) })
	operations[0x77] = needs(2, func(m *machine) { m.roll(1); m.drop(1) })
	operations[0x78] = needs(2, func(m *machine) { m.push(m.top(1)) })
	operations[0x79] = pick(func(m *machine, depth int) { m.push(m.top(depth)) })
	operations[0x7a] = pick((*machine).roll)
	operations[0x7b] = needs(3, func(m *machine) { m.roll(2) })
	operations[0x7c] = needs(2, func(m *machine) { m.roll(1) })
	operations[0x7d] = needs(2, func(m *machine) { m.stack = slices.Insert(m.stack, len(m.stack)-2, m.top(0)) })
	operations[0x82] = needs(1, func(m *machine) { m.pushNumber(int64(len(m.top(0)))) })
	operations[opEqual] = needs(2, func(m *machine) { m.pushBool(m.popEqual()) })
	operations[opEqualVerify] = verifies(2, (*machine).popEqual, ErrEqualVerify)
}

func initHashes() {
	operations[0xa6] = needs(1, func(m *machine) {
		h := ripemd160.New()
		h.Write(m.pop())
		m.push(h.Sum(m.room(20)))
	})
	operations[0xa7] = needs(1, func(m *machine) {
		sum := sha1.Sum(m.pop())
		m.push(append(m.room(20), sum[:]...))
	})
	operations[0xa8] = needs(1, func(m *machine) {
		sum := sha256.Sum256(m.pop())
		m.push(append(m.room(32), sum[:]...))
	})
	operations[opHash160] = needs(1, func(m *machine) {
		sum := sha256.Sum256(m.pop())
		h := ripemd160.New()
		h.Write(sum[:])
		m.push(h.Sum(m.room(20)))
	})
	operations[0xaa] = needs(1, func(m *machine) {
		sum := sha256.Sum256(m.pop())
		sum = sha256.Sum256(sum[:])
		m.push(append(m.room(32), sum[:]...))
	})
}

// needs is an operation that cannot fail on a stack of at least n items.
func needs(n int, do func(*machine)) operation {
	return func(m *machine) Error {
		if len(m.stack) < n {
			return ErrInvalidStackOperation
		}
		do(m)
		return none
	}
}

// verifies ends the script where something does not hold of n items, which it takes.
func verifies(n int, holds func(*machine) bool, e Error) operation {
	return func(m *machine) Error {
		if len(m.stack) < n {
			return ErrInvalidStackOperation
		}
		if !holds(m) {
			return e
		}
		return none
	}
}

func (m *machine) popTruth() bool { return truth(m.pop()) }

func (m *machine) popEqual() bool { return bytes.Equal(m.pop(), m.pop()) }

// roll moves the item so far from the top to the top.
func (m *machine) roll(depth int) {
	at := len(m.stack) - 1 - depth
	item := m.stack[at]
	copy(m.stack[at:], m.stack[at+1:])
	m.stack[len(m.stack)-1] = item
}

// pick takes a depth from the stack and does something with the item there.
func pick(do func(m *machine, depth int)) operation {
	return func(m *machine) Error {
		if len(m.stack) < 2 {
			return ErrInvalidStackOperation
		}
		depth, ok := m.number(m.pop())
		if !ok {
			return ErrNumber
		}
		if depth < 0 || depth >= int64(len(m.stack)) {
			return ErrInvalidStackOperation
		}
		do(m, int(depth))
		return none
	}
}
