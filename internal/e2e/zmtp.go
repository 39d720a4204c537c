package e2e

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

// A ZMQMessage is one message of a publisher of Core's form.
type ZMQMessage struct {
	Topic  string
	Body   []byte
	Number uint32 // among those of its topic
}

// A ZMQSubscriber reads what a publisher sends. One goroutine at a time uses it.
type ZMQSubscriber struct {
	conn net.Conn
	r    *bufio.Reader
}

// DialZMQ connects to tcp://<host>:<port> or ipc://<path>, shakes hands and subscribes to the
// topics that begin with one of the prefixes.
func DialZMQ(address string, prefixes ...string) (*ZMQSubscriber, error) {
	network, at, _ := strings.Cut(address, "://")
	if network == "ipc" {
		network = "unix"
	}
	conn, err := net.DialTimeout(network, at, 10*time.Second)
	if err != nil {
		return nil, err
	}
	s := &ZMQSubscriber{conn: conn, r: bufio.NewReaderSize(conn, 64<<10)}
	if err := s.begin(prefixes); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return s, nil
}

// begin shakes hands: 64 bytes of greeting, then the types of the sockets.
func (s *ZMQSubscriber) begin(prefixes []string) error {
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
func (s *ZMQSubscriber) frame() (flags byte, body []byte, err error) {
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
func (s *ZMQSubscriber) Next(limit time.Duration) (ZMQMessage, error) {
	if err := s.conn.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return ZMQMessage{}, err
	}
	var parts [][]byte
	for {
		flags, body, err := s.frame()
		if err != nil {
			return ZMQMessage{}, err
		}
		if flags&4 != 0 {
			continue // a command: nothing that a subscriber of tests answers
		}
		if parts = append(parts, body); flags&1 == 0 {
			break
		}
	}
	if len(parts) != 3 || len(parts[2]) != 4 {
		return ZMQMessage{}, fmt.Errorf("zmtp: message of %d parts", len(parts))
	}
	return ZMQMessage{string(parts[0]), parts[1], binary.LittleEndian.Uint32(parts[2])}, nil
}

// Close ends the connection.
func (s *ZMQSubscriber) Close() error { return s.conn.Close() }
