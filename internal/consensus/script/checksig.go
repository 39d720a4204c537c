package script

import "bytes"

// weightOfSig is what a signature takes from the budget of a tapscript, and
// weightBase what that has beside the size of the witness.
const (
	weightOfSig = 50
	weightBase  = 50
)

// checkSig is OP_CHECKSIG and OP_CHECKSIGVERIFY.
func checkSig(m *machine) Error {
	if len(m.stack) < 2 {
		return ErrInvalidStackOperation
	}
	right, e := m.check(m.top(1), m.top(0))
	if e != none {
		return e
	}
	m.drop(2)
	switch {
	case m.op == opCheckSig:
		m.pushBool(right)
	case !right:
		return ErrCheckSigVerify
	}
	return none
}

// checkSigAdd is OP_CHECKSIGADD, which only tapscripts have.
func checkSigAdd(m *machine) Error {
	if m.version != tapscript {
		return ErrBadOpcode
	}
	if len(m.stack) < 3 {
		return ErrInvalidStackOperation
	}
	n, ok := m.number(m.top(1))
	if !ok {
		return ErrNumber
	}
	right, e := m.check(m.top(2), m.top(0))
	if e != none {
		return e
	}
	m.drop(3)
	m.pushNumber(n + fromBool(right))
	return none
}

// check checks a signature by a key. An error ends the script, a wrong signature
// may not.
func (m *machine) check(sig, key []byte) (right bool, e Error) {
	if m.version == tapscript {
		return m.checkTap(sig, key)
	}
	code := m.code
	if m.version == legacy {
		var deleted bool
		code, deleted = withoutPush(code, sig)
		if deleted && m.flags&ConstScriptCode != 0 {
			return false, ErrSigFindAndDelete
		}
	}
	if e = m.checkEncodings(sig, key); e != none {
		return false, e
	}
	right = m.checkECDSA(sig, key, code)
	if !right && m.flags&NullFail != 0 && len(sig) > 0 {
		return false, ErrNullFail
	}
	return right, none
}

func (m *machine) checkEncodings(sig, key []byte) Error {
	if e := m.flags.checkSigEncoding(sig); e != none {
		return e
	}
	return m.flags.checkKeyEncoding(key, m.version)
}

// checkTap checks a signature in a tapscript (BIP342).
func (m *machine) checkTap(sig, key []byte) (right bool, e Error) {
	right = len(sig) > 0
	if right {
		if m.weight -= weightOfSig; m.weight < 0 {
			return false, ErrTapscriptValidationWeight
		}
	}
	switch len(key) {
	case 0:
		return false, ErrEmptyPubKey
	case 32:
		if right {
			e = m.checkSchnorr(sig, key)
		}
		return right, e
	}
	if m.flags&DiscourageUpgradablePubKeyType != 0 {
		return false, ErrDiscourageUpgradablePubKeyType
	}
	return right, none
}

// checkSchnorr checks a signature of taproot, which has to be right.
func (m *machine) checkSchnorr(sig, key []byte) Error {
	if m.trusted && len(sig) > 0 {
		return none
	}
	hashType := byte(0)
	switch len(sig) {
	case 64:
	case 65:
		if hashType = sig[64]; hashType == 0 || m.flags&SignedMessage != 0 && hashType != hashAll {
			return ErrSchnorrSigHashType
		}
	default:
		return ErrSchnorrSigSize
	}
	d := newDigest()
	defer d.release()
	hash, ok := m.spend.taprootHash(d, m.index, hashType, &m.place)
	if !ok {
		return ErrSchnorrSigHashType
	}
	if !verifySchnorr(key, sig[:64], hash[:]) {
		return ErrSchnorrSig
	}
	return none
}

// checkECDSA reports whether a signature, with its hash type behind it, is right.
func (m *machine) checkECDSA(sig, key, code []byte) bool {
	if m.trusted {
		return len(sig) > 0
	}
	if len(sig) == 0 || len(key) != keySize(key) {
		return false
	}
	if m.version == witnessV0 && m.spend.output(m.index).Value < 0 {
		return false // what is spent is not known
	}
	hash := m.ecdsaHash(code, sig[len(sig)-1])
	return VerifyECDSA(key, sig[:len(sig)-1], &hash)
}

// keySize is the size that a key has by its first byte, -1 for no key.
func keySize(key []byte) int {
	if len(key) > 0 {
		switch key[0] {
		case 2, 3:
			return 33
		case 4, 6, 7:
			return 65
		}
	}
	return -1
}

// A cachedHash is what signatures of one kind of hash type have in common.
type cachedHash struct {
	code  []byte
	state midstate
}

// ecdsaHash returns what a signature by ECDSA signs. Many signatures with the same
// script do not hash the transaction as often.
func (m *machine) ecdsaHash(code []byte, hashType byte) [32]byte {
	full := uint32(hashType)
	if m.version == legacy && m.spend.signsNothing(m.index, full) {
		return [32]byte{1}
	}
	d := newDigest()
	defer d.release()
	cached := &m.hashes[kindOf(hashType)]
	if cached.code != nil && bytes.Equal(cached.code, code) {
		cached.state.load(d)
	} else {
		if m.version == legacy {
			m.spend.writeLegacy(d, m.index, code, full)
		} else {
			m.spend.writeWitness(d, m.index, code, full)
		}
		cached.code = code
		cached.state.save(d)
	}
	d.put32(full)
	return d.double()
}

// kindOf numbers what of a transaction the hash types sign, from 0 to 5.
func kindOf(hashType byte) int {
	kind := 0
	switch hashType & legacyOutputMask {
	case hashNone:
		kind = 1
	case hashSingle:
		kind = 2
	}
	if hashType&hashAnyone != 0 {
		kind += 3
	}
	return kind
}

// withoutPush deletes the pushes of a signature from a script, where opcodes
// begin. The result is the script itself where there is none.
func withoutPush(script, sig []byte) (code []byte, deleted bool) {
	needle := appendPush(make([]byte, 0, 80), sig)
	if !bytes.Contains(script, needle) {
		return script, false
	}
	from := 0
	for at := 0; ; {
		if bytes.HasPrefix(script[at:], needle) {
			if !deleted {
				code = make([]byte, 0, len(script))
			}
			deleted = true
			code = append(code, script[from:at]...)
			at += len(needle)
			from = at
			continue
		}
		if at >= len(script) {
			break
		}
		_, _, end, good := next(script, at)
		if !good {
			break
		}
		at = end
	}
	if !deleted {
		return script, false
	}
	return append(code, script[from:]...), true
}
