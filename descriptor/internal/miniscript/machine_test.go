package miniscript

import (
	"errors"
	"strings"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	ripemd "golang.org/x/crypto/ripemd160" //nolint:staticcheck // what Bitcoin uses
)

// untouchable is an element that no script may look at.
const untouchable = "untouchable"

// errScript reports that a script fails.
var errScript = errors.New("script fails")

// preimage returns the i-th preimage of hashes.
func preimage(i int) string { return strings.Repeat(string(rune('a'+i)), 32) }

// hashOf computes the hash that a fragment is named after.
func hashOf(name, element string) string {
	in := []byte(element)
	switch name {
	case "sha256":
		return string(chainhash.HashB(in))
	case "hash256":
		return string(chainhash.DoubleHashB(in))
	case "hash160":
		return string(btcutil.Hash160(in))
	default:
		h := ripemd.New()
		h.Write(in)
		return string(h.Sum(nil))
	}
}

// signature is the one valid signature of a key.
func signature(key string) string { return "signature of " + key }

// machine runs scripts, by the rules that hold for relayed transactions. All
// lock times are reached. It fails by a panic with errScript.
type machine struct {
	stack, alt []string
	branches   []bool // conditions around, the innermost last
}

// run returns the stack that a script leaves.
func run(script []byte, stack []string) (left []string, err error) {
	m := machine{stack: append([]string{untouchable}, stack...)}
	defer func() {
		if p := recover(); p != nil {
			if p != errScript { //nolint:errorlint // not an error
				panic(p)
			}
			err = errScript
		}
	}()
	t := txscript.MakeScriptTokenizer(0, script)
	for t.Next() {
		m.step(t.Opcode(), t.Data())
	}
	if t.Err() != nil || len(m.branches) > 0 || len(m.stack) == 0 || m.stack[0] != untouchable {
		return nil, errScript
	}
	return m.stack[1:], nil
}

func must(ok bool) {
	if !ok {
		panic(errScript)
	}
}

func (m *machine) pop() string {
	must(len(m.stack) > 0)
	top := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return top
}

func (m *machine) take() string {
	top := m.pop()
	must(top != untouchable)
	return top
}

func (m *machine) push(elements ...string) { m.stack = append(m.stack, elements...) }

func (m *machine) pushBool(b bool) {
	if b {
		m.push("\x01")
		return
	}
	m.push("")
}

func (m *machine) pushNumber(n int) {
	script := appendNumber(nil, n)
	if number, ok := (token{opcode: script[0]}).number(); ok && number <= 16 {
		m.push(strings.TrimRight(string(rune(number)), "\x00"))
		return
	}
	m.push(string(script[1:]))
}

func (m *machine) number() int {
	element := m.take()
	must(len(element) <= 4)
	n := 0
	for i := range len(element) {
		n |= int(element[i]) << (8 * i)
	}
	return n
}

func truth(element string) bool { return strings.Trim(element, "\x00") != "" }

func (m *machine) step(opcode byte, data []byte) {
	if m.control(opcode) {
		return
	}
	switch {
	case data != nil:
		m.push(string(data))
	case opcode == txscript.OP_0 || opcode >= txscript.OP_1 && opcode <= txscript.OP_16:
		n, _ := (token{opcode: opcode}).number()
		m.pushNumber(n)
	case opcode == txscript.OP_EQUALVERIFY || opcode == txscript.OP_NUMEQUALVERIFY ||
		opcode == txscript.OP_CHECKSIGVERIFY || opcode == txscript.OP_CHECKMULTISIGVERIFY:
		m.execute(opcode - 1)
		must(truth(m.take()))
	default:
		m.execute(opcode)
	}
}

// control handles conditions and reports whether the opcode is done with.
func (m *machine) control(opcode byte) bool {
	active := true
	for _, branch := range m.branches {
		active = active && branch
	}
	last := len(m.branches) - 1
	switch opcode {
	case txscript.OP_IF, txscript.OP_NOTIF:
		condition := false
		if active {
			element := m.take()
			must(element == "" || element == "\x01" || opcode == txscript.OP_NOTIF)
			condition = truth(element) == (opcode == txscript.OP_IF)
		}
		m.branches = append(m.branches, condition)
	case txscript.OP_ELSE:
		m.branches[last] = !m.branches[last]
	case txscript.OP_ENDIF:
		m.branches = m.branches[:last]
	default:
		return !active
	}
	return true
}

func (m *machine) execute(opcode byte) {
	switch opcode {
	case txscript.OP_DUP:
		top := m.take()
		m.push(top, top)
	case txscript.OP_IFDUP:
		top := m.take()
		m.push(top)
		if truth(top) {
			m.push(top)
		}
	case txscript.OP_SWAP:
		top, below := m.pop(), m.pop()
		m.push(top, below)
	case txscript.OP_TOALTSTACK:
		m.alt = append(m.alt, m.pop())
	case txscript.OP_FROMALTSTACK:
		m.push(m.alt[len(m.alt)-1])
		m.alt = m.alt[:len(m.alt)-1]
	case txscript.OP_SIZE:
		top := m.take()
		m.push(top)
		m.pushNumber(len(top))
	case txscript.OP_VERIFY:
		must(truth(m.take()))
	case txscript.OP_EQUAL:
		b, a := m.take(), m.take()
		m.pushBool(a == b)
	case txscript.OP_CHECKLOCKTIMEVERIFY, txscript.OP_CHECKSEQUENCEVERIFY:
		must(truth(m.stack[len(m.stack)-1]))
	case txscript.OP_SHA256:
		m.push(hashOf("sha256", m.take()))
	case txscript.OP_HASH256:
		m.push(hashOf("hash256", m.take()))
	case txscript.OP_RIPEMD160:
		m.push(hashOf("ripemd160", m.take()))
	case txscript.OP_HASH160:
		m.push(hashOf("hash160", m.take()))
	default:
		m.executeNumeric(opcode)
	}
}

func (m *machine) executeNumeric(opcode byte) {
	switch opcode {
	case txscript.OP_0NOTEQUAL:
		m.pushBool(m.number() != 0)
	case txscript.OP_ADD:
		m.pushNumber(m.number() + m.number())
	case txscript.OP_BOOLAND:
		b, a := m.number(), m.number()
		m.pushBool(a != 0 && b != 0)
	case txscript.OP_BOOLOR:
		b, a := m.number(), m.number()
		m.pushBool(a != 0 || b != 0)
	case txscript.OP_NUMEQUAL:
		b, a := m.number(), m.number()
		m.pushBool(a == b)
	case txscript.OP_CHECKSIG:
		key := m.take()
		m.pushBool(signed(m.take(), key))
	case txscript.OP_CHECKSIGADD:
		key, n := m.take(), m.number()
		if signed(m.take(), key) {
			n++
		}
		m.pushNumber(n)
	case txscript.OP_CHECKMULTISIG:
		m.checkMultisig()
	default:
		panic("opcode without meaning")
	}
}

// signed reports whether there is a signature, which must not be a wrong one.
func signed(sig, key string) bool {
	must(sig == "" || sig == signature(key))
	return sig != ""
}

func (m *machine) checkMultisig() {
	keys := make([]string, m.number())
	for i := range keys {
		keys[i] = m.take()
	}
	sigs := make([]string, m.number())
	for i := range sigs {
		sigs[i] = m.take()
	}
	must(m.take() == "")
	matched := 0
	for _, key := range keys {
		if matched < len(sigs) && sigs[matched] == signature(key) {
			matched++
		}
	}
	must(matched == len(sigs) || strings.Join(sigs, "") == "")
	m.pushBool(matched == len(sigs))
}
