package transport

import (
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/btcsuite/btcd/v2transport"
)

const (
	terminatorLen = 16 // of the garbage
	lengthLen     = 3  // of the encrypted length before each packet
	flagsLen      = 1  // of the encrypted header of each packet
	tagLen        = 16 // of Poly1305
	expansion     = lengthLen + flagsLen + tagLen

	// ignoreFlag marks a packet as a decoy.
	ignoreFlag = 0x80
)

// A direction encrypts what goes one way. The ciphers are those of v2transport.
// Its Peer is not used: it does not tell the session's id, takes packets of 16
// MiB, sends decoys twice, and takes garbage of the greatest length for none.
type direction struct {
	length  *v2transport.FSChaCha20
	packets *v2transport.FSChaCha20Poly1305
}

func newDirection(lengthKey, packetKey []byte) (d direction, err error) {
	if d.length, err = v2transport.NewFSChaCha20(lengthKey); err != nil {
		return d, err
	}
	d.packets, err = v2transport.NewFSChaCha20Poly1305(packetKey)
	return d, err
}

// appendPacket encrypts a packet. It cannot fail: the ciphers do so only for keys
// of a wrong length, which they make themselves.
func (d *direction) appendPacket(dst, contents, aad []byte, decoy bool) []byte {
	plain := make([]byte, flagsLen, flagsLen+len(contents))
	if decoy {
		plain[0] = ignoreFlag
	}
	n := len(contents)
	length, err := d.length.Crypt([]byte{byte(n), byte(n >> 8), byte(n >> 16)})
	if err == nil {
		dst = append(dst, length...)
		var sealed []byte
		sealed, err = d.packets.Encrypt(aad, append(plain, contents...))
		dst = append(dst, sealed...)
	}
	if err != nil {
		panic("transport: " + err.Error())
	}
	return dst
}

// readPacket returns the contents of the next packet that is no decoy. aad is
// what the first packet vouches for.
func (d *direction) readPacket(r io.Reader, aad []byte) ([]byte, error) {
	for {
		var length [lengthLen]byte
		if _, err := io.ReadFull(r, length[:]); err != nil {
			return nil, err
		}
		plain, err := d.length.Crypt(length[:])
		if err != nil {
			return nil, err
		}
		n := int(plain[0]) | int(plain[1])<<8 | int(plain[2])<<16
		if n > maxContents {
			return nil, fmt.Errorf("%w: packet too large (%d bytes)", ErrV2, n)
		}
		sealed, err := readBytes(r, flagsLen+n+tagLen)
		if err != nil {
			return nil, err
		}
		opened, err := d.packets.Decrypt(aad, sealed)
		if err != nil {
			return nil, fmt.Errorf("%w: packet decryption failure (%d bytes)", ErrV2, n)
		}
		if opened[0]&ignoreFlag == 0 {
			return opened[flagsLen:], nil
		}
		aad = nil
	}
}

// A session is what both sides know when they have exchanged keys.
type session struct {
	id                [32]byte
	send, receive     direction
	sendTerminator    [terminatorLen]byte
	receiveTerminator [terminatorLen]byte
}

// newSession derives everything from the shared secret.
func newSession(secret []byte, magic [4]byte, initiating bool) (*session, error) {
	prk, err := hkdf.Extract(sha256.New, secret, append([]byte("bitcoin_v2_shared_secret"), magic[:]...))
	if err != nil {
		return nil, err
	}
	var keys [6][]byte
	for i, info := range []string{
		"session_id", "garbage_terminators", "initiator_L", "initiator_P", "responder_L", "responder_P",
	} {
		if keys[i], err = hkdf.Expand(sha256.New, prk, info, 32); err != nil {
			return nil, err
		}
	}
	s := &session{id: [32]byte(keys[0])}
	copy(s.sendTerminator[:], keys[1])
	copy(s.receiveTerminator[:], keys[1][terminatorLen:])
	if s.send, err = newDirection(keys[2], keys[3]); err != nil {
		return nil, err
	}
	if s.receive, err = newDirection(keys[4], keys[5]); err != nil {
		return nil, err
	}
	if !initiating {
		s.send, s.receive = s.receive, s.send
		s.sendTerminator, s.receiveTerminator = s.receiveTerminator, s.sendTerminator
	}
	return s, nil
}
