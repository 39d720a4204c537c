package transport

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2/ellswift"

	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// A sink is an Outbox that keeps what is to be written.
type sink struct {
	bytes.Buffer
	encoder Encoder
}

func (s *sink) SendHandshake(b []byte) { s.Write(b) }
func (s *sink) Ready(e Encoder)        { s.encoder = e }

// readV1 reads the first message of a v1 stream.
func readV1(stream []byte) (Message, error) {
	link, err := Negotiate(bufio.NewReader(bytes.NewReader(stream)), new(sink), mainMagic, OnlyV1)
	if err != nil {
		return Message{}, err
	}
	return link.Read()
}

// changed returns a copy of b with other bytes at an offset.
func changed(b []byte, at int, to ...byte) []byte {
	b = bytes.Clone(b)
	copy(b[at:], to)
	return b
}

func TestV1(t *testing.T) {
	good := v1Encoder(mainMagic).Append(nil, "badmsg", []byte("\x01d"))
	tests := []struct {
		name     string
		stream   []byte
		err      error
		rejected bool
		text     string
	}{
		{"a message", good, nil, false, ""},
		{"a message without payload", v1Encoder(mainMagic).Append(nil, "verack", nil), nil, false, ""},
		{"wrong magic", changed(good, 0, 0xff, 0xff, 0xff, 0xff), ErrHeader, false, "Header error: Wrong MessageStart ffffffff received"},
		{
			"too large", changed(good, 16, 0x01, 0x09, 0x3d, 0x00), ErrHeader, false,
			"Header error: Size too large (badmsg, 4000001 bytes)",
		},
		{
			"wrong checksum", changed(good, 20, 0xff, 0xff, 0xff, 0xff), nil, true,
			"Header error: Wrong checksum (badmsg, 2 bytes), expected 78df0a04 was ffffffff",
		},
		{
			"a name with a byte in its zeros", changed(good, 4+7, 'x'), nil, true,
			"Header error: Invalid message type (badmsg, 2 bytes)",
		},
		{"a name with a sign", changed(good, 4, 0xff), nil, true, "Header error: Invalid message type (admsg, 2 bytes)"},
		{"half a header", good[:10], io.ErrUnexpectedEOF, false, ""},
		{"half a payload", good[:25], io.ErrUnexpectedEOF, false, ""},
		{"nothing", nil, io.EOF, false, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m, err := readV1(test.stream)
			if !errors.Is(err, test.err) || (m.Rejected != nil) != test.rejected {
				t.Fatalf("got %v, rejected %v", err, m.Rejected)
			}
			if said := errors.Join(err, m.Rejected); test.text != "" && said.Error() != test.text {
				t.Errorf("got %q, want %q", said, test.text)
			}
			if err == nil && m.Size != len(test.stream) {
				t.Errorf("got size %d, want %d", m.Size, len(test.stream))
			}
		})
	}
}

// A length is not believed before the bytes are there.
func TestMemoryIsTakenAsBytesCome(t *testing.T) {
	header := v1Encoder(mainMagic).Append(nil, "block", nil)
	binary.LittleEndian.PutUint32(header[16:], codec.MaxPayload)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readV1(append(header, make([]byte, 1000)...))
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Error("read a message without its end")
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 2*ahead {
		t.Errorf("took %d bytes", taken)
	}
}

// A remote is the other side of a v2 connection, which can do what it should not.
type remote struct {
	t       *testing.T
	theirs  *session
	written bytes.Buffer // to the side under test
}

// exchange runs a responder, has speak write after the keys, and returns the
// responder's result.
func exchange(t *testing.T, garbage []byte, speak func(r *remote)) (*Link, error) {
	t.Helper()
	private, public, err := ellswift.EllswiftCreate()
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := io.Pipe()
	result := make(chan error, 1)
	out := make(chan []byte, 10)
	var link *Link
	go func() {
		var err error
		link, err = Negotiate(bufio.NewReader(ours), outbox(out), mainMagic, Detect)
		result <- err
	}()
	if _, err := theirs.Write(public[:]); err != nil {
		t.Fatal(err)
	}
	answer := <-out
	secret, err := ellswift.V2Ecdh(private, [keyLen]byte(answer), public, true)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSession(secret[:], mainMagic, true)
	if err != nil {
		t.Fatal(err)
	}
	r := &remote{t: t, theirs: s}
	r.written.Write(garbage)
	speak(r)
	go func() {
		_, _ = theirs.Write(r.written.Bytes())
		theirs.Close()
	}()
	err = <-result
	t.Cleanup(func() { ours.Close() })
	return link, err
}

