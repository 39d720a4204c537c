package script

import "slices"

// checkMultiSig is OP_CHECKMULTISIG and OP_CHECKMULTISIGVERIFY.
func checkMultiSig(m *machine) Error {
	if m.version == tapscript {
		return ErrTapscriptCheckMultiSig
	}
	keys, sigs, e := m.multiSig()
	if e != none {
		return e
	}
	code := m.code
	if m.version == legacy {
		for _, sig := range slices.Backward(sigs) {
			var deleted bool
			if code, deleted = withoutPush(code, sig); deleted && m.flags&ConstScriptCode != 0 {
				return ErrSigFindAndDelete
			}
		}
	}
	right, e := m.matchSigs(sigs, keys, code)
	if e != none {
		return e
	}
	if !right && m.flags&NullFail != 0 {
		for _, sig := range sigs {
			if len(sig) > 0 {
				return ErrNullFail
			}
		}
	}
	m.drop(len(keys) + len(sigs) + 2)
	if dummy := m.pop(); m.flags&NullDummy != 0 && len(dummy) > 0 {
		return ErrSigNullDummy
	}
	switch {
	case m.op == opCheckMultiSig:
		m.pushBool(right)
	case !right:
		return ErrCheckMultiSigVerify
	}
	return none
}

// multiSig reads the keys and signatures of a multisig script, which stay on the
// stack, in the order in which they were pushed.
func (m *machine) multiSig() (keys, sigs [][]byte, e Error) {
	top := len(m.stack)
	if top < 1 {
		return nil, nil, ErrInvalidStackOperation
	}
	n, ok := m.number(m.stack[top-1])
	switch {
	case !ok:
		return nil, nil, ErrNumber
	case n < 0 || n > maxKeys:
		return nil, nil, ErrPubKeyCount
	}
	if m.ops += int(n); m.ops > maxOps {
		return nil, nil, ErrOpCount
	}
	first := top - 1 - int(n)
	if first < 1 {
		return nil, nil, ErrInvalidStackOperation
	}
	keys = m.stack[first : top-1]
	n, ok = m.number(m.stack[first-1])
	switch {
	case !ok:
		return nil, nil, ErrNumber
	case n < 0 || n > int64(len(keys)):
		return nil, nil, ErrSigCount
	}
	if first-1 < int(n)+1 { // an item more than the signatures is taken
		return nil, nil, ErrInvalidStackOperation
	}
	return keys, m.stack[first-1-int(n) : first-1], none
}

// matchSigs reports whether each of the signatures is by one of the keys, in their
// order. They are compared from the last on.
func (m *machine) matchSigs(sigs, keys [][]byte, code []byte) (bool, Error) {
	for len(sigs) > 0 {
		if len(sigs) > len(keys) {
			return false, none
		}
		sig, key := sigs[len(sigs)-1], keys[len(keys)-1]
		if e := m.checkEncodings(sig, key); e != none {
			return false, e
		}
		if m.checkECDSA(sig, key, code) {
			sigs = sigs[:len(sigs)-1]
		}
		keys = keys[:len(keys)-1]
	}
	return true, none
}
