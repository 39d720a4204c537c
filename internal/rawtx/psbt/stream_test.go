package psbt_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

const (
	endOfData = "DataStream::read(): end of data: iostream error"
	wrongSize = "Size of value was not the stated size: iostream error"
	tooLarge  = "ReadCompactSize(): size too large: iostream error"
)

var (
	zeros = strings.Repeat("\x00", 100)
	ones  = strings.Repeat("\xff", 100)

	// A PSBT with an input and an output, up to the end of its global map, and up
	// to the end of its input map.
	inInput  = "psbt\xff\x01\x00\x3c\x02\x00\x00\x00\x01" + zeros[:36] + "\x00" + zeros[:4] + "\x01" + zeros[:8] + "\x00" + zeros[:4] + "\x00"
	inOutput = inInput + "\x00"

	pubKey = "\x02" + string(point)
)

// decoded is what becomes of a PSBT: the words of its error, or nothing.
func decoded(raw string) string {
	if _, err := psbt.Decode(base64.StdEncoding.EncodeToString([]byte(raw))); err != nil {
		return err.Error()
	}
	return ""
}

// A value with a form of its own is read in place, whatever its stated size. An
// error in its content comes first, then a wrong size. The error "end of data"
// comes only if no bytes follow, or if a value without a form is not there whole.
func TestStatedSize(t *testing.T) {
	xpub := "\x01" + zeros[:45] + pubKey
	for name, test := range map[string]struct{ raw, want string }{
		"whole": {inOutput + "\x00", ""},

		"unsigned tx, nothing":         {"psbt\xff\x01\x00\x00", endOfData},
		"unsigned tx, too short":       {"psbt\xff\x01\x00\x00" + zeros[:20], wrongSize},
		"unsigned tx, beyond the end":  {"psbt\xff\x01\x00\xfd\xff\x00" + zeros[:20], wrongSize},
		"unsigned tx, count too large": {"psbt\xff\x01\x00\x04\x02\x00\x00\x00\xff" + ones[:20], tooLarge},
		"unsigned tx, script of the first of many inputs": {
			"psbt\xff\x01\x00\x80\x02\x00\x00\x00\x63" + zeros[:36] + ones[:20], tooLarge,
		},
		"unsigned tx, many inputs": {"psbt\xff\x01\x00\x80\x02\x00\x00\x00\x63" + zeros[:41], endOfData},
		"xpub, beyond the end":     {"psbt\xff\x4f" + xpub + "\x08" + zeros[:7], endOfData},
		"xpub, no size of a path":  {"psbt\xff\x4f" + xpub + "\x09", "Invalid length for HD key path: iostream error"},
		"version, too short":       {"psbt\xff\x01\xfb\x05" + zeros[:4], wrongSize},
		"version, at the end":      {"psbt\xff\x01\xfb\x04" + zeros[:3], endOfData},
		"version, of a wrong size": {"psbt\xff\x01\xfb\x05" + ones[:4], wrongSize},
		"version, unknown":         {"psbt\xff\x01\xfb\x04" + ones[:4], "Unsupported version number: iostream error"},

		"tx, beyond the end": {inInput + "\x01\x00\xfd\xff\x00" + zeros[:4] + "\x00\x00\x00" + zeros[:4], wrongSize},
		"tx, superfluous witness": {
			inInput + "\x01\x00\xfd\xff\x00" + zeros[:4] + "\x00\x01\x00\x00" + zeros[:4],
			"Superfluous witness record: iostream error",
		},
		"output, beyond the end":  {inInput + "\x01\x01\x70" + zeros[:9], wrongSize},
		"output, at the end":      {inInput + "\x01\x01\x09" + zeros[:8], endOfData},
		"sighash, beyond the end": {inInput + "\x01\x03\x05" + zeros[:4], wrongSize},
		"sighash, at the end":     {inInput + "\x01\x03\x03" + zeros[:3], endOfData},
		"redeem script":           {inInput + "\x01\x04\x05" + zeros[:4], endOfData},
		"derivation, at the end":  {inInput + "\x22\x06" + pubKey + "\x08" + zeros[:4], endOfData},
		"derivation, no size":     {inInput + "\x22\x06" + pubKey + "\x00", "Invalid length for HD key path: iostream error"},
		"final script":            {inInput + "\x01\x07\x05" + zeros[:4], endOfData},
		"witness, beyond the end": {inInput + "\x01\x08\x70\x01\x01\x00", wrongSize},
		"witness, item too large": {inInput + "\x01\x08\x70\x63" + ones[:9], tooLarge},
		"preimage":                {inInput + "\x15\x0a" + zeros[:20] + "\x05" + zeros[:4], endOfData},
		"tap leaves, longer": {
			inInput + "\x21\x16" + string(point) + "\x20\x01" + zeros[:32],
			"Input Taproot BIP32 keypath has an invalid length: iostream error",
		},
		"tap leaves, at the end": {inInput + "\x21\x16" + string(point) + "\x25\x02" + zeros[:36], endOfData},
		"tap leaves, no origin": {
			inInput + "\x21\x16" + string(point) + "\x21\x01" + zeros[:32],
			"Invalid length for HD key path: iostream error",
		},
		"tap leaves, origin's end":  {inInput + "\x21\x16" + string(point) + "\x29\x01" + zeros[:36], endOfData},
		"internal key, too long":    {inInput + "\x01\x17\x21" + zeros[:32], wrongSize},
		"internal key, at the end":  {inInput + "\x01\x17\x21" + zeros[:31], endOfData},
		"merkle root, at the end":   {inInput + "\x01\x18\x00" + zeros[:31], endOfData},
		"musig signature, too long": {inInput + "\x43\x1c" + pubKey + pubKey + "\x21" + zeros[:32], wrongSize},
		"output's internal key":     {inOutput + "\x01\x05\x21" + zeros[:32], wrongSize},
		"output's tap leaves": {
			inOutput + "\x21\x07" + string(point) + "\x20\x01" + zeros[:32],
			"Output Taproot BIP32 keypath has an invalid length: iostream error",
		},
		"output's tap tree": {inOutput + "\x01\x06\x05" + zeros[:4], endOfData},
		"unknown":           {inOutput + "\x01\x70\x05" + zeros[:4], endOfData},
	} {
		if got := decoded(test.raw); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
	// The text has padding, which is no data.
	const padded = "cHNidP8BAFMCAAAAAAJoEAZdAQAAABepFDaxm48cEuOHRi059p3JNI85qCKHhwAAAAAAAAAAJGoeAiSwhZpWP5s5m0oBzL9Ixm" +
		"OCDHizy6cI+cNl2ch8O4AAUQAAAA=="
	if _, err := psbt.Decode(padded); err == nil || err.Error() != endOfData {
		t.Errorf("got %v", err)
	}
}

// Numbers of a signature may be any, and an extended key that is derived from
// nothing has no parent and no number.
func TestForms(t *testing.T) {
	xpub := func(depth, parent, number byte) string {
		key := []byte("psbt\xff\x4f\x01" + zeros[:45] + pubKey)
		key[11], key[12], key[19] = depth, parent, number
		return string(key) + "\x04" + zeros[:4] + strings.TrimPrefix(inOutput, "psbt\xff") + "\x00"
	}
	signature := func(value string) string {
		return inInput + "\x22\x02" + pubKey + string(rune(len(value))) + value + "\x00\x00"
	}
	const (
		invalidKey       = "Invalid pubkey: iostream error"
		invalidSignature = "Signature is not a valid encoding: iostream error"
	)
	for name, test := range map[string]struct{ raw, want string }{
		"master":               {xpub(0, 0, 0), ""},
		"child":                {xpub(1, 1, 1), ""},
		"master with a parent": {xpub(0, 1, 0), invalidKey},
		"master with a number": {xpub(0, 0, 1), invalidKey},

		"signature of small numbers": {signature("\x30\x06\x02\x01\x01\x02\x01\x01\x01"), ""},
		"R beyond the order":         {signature("\x30\x26\x02\x21\x02" + ones[:32] + "\x02\x01\x01\x83"), ""},
		"negative R":                 {signature("\x30\x06\x02\x01\x81\x02\x01\x01\x01"), invalidSignature},
		"unknown hash type":          {signature("\x30\x06\x02\x01\x01\x02\x01\x01\x04"), invalidSignature},
		"no signature":               {signature(""), invalidSignature},
	} {
		if got := decoded(test.raw); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}

// Public keys of MuSig2 that have not the form of one are all the same, and the
// first of the same fields stays. So does a leaf of zeros, which is none.
func TestLooseKeys(t *testing.T) {
	nonce := func(leaf, value string) string {
		return string(rune(67+len(leaf))) + "\x1b" + pubKey + zeros[:33] + leaf + "\x42" + strings.Repeat(value, 66)
	}
	p, err := psbt.Decode(base64.StdEncoding.EncodeToString([]byte(inInput +
		nonce(ones[:32], "4") + nonce("", "1") + nonce(zeros[:32], "2") +
		"\x22\x1a" + zeros[:33] + "\x21" + pubKey + "\x22\x1a\x05" + ones[:32] + "\x00" +
		"\x00\x00")))
	if err != nil {
		t.Fatal(err)
	}
	nonces, participants := p.Inputs[0].Of(psbt.MusigPubNonce), p.Inputs[0].Of(psbt.MusigParticipants)
	if len(nonces) != 2 || nonces[0].Value[0] != '1' || string(nonces[0].Data) != pubKey+ones[:33] ||
		nonces[1].Value[0] != '4' || string(nonces[1].Data) != pubKey+ones[:33]+ones[:32] {
		t.Errorf("nonces: %x", nonces)
	}
	if len(participants) != 1 || string(participants[0].Value) != pubKey || psbt.IsKey(participants[0].Data) {
		t.Errorf("participants: %x", participants)
	}
}

// A duplicate is not always found by the whole key.
func TestTwice(t *testing.T) {
	xpub := func(depth, chainCode byte) string {
		key := []byte("\x4f\x01" + zeros[:45] + pubKey)
		key[6], key[15] = depth, chainCode
		return string(key) + "\x04" + zeros[:4]
	}
	version := "\x01\xfb\x04" + zeros[:4]
	end := strings.TrimPrefix(inOutput, "psbt\xff") + "\x00"
	for name, test := range map[string]struct{ raw, want string }{
		"xpub":              {"psbt\xff" + xpub(0, 0) + xpub(0, 0), "Duplicate key, global xpub already provided: iostream error"},
		"xpub, other depth": {"psbt\xff" + xpub(0, 0) + xpub(1, 0), "Duplicate key, global xpub already provided: iostream error"},
		"xpub, other code":  {"psbt\xff" + xpub(0, 0) + xpub(0, 1) + end, ""},
		"xpub, of a wrong size": {
			"psbt\xff\x0e" + xpub(0, 0)[1:15],
			"Size of key was not the expected size for the type global xpub: iostream error",
		},
		"version":             {"psbt\xff" + version + version, "Duplicate Key, version already provided: iostream error"},
		"version, longer key": {"psbt\xff" + version + "\x02\xfb\x00", "Duplicate Key, version already provided: iostream error"},
		"version, wrong key":  {"psbt\xff\x02\xfb\x00", "Global version key is more than one byte type: iostream error"},
	} {
		if got := decoded(test.raw); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
	}
}
