package rest

import (
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// document is the reply with a text of JSON.
func document(text []byte) Reply {
	return Reply{Status: statusOK, Type: typeJSON, Body: append(text, '\n')}
}

// inFormat is the reply with bytes, as bytes or as hexadecimal text.
func inFormat(f format, data []byte) (Reply, error) {
	switch f {
	case bin:
		return Reply{Status: statusOK, Type: typeBytes, Body: data}, nil
	case hexText:
		text := hex.AppendEncode(make([]byte, 0, hex.EncodedLen(len(data))+1), data)
		return Reply{Status: statusOK, Type: typeText, Body: append(text, '\n')}, nil
	case none, jsonText:
	}
	return Reply{}, errFormat
}

// appendHash appends a hash, given as it is shown, as it is serialized.
func appendHash(dst []byte, shown string) ([]byte, error) {
	hash, err := hex.DecodeString(shown)
	slices.Reverse(hash)
	return append(dst, hash...), err
}

// appendCount appends a number as those of elements are serialized.
func appendCount(dst []byte, n int) []byte {
	switch {
	case n < 0xfd:
		return append(dst, byte(n))
	case n <= 0xffff:
		return binary.LittleEndian.AppendUint16(append(dst, 0xfd), uint16(n))
	default:
		return binary.LittleEndian.AppendUint32(append(dst, 0xfe), uint32(n))
	}
}

// appendOutput appends an output, given as JSON, as it is serialized.
func appendOutput(dst []byte, output *jsontree.Value) ([]byte, error) {
	value, err := output.Get("value").AsAmount(maxMoney)
	if err != nil {
		return nil, err
	}
	digits, err := output.Get("scriptPubKey").Get("hex").AsString()
	if err != nil {
		return nil, err
	}
	script, err := hex.DecodeString(digits)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(value))
	return append(appendCount(dst, len(script)), script...), err
}

// maxMoney bounds the values of outputs, of any network.
const maxMoney = 1 << 62
