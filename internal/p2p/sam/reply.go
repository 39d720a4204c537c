package sam

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// maxLine is the longest line that is read, in bytes. A private key has some 900.
const maxLine = 64 << 10

var errLine = fmt.Errorf("no end of a line within %d bytes", maxLine)

// readLine reads a line, without its end.
func readLine(r *bufio.Reader) (string, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(line) < maxLine:
		case err != nil:
			if errors.Is(err, bufio.ErrBufferFull) {
				err = errLine
			}
			return "", err
		default:
			return string(line[:len(line)-1]), nil
		}
	}
}

// A reply is a line of the router: words, some of which are key=value.
type reply struct {
	request string // to which it is the reply, without secrets
	line    string
	secret  bool // the line may hold a private key
	values  map[string]string
}

func parseReply(line string) reply {
	r := reply{line: line, values: make(map[string]string)}
	for word := range strings.SplitSeq(line, " ") {
		key, value, ok := strings.Cut(word, "=")
		if _, known := r.values[key]; ok && !known {
			r.values[key] = value
		}
	}
	return r
}

// text is the reply as errors show it.
func (r *reply) text() string {
	if r.secret {
		return "..."
	}
	return r.line
}

// get returns the value of a key.
func (r *reply) get(key string) (string, error) {
	value, ok := r.values[key]
	if !ok {
		return "", failf("Missing %s= in the reply to \"%s\": \"%s\"", key, r.request, r.text())
	}
	return value, nil
}

// check reports a reply that is not RESULT=OK.
func (r *reply) check() error {
	result, err := r.get("RESULT")
	if err == nil && result != "OK" {
		err = failf("Unexpected reply to \"%s\": \"%s\"", r.request, r.text())
	}
	return err
}

// i2pBase64 is base 64 as I2P writes it.
var i2pBase64 = base64.NewEncoding("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-~").Strict()

// decode reads base 64. The error does not show the text: it may be a private key.
func decode(text string) ([]byte, error) {
	b, err := i2pBase64.DecodeString(text)
	if err != nil {
		return nil, failf("Cannot decode Base64")
	}
	return b, nil
}

// i2pID is the number of I2P in BIP155.
const i2pID = 5

// addressOf returns the address of a destination.
func addressOf(destination []byte) netaddr.Addr {
	hash := sha256.Sum256(destination)
	a, _ := netaddr.FromV2(i2pID, hash[:], 0) // has the length of its network
	return a
}

// destinationOf returns the public part of a private key, with which it begins: keys, and a
// certificate whose length they say.
func destinationOf(key []byte) ([]byte, error) {
	const keys, lengthAt = 387, 385
	if len(key) < keys {
		return nil, failf("The private key is too short (%d < %d)", len(key), keys)
	}
	certificate := int(binary.BigEndian.Uint16(key[lengthAt:]))
	if keys+certificate > len(key) {
		return nil, failf("Certificate length (%d) designates that the private key should be %d bytes, "+
			"but it is only %d bytes", certificate, keys+certificate, len(key))
	}
	return key[:keys+certificate], nil
}

// send writes a request and reads its reply.
func send(conn io.Writer, r *bufio.Reader, request string) (reply, error) {
	if _, err := io.WriteString(conn, request+"\n"); err != nil {
		return reply{}, err
	}
	line, err := readLine(r)
	if err != nil {
		return reply{}, err
	}
	answer := parseReply(line)
	answer.request = request
	for _, withKey := range []string{"SESSION CREATE", "DEST GENERATE"} {
		if strings.HasPrefix(request, withKey) {
			answer.request, answer.secret = withKey+" ...", true
		}
	}
	return answer, nil
}

// failf makes an error in Bitcoin Core's words, which begin as sentences do.
func failf(format string, args ...any) error { return fmt.Errorf(format, args...) }
