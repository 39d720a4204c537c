package zmqsink

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The bytes of ZMTP 3.1, as far as a publisher needs them.

const (
	greetingSize  = 64
	signatureSize = 10
	mechanismAt   = 12
	mechanismEnd  = 32
	majorVersion  = 3
	minorVersion  = 1

	// maxFrame is how long a frame of a subscriber may be: a subscription or a command.
	maxFrame = 4096

	// maxContext is how much of a PING comes back.
	maxContext = 16
)

// Flags of a frame.
const (
	flagMore    = 1 << iota // more frames of the message follow
	flagLong                // the length has eight bytes
	flagCommand             // it is a command
)

// Bits of a frame's flags that must not be set.
const reservedFlags = ^byte(flagMore | flagLong | flagCommand)

var errProtocol = errors.New("not ZMTP 3")

// greeting returns our first bytes: version 3.1, no authentication, and so not its server
// side.
func greeting() []byte {
	g := make([]byte, greetingSize)
	g[0], g[signatureSize-1] = 0xff, 0x7f
	g[signatureSize], g[signatureSize+1] = majorVersion, minorVersion
	copy(g[mechanismAt:], "NULL")
	return g
}

// readGreeting reads a peer's greeting. It gives up at the first byte that cannot be of one.
func readGreeting(r io.Reader) error {
	var g [greetingSize]byte
	if _, err := io.ReadFull(r, g[:1]); err != nil {
		return err
	}
	if g[0] != 0xff {
		return errProtocol
	}
	if _, err := io.ReadFull(r, g[1:signatureSize+1]); err != nil {
		return err
	}
	if g[signatureSize-1]&1 == 0 || g[signatureSize] < majorVersion {
		return errProtocol
	}
	if _, err := io.ReadFull(r, g[signatureSize+1:]); err != nil {
		return err
	}
	if mechanism := string(bytes.TrimRight(g[mechanismAt:mechanismEnd], "\x00")); mechanism != "NULL" {
		return fmt.Errorf("%w: mechanism %q", errProtocol, mechanism)
	}
	return nil
}

// appendHeader appends what precedes a frame of so many bytes.
func appendHeader(to []byte, flags byte, size int) []byte {
	if size <= 0xff {
		return append(to, flags, byte(size))
	}
	return binary.BigEndian.AppendUint64(append(to, flags|flagLong), uint64(size))
}

func appendFrame(to []byte, flags byte, body []byte) []byte {
	return append(appendHeader(to, flags, len(body)), body...)
}

// readFrame reads a frame into buf. The body is valid as long as buf is not reused.
func readFrame(r io.Reader, buf *[maxFrame]byte) (flags byte, body []byte, err error) {
	if _, err := io.ReadFull(r, buf[:1]); err != nil {
		return 0, nil, err
	}
	flags = buf[0]
	if flags&reservedFlags != 0 || flags&flagCommand != 0 && flags&flagMore != 0 {
		return 0, nil, fmt.Errorf("%w: flags %#x", errProtocol, flags)
	}
	var size uint64
	if flags&flagLong == 0 {
		_, err = io.ReadFull(r, buf[:1])
		size = uint64(buf[0])
	} else {
		_, err = io.ReadFull(r, buf[:8])
		size = binary.BigEndian.Uint64(buf[:8])
	}
	switch {
	case err != nil:
		return 0, nil, err
	case size > maxFrame:
		return 0, nil, fmt.Errorf("%w: frame of %d bytes", errProtocol, size)
	}
	if _, err := io.ReadFull(r, buf[:size]); err != nil {
		return 0, nil, err
	}
	return flags, buf[:size], nil
}

// command returns the frame of a command.
func command(name string, data []byte) []byte {
	return appendFrame(nil, flagCommand, append(append([]byte{byte(len(name))}, name...), data...))
}

// splitCommand splits the body of a command's frame.
func splitCommand(body []byte) (name string, data []byte, err error) {
	if len(body) == 0 || len(body)-1 < int(body[0]) {
		return "", nil, fmt.Errorf("%w: command", errProtocol)
	}
	end := 1 + int(body[0])
	return string(body[1:end]), body[end:], nil
}

const socketType = "Socket-Type"

// ready returns the command that ends our part of the handshake.
func ready() []byte {
	data := append([]byte{byte(len(socketType))}, socketType...)
	data = binary.BigEndian.AppendUint32(data, uint32(len("PUB")))
	return command("READY", append(data, "PUB"...))
}

// checkReady reports whether the first frame of a peer ends its part of the handshake, and
// it is a subscriber.
func checkReady(flags byte, body []byte) error {
	if flags&flagCommand == 0 {
		return fmt.Errorf("%w: message before the end of the handshake", errProtocol)
	}
	name, data, err := splitCommand(body)
	if err != nil {
		return err
	}
	if name != "READY" {
		return fmt.Errorf("%w: %q before the end of the handshake", errProtocol, name)
	}
	found := ""
	for len(data) > 0 {
		property, rest, ok := splitProperty(data)
		if !ok {
			return fmt.Errorf("%w: properties", errProtocol)
		}
		if strings.EqualFold(property.name, socketType) {
			found = property.value
		}
		data = rest
	}
	if found != "SUB" && found != "XSUB" {
		return fmt.Errorf("%w: a socket %q where a subscriber is expected", errProtocol, found)
	}
	return nil
}

type property struct{ name, value string }

func splitProperty(data []byte) (p property, rest []byte, ok bool) {
	if len(data) == 0 || len(data)-1 < int(data[0])+4 {
		return p, nil, false
	}
	end := 1 + int(data[0])
	name, data := data[1:end], data[end:]
	size, data := binary.BigEndian.Uint32(data), data[4:]
	if uint64(size) > uint64(len(data)) {
		return p, nil, false
	}
	return property{string(name), string(data[:size])}, data[size:], true
}

// A request is what a subscriber wants; the zero value is nothing.
type request struct {
	subscribe, cancel bool
	prefix            []byte // of topics; part of the parsed frame

	pong []byte // what answers a PING
}

// parseRequest reads a frame that comes after the handshake. It returns the zero request for
// frames that a publisher does not need.
func parseRequest(flags byte, body []byte, first bool) (request, error) {
	if flags&flagCommand == 0 {
		switch { // as ZMTP 3.0 has it: a message of one frame
		case !first || flags&flagMore != 0 || len(body) == 0:
			return request{}, nil
		case body[0] == 1:
			return request{subscribe: true, prefix: body[1:]}, nil
		case body[0] == 0:
			return request{cancel: true, prefix: body[1:]}, nil
		}
		return request{}, nil
	}
	name, data, err := splitCommand(body)
	switch {
	case err != nil:
		return request{}, err
	case name == "SUBSCRIBE":
		return request{subscribe: true, prefix: data}, nil
	case name == "CANCEL":
		return request{cancel: true, prefix: data}, nil
	case name == "PING":
		if len(data) < 2 {
			return request{}, fmt.Errorf("%w: PING", errProtocol)
		}
		return request{pong: command("PONG", data[2:min(len(data), 2+maxContext)])}, nil
	case name == "ERROR":
		return request{}, fmt.Errorf("%w: ERROR after the handshake", errProtocol)
	}
	return request{}, nil
}
