package p2mr

import (
	"github.com/btcsuite/btcd/txscript"

	"github.com/seed61375155/trawl/internal/slhdsa"
)

// maxKeys is how many keys a script of [MultiScript] may have.
const maxKeys = 999

// MatchKeys takes a leaf script of [KeyScript] or [MultiScript] apart: how many
// of the keys must sign, and the keys in their order.
func MatchKeys(script []byte) (threshold int, keys []slhdsa.PublicKey, ok bool) {
	const part = slhdsa.PublicKeySize + 2 // push, key, opcode
	for rest := script; len(rest) >= part && rest[0] == slhdsa.PublicKeySize; rest = rest[part:] {
		want := byte(OpCheckSigAdd)
		if len(keys) == 0 {
			want = OpCheckSigPQC
		}
		if rest[part-1] != want {
			break
		}
		keys = append(keys, slhdsa.PublicKey(rest[1:part-1]))
	}
	rest := script[len(keys)*part:]
	if len(keys) > maxKeys {
		return 0, nil, false
	}
	if len(keys) == 1 && len(rest) == 0 {
		return 1, keys, true
	}
	tokens := txscript.MakeScriptTokenizer(0, rest)
	if len(keys) == 0 || !tokens.Next() {
		return 0, nil, false
	}
	threshold = smallNumber(tokens.Opcode(), tokens.Data())
	if string(tokens.Script()[tokens.ByteIndex():]) != string([]byte{txscript.OP_NUMEQUAL}) {
		return 0, nil, false
	}
	return threshold, keys, threshold >= 1 && threshold <= len(keys)
}

// smallNumber returns the number that an opcode pushes, from 1 to 32767 and in
// its shortest form; 0 for others.
func smallNumber(op byte, data []byte) int {
	if op >= txscript.OP_1 && op <= txscript.OP_16 {
		return int(op-txscript.OP_1) + 1
	}
	switch {
	case len(data) == 1 && data[0] > 16 && data[0] < 0x80:
		return int(data[0])
	case len(data) == 2 && data[1] < 0x80 && (data[1] > 0 || data[0] >= 0x80):
		return int(data[0]) | int(data[1])<<8
	}
	return 0
}
