package blockfile

import (
	"math"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// Codes of scripts that are stored short (Core's compressor.cpp). Any other
// script is stored as its length plus specialScripts, followed by its bytes.
const (
	codePubKeyHash = 0 // 20 bytes: hash
	codeScriptHash = 1 // 20 bytes: hash
	codePubKeyEven = 2 // 32 bytes: x; 3 is the odd key
	codePubKeyFull = 4 // 32 bytes: x; pays to the uncompressed key, 5 is the odd one
	specialScripts = 6
)

// maxScriptSize is the length above which a script cannot be spent; Core reads
// such a script as a lone OP_RETURN.
const maxScriptSize = 10_000

// Opcodes of the special scripts.
const (
	opReturn      = 0x6a
	opDup         = 0x76
	opEqual       = 0x87
	opEqualVerify = 0x88
	opHash160     = 0xa9
	opCheckSig    = 0xac
)

// appendAmount appends an amount in satoshis: decimal zeros at its end cost
// nothing.
func appendAmount(dst []byte, amount uint64) []byte {
	if amount == 0 {
		return appendVarInt(dst, 0)
	}
	var zeros uint64
	for amount%10 == 0 && zeros < 9 {
		amount /= 10
		zeros++
	}
	if zeros == 9 {
		return appendVarInt(dst, 1+(amount-1)*10+9)
	}
	return appendVarInt(dst, 1+(amount/10*9+amount%10-1)*10+zeros)
}

// amount reads what appendAmount wrote.
func (c *cursor) amount() int64 {
	x := c.varInt(math.MaxUint64)
	if x == 0 {
		return 0
	}
	x--
	zeros := x % 10
	x /= 10 // below 2^61, so that n fits
	n := x + 1
	if zeros < 9 {
		n = x/9*10 + x%9 + 1
	}
	for range zeros {
		if n > math.MaxInt64/10 {
			c.fail("amount out of range")
			return 0
		}
		n *= 10
	}
	return int64(n)
}

// appendScript appends an output script in its short form.
func appendScript(dst, script []byte) []byte {
	switch {
	case isPubKeyHash(script):
		return append(append(dst, codePubKeyHash), script[3:23]...)
	case isScriptHash(script):
		return append(append(dst, codeScriptHash), script[2:22]...)
	case isPubKey(script):
		return append(dst, script[1:34]...) // the key's first byte is the code
	case isFullPubKey(script):
		return append(append(dst, codePubKeyFull|script[65]&1), script[2:34]...)
	}
	dst = appendVarInt(dst, uint64(len(script))+specialScripts)
	return append(dst, script...)
}

func isPubKeyHash(s []byte) bool {
	return len(s) == 25 && s[0] == opDup && s[1] == opHash160 && s[2] == 20 && s[23] == opEqualVerify &&
		s[24] == opCheckSig
}

func isScriptHash(s []byte) bool {
	return len(s) == 23 && s[0] == opHash160 && s[1] == 20 && s[22] == opEqual
}

// isPubKey does not ask whether the key is on the curve: the script comes back
// the same either way.
func isPubKey(s []byte) bool {
	return len(s) == 35 && s[0] == 33 && (s[1] == 2 || s[1] == 3) && s[34] == opCheckSig
}

// isFullPubKey asks for a key on the curve, since y is restored from x.
func isFullPubKey(s []byte) bool {
	if len(s) != 67 || s[0] != 65 || s[1] != 4 || s[66] != opCheckSig {
		return false
	}
	_, err := secp256k1.ParsePubKey(s[1:66])
	return err == nil
}

// script reads what appendScript wrote and appends the script to dst. An
// uncompressed key that is not on the curve gives an empty script, as in Core.
func (c *cursor) script(dst []byte) []byte {
	code := c.varInt(math.MaxUint32)
	switch code {
	case codePubKeyHash:
		dst = append(dst, opDup, opHash160, 20)
		return append(append(dst, c.take(20)...), opEqualVerify, opCheckSig)
	case codeScriptHash:
		dst = append(dst, opHash160, 20)
		return append(append(dst, c.take(20)...), opEqual)
	case codePubKeyEven, codePubKeyEven + 1:
		dst = append(dst, 33, byte(code))
		return append(append(dst, c.take(32)...), opCheckSig)
	case codePubKeyFull, codePubKeyFull + 1:
		return appendFullPubKey(dst, byte(code-2), c.take(32))
	}
	script := c.take(code - specialScripts)
	if len(script) > maxScriptSize {
		return append(dst, opReturn)
	}
	return append(dst, script...)
}

// appendFullPubKey appends the script that pays to the uncompressed form of a
// key given as 2 or 3 and x; nothing when there is no such key.
func appendFullPubKey(dst []byte, parity byte, x []byte) []byte {
	var compressed [33]byte
	compressed[0] = parity
	copy(compressed[1:], x)
	key, err := secp256k1.ParsePubKey(compressed[:])
	if err != nil {
		return dst
	}
	dst = append(append(dst, 65), key.SerializeUncompressed()...)
	return append(dst, opCheckSig)
}

// skipScript passes over a script.
func (c *cursor) skipScript() {
	switch code := c.varInt(math.MaxUint32); code {
	case codePubKeyHash, codeScriptHash:
		c.take(20)
	case codePubKeyEven, codePubKeyEven + 1, codePubKeyFull, codePubKeyFull + 1:
		c.take(32)
	default:
		c.take(code - specialScripts)
	}
}
