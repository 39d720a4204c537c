// Package zmtp is a subscriber for tests: the SUB side of ZMTP 3.1 over TCP and Unix sockets,
// written from the protocol and not from our publisher, so that it can hold a publisher of
// Core's against ours.
package zmtp

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

var errHandshake = errors.New("zmtp: no publisher of ZMTP 3")

// A Message is one message of a publisher of Core's form.
type Message struct {
	Topic  string
	Body   []byte
	Number uint32 // among those of its topic
}

// A Subscriber reads what a publisher sends. One goroutine at a time uses it.
type Subscriber struct {
	conn net.Conn
	r    *bufio.Reader
}

// Dial connects to tcp://<host>:<port> or ipc://<path>, shakes hands and subscribes to the
// topics that begin with one of the prefixes.
func Dial(address string, prefixes ...string) (*Subscriber, error) {
	network, at, _ := strings.Cut(address, "://")
	if network == "ipc" {
		network = "unix"
	}
	conn, err := net.DialTimeout(network, at, 10*time.Second)
	if err != nil {
		return nil, err
	}
	s := &Subscriber{conn: conn, r: bufio.NewReaderSize(conn, 64<<10)}
	if err := s.begin(prefixes); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return s, nil
}

// begin shakes hands: 64 bytes of greeting, then the types of the sockets.
func (s *Subscriber) begin(prefixes []string) error {
	if err := s.conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return err
	}
	greeting := make([]byte, 64)
	copy(greeting, "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x01NULL")
	ready := "\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB"
	if _, err := io.WriteString(s.conn, string(greeting)+ready); err != nil {
		return err
	}
	theirs := make([]byte, len(greeting))
	if _, err := io.ReadFull(s.r, theirs); err != nil {
		return err
	}
	if theirs[0] != 0xff || theirs[9] != 0x7f || theirs[10] < 3 {
		return fmt.Errorf("%w: greeting %q", errHandshake, theirs)
	}
	flags, body, err := s.frame()
	if err != nil {
		return err
	}
	if flags&4 == 0 || !strings.HasPrefix(string(body), "\x05READY") || !strings.Contains(string(body), "PUB") {
		return fmt.Errorf("%w: %q", errHandshake, body)
	}
	for _, prefix := range prefixes { // as a message, which 3.0 and 3.1 take
		if _, err := io.WriteString(s.conn, "\x00"+string(rune(len(prefix)+1))+"\x01"+prefix); err != nil {
			return err
		}
	}
	return s.conn.SetDeadline(time.Time{})
}

// frame reads a frame, of 64 MiB at most.
func (s *Subscriber) frame() (flags byte, body []byte, err error) {
	if flags, err = s.r.ReadByte(); err != nil {
		return 0, nil, err
	}
	size := make([]byte, 8)
	at := size[7:]
	if flags&2 != 0 {
		at = size
	}
	if _, err := io.ReadFull(s.r, at); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint64(size)
	if n > 64<<20 {
		return 0, nil, fmt.Errorf("zmtp: frame of %d bytes", n)
	}
	body = make([]byte, n)
	_, err = io.ReadFull(s.r, body)
	return flags, body, err
}

// Next waits for a message, for so long at most.
func (s *Subscriber) Next(limit time.Duration) (Message, error) {
	if err := s.conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return Message{}, err
	}
	var parts [][]byte
	for {
		flags, body, err := s.frame()
		if err != nil {
			return Message{}, err
		}
		if flags&4 != 0 {
			continue // a command: nothing that a subscriber of tests answers
		}
		if parts = append(parts, body); flags&1 == 0 {
			break
		}
	}
	if len(parts) != 3 || len(parts[2]) != 4 {
		return Message{}, fmt.Errorf("zmtp: message of %d parts", len(parts))
	}
	return Message{string(parts[0]), parts[1], binary.LittleEndian.Uint32(parts[2])}, nil
}

// Close ends the connection.
func (s *Subscriber) Close() error { return s.conn.Close() }
