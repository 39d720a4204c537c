package vm

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"slices"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // OP_RIPEMD160
)

// An operation works on the stack alone.
type operation func(*machine) error

// operations are those opcodes, by their number.
var operations = [256]operation{
	0x61: func(*machine) error { return nil }, // OP_NOP
	0x69: verify(1, func(m *machine) bool { return truth(m.pop()) }, ErrVerify),
	0x6b: needs(1, func(m *machine) { m.alt = append(m.alt, m.pop()) }),
	0x6c: fromAlt,
	0x6d: needs(2, func(m *machine) { m.stack = m.stack[:len(m.stack)-2] }),
	0x6e: needs(2, func(m *machine) { m.stack = append(m.stack, m.top(1), m.top(0)) }),
	0x6f: needs(3, func(m *machine) { m.stack = append(m.stack, m.top(2), m.top(1), m.top(0)) }),
	0x70: needs(4, func(m *machine) { m.stack = append(m.stack, m.top(3), m.top(2)) }),
	0x71: needs(6, func(m *machine) { m.roll(5); m.roll(5) }),
	0x72: needs(4, func(m *machine) { m.roll(3); m.roll(3) }),
	0x73: needs(1, func(m *machine) {
		if truth(m.top(0)) {
			m.push(m.top(0))
		}
	}),
	0x74: needs(0, func(m *machine) { m.push(encode(int64(len(m.stack)))) }),
	0x75: needs(1, func(m *machine) { m.pop() }),
	0x76: needs(1, func(m *machine) { m.push(m.top(0)) }),
	0x77: needs(2, func(m *machine) { m.roll(1); m.pop() }),
	0x78: needs(2, func(m *machine) { m.push(m.top(1)) }),
	0x79: pick(func(m *machine, depth int) { m.push(m.top(depth)) }),
	0x7a: pick(func(m *machine, depth int) { m.roll(depth) }),
	0x7b: needs(3, func(m *machine) { m.roll(2) }),
	0x7c: needs(2, func(m *machine) { m.roll(1) }),
	0x7d: needs(2, func(m *machine) { m.stack = slices.Insert(m.stack, len(m.stack)-2, m.top(0)) }),
	0x82: needs(1, func(m *machine) { m.push(encode(int64(len(m.top(0))))) }),
	0x87: needs(2, func(m *machine) { m.push(fromBool(bytes.Equal(m.pop(), m.pop()))) }),
	0x88: verify(2, func(m *machine) bool { return bytes.Equal(m.pop(), m.pop()) }, ErrEqualVerify),
	0x8b: oneNumber(func(a int64) int64 { return a + 1 }),
	0x8c: oneNumber(func(a int64) int64 { return a - 1 }),
	0x8f: oneNumber(func(a int64) int64 { return -a }),
	0x90: oneNumber(func(a int64) int64 { return max(a, -a) }),
	0x91: oneNumber(func(a int64) int64 { return fromTruth(a == 0) }),
	0x92: oneNumber(func(a int64) int64 { return fromTruth(a != 0) }),
	0x93: twoNumbers(func(a, b int64) int64 { return a + b }),
	0x94: twoNumbers(func(a, b int64) int64 { return a - b }),
	0x9a: twoNumbers(func(a, b int64) int64 { return fromTruth(a != 0 && b != 0) }),
	0x9b: twoNumbers(func(a, b int64) int64 { return fromTruth(a != 0 || b != 0) }),
	0x9c: twoNumbers(func(a, b int64) int64 { return fromTruth(a == b) }),
	0x9d: numEqualVerify,
	0x9e: twoNumbers(func(a, b int64) int64 { return fromTruth(a != b) }),
	0x9f: twoNumbers(func(a, b int64) int64 { return fromTruth(a < b) }),
	0xa0: twoNumbers(func(a, b int64) int64 { return fromTruth(a > b) }),
	0xa1: twoNumbers(func(a, b int64) int64 { return fromTruth(a <= b) }),
	0xa2: twoNumbers(func(a, b int64) int64 { return fromTruth(a >= b) }),
	0xa3: twoNumbers(func(a, b int64) int64 { return min(a, b) }),
	0xa4: twoNumbers(func(a, b int64) int64 { return max(a, b) }),
	0xa5: within,
	0xa6: hashed(func(b []byte) []byte { h := ripemd160.New(); h.Write(b); return h.Sum(nil) }),
	0xa7: hashed(func(b []byte) []byte { sum := sha1.Sum(b); return sum[:] }),
	0xa8: hashed(func(b []byte) []byte { sum := sha256.Sum256(b); return sum[:] }),
	0xa9: hashed(btcutil.Hash160),
	0xaa: hashed(chainhash.DoubleHashB),
}

// needs is an operation that cannot fail on a stack of at least n items.
func needs(n int, do func(*machine)) operation {
	return func(m *machine) error {
		if len(m.stack) < n {
			return ErrStackOperation
		}
		do(m)
		return nil
	}
}

// verify ends the script where something does not hold of n items, which it takes.
func verify(n int, holds func(*machine) bool, err error) operation {
	return func(m *machine) error {
		if len(m.stack) < n {
			return ErrStackOperation
		}
		if !holds(m) {
			return err
		}
		return nil
	}
}

func fromAlt(m *machine) error {
	if len(m.alt) == 0 {
		return ErrAltStack
	}
	m.push(m.alt[len(m.alt)-1])
	m.alt = m.alt[:len(m.alt)-1]
	return nil
}

// roll moves the item so far from the top to the top.
func (m *machine) roll(depth int) {
	at := len(m.stack) - 1 - depth
	item := m.stack[at]
	m.stack = append(slices.Delete(m.stack, at, at+1), item)
}

// pick takes a depth from the stack and does something with the item there.
func pick(do func(m *machine, depth int)) operation {
	return func(m *machine) error {
		if len(m.stack) < 2 {
			return ErrStackOperation
		}
		depth, err := m.number(m.pop())
		if err != nil {
			return err
		}
		if depth < 0 || depth >= int64(len(m.stack)) {
			return ErrStackOperation
		}
		do(m, int(depth))
		return nil
	}
}

func hashed(hash func([]byte) []byte) operation {
	return needs(1, func(m *machine) { m.push(hash(m.pop())) })
}

func fromTruth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// numbers reads the top n items as numbers, the lowest first, and takes them.
func (m *machine) numbers(n int) ([]int64, error) {
	if len(m.stack) < n {
		return nil, ErrStackOperation
	}
	read := make([]int64, n)
	for i := range read {
		var err error
		if read[i], err = m.number(m.top(n - 1 - i)); err != nil {
			return nil, err
		}
	}
	m.stack = m.stack[:len(m.stack)-n]
	return read, nil
}

func oneNumber(f func(a int64) int64) operation {
	return func(m *machine) error {
		n, err := m.numbers(1)
		if err == nil {
			m.push(encode(f(n[0])))
		}
		return err
	}
}

func twoNumbers(f func(a, b int64) int64) operation {
	return func(m *machine) error {
		n, err := m.numbers(2)
		if err == nil {
			m.push(encode(f(n[0], n[1])))
		}
		return err
	}
}

func numEqualVerify(m *machine) error {
	n, err := m.numbers(2)
	if err == nil && n[0] != n[1] {
		return ErrNumEqualVerify
	}
	return err
}

func within(m *machine) error {
	n, err := m.numbers(3)
	if err == nil {
		m.push(fromBool(n[1] <= n[0] && n[0] < n[2]))
	}
	return err
}