// outbox hands handshakes to a channel.
type outbox chan []byte

func (o outbox) SendHandshake(b []byte) { o <- b }
func (outbox) Ready(Encoder)            {}

// packet writes a packet.
func (r *remote) packet(contents, aad []byte, decoy bool) {
	r.written.Write(r.theirs.send.appendPacket(nil, contents, aad, decoy))
}

// terminate writes the end of the garbage.
func (r *remote) terminate() { r.written.Write(r.theirs.sendTerminator[:]) }

func TestV2Handshake(t *testing.T) {
	longest := bytes.Repeat([]byte{7}, maxGarbage)
	tests := []struct {
		name    string
		garbage []byte
		speak   func(r *remote)
		want    string // empty: none
	}{
		{"no garbage", nil, func(r *remote) {
			r.terminate()
			r.packet(nil, nil, false)
		}, ""},
		{"the longest garbage", longest, func(r *remote) {
			r.terminate()
			r.packet([]byte("an extension to come"), longest, false)
		}, ""},
		{"too much garbage", append(longest, 7), func(r *remote) {
			r.terminate()
			r.packet(nil, nil, false)
		}, "V2 transport error: missing garbage terminator"},
		{"decoys before the version", longest[:5], func(r *remote) {
			r.terminate()
			r.packet([]byte{1, 2, 3}, longest[:5], true)
			r.packet(nil, nil, true)
			r.packet(nil, nil, false)
		}, ""},
		{"garbage not vouched for", longest[:5], func(r *remote) {
			r.terminate()
			r.packet(nil, nil, false)
		}, "V2 transport error: packet decryption failure (0 bytes)"},
		{"garbage vouched for twice", longest[:5], func(r *remote) {
			r.terminate()
			r.packet(nil, longest[:5], true)
			r.packet(nil, longest[:5], false)
		}, "V2 transport error: packet decryption failure (0 bytes)"},
		{"a packet too large", nil, func(r *remote) {
			r.terminate()
			r.packet(make([]byte, maxContents+1), nil, false)
		}, "V2 transport error: packet too large (4000014 bytes)"},
		{"an end in the garbage", longest[:5], func(*remote) {}, "unexpected EOF"},
		{"an end in the version", nil, func(r *remote) { r.terminate() }, "EOF"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			link, err := exchange(t, test.garbage, test.speak)
			if err != nil && err.Error() != test.want || err == nil && test.want != "" {
				t.Fatalf("got %v, want %s", err, test.want)
			}
			if err == nil && link.Kind != V2 {
				t.Errorf("got %v", link.Kind)
			}
		})
	}
}

