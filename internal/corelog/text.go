package corelog

import (
	"fmt"
	"log/slog"
	"strconv"
	"time"
)

// appendEscaped writes text with its control characters as \xNN, so that nothing that came from outside can steer a
// terminal. Unlike Core it does so with line feeds too: a name in a text cannot begin a line.
func appendEscaped(b []byte, text string) []byte {
	for i := range len(text) {
		b = appendByte(b, text[i])
	}
	return b
}

func appendByte(b []byte, c byte) []byte {
	if c >= ' ' && c != 0x7f {
		return append(b, c)
	}
	const digits = "0123456789abcdef"
	return append(b, '\\', 'x', digits[c>>4], digits[c&15])
}

// appendAttr writes " key=value", with group before the key; of a group its
// members.
func appendAttr(b []byte, group string, attr slog.Attr) []byte {
	attr.Value = attr.Value.Resolve()
	if attr.Equal(slog.Attr{}) {
		return b
	}
	if attr.Value.Kind() == slog.KindGroup {
		if attr.Key != "" {
			group += attr.Key + "."
		}
		for _, member := range attr.Value.Group() {
			b = appendAttr(b, group, member)
		}
		return b
	}
	b = append(b, ' ')
	b = append(b, group...)
	b = append(append(b, attr.Key...), '=')
	return appendValue(b, attr.Value)
}

func appendValue(b []byte, v slog.Value) []byte {
	switch v.Kind() {
	case slog.KindInt64:
		return strconv.AppendInt(b, v.Int64(), 10)
	case slog.KindUint64:
		return strconv.AppendUint(b, v.Uint64(), 10)
	case slog.KindFloat64:
		return strconv.AppendFloat(b, v.Float64(), 'g', -1, 64)
	case slog.KindBool:
		return strconv.AppendBool(b, v.Bool())
	case slog.KindDuration:
		return append(b, v.Duration().String()...)
	case slog.KindTime:
		return v.Time().UTC().AppendFormat(b, time.RFC3339Nano)
	case slog.KindString:
		return appendText(b, v.String())
	default:
		return appendText(b, fmt.Sprint(v.Any()))
	}
}

// appendText writes text escaped, between quotes where it would not end clearly.
func appendText(b []byte, text string) []byte {
	quoted := text == ""
	for i := range len(text) {
		quoted = quoted || text[i] <= ' ' || text[i] == '"' || text[i] == '='
	}
	if quoted {
		b = append(b, '"')
	}
	for i := range len(text) {
		if quoted && (text[i] == '"' || text[i] == '\\') {
			b = append(b, '\\')
		}
		b = appendByte(b, text[i])
	}
	if quoted {
		b = append(b, '"')
	}
	return b
}
