package zmqsink

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

// Reading any bytes of a peer ends, answers little, and keeps no prefixes but those
// of our topics.
func FuzzPeer(f *testing.F) {
	greeted := string(libzmqGreeting) + libzmqReady
	for _, seed := range []string{
		"", "GET / HTTP/1.1\r\n\r\n", string(libzmqGreeting), greeted,
		greeted + "\x00\x05\x01hash" + "\x00\x05\x00hash",
		greeted + string(command("SUBSCRIBE", []byte("hashtx"))) + string(command("CANCEL", []byte("hashtx"))),
		greeted + string(command("PING", []byte("\x00\x00context"))),
		greeted + "\x02\x00\x00\x00\x00\x00\x00\x00\x02\x01h" + "\x01\x01\x01\x00\x00",
	} {
		f.Add([]byte(seed))
	}
	topics := []string{"hashtx", "rawblock"}
	f.Fuzz(func(t *testing.T, said []byte) {
		conn := &inMemory{Reader: bytes.NewReader(said)}
		s := newSubscriber(conn, 1, &budget{limit: maxWaiting}, topics)
		r, buf := bufio.NewReaderSize(conn, readSize), new([maxFrame]byte)
		if s.handshake(r, buf) == nil {
			if err := s.read(r, buf); err == nil {
				t.Error("reading has no end")
			}
		}
		for prefix := range s.prefixes {
			if !strings.HasPrefix(topics[0], prefix) && !strings.HasPrefix(topics[1], prefix) {
				t.Errorf("keeps %q", prefix)
			}
		}
		if len(s.pong) > 2+1+4+maxContext || conn.wrote > greetingSize+27 {
			t.Errorf("answers %d bytes, %q", conn.wrote, s.pong)
		}
	})
}

// Written frames are read back unchanged.
func FuzzFrame(f *testing.F) {
	f.Add(byte(0), []byte("x"))
	f.Add(byte(flagMore), make([]byte, 256))
	f.Add(byte(flagCommand), make([]byte, maxFrame))
	f.Fuzz(func(t *testing.T, flags byte, body []byte) {
		flags &= flagMore | flagCommand
		written := appendFrame(nil, flags, body)
		gotFlags, gotBody, err := readFrame(bytes.NewReader(written), new([maxFrame]byte))
		if len(body) > maxFrame || flags == flagMore|flagCommand {
			if err == nil {
				t.Error("no error")
			}
			return
		}
		if err != nil || gotFlags&^flagLong != flags || !bytes.Equal(gotBody, body) {
			t.Errorf("%#x %q, %v; want %#x %q", gotFlags, gotBody, err, flags, body)
		}
	})
}