func TestV2Messages(t *testing.T) {
	tests := []struct {
		name     string
		contents []byte
		command  string // empty: rejected
		payload  string
	}{
		{"a short name", []byte("\x0einvs"), "inv", "invs"},
		{"a long name", []byte("\x00verack\x00\x00\x00\x00\x00\x00pay"), "verack", "pay"},
		{"a long name for what has a short one", []byte("\x00inv\x00\x00\x00\x00\x00\x00\x00\x00\x00"), "inv", ""},
		{"nothing", nil, "", ""},
		{"an unknown short name", []byte{200}, "", ""},
		{"half a long name", []byte("\x00verack"), "", ""},
		{"a byte after the name", []byte("\x00inv\x00\x00\x00\x00\x00\x00\x00\x00x"), "", ""},
		{"a sign in the name", []byte("\x00inv\x80\x00\x00\x00\x00\x00\x00\x00\x00"), "", ""},
	}
	link, err := exchange(t, nil, func(r *remote) {
		r.terminate()
		r.packet(nil, nil, false)
		for range 300 { // past the change of keys
			r.packet([]byte{18, 1, 2, 3}, nil, true)
		}
		for _, test := range tests {
			r.packet(test.contents, nil, false)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range tests {
		m, err := link.Read()
		if err != nil {
			t.Fatal(err)
		}
		if m.Command != test.command || string(m.Payload) != test.payload ||
			(m.Rejected != nil) != (test.command == "") ||
			m.Size != len(test.contents)+20 {
			t.Errorf("%s: got %+v", test.name, m)
		}
	}
}

func TestV1PeerOfAnotherNetwork(t *testing.T) {
	other := v1Encoder{1, 2, 3, 4}.Append(nil, "version", make([]byte, 100))
	_, err := Negotiate(bufio.NewReader(bytes.NewReader(other)), new(sink), mainMagic, Detect)
	if err == nil || err.Error() != "V2 transport error: V1 peer with wrong MessageStart 01020304" {
		t.Errorf("got %v", err)
	}
}

// The key is sent upon the first byte that cannot be v1, and not before.
func TestDetection(t *testing.T) {
	prefix := string(mainMagic[:]) + versionCommand
	for n := range len(prefix) {
		var out sink
		_, err := Negotiate(bufio.NewReader(strings.NewReader(prefix[:n])), &out, mainMagic, Detect)
		if !errors.Is(err, io.EOF) || out.Len() > 0 {
			t.Errorf("%d bytes: %v, %d written", n, err, out.Len())
		}
		_, err = Negotiate(bufio.NewReader(strings.NewReader(prefix[:n]+"\xff")), &out, mainMagic, Detect)
		if err == nil || out.Len() < keyLen {
			t.Errorf("%d bytes and another: %v, %d written", n, err, out.Len())
		}
	}
}

func TestShortNames(t *testing.T) {
	if id := shortIDs[codec.CmdFeature]; id != 37 {
		t.Errorf("feature has the number %d", id)
	}
	for _, name := range codec.Commands() {
		id, ok := shortIDs[name]
		switch name {
		case "version", "verack", "wtxidrelay", "sendaddrv2", "sendheaders", "getaddr", "sendtxrcncl":
			if ok {
				t.Errorf("%s has a number", name)
			}
		default:
			if !ok || shortNames[id] != name {
				t.Errorf("%s has no number", name)
			}
		}
	}
}

func TestSanitize(t *testing.T) {
	if got := Sanitize("/A:0.1(é;\x00<b>)/ _-?@,"); got != "/A:0.1(;b)/ _-?@," {
		t.Errorf("got %q", got)
	}
}

// FuzzStream reads any bytes from the start of an inbound connection.
func FuzzStream(f *testing.F) {
	f.Add(v1Encoder(mainMagic).Append(nil, "version", make([]byte, 90)), false)
	f.Add(v1Encoder(mainMagic).Append(nil, "ping", make([]byte, 8)), true)
	f.Add(bytes.Repeat([]byte{7}, 5000), true)
	f.Add([]byte{}, true)
	f.Fuzz(func(t *testing.T, stream []byte, detect bool) {
		mode := OnlyV1
		if detect {
			mode = Detect
		}
		link, err := Negotiate(bufio.NewReader(bytes.NewReader(stream)), new(sink), mainMagic, mode)
		if err != nil {
			return
		}
		for total := 0; ; {
			m, err := link.Read()
			if err != nil {
				return
			}
			if total += m.Size; total > len(stream) {
				t.Fatalf("read %d bytes of %d", total, len(stream))
			}
		}
	})
}

// FuzzPackets reads packets whose contents a peer with the right keys made up.
func FuzzPackets(f *testing.F) {
	f.Add([]byte{18, 1, 2, 3, 4, 5, 6, 7, 8}, false, -1)
	f.Add([]byte("\x00verack\x00\x00\x00\x00\x00\x00"), true, 3)
	f.Add([]byte{}, false, 0)
	f.Fuzz(func(t *testing.T, contents []byte, decoy bool, flip int) {
		if len(contents) > 1<<16 {
			return
		}
		a, err := newSession(make([]byte, 32), mainMagic, true)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := newSession(make([]byte, 32), mainMagic, false)
		stream := a.send.appendPacket(nil, contents, nil, decoy)
		stream = a.send.appendPacket(stream, contents, nil, false)
		if flip >= 0 {
			stream[flip%len(stream)] ^= 1
		}
		r := v2Reader{bufio.NewReader(bytes.NewReader(stream)), &b.receive}
		m, err := r.Read()
		if flip >= 0 {
			if _, again := r.Read(); err == nil && again == nil && !decoy {
				t.Fatal("a changed packet was taken")
			}
			return
		}
		if err != nil || m.Size != len(contents)+expansion {
			t.Fatalf("got %+v, %v for %s", m, err, hex.EncodeToString(contents))
		}
	})
}
