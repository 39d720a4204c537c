// Package transport cuts a connection's bytes into messages, as Bitcoin Core
// 30.2 does (src/net.cpp). It knows v1, with a header before each message, and
// the encrypted v2 of BIP324.
//
// It reads from a bufio.Reader and hands bytes to be written to an Outbox, so
// that reading and writing can happen in two goroutines. Its input comes from
// strangers: it never holds more memory than twice the received bytes and 256
// KiB, and a message that does not fit into the protocol is an error.
package transport

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strings"
)

// CommandLen is the longest name, in bytes, that a message may have.
const CommandLen = 12

var (
	// ErrHeader reports a v1 header after which the connection cannot go on.
	ErrHeader = errors.New("Header error") //nolint:staticcheck // Core's words

	// ErrV2 reports a breach of BIP324 after which the connection cannot go on.
	ErrV2 = errors.New("V2 transport error")
)

// A Kind says which transport a connection has.
type Kind uint8

// The kinds, as in the transport_protocol_type of getpeerinfo.
const (
	Detecting Kind = iota // not known yet
	V1
	V2
)

// String returns the name that Core uses.
func (k Kind) String() string { return [...]string{"detecting", "v1", "v2"}[k] }

// A Mode says how a connection finds its transport.
type Mode uint8

// The modes.
const (
	OnlyV1     Mode = iota // v1, without asking
	InitiateV2             // v2, from the side that made the connection
	Detect                 // what the side that made the connection speaks
)

// A Message is one message as it travels.
type Message struct {
	Command string
	Payload []byte // belongs to the receiver
	Size    int    // bytes on the wire

	// Rejected says why the message is not to be believed, though the connection
	// can go on. Command and Payload are then not set.
	Rejected error
}

// A Reader reads messages, one after the other.
type Reader interface {
	// Read returns the next message. After an error nothing more can be read.
	Read() (Message, error)
}

// An Encoder encodes messages, in the order in which they are to be written.
type Encoder interface {
	// Append appends a message, as it travels, to dst. A command is at most
	// CommandLen bytes, and a payload codec.MaxPayload.
	Append(dst []byte, command string, payload []byte) []byte
}

// An Outbox is where the bytes go that are to be written. Its methods are called
// by the goroutine in Negotiate.
type Outbox interface {
	// SendHandshake writes what goes before all messages. It must not wait until
	// the bytes are written, as the other side may not read before it has written.
	SendHandshake(b []byte)

	// Ready says how messages are encoded from then on. It is called once.
	Ready(e Encoder)
}

// A Link is a connection whose transport is known.
type Link struct {
	Reader
	Kind      Kind
	SessionID [32]byte // the same on both sides; v2 only
}

// Negotiate finds the transport of a connection: it returns at once for OnlyV1,
// and else when the other side has said enough. The magic stands at the start of
// each v1 message, and is part of v2's keys.
//
// Errors: those of r, and ErrV2.
func Negotiate(r *bufio.Reader, out Outbox, magic [4]byte, mode Mode) (*Link, error) {
	if mode == Detect {
		v1, err := startsAsV1(r, magic)
		if err != nil {
			return nil, err
		}
		if v1 {
			mode = OnlyV1
		}
	}
	if mode == OnlyV1 {
		out.Ready(v1Encoder(magic))
		return &Link{Reader: &v1Reader{r, magic}, Kind: V1}, nil
	}
	return negotiateV2(r, out, magic, mode == InitiateV2)
}

// versionCommand is the name of the first message of a v1 connection.
const versionCommand = "version\x00\x00\x00\x00\x00"

// startsAsV1 reports whether the connection begins with a v1 version message. It
// waits for no byte more than it needs, and consumes none.
func startsAsV1(r *bufio.Reader, magic [4]byte) (bool, error) {
	want := string(magic[:]) + versionCommand
	for n := 1; n <= len(want); n++ {
		got, err := r.Peek(n)
		if err != nil {
			return false, err
		}
		if got[n-1] != want[n-1] {
			return false, nil
		}
	}
	return true, nil
}

// ahead is how much memory is taken for bytes that are announced and not there.
const ahead = 256 << 10

// readBytes reads n bytes, and takes memory as they come.
func readBytes(r io.Reader, n int) ([]byte, error) {
	b := make([]byte, 0, min(n, ahead))
	for len(b) < n {
		more := min(n-len(b), max(len(b), ahead))
		b = slices.Grow(b, more)
		if _, err := io.ReadFull(r, b[len(b):len(b)+more]); err != nil {
			return nil, unexpected(err)
		}
		b = b[:len(b)+more]
	}
	return b, nil
}

// unexpected is the error for an end within a message.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Sanitize drops from a text what Core does not print of what a peer said: all
// but letters, digits, spaces and a few signs.
func Sanitize(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune(" .,;-_/:?@()", r):
			return r
		}
		return -1
	}, text)
}
