package p2p_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// The end of the context ends the session, with the reason of the context.
func TestContextEndsSession(t *testing.T) {
	reason := errors.New("the node stops")
	ctx, cancel := context.WithCancelCause(t.Context())
	ours, theirs := net.Pipe()
	defer theirs.Close()
	s := p2p.New(ours, p2p.Config{Magic: magic}, newOwner())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	cancel(reason)
	if err := next(t, ended); !errors.Is(err, reason) {
		t.Errorf("ended with %v", err)
	}
	<-s.Done()
}

// Each type of connection says what Core says on it: an answer to the version, the end of the handshake, a ping. By the
// version that both speak, features, compact blocks and pings with an answer are there or not.
func TestWhatIsSaid(t *testing.T) {
	const features, addresses, compact = "wtxidrelay sendaddrv2 ", "getaddr ", "sendcmpct "
	for _, test := range []struct {
		kind           p2p.ConnectionType
		ours, theirs   int32
		want           string
		relays, answer bool // transactions; the ping before the last message is answered
	}{
		{p2p.Inbound, 0, 70016, "version " + features + "verack " + compact + "ping", true, true},
		{p2p.Inbound, 0, 90000, "version " + features + "verack " + compact + "ping", true, true},
		{p2p.Inbound, 0, 70015, "version verack " + compact + "ping", true, true},
		{p2p.Inbound, 70014, 70016, "version verack " + compact + "ping", true, true},
		{p2p.Inbound, 0, 70013, "version verack ping", true, true},
		{p2p.Inbound, 0, 60001, "version verack ping", true, true},
		{p2p.Inbound, 0, 60000, "version verack ping", true, false},
		{p2p.Inbound, 0, 31800, "version verack ping", true, false},
		{p2p.Manual, 0, 70016, "version " + features + "verack " + addresses + compact + "ping", true, true},
		{p2p.OutboundFullRelay, 0, 70016, "version " + features + "verack " + addresses + compact + "ping", true, true},
		{p2p.AddrFetch, 0, 70016, "version " + features + "verack " + addresses + compact + "ping", true, true},
		{p2p.BlockRelayOnly, 0, 70016, "version " + features + "verack " + compact + "ping", false, true},
	} {
		t.Run(test.kind.String()+" "+test.want, func(t *testing.T) {
			left, right := net.Pipe()
			n := start(t, left, p2p.Config{Type: test.kind, Protocol: test.ours})
			n.Want(10)
			r := &raw{t, right}
			go func() {
				_ = r.send(&codec.Version{Protocol: test.theirs})
				_ = r.send(wire.NewMsgVerAck())
			}()
			var said []string
			for range strings.Count(test.want, " ") + 1 {
				m := r.read()
				said = append(said, m.Command)
				if m.Command == "version" {
					var v codec.Version
					if err := codec.Decode(&v, m.Payload, 0); err != nil || v.NoTransactions == test.relays {
						t.Errorf("version %+v, %v", v, err)
					}
				}
			}
			if got := strings.Join(said, " "); got != test.want {
				t.Errorf("said %s, want %s", got, test.want)
			}
			common := min(test.theirs, codec.ProtocolVersion)
			if test.ours != 0 {
				common = min(common, test.ours)
			}
			if got := next(t, n.established); got.Common != common {
				t.Errorf("common version %d, want %d", got.Common, common)
			}
			waits := n.Stats().PingWait
			if test.answer != (common > 60000) || !test.answer && waits != 0 {
				t.Errorf("waits for a pong for %v", waits)
			}
			go func() {
				_ = r.write(frame("ping", make([]byte, 8)))
				_ = r.write(frame("inv", []byte{0}))
			}()
			if test.answer {
				if m := r.read(); m.Command != "pong" || len(m.Payload) != 8 {
					t.Errorf("got %s", m.Command)
				}
			}
			nextOf[*wire.MsgInv](t, n)
			n.Close(nil)
			right.Close()
		})
	}
}

