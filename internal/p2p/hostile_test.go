package p2p_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

// lines are what a session logs.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text.WriteString(line + "\n")
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A peer's handshake, encoded.
var (
	hello   = encode(&codec.Version{Protocol: 70016, UserAgent: "/peer/"})
	verack  = encode(wire.NewMsgVerAck())
	greeted = append(bytes.Clone(hello), verack...)
)

// with returns a greeting and what follows it.
func with(messages ...[]byte) []byte {
	return append(bytes.Clone(greeted), bytes.Join(messages, nil)...)
}

func TestHostilePeers(t *testing.T) {
	inv := encode(wire.NewMsgInv())
	tests := []struct {
		name  string
		says  []byte
		ends  error  // nil: the session goes on, and hands over an inv that follows
		line  string // in the log, if any
		wrong string // what is reported as misbehaviour, if any
	}{
		// These end the session.
		{"garbage", bytes.Repeat([]byte{0x16, 3, 1}, 100), transport.ErrHeader, "Header error: Wrong MessageStart 16030116 received, peer=5", ""},
		{"garbage later", with(make([]byte, 24)), transport.ErrHeader, "Wrong MessageStart 00000000", ""},
		{"another network", frameOf([4]byte{1, 2, 3, 4}, "version", nil), transport.ErrHeader, "Wrong MessageStart 01020304", ""},
		{"too long a message", with(tooLong()), transport.ErrHeader, "Size too large (block, 4000001 bytes)", ""},
		{
			"an old protocol", encode(&codec.Version{Protocol: 31799}), p2p.ErrObsolete,
			"peer using obsolete version 31799, disconnecting peer=5", "",
		},
		{"a protocol below zero", encode(&codec.Version{Protocol: -1}), p2p.ErrObsolete, "", ""},
		{"wtxidrelay too late", with(frame("wtxidrelay", nil)), p2p.ErrLate, "wtxidrelay received after verack, disconnecting peer=5", ""},
		{"sendaddrv2 too late", with(frame("sendaddrv2", nil)), p2p.ErrLate, "sendaddrv2 received after verack, disconnecting peer=5", ""},
		{
			"a locator too long", with(frame("getblocks", append([]byte{0, 0, 0, 0, 102}, make([]byte, 103*32)...))),
			codec.ErrLocator, "getblocks locator size 102 > 101, disconnecting peer=5", "",
		},
		{"an end within a message", with(inv[:30]), io.EOF, "", ""},

		// These are forgiven.
		{
			"a message before its version", append(encode(wire.NewMsgPing(1)), greeted...), nil,
			`non-version message before version handshake. Message "ping" from peer=5`, "",
		},
		{
			"a message before its verack", bytes.Join([][]byte{hello, inv, verack}, nil), nil,
			`Unsupported message "inv" prior to verack from peer=5`, "",
		},
		{"a second version", with(hello), nil, "redundant version message from peer=5", ""},
		{"a second verack", with(verack), nil, "ignoring redundant verack message from peer=5", ""},
		{
			"features twice", bytes.Join([][]byte{
				hello, frame("wtxidrelay", nil), frame("wtxidrelay", nil), frame("sendaddrv2", nil),
				frame("sendaddrv2", nil), verack,
			}, nil),
			nil, "ignoring duplicate wtxidrelay from peer=5", "",
		},
		{"sendtxrcncl", with(frame("sendtxrcncl", nil)), nil, "sendtxrcncl from peer=5 ignored", ""},
		{"a version that ends early", append(frame("version", []byte{1}), greeted...), nil, "ProcessMessages(version, 1 bytes): Exception", ""},
		{"a wrong checksum", with(changedByte(inv, 20)), nil, "Header error: Wrong checksum (inv, 1 bytes), expected", ""},
		{"a name with a sign", with(frame("in\xffv", nil)), nil, "Header error: Invalid message type (inv, 0 bytes), peer=5", ""},
		{"an unknown message", with(frame("xyzzy", make([]byte, 1000))), nil, `Unknown command "xyzzy" from peer=5`, ""},
		{"many unknown messages", with(bytes.Repeat(frame("xyzzy", make([]byte, 100)), 5000)), nil, `Unknown command`, ""},
		{"a message that ends early", with(frame("inv", []byte{5})), nil, "ProcessMessages(inv, 1 bytes): Exception", ""},
		{"an addrv2 without contents", with(frame("addrv2", nil)), nil, "end of data", ""},
		{"bytes after a message", with(frame("feefilter", make([]byte, 100)), inv), nil, "", ""},
		{"a short ping", with(frame("ping", []byte{1})), nil, "ProcessMessages(ping, 1 bytes): Exception", ""},
		{
			"a pong never asked for", with(frame("pong", noNonce), frame("pong", []byte{7, 7: 0})), nil,
			"pong peer=5: Unsolicited pong without ping, 0 expected, 7 received, 8 bytes", "",
		},
		{"a pong with zero", with(frame("pong", make([]byte, 8))), nil, "pong peer=5: Nonce zero", ""},
		{"a pong without nonce", with(frame("pong", nil)), nil, "pong peer=5: Short payload", ""},
		{"a flood of pings", with(bytes.Repeat(encode(wire.NewMsgPing(1)), 2000)), nil, "", ""},

		// These are reported to the owner.
		{"too many inventories", with(frame(
			"inv", append([]byte{0xfd, 0x51, 0xc3}, make([]byte, 50_001*36)...),
		)), nil, "", "inv message size = 50001"},
		{"too many headers", with(frame("headers", []byte{0xfd, 0xd1, 0x07})), nil, "", "headers message size = 2001"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var log lines
			ours, theirs := net.Pipe()
			n := start(t, ours, p2p.Config{ID: 5, Log: log.add})
			n.Want(100_000)
			r := &raw{t, theirs}
			r.readAll()
			go func() {
				_ = r.write(test.says)
				if test.ends == nil {
					_ = r.write(frame("getdata", []byte{0}))
				} else if errors.Is(test.ends, io.EOF) {
					theirs.Close()
				}
			}()
			switch {
			case errors.Is(test.ends, io.EOF): // or a write that fails first
				next(t, n.ended)
			case test.ends != nil:
				endsWith(t, n, test.ends)
			default:
				for next(t, n.received).Command() != "getdata" {
				}
			}
			if !strings.Contains(log.String(), test.line) {
				t.Errorf("no line %q in\n%.2000s", test.line, log.String())
			}
			if test.wrong != "" {
				if err := next(t, n.misbehaved); !errors.Is(err, codec.ErrMisbehaving) ||
					!strings.Contains(err.Error(), test.wrong) {
					t.Errorf("got %v", err)
				}
			}
			theirs.Close()
		})
	}
}

