package script

import "github.com/btcsuite/btcd/wire"

func initNumbers() {
	operations[0x8b] = oneNumber(func(a int64) int64 { return a + 1 })
	operations[0x8c] = oneNumber(func(a int64) int64 { return a - 1 })
	operations[0x8f] = oneNumber(func(a int64) int64 { return -a })
	operations[0x90] = oneNumber(func(a int64) int64 { return max(a, -a) })
	operations[0x91] = oneNumber(func(a int64) int64 { return fromBool(a == 0) })
	operations[0x92] = oneNumber(func(a int64) int64 { return fromBool(a != 0) })
	operations[0x93] = twoNumbers(func(a, b int64) int64 { return a + b })
	operations[0x94] = twoNumbers(func(a, b int64) int64 { return a - b })
	operations[0x9a] = twoNumbers(func(a, b int64) int64 { return fromBool(a != 0 && b != 0) })
	operations[0x9b] = twoNumbers(func(a, b int64) int64 { return fromBool(a != 0 || b != 0) })
	operations[0x9c] = twoNumbers(func(a, b int64) int64 { return fromBool(a == b) })
	operations[0x9d] = func(m *machine) Error {
		var n [2]int64
		if e := m.popNumbers(n[:]); e != none {
			return e
		}
		if n[0] != n[1] {
			return ErrNumEqualVerify
		}
		return none
	}
	operations[0x9e] = twoNumbers(func(a, b int64) int64 { return fromBool(a != b) })
	operations[0x9f] = twoNumbers(func(a, b int64) int64 { return fromBool(a < b) })
	operations[0xa0] = twoNumbers(func(a, b int64) int64 { return fromBool(a > b) })
	operations[0xa1] = twoNumbers(func(a, b int64) int64 { return fromBool(a <= b) })
	operations[0xa2] = twoNumbers(func(a, b int64) int64 { return fromBool(a >= b) })
	operations[0xa3] = twoNumbers(func(a, b int64) int64 { return min(a, b) })
	operations[0xa4] = twoNumbers(func(a, b int64) int64 { return max(a, b) })
	operations[0xa5] = func(m *machine) Error {
		var n [3]int64
		if e := m.popNumbers(n[:]); e != none {
			return e
		}
		m.pushBool(n[1] <= n[0] && n[0] < n[2])
		return none
	}
}

func fromBool(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// popNumbers reads the top items as numbers, the lowest first, and takes them.
func (m *machine) popNumbers(n []int64) Error {
	if len(m.stack) < len(n) {
		return ErrInvalidStackOperation
	}
	for i := range n {
		var ok bool
		if n[i], ok = m.number(m.top(len(n) - 1 - i)); !ok {
			return ErrNumber
		}
	}
	m.drop(len(n))
	return none
}

func oneNumber(f func(a int64) int64) operation {
	return func(m *machine) Error {
		var n [1]int64
		if e := m.popNumbers(n[:]); e != none {
			return e
		}
		m.pushNumber(f(n[0]))
		return none
	}
}

func twoNumbers(f func(a, b int64) int64) operation {
	return func(m *machine) Error {
		var n [2]int64
		if e := m.popNumbers(n[:]); e != none {
			return e
		}
		m.pushNumber(f(n[0], n[1]))
		return none
	}
}

// lockTimeBlocks is the first lock time that is a time, not a height.
const lockTimeBlocks = 500_000_000

// lock reads the top of the stack, which stays there, as a lock time.
func (m *machine) lock() (int64, Error) {
	if len(m.stack) == 0 {
		return 0, ErrInvalidStackOperation
	}
	n, ok := number(m.top(0), lockLen, m.flags&MinimalData != 0)
	switch {
	case !ok:
		return 0, ErrNumber
	case n < 0:
		return 0, ErrNegativeLockTime
	}
	return n, none
}

// checkLockTime is BIP65.
func checkLockTime(m *machine) Error {
	if m.flags&CheckLockTimeVerify == 0 {
		return none
	}
	want, e := m.lock()
	if e != none || m.trusted {
		return e
	}
	have := int64(m.spend.tx.LockTime)
	sameKind := want < lockTimeBlocks == (have < lockTimeBlocks)
	if !sameKind || want > have || m.spend.tx.TxIn[m.index].Sequence == wire.MaxTxInSequenceNum {
		return ErrUnsatisfiedLockTime
	}
	return none
}

// checkSequence is BIP112.
func checkSequence(m *machine) Error {
	if m.flags&CheckSequenceVerify == 0 {
		return none
	}
	want, e := m.lock()
	if e != none || m.trusted || want&wire.SequenceLockTimeDisabled != 0 {
		return e
	}
	const seconds = wire.SequenceLockTimeIsSeconds
	const mask = seconds | wire.SequenceLockTimeMask
	sequence := m.spend.tx.TxIn[m.index].Sequence
	have := int64(sequence & mask)
	want &= mask
	if uint32(m.spend.tx.Version) < 2 || sequence&wire.SequenceLockTimeDisabled != 0 ||
		want < seconds != (have < seconds) || want > have {
		return ErrUnsatisfiedLockTime
	}
	return none
}
