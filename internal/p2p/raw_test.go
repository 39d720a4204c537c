package p2p_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

// A raw is the other side of a v1 connection, which may say anything. Its
// methods do not fail the test where the session has hung up.
type raw struct {
	t    *testing.T
	conn net.Conn
}

// write writes bytes.
func (r *raw) write(b []byte) error {
	_, err := r.conn.Write(b)
	return err
}

// encode returns a message as it travels.
func encode(m wire.Message) []byte {
	payload, err := codec.Encode(m, codec.ProtocolVersion)
	if err != nil {
		panic(err)
	}
	return frame(m.Command(), payload)
}

// frame returns a message of any payload as it travels.
func frame(command string, payload []byte) []byte {
	var e encoder
	_, _ = transport.Negotiate(bufio.NewReader(bytes.NewReader(nil)), &e, magic, transport.OnlyV1)
	return e.Append(nil, command, payload)
}

// An encoder is a transport.Outbox for its encoder.
type encoder struct{ transport.Encoder }

func (*encoder) SendHandshake([]byte)        {}
func (e *encoder) Ready(t transport.Encoder) { e.Encoder = t }

// send sends a message.
func (r *raw) send(m wire.Message) error { return r.write(encode(m)) }

// trickle writes a byte a second until the session hangs up.
func (r *raw) trickle(b []byte) {
	for i := 0; i < len(b) && r.write(b[i:i+1]) == nil; i++ {
		time.Sleep(time.Second)
	}
}

// repeat sends a message every minute until the session hangs up.
func (r *raw) repeat(m wire.Message) {
	for r.send(m) == nil {
		time.Sleep(time.Minute)
	}
}

// readAll takes what the session sends, and forgets it.
func (r *raw) readAll() {
	go func() { _, _ = io.Copy(io.Discard, r.conn) }()
}

// shakeHands does what makes a session established.
func (r *raw) shakeHands() {
	_ = r.send(&codec.Version{Protocol: 70016})
	_ = r.send(wire.NewMsgVerAck())
}

// read returns the next message.
func (r *raw) read() transport.Message {
	r.t.Helper()
	link, err := transport.Negotiate(bufio.NewReaderSize(r.conn, 16), new(encoder), magic, transport.OnlyV1)
	if err != nil {
		r.t.Fatal(err)
	}
	m, err := link.Read()
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// shakeHandsReading shakes hands with a session that was connected to, and leaves
// its ping to be read.
func (r *raw) shakeHandsReading() {
	r.t.Helper()
	_ = r.send(&codec.Version{Protocol: 70016})
	for _, want := range []string{"version", "wtxidrelay", "sendaddrv2", "verack"} {
		if got := r.read().Command; got != want {
			r.t.Fatalf("got %s, want %s", got, want)
		}
	}
	_ = r.send(wire.NewMsgVerAck())
	if got := r.read().Command; got != "sendcmpct" {
		r.t.Fatalf("got %s", got)
	}
}

// ping reads a ping, and returns its nonce.
func (r *raw) ping() uint64 {
	r.t.Helper()
	var m wire.MsgPing
	got := r.read()
	if err := codec.Decode(&m, got.Payload, codec.ProtocolVersion); got.Command != "ping" || err != nil {
		r.t.Fatalf("got %s, %v", got.Command, err)
	}
	return m.Nonce
}
