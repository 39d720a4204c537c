package script

import "github.com/decred/dcrd/dcrec/secp256k1/v4"

// AllowsSignature reports whether a signature by ECDSA with its hash type behind it
// has a form that the rules allow. An empty one is a right way to have none.
func (f Flags) AllowsSignature(sig []byte) bool { return f.checkSigEncoding(sig) == none }

// checkSigEncoding returns the first error in the form of a signature by ECDSA
// with its hash type behind it. An empty one is a right way to have none.
func (f Flags) checkSigEncoding(sig []byte) Error {
	if len(sig) == 0 || f&(DERSig|LowS|StrictEnc) == 0 {
		return none
	}
	if !strictDER(sig) {
		return ErrSigDER
	}
	if f&LowS != 0 && highS(sig[:len(sig)-1]) {
		return ErrSigHighS
	}
	if hashType := sig[len(sig)-1] &^ hashAnyone; f&StrictEnc != 0 && (hashType < hashAll || hashType > hashSingle) {
		return ErrSigHashType
	}
	if f&SignedMessage != 0 && sig[len(sig)-1] != hashAll {
		return ErrSigHashType
	}
	return none
}

// strictDER reports whether a signature, with its hash type behind it, has the form
// of BIP66.
func strictDER(sig []byte) bool {
	const overhead = 7 // tags, lengths and hash type
	if len(sig) < overhead+2 || len(sig) > 73 || sig[0] != 0x30 || int(sig[1]) != len(sig)-3 {
		return false
	}
	sizeR := int(sig[3])
	if 5+sizeR >= len(sig) {
		return false
	}
	sizeS := int(sig[5+sizeR])
	if sizeR+sizeS+overhead != len(sig) {
		return false
	}
	return strictInteger(sig[2], sig[4:4+sizeR]) && strictInteger(sig[4+sizeR], sig[6+sizeR:6+sizeR+sizeS])
}

// strictInteger reports whether bytes are a positive integer of the shortest form.
func strictInteger(tag byte, b []byte) bool {
	if tag != 2 || len(b) == 0 || b[0]&0x80 != 0 {
		return false
	}
	return len(b) == 1 || b[0] != 0 || b[1]&0x80 != 0
}

// highS reports whether S of a signature is above half of the order. A signature
// that has no meaning has no high S.
func highS(der []byte) bool {
	var r, s secp256k1.ModNScalar
	return laxDER(der, &r, &s) && s.IsOverHalfOrder()
}

// laxDER reads a signature as OpenSSL once did: lengths may be longer than needed,
// integers may have zeros before them, negative ones are read as positive, and
// something may come behind. It reports false where there is no signature, or
// where its numbers do not fit the curve: such a signature never verifies.
func laxDER(b []byte, r, s *secp256k1.ModNScalar) bool {
	if len(b) == 0 || b[0] != 0x30 {
		return false
	}
	b = b[1:]
	if len(b) == 0 {
		return false
	}
	size := int(b[0])
	b = b[1:]
	if size >= 0x80 { // the size itself is not looked at
		if size -= 0x80; size > len(b) {
			return false
		}
		b = b[size:]
	}
	first, b, ok := laxInteger(b)
	if !ok {
		return false
	}
	second, _, ok := laxInteger(b)
	return ok && setScalar(r, first) && setScalar(s, second)
}

// laxInteger reads an integer and returns what is behind it.
func laxInteger(b []byte) (integer, rest []byte, ok bool) {
	if len(b) < 2 || b[0] != 2 {
		return nil, nil, false
	}
	size := int(b[1])
	b = b[2:]
	if size >= 0x80 {
		digits := size - 0x80
		if digits > len(b) {
			return nil, nil, false
		}
		size = 0
		for _, c := range b[:digits] {
			if size >= 1<<16 { // no zero before it, and three digits are the most
				return nil, nil, false
			}
			size = size<<8 | int(c)
		}
		b = b[digits:]
	}
	if size > len(b) {
		return nil, nil, false
	}
	return b[:size], b[size:], true
}

// setScalar reports whether an integer is below the order of the curve.
func setScalar(n *secp256k1.ModNScalar, b []byte) bool {
	for len(b) > 0 && b[0] == 0 {
		b = b[1:]
	}
	return len(b) <= 32 && !n.SetByteSlice(b)
}

// checkKeyEncoding returns the error in the form of a key for ECDSA.
func (f Flags) checkKeyEncoding(key []byte, version version) Error {
	if f&StrictEnc != 0 && !compressed(key) && (len(key) != 65 || key[0] != 4) {
		return ErrPubKeyType
	}
	if f&WitnessPubKeyType != 0 && version == witnessV0 && !compressed(key) {
		return ErrWitnessPubKeyType
	}
	return none
}

func compressed(key []byte) bool {
	return len(key) == 33 && (key[0] == 2 || key[0] == 3)
}
