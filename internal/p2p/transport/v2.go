package transport

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ellswift"

	"github.com/seed61375155/trawl/internal/p2p/codec"
)

const (
	// keyLen is the length of a public key in the form of ElligatorSwift.
	keyLen = 64

	// maxGarbage is how many bytes either side may write between its key and its
	// terminator.
	maxGarbage = 4095

	// maxContents is the longest contents of a packet: a long name and a payload.
	maxContents = 1 + CommandLen + codec.MaxPayload
)

// v2 is a connection that negotiates.
type v2 struct {
	r          *bufio.Reader
	out        Outbox
	magic      [4]byte
	initiating bool

	private *btcec.PrivateKey
	public  [keyLen]byte
	garbage []byte
}

// negotiateV2 exchanges keys and versions. The contents of the version packet
// are for extensions to come: empty in ours, ignored in theirs.
func negotiateV2(r *bufio.Reader, out Outbox, magic [4]byte, initiating bool) (*Link, error) {
	v := &v2{r: r, out: out, magic: magic, initiating: initiating, garbage: newGarbage()}
	var err error
	if v.private, v.public, err = ellswift.EllswiftCreate(); err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	out.SendHandshake(append(v.public[:], v.garbage...))
	theirs, err := v.readKey()
	if err != nil {
		return nil, err
	}
	secret, err := ellswift.V2Ecdh(v.private, theirs, v.public, initiating)
	if err != nil {
		return nil, fmt.Errorf("%w: key exchange: %w", ErrV2, err)
	}
	keys, err := newSession(secret[:], magic, initiating)
	if err != nil {
		return nil, err
	}
	out.SendHandshake(keys.send.appendPacket(bytes.Clone(keys.sendTerminator[:]), nil, v.garbage, false))
	out.Ready(v2Encoder{&keys.send})

	link := &Link{Kind: V2, SessionID: keys.id, Reader: &v2Reader{r, &keys.receive}}
	aad, err := readGarbage(r, keys.receiveTerminator)
	if err != nil {
		return nil, err
	}
	if _, err := keys.receive.readPacket(r, aad); err != nil {
		return nil, err
	}
	return link, nil
}

// newGarbage returns random bytes, so that the connection has no pattern. They
// are fewer than maxGarbage, because btcd does not find the end of that many.
func newGarbage() []byte {
	var n [2]byte
	_, _ = rand.Read(n[:])
	garbage := make([]byte, binary.LittleEndian.Uint16(n[:])%maxGarbage)
	_, _ = rand.Read(garbage)
	return garbage
}

// readKey reads the other side's public key. A node of another network may speak
// v1, which is worth to be said.
func (v *v2) readKey() (key [keyLen]byte, err error) {
	start := key[:4+CommandLen]
	if _, err := io.ReadFull(v.r, start); err != nil {
		return key, unexpected(err)
	}
	if !v.initiating && string(start[4:]) == versionCommand {
		return key, fmt.Errorf("%w: V1 peer with wrong MessageStart %x", ErrV2, start[:4])
	}
	_, err = io.ReadFull(v.r, key[len(start):])
	return key, unexpected(err)
}

// readGarbage returns what stands before the terminator, and consumes both.
func readGarbage(r *bufio.Reader, terminator [terminatorLen]byte) ([]byte, error) {
	garbage := make([]byte, 0, maxGarbage+terminatorLen)
	for len(garbage) < maxGarbage+terminatorLen {
		b, err := r.ReadByte()
		if err != nil {
			return nil, unexpected(err)
		}
		garbage = append(garbage, b)
		if bytes.HasSuffix(garbage, terminator[:]) {
			return garbage[:len(garbage)-terminatorLen], nil
		}
	}
	return nil, fmt.Errorf("%w: missing garbage terminator", ErrV2)
}

// A v2Encoder encodes messages as packets.
type v2Encoder struct{ send *direction }

func (e v2Encoder) Append(dst []byte, command string, payload []byte) []byte {
	contents := make([]byte, 0, 1+CommandLen+len(payload))
	if id, ok := shortIDs[command]; ok {
		contents = append(contents, id)
	} else {
		contents = contents[:1+CommandLen]
		copy(contents[1:], command)
	}
	return e.send.appendPacket(dst, append(contents, payload...), nil, false)
}

// A v2Reader reads packets as messages.
type v2Reader struct {
	r       *bufio.Reader
	receive *direction
}

func (v *v2Reader) Read() (Message, error) {
	contents, err := v.receive.readPacket(v.r, nil)
	if err != nil {
		return Message{}, err
	}
	m := Message{Size: len(contents) + expansion}
	var ok bool
	if m.Command, m.Payload, ok = splitContents(contents); !ok {
		return m.rejected("%w: invalid message type (%d bytes contents)", ErrV2, len(contents)), nil
	}
	return m, nil
}

// splitContents separates name and payload of a message: one byte stands for the
// common names, and a zero before a name in full.
func splitContents(contents []byte) (command string, payload []byte, ok bool) {
	if len(contents) == 0 {
		return "", nil, false
	}
	if id := contents[0]; id != 0 {
		if int(id) >= len(shortNames) {
			return "", nil, false
		}
		return shortNames[id], contents[1:], true
	}
	if len(contents) < 1+CommandLen {
		return "", nil, false
	}
	command, ok = commandName(contents[1:1+CommandLen], 0x7f)
	return command, contents[1+CommandLen:], ok
}
