package torcontrol

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	maxLine  = 100_000 // bytes of a line that is read, without the last
	maxLines = 1000    // of a reply
)

// errLong reports a line or a reply that has no end.
var errLong = errors.New("MAX_LINE_LENGTH exceeded")

// A reply is what Tor answers to a command.
type reply struct {
	code  int
	lines []string // without the code
}

// The codes of replies that matter.
const (
	codeOK           = 250
	codeUnrecognized = 510
	codeSyntax       = 512
	codeEvent        = 600 // and above: news, and no reply
)

// readReply reads the next reply to a command.
func readReply(r *bufio.Reader) (reply, error) {
	for {
		got, err := readAny(r)
		if err != nil || got.code < codeEvent {
			return got, err
		}
	}
}

// readAny reads lines up to the last of a reply, whose code is followed by a space.
func readAny(r *bufio.Reader) (reply, error) {
	var got reply
	for {
		line, err := readLine(r)
		if err != nil {
			return got, err
		}
		if len(line) < 4 {
			continue
		}
		if got.code, err = strconv.Atoi(line[:3]); err != nil {
			got.code = 0
		}
		if got.lines = append(got.lines, line[4:]); len(got.lines) > maxLines {
			return got, errLong
		}
		if line[3] == ' ' {
			return got, nil
		}
	}
}

// readLine reads a line, without its end.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxLine+1 {
			return "", errLong
		}
		if err == nil {
			return strings.TrimRight(string(line), "\r\n"), nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return "", err
		}
	}
}

// values reads "KEY=value KEY=\"quoted value\" …" up to the first word without "=". It
// reports false for a text that ends within a pair.
func values(text string) (map[string]string, bool) {
	found := make(map[string]string)
	for text != "" {
		at := strings.IndexAny(text, "= ")
		if at < 0 {
			return nil, false
		}
		if text[at] == ' ' {
			break // what is not said by a pair is left
		}
		key := text[:at]
		value, rest, ok := value(text[at+1:])
		if !ok {
			return nil, false
		}
		found[key] = value
		text = strings.TrimPrefix(rest, " ")
	}
	return found, true
}

// value reads a value, which may be quoted, and returns what follows.
func value(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		at := strings.IndexByte(text, ' ')
		if at < 0 {
			at = len(text)
		}
		return text[:at], text[at:], true
	}
	var b strings.Builder
	for text = text[1:]; text != ""; {
		switch text[0] {
		case '"':
			return b.String(), text[1:], true
		case '\\':
			if text = text[1:]; text == "" {
				return "", "", false
			}
			n := escaped(&b, text)
			text = text[n:]
		default:
			b.WriteByte(text[0])
			text = text[1:]
		}
	}
	return "", "", false
}

// escaped writes what stands behind a backslash, and returns its length: a letter, up to
// three octal digits of one byte, or any other byte as it is.
func escaped(b *strings.Builder, text string) int {
	if i := strings.IndexByte("ntr", text[0]); i >= 0 {
		b.WriteByte("\n\t\r"[i])
		return 1
	}
	n, code := 0, 0
	for n < min(3, len(text)) && text[n] >= '0' && text[n] <= '7' {
		if n == 2 && code > 0o37 {
			break // would be more than a byte
		}
		code = 8*code + int(text[n]-'0')
		n++
	}
	if n == 0 {
		b.WriteByte(text[0])
		return 1
	}
	b.WriteByte(byte(code))
	return n
}

// A conn is a connection to Tor's control port.
type conn struct {
	io.ReadWriter

	lines *bufio.Reader
}

// command sends a command and reads the reply.
func (c *conn) command(format string, args ...any) (reply, error) {
	if _, err := fmt.Fprintf(c, format+"\r\n", args...); err != nil {
		return reply{}, err
	}
	return readReply(c.lines)
}