// Features count between version and verack alone, and announcements by wtxid from the version on that has them.
func TestFeatures(t *testing.T) {
	for _, test := range []struct {
		protocol      int32
		say           []string
		wtxid, addrV2 bool
		line          string
	}{
		{70016, nil, false, false, ""},
		{70016, []string{"wtxidrelay"}, true, false, ""},
		{70016, []string{"sendaddrv2"}, false, true, ""},
		{70016, []string{"sendaddrv2", "wtxidrelay"}, true, true, ""},
		{70016, []string{"wtxidrelay", "wtxidrelay"}, true, false, "ignoring duplicate wtxidrelay from peer=3"},
		{
			70015,
			[]string{"wtxidrelay", "sendaddrv2"},
			false, true,
			"ignoring wtxidrelay due to old common version=70015 from peer=3",
		},
	} {
		var log lines
		left, right := net.Pipe()
		n := start(t, left, p2p.Config{ID: 3, Log: log.add})
		r := &raw{t, right}
		r.readAll()
		_ = r.send(&codec.Version{Protocol: test.protocol})
		for _, command := range test.say {
			_ = r.write(frame(command, nil))
		}
		_ = r.send(wire.NewMsgVerAck())
		got := next(t, n.established)
		if got.WtxidRelay != test.wtxid || got.AddrV2 != test.addrV2 {
			t.Errorf("%v of %d: %+v", test.say, test.protocol, got)
		}
		text := log.String()
		if said := strings.Contains(text, "ignoring"); said != (test.line != "") || !strings.Contains(text, test.line) {
			t.Errorf("%v of %d: no line %q in\n%s", test.say, test.protocol, test.line, text)
		}
		right.Close()
	}
}

// The session tells of itself what it was made with, and names an address in the log only where that is allowed.
func TestVersionMessage(t *testing.T) {
	for addr, want := range map[string]string{
		"":          "send version message: version 70016, blocks=9, txrelay=1, peer=4\n",
		"1.2.3.4:5": "send version message: version 70016, blocks=9, them=[::]:0, txrelay=1, peer=4\n",
	} {
		synctest.Test(t, func(t *testing.T) {
			var log lines
			left, right := net.Pipe()
			start(t, left, p2p.Config{
				ID: 4, Type: p2p.Manual, Log: log.add, LogAddr: addr, Height: 9, Services: wire.SFNodeNetwork,
				Offered: wire.SFNodeWitness, UserAgent: "/us/",
			})
			m := (&raw{t, right}).read()
			var v codec.Version
			if err := codec.Decode(&v, m.Payload, 0); err != nil || v.Services != wire.SFNodeNetwork ||
				v.YourServices != wire.SFNodeWitness || v.StartHeight != 9 || v.UserAgent != "/us/" ||
				v.Time != time.Now().Unix() || v.Nonce == 0 || v.NoTransactions || v.Protocol != codec.ProtocolVersion {
				t.Errorf("got %+v, %v", v, err)
			}
			if !strings.Contains(log.String(), want) {
				t.Errorf("no line %q in\n%s", want, log.String())
			}
			right.Close()
		})
	}
}

// Refuse ends sessions of all types, with its own reason; Desirable only those that the node chose by itself.
func TestRefusedServices(t *testing.T) {
	reason := errors.New("not wanted")
	for _, kind := range []p2p.ConnectionType{
		p2p.Inbound, p2p.Manual, p2p.OutboundFullRelay, p2p.BlockRelayOnly, p2p.Feeler, p2p.AddrFetch,
	} {
		for _, desirable := range []bool{false, true} {
			cfg := p2p.Config{Type: kind}
			want := reason
			if desirable {
				cfg.Desirable = func(wire.ServiceFlag) wire.ServiceFlag { return wire.SFNodeNetwork }
				want = p2p.ErrServices
				if kind == p2p.Inbound || kind == p2p.Manual || kind == p2p.Feeler {
					want = nil
				}
			} else {
				cfg.Refuse = func(offered wire.ServiceFlag) error {
					if offered != wire.SFNodeWitness {
						t.Errorf("asked about %v", offered)
					}
					return reason
				}
			}
			left, right := net.Pipe()
			n := start(t, left, cfg)
			r := &raw{t, right}
			r.readAll()
			_ = r.send(&codec.Version{Protocol: 70016, Services: wire.SFNodeWitness})
			switch {
			case want != nil:
				endsWith(t, n, want)
			case kind == p2p.Feeler:
				endsWith(t, n, p2p.ErrFeeler)
			default:
				_ = r.send(wire.NewMsgVerAck())
				next(t, n.established)
			}
			right.Close()
		}
	}
}

// A peer that speaks the oldest version that is allowed may stay.
func TestMinProtocol(t *testing.T) {
	for protocol, stays := range map[int32]bool{70001: false, 70002: true, 70003: true} {
		left, right := net.Pipe()
		n := start(t, left, p2p.Config{MinProtocol: 70002})
		r := &raw{t, right}
		r.readAll()
		_ = r.send(&codec.Version{Protocol: protocol})
		if stays {
			_ = r.send(wire.NewMsgVerAck())
			next(t, n.established)
		} else {
			endsWith(t, n, p2p.ErrObsolete)
		}
		right.Close()
	}
}

