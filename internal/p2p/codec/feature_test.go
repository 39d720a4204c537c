package codec

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// feature is the payload of a message that advertises a feature.
func feature(id string, data []byte, more ...byte) []byte {
	var w writer
	w.compact(uint64(len(id)))
	w.WriteString(id)
	w.compact(uint64(len(data)))
	w.Write(data)
	w.Write(more)
	return w.Bytes()
}

// Names and what is said of a feature have their limits, and nothing else may stand in the message (BIP434).
func TestFeatureID(t *testing.T) {
	long := strings.Repeat("a", 81)
	for name, test := range map[string]struct {
		payload []byte
		id      string // empty: refused
	}{
		"nothing":               {nil, ""},
		"no name":               {feature("", nil), ""},
		"three bytes":           {feature("abc", nil), ""},
		"four bytes":            {feature("abcd", nil), "abcd"},
		"80 bytes":              {feature(long[:80], nil), long[:80]},
		"81 bytes":              {feature(long, nil), ""},
		"512 bytes of data":     {feature("abcd", make([]byte, 512)), "abcd"},
		"513 bytes of data":     {feature("abcd", make([]byte, 513)), ""},
		"a byte more":           {feature("abcd", nil, 0), ""},
		"a name cut short":      {append([]byte{10}, "abcde"...), ""},
		"no data":               {append([]byte{4}, "abcd"...), ""},
		"data cut short":        {append(append([]byte{4}, "abcd"...), 10, 'x', 'x'), ""},
		"a length in long form": {append(append([]byte{0xfd, 4, 0}, "abcd"...), 0), ""},
		"no text":               {feature("\x00\xff\x01\x7f", nil), "\x00\xff\x01\x7f"},
	} {
		id, err := FeatureID(test.payload)
		if id != test.id || (err == nil) != (test.id != "") || err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: %q, %v", name, id, err)
		}
	}
	for _, version := range []int32{ProtocolVersion, FeatureVersion - 1, FeatureVersion} {
		if IsKnown(CmdFeature, version) != (version >= FeatureVersion) || !IsKnown("tx", version) {
			t.Errorf("what is known of version %d is wrong", version)
		}
	}
}

// FuzzFeatureID: what is read is what was written, and not a byte more.
func FuzzFeatureID(f *testing.F) {
	f.Add(feature("abcd", nil))
	f.Add(feature("feature", []byte{1, 2, 3}))
	f.Add(append([]byte{0xfd, 4, 0}, "abcd"...))
	f.Fuzz(func(t *testing.T, payload []byte) {
		id, err := FeatureID(payload)
		if err != nil {
			return
		}
		data := payload[1+len(id):]
		length := 1
		if data[0] == 0xfd {
			length = 3
		}
		if len(id) < 4 || len(id) > 80 || !bytes.Equal(payload, feature(id, data[length:])) {
			t.Errorf("%x: %q", payload, id)
		}
	})
}
