package rest

import (
	"encoding/binary"
	"encoding/hex"
	"slices"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/rpc/command"
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
	return append(command.AppendCount(dst, len(script)), script...), err
}

// maxMoney bounds the values of outputs, of any network.
const maxMoney = 1 << 62
