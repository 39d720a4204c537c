package zmqsink

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"
)

// libzmqGreeting is what libzmq 4.3 says first.
var libzmqGreeting = append([]byte("\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x03\x01NULL"), make([]byte, 48)...)

// libzmqReady is what its SUB socket says next.
const libzmqReady = "\x04\x26\x05READY\x0bSocket-Type\x00\x00\x00\x03SUB\x08Identity\x00\x00\x00\x00"

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// peer is a subscriber.
type peer struct {
	t    *testing.T
	conn net.Conn
	r    *bufio.Reader
}

// meet has a peer end its handshake.
func meet(t *testing.T, conn net.Conn) *peer {
	t.Helper()
	p := &peer{t, conn, bufio.NewReader(conn)}
	var g [greetingSize]byte
	if _, err := io.ReadFull(p.r, g[:]); err != nil {
		t.Fatal(err)
	}
	if want := "\xff\x00\x00\x00\x00\x00\x00\x00\x00\x7f\x03\x01NULL"; !bytes.HasPrefix(g[:], []byte(want)) {
		t.Fatalf("greeting %q", g)
	}
	p.send(string(libzmqGreeting))
	got := make([]byte, 27)
	if _, err := io.ReadFull(p.r, got); err != nil {
		t.Fatal(err)
	}
	if want := "\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03PUB"; string(got) != want {
		t.Fatalf("got %q", got)
	}
	p.send(libzmqReady)
	return p
}

func (p *peer) send(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.conn, text); err != nil {
		p.t.Fatal(err)
	}
}

// subscribe does so by a command, as from ZMTP 3.1 on.
func (p *peer) subscribe(prefix string) { p.send(string(command("SUBSCRIBE", []byte(prefix)))) }

// synced returns when all that was sent before has been read.
func (p *peer) synced() {
	p.t.Helper()
	p.send(string(command("PING", []byte("\x00\x00ctx"))))
	flags, body := p.frame()
	if flags != flagCommand || string(body) != "\x04PONGctx" {
		p.t.Fatalf("got %#x %q", flags, body)
	}
}

func (p *peer) frame() (flags byte, body []byte) {
	p.t.Helper()
	flags, body, err := p.tryFrame()
	if err != nil {
		p.t.Fatal(err)
	}
	return flags, body
}

func (p *peer) tryFrame() (flags byte, body []byte, err error) {
	if flags, err = p.r.ReadByte(); err != nil {
		return 0, nil, err
	}
	size := make([]byte, 1)
	if flags&flagLong != 0 {
		size = make([]byte, 8)
	}
	if _, err := io.ReadFull(p.r, size); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint64(append(make([]byte, 8-len(size)), size...))
	body = make([]byte, n)
	_, err = io.ReadFull(p.r, body)
	return flags, body, err
}

// got is a message as it arrives.
type got struct {
	topic, body string
	number      uint32
}

func (p *peer) message() got {
	p.t.Helper()
	m, err := p.tryMessage()
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

func (p *peer) tryMessage() (got, error) {
	var m got
	for i, want := range []byte{flagMore, flagMore, 0} {
		flags, body, err := p.tryFrame()
		if err != nil {
			return m, err
		}
		if flags&^flagLong != want {
			p.t.Errorf("flags %#x of frame %d", flags, i)
		}
		switch i {
		case 0:
			m.topic = string(body)
		case 1:
			m.body = string(body)
		default:
			m.number = binary.LittleEndian.Uint32(body)
		}
	}
	return m, nil
}

func (p *peer) want(want ...got) {
	p.t.Helper()
	for _, w := range want {
		if m := p.message(); m != w {
			p.t.Errorf("got %+.60v, want %+.60v", m, w)
		}
	}
}

// ended reports whether we were cut off.
func (p *peer) ended() bool {
	_, err := p.r.ReadByte()
	return err != nil
}

// open publishes topics at one address of the loopback.
func open(t *testing.T, hwm int, names ...string) *Publisher {
	t.Helper()
	var topics []Topic
	for _, name := range names {
		topics = append(topics, Topic{Name: name, Address: "tcp://127.0.0.1:*", HWM: hwm})
	}
	p, err := Open(Config{Topics: topics, Log: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, p) })
	return p
}

// closed closes a publisher, which must not take long.
func closed(t *testing.T, p *Publisher) {
	t.Helper()
	begun := time.Now()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("closing took %v", took)
	}
}

// dial connects to the only socket.
func dial(t *testing.T, p *Publisher) net.Conn {
	t.Helper()
	addr := p.sockets[0].listener.Addr()
	conn, err := net.Dial(addr.Network(), addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// pipe connects to the only socket without a buffer in between.
func pipe(t *testing.T, p *Publisher) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	p.sockets[0].add(theirs)
	t.Cleanup(func() { _ = ours.Close() })
	return ours
}

// connections counts those of the only socket.
func connections(p *Publisher) int {
	s := p.sockets[0]
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.subscribers)
}

// fake is a publisher without a listener, for the bubbles of synctest.
func fake(t *testing.T, hwm int, limit int64, names ...string) *Publisher {
	t.Helper()
	s := newSocket(noListener{}, hwm, &budget{limit: limit}, quiet())
	p := &Publisher{sockets: []*socket{s}}
	for _, name := range names {
		s.addTopic(name)
		p.topics = append(p.topics, &topic{name: name, socket: s})
	}
	t.Cleanup(func() { closed(t, p) })
	return p
}

type noListener struct{}

func (noListener) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (noListener) Close() error              { return nil }
func (noListener) Addr() net.Addr            { return &net.UnixAddr{} }
