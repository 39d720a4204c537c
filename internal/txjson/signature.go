package txjson

import (
	"encoding/hex"

	"github.com/btcsuite/btcd/txscript"
)

// hashTypes are the names of the last byte of a signature.
var hashTypes = map[txscript.SigHashType]string{
	txscript.SigHashAll:                                   "ALL",
	txscript.SigHashNone:                                  "NONE",
	txscript.SigHashSingle:                                "SINGLE",
	txscript.SigHashAll | txscript.SigHashAnyOneCanPay:    "ALL|ANYONECANPAY",
	txscript.SigHashNone | txscript.SigHashAnyOneCanPay:   "NONE|ANYONECANPAY",
	txscript.SigHashSingle | txscript.SigHashAnyOneCanPay: "SINGLE|ANYONECANPAY",
}

// HashTypeName returns the name of the last byte of a signature, empty if it has
// none.
func HashTypeName(hashType byte) string { return hashTypes[txscript.SigHashType(hashType)] }

// appendSignature prints a push of an input's script: as hex, or, where it is a
// signature, as hex with the name of the hash type in place of its byte.
func appendSignature(dst, data []byte) []byte {
	last := len(data) - 1
	if name := HashTypeName(data[last]); name != "" && isDER(data[:last]) {
		dst = append(hex.AppendEncode(dst, data[:last]), '[')
		return append(append(dst, name...), ']')
	}
	return hex.AppendEncode(dst, data)
}

// Sizes of a signature in DER, without the hash type.
const minDER, maxDER = 8, 72

// isDER reports whether sig is two integers in strict DER. Their size is not
// compared with the order of the curve.
//
// Source: BIP66.
func isDER(sig []byte) bool {
	const sequence = 0x30
	if len(sig) < minDER || len(sig) > maxDER || sig[0] != sequence || int(sig[1]) != len(sig)-2 {
		return false
	}
	rest, ok := cutInteger(sig[2:])
	if !ok {
		return false
	}
	rest, ok = cutInteger(rest)
	return ok && len(rest) == 0
}

// cutInteger returns what follows the integer that der begins with. The
// integer must be positive and as short as can be.
func cutInteger(der []byte) (rest []byte, ok bool) {
	const integer, sign = 0x02, 0x80
	if len(der) < 3 || der[0] != integer || der[1] == 0 {
		return nil, false
	}
	end := 2 + int(der[1])
	if len(der) < end {
		return nil, false
	}
	digits, rest := der[2:end], der[end:]
	if digits[0]&sign != 0 || len(digits) > 1 && digits[0] == 0 && digits[1]&sign == 0 {
		return nil, false
	}
	return rest, true
}