// An owner that answers pings itself gets them in their order among other messages.
func TestHandPings(t *testing.T) {
	left, right := net.Pipe()
	n := start(t, left, p2p.Config{HandPings: true})
	n.Want(10)
	r := &raw{t, right}
	r.shakeHandsReading()
	r.ping()
	go func() { _ = r.write(slices.Concat(frame("ping", []byte{5, 7: 0}), frame("inv", []byte{0}))) }()
	if got := nextOf[*wire.MsgPing](t, n); got.Nonce != 5 {
		t.Errorf("nonce %d", got.Nonce)
	}
	nextOf[*wire.MsgInv](t, n)
	n.Pong(5)
	if m := r.read(); m.Command != "pong" || !bytes.Equal(m.Payload, []byte{5, 7: 0}) {
		t.Errorf("got %s %x", m.Command, m.Payload)
	}
	right.Close()
}

// Capture sees each message that was received whole, and each that is sent, in both directions alike.
func TestCapture(t *testing.T) {
	type captured struct {
		command  string
		size     int
		incoming bool
	}
	seen := make(chan captured, 100)
	left, right := net.Pipe()
	n := start(t, left, p2p.Config{Capture: func(command string, payload []byte, incoming bool) {
		seen <- captured{command, len(payload), incoming}
	}})
	n.Want(10)
	r := &raw{t, right}
	r.readAll()
	r.shakeHands()
	next(t, n.established)
	_ = r.write(frame("xyzzy", []byte{1, 2, 3})) // nobody knows it
	_ = r.write(changedByte(frame("inv", []byte{0}), 20))
	_ = r.write(frame("inv", []byte{0}))
	nextOf[*wire.MsgInv](t, n)
	_ = n.SendRaw("odd", []byte{1, 2})
	var in, out []string
	for len(out) == 0 || out[len(out)-1] != "odd" {
		c := next(t, seen)
		if c.incoming {
			in = append(in, c.command)
		} else {
			out = append(out, c.command)
		}
		if want, checked := map[string]int{"xyzzy": 3, "inv": 1, "odd": 2}[c.command]; checked && c.size != want {
			t.Errorf("%s of %d bytes", c.command, c.size)
		}
	}
	if got := strings.Join(in, " "); got != "version verack xyzzy inv" {
		t.Errorf("received %s", got)
	}
	if got := strings.Join(out, " "); got != "version wtxidrelay sendaddrv2 verack sendcmpct ping odd" {
		t.Errorf("sent %s", got)
	}
	right.Close()
}

// SendRaw sends any payload under any name, once the peer has shaken hands.
func TestSendRaw(t *testing.T) {
	left, right := net.Pipe()
	n := start(t, left, p2p.Config{})
	if err := n.SendRaw("odd", nil); !errors.Is(err, p2p.ErrEarly) {
		t.Errorf("before the handshake: %v", err)
	}
	r := &raw{t, right}
	r.shakeHandsReading()
	r.ping()
	if err := n.SendRaw("odd", []byte{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	if m := r.read(); m.Command != "odd" || !bytes.Equal(m.Payload, []byte{1, 2, 3}) {
		t.Errorf("got %s %x", m.Command, m.Payload)
	}
	right.Close()
}

// failing is a message that cannot be encoded.
type failing struct{ wire.MsgInv }

var errFailing = errors.New("cannot be encoded")

func (failing) BtcEncode(io.Writer, uint32, wire.MessageEncoding) error { return errFailing }

// A message that cannot be encoded is not sent, and ends nothing.
func TestSendWhatCannotBeEncoded(t *testing.T) {
	a, b := pair(t, p2p.Config{Type: p2p.BlockRelayOnly}, p2p.Config{})
	if err := a.Send(&failing{}); !errors.Is(err, errFailing) {
		t.Errorf("got %v", err)
	}
	_ = a.Send(wire.NewMsgInv())
	b.Want(10)
	nextOf[*codec.SendCmpct](t, b)
	nextOf[*wire.MsgInv](t, b)
}

// The log names a peer by its number, and by its address where addresses are logged.
func TestPeerName(t *testing.T) {
	for addr, want := range map[string]string{
		"": "peer=7", p2p.AddrSuffix("1.2.3.4:8333", false): "peer=7 peeraddr=1.2.3.4:8333",
		p2p.AddrSuffix("1.2.3.4:8333", true): "peer=7, peeraddr=1.2.3.4:8333",
	} {
		if got := p2p.PeerName(7, addr); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	want := []string{"inbound", "manual", "outbound-full-relay", "block-relay-only", "feeler", "addr-fetch", "private-broadcast"}
	for i, name := range want {
		if got := p2p.ConnectionType(i).String(); got != name {
			t.Errorf("got %s, want %s", got, name)
		}
	}
}
