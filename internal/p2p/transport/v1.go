package transport

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// headerLen is the length of a v1 header: magic, command, length of the payload
// and its checksum.
const headerLen = 4 + CommandLen + 4 + checksumLen

// checksumLen is how many bytes of the payload's double SHA256 are sent.
const checksumLen = 4

func checksum(payload []byte) [checksumLen]byte {
	first := sha256.Sum256(payload)
	second := sha256.Sum256(first[:])
	return [checksumLen]byte(second[:])
}

// v1Encoder encodes for the network of its magic.
type v1Encoder [4]byte

func (magic v1Encoder) Append(dst []byte, command string, payload []byte) []byte {
	var name [CommandLen]byte
	copy(name[:], command)
	sum := checksum(payload)
	dst = append(dst, magic[:]...)
	dst = append(dst, name[:]...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
	dst = append(dst, sum[:]...)
	return append(dst, payload...)
}

// A v1Reader reads messages of one network.
type v1Reader struct {
	r     *bufio.Reader
	magic [4]byte
}

func (v *v1Reader) Read() (Message, error) {
	var header [headerLen]byte
	if _, err := io.ReadFull(v.r, header[:]); err != nil {
		return Message{}, err
	}
	name := header[4 : 4+CommandLen]
	size := binary.LittleEndian.Uint32(header[4+CommandLen:])
	want := [checksumLen]byte(header[headerLen-checksumLen:])
	command, valid := commandName(name, 0x7e)
	switch {
	case [4]byte(header[:4]) != v.magic:
		return Message{}, fmt.Errorf("%w: Wrong MessageStart %x received", ErrHeader, header[:4])
	case size > codec.MaxPayload:
		return Message{}, fmt.Errorf("%w: Size too large (%s, %d bytes)", ErrHeader, Sanitize(command), size)
	}
	payload, err := readBytes(v.r, int(size))
	if err != nil {
		return Message{}, err
	}
	m := Message{Command: command, Payload: payload, Size: headerLen + len(payload)}
	switch sum := checksum(payload); {
	case sum != want:
		return m.rejected("%w: Wrong checksum (%s, %d bytes), expected %x was %x",
			ErrHeader, Sanitize(command), size, sum, want), nil
	case !valid:
		return m.rejected("%w: Invalid message type (%s, %d bytes)", ErrHeader, Sanitize(command), size), nil
	}
	return m, nil
}

// rejected returns what is left of a message that is not to be believed.
func (m Message) rejected(format string, args ...any) Message {
	return Message{Size: m.Size, Rejected: fmt.Errorf(format, args...)}
}

// commandName returns the name in a field that is filled up with zeros. It is
// valid if nothing follows the zeros and all of it is between a space and the
// last character.
func commandName(field []byte, last byte) (name string, valid bool) {
	name, rest, _ := strings.Cut(string(field), "\x00")
	valid = strings.Trim(rest, "\x00") == ""
	for _, c := range []byte(name) {
		valid = valid && ' ' <= c && c <= last
	}
	return name, valid
}