// noNonce ends the wait for the pong to the ping of the handshake.
var noNonce = make([]byte, 8)

// frameOf returns a message of another network.
func frameOf(of [4]byte, command string, payload []byte) []byte {
	b := frame(command, payload)
	copy(b, of[:])
	return b
}

// tooLong is the header of a message of a byte too many.
func tooLong() []byte {
	b := frame("block", nil)
	copy(b[16:], []byte{0x01, 0x09, 0x3d, 0x00})
	return b
}

// changedByte returns b with one byte changed.
func changedByte(b []byte, at int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1
	return b
}

// Messages from before the verack that count are handed over after it has
// come.
func TestEarlyMessages(t *testing.T) {
	ours, theirs := net.Pipe()
	n := start(t, ours, p2p.Config{})
	n.Want(10)
	r := &raw{t, theirs}
	r.readAll()
	go func() {
		_ = r.write(hello)
		_ = r.write(bytes.Repeat(frame("sendheaders", nil), 1000)) // keeps one
		_ = r.send(&codec.SendCmpct{HighBandwidth: true, Version: 2})
		_ = r.write(verack)
	}()
	next(t, n.established)
	nextOf[*wire.MsgSendHeaders](t, n)
	nextOf[*codec.SendCmpct](t, n)
	theirs.Close()
	next(t, n.ended)
}

// A peer that asks without reading the answers is not read itself.
func TestAPeerThatOnlyAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		n := start(t, ours, p2p.Config{SendLimit: 100_000})
		n.Want(1_000_000)
		r := &raw{t, theirs}
		r.shakeHandsReading()
		sent := 0
		go func() {
			for r.send(wire.NewMsgPing(1)) == nil {
				sent++
			}
		}()
		synctest.Wait()
		if sent < 500 || sent > 5000 {
			t.Errorf("took %d pings", sent)
		}
		if n.CanWrite() {
			t.Error("the queue is not full")
		}
		theirs.Close()
	})
}

// A flood stops where the credit does.
func TestAFloodStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		n := start(t, ours, p2p.Config{})
		r := &raw{t, theirs}
		r.readAll()
		inv := frame("inv", append([]byte{0xfd, 0x50, 0xc3}, make([]byte, 50_000*36)...))
		go func() {
			r.shakeHands()
			for r.write(inv) == nil {
			}
		}()
		n.Want(2)
		synctest.Wait()
		const handshake, readAhead = 1000, 16 << 10
		if len(n.received) != 2 || n.Stats().Received > uint64(2*len(inv)+handshake+readAhead) {
			t.Errorf("got %d messages, %d bytes", len(n.received), n.Stats().Received)
		}
		n.Want(1000) // now the bytes bound it: three messages are more than 5 MB
		synctest.Wait()
		if len(n.received) != 5 {
			t.Errorf("got %d messages", len(n.received))
		}
		theirs.Close()
	})
}

// FuzzSession lets a peer say anything, before and after the handshake.
func FuzzSession(f *testing.F) {
	f.Add(hello, false)
	f.Add(greeted, false)
	f.Add(frame("inv", []byte{0}), true)
	f.Add(frame("ping", make([]byte, 8)), true)
	f.Add(frame("sendaddrv2", nil), true)
	f.Add(bytes.Repeat([]byte{1}, 5000), false)
	f.Fuzz(func(t *testing.T, said []byte, shaken bool) {
		if len(said) > 16<<10 {
			return // more messages than there is credit for
		}
		ours, theirs := net.Pipe()
		n := start(t, ours, p2p.Config{V2: !shaken})
		n.Want(900)
		r := &raw{t, theirs}
		r.readAll()
		if shaken {
			r.shakeHands()
		}
		_ = r.write(said)
		theirs.Close()
		if err := <-n.ended; errors.Is(err, p2p.ErrPanic) {
			t.Fatal(err)
		}
	})
}
