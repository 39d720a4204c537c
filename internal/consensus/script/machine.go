package script

import "sync"

// Limits of scripts.
const (
	maxScript = 10_000 // but for tapscripts
	maxPush   = 520
	maxOps    = 201 // but for tapscripts
	maxStack  = 1000
	maxKeys   = 20 // of a multisig script
)

// version is the kind of a script, by which some opcodes mean something else.
type version uint8

const (
	legacy version = iota
	witnessV0
	tapscript
)

// A machine verifies one input. It is scratch memory, taken from a pool.
type machine struct {
	spend *Spend
	index int
	flags Flags

	// Of the script that is executed.
	version version
	code    []byte // from the last OP_CODESEPARATOR that was executed
	rest    []byte // after the opcode that is executed
	op      byte
	pos     uint32 // number of the opcode
	ops     int    // opcodes that count
	depth   int    // open conditions
	skipped int    // the outermost of them whose branch is not taken, from 1; 0: all are taken
	place   tapPlace
	leaf    [32]byte
	weight  int64 // left for signatures of a tapscript
	trusted bool  // signatures and lock times are taken for right: see Spend.TrustInput

	stack, alt, saved [][]byte
	free              []byte // memory for items that are computed
	hashes            [6]cachedHash
}

var machines = sync.Pool{New: func() any { return new(machine) }}

func newMachine(s *Spend, i int, flags Flags) *machine {
	m := machines.Get().(*machine)
	m.spend, m.index, m.flags = s, i, flags
	return m
}

// release gives the machine back. It keeps no memory of the verified spend.
func (m *machine) release() {
	m.stack, m.alt, m.saved = emptied(m.stack), emptied(m.alt), emptied(m.saved)
	for i := range m.hashes {
		m.hashes[i].code = nil
	}
	m.trusted = false
	m.spend, m.code, m.rest, m.place, m.free = nil, nil, nil, tapPlace{}, m.free[:0]
	machines.Put(m)
}

// emptied returns the memory of a stack, if it is not much.
func emptied(stack [][]byte) [][]byte {
	const much = 64
	if cap(stack) > much {
		return nil
	}
	clear(stack[:cap(stack)])
	return stack[:0]
}

// run executes a script on the stack that there is.
func (m *machine) run(script []byte, v version) Error {
	if v != tapscript && len(script) > maxScript {
		return ErrScriptSize
	}
	m.version, m.code, m.alt = v, script, m.alt[:0]
	m.ops, m.depth, m.skipped, m.pos = 0, 0, 0, 0
	m.place.separator = NoSeparator
	for at := 0; at < len(script); m.pos++ {
		op, data, end, good := next(script, at)
		if !good {
			return ErrBadOpcode
		}
		at = end
		m.op, m.rest = op, script[end:]
		if e := m.step(op, data); e != none {
			return e
		}
		if len(m.stack)+len(m.alt) > maxStack {
			return ErrStackSize
		}
	}
	if m.depth > 0 {
		return ErrUnbalancedConditional
	}
	return none
}

// step executes one opcode, or passes over it in a branch that is not taken.
func (m *machine) step(op byte, data []byte) Error {
	if len(data) > maxPush {
		return ErrPushSize
	}
	if op > op16 {
		if e := m.admit(op); e != none {
			return e
		}
	}
	taken := m.skipped == 0
	switch {
	case op >= opIf && op <= opEndIf:
		return m.branch(op, taken)
	case !taken:
		return none
	case op <= opPushData4:
		if m.flags&MinimalData != 0 && !shortest(op, data) {
			return ErrMinimalData
		}
		m.push(data)
		return none
	}
	if do := operations[op]; do != nil {
		return do(m)
	}
	return ErrBadOpcode
}

// admit refuses opcodes that break a script even where they are not executed.
func (m *machine) admit(op byte) Error {
	if m.version != tapscript {
		if m.ops++; m.ops > maxOps {
			return ErrOpCount
		}
	}
	if disabled(op) {
		return ErrDisabledOpcode
	}
	if op == opCodeSeparator && (m.version == legacy && m.flags&ConstScriptCode != 0 || m.flags&SignedMessage != 0) {
		return ErrOpCodeSeparator
	}
	return none
}

// branch executes the opcodes of conditions.
func (m *machine) branch(op byte, taken bool) Error {
	switch op {
	case opIf, opNotIf:
		m.depth++
		if !taken {
			return none
		}
		if len(m.stack) == 0 {
			return ErrNoCondition
		}
		condition := m.pop()
		if e := m.checkCondition(condition); e != none {
			return e
		}
		if truth(condition) == (op == opNotIf) {
			m.skipped = m.depth
		}
	case opElse:
		switch {
		case m.depth == 0:
			return ErrUnbalancedConditional
		case m.skipped == 0:
			m.skipped = m.depth
		case m.skipped == m.depth:
			m.skipped = 0
		}
	case opEndIf:
		if m.depth == 0 {
			return ErrUnbalancedConditional
		}
		if m.skipped == m.depth {
			m.skipped = 0
		}
		m.depth--
	default: // OP_VERIF and OP_VERNOTIF, taken or not
		return ErrBadOpcode
	}
	return none
}

func (m *machine) checkCondition(condition []byte) Error {
	minimal := len(condition) == 0 || len(condition) == 1 && condition[0] == 1
	switch {
	case minimal:
		return none
	case m.version == tapscript:
		return ErrTapscriptMinimalIf
	case m.version == witnessV0 && m.flags&MinimalIf != 0:
		return ErrMinimalIf
	}
	return none
}

func (m *machine) push(item []byte) { m.stack = append(m.stack, item) }

// pop takes the top item; the caller has made sure that there is one.
func (m *machine) pop() []byte {
	top := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return top
}

// drop takes the top n items.
func (m *machine) drop(n int) { m.stack = m.stack[:len(m.stack)-n] }

// top returns the item so far from the top, 0 for the top itself.
func (m *machine) top(depth int) []byte { return m.stack[len(m.stack)-1-depth] }

func (m *machine) number(item []byte) (int64, bool) {
	return number(item, numberLen, m.flags&MinimalData != 0)
}

// room returns empty memory for an item of at most n bytes, which is small.
func (m *machine) room(n int) []byte {
	const chunk = 1024
	if cap(m.free)-len(m.free) < n {
		m.free = make([]byte, 0, chunk)
	}
	at := len(m.free)
	m.free = m.free[:at+n]
	return m.free[at : at : at+n]
}

func (m *machine) pushNumber(n int64) { m.push(appendNumber(m.room(9), n)) }

var one = []byte{1}

func (m *machine) pushBool(b bool) {
	if b {
		m.push(one)
	} else {
		m.push(nil)
	}
}
