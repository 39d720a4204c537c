package p2p_test

import (
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
)

// Features are advertised between version and verack, by peers that speak the version of the protocol that has
// them (BIP434). A node that speaks an older one knows no such message.
func TestAdvertisedFeatures(t *testing.T) {
	const old, now = codec.FeatureVersion - 1, codec.FeatureVersion
	abcd := frame("feature", append([]byte{4}, "abcd\x00"...))
	bad := frame("feature", append([]byte{3}, "abc\x00"...))
	greet := func(version int32) []byte { return encode(&codec.Version{Protocol: version}) }
	for name, test := range map[string]struct {
		ours int32
		says []byte
		ends string // why the session does; empty: it does not
		line string // in the log
	}{
		"in time": {now, slices.Concat(greet(now), abcd, verack), "", "unknown feature advertised: abcd\n"},
		"in time, by a newer peer": {
			now, slices.Concat(greet(now+1), abcd, abcd, verack), "", "unknown feature advertised: abcd\n",
		},
		"before the version": {
			now, slices.Concat(abcd, greet(now), verack), "", `version handshake. Message "feature" from peer=3`,
		},
		"after the verack": {
			now, slices.Concat(greet(now), verack, abcd), "feature received after verack",
			"feature received after verack, disconnecting peer=3\n",
		},
		"by an old peer": {
			now, slices.Concat(greet(old), abcd, verack), "feature received with incompatible version 70016",
			"feature received with incompatible version 70016, disconnecting peer=3\n",
		},
		"malformed": {
			now, slices.Concat(greet(now), bad, verack), "invalid feature payload",
			"invalid feature payload, disconnecting peer=3\n",
		},
		"to an old node":         {old, slices.Concat(greet(now), abcd, verack), "", `Unsupported message "feature" prior to verack`},
		"to an old node, late":   {old, slices.Concat(greet(now), verack, abcd), "", `Unknown command "feature" from peer=3`},
		"malformed, to an old":   {old, slices.Concat(greet(now), bad, verack), "", `Unsupported message "feature" prior to verack`},
		"to a node of no choice": {0, slices.Concat(greet(now), abcd, verack), "", `Unsupported message "feature" prior to verack`},
	} {
		t.Run(name, func(t *testing.T) {
			var log lines
			left, right := net.Pipe()
			n := start(t, left, p2p.Config{ID: 3, Protocol: test.ours, Log: log.add})
			n.Want(10)
			r := &raw{t, right}
			r.readAll()
			go func() {
				_ = r.write(test.says)
				_ = r.write(frame("inv", []byte{0}))
			}()
			if test.ends != "" {
				if err := next(t, n.ended); err == nil || err.Error() != test.ends {
					t.Errorf("ended with %v", err)
				}
			} else {
				nextOf[*wire.MsgInv](t, n)
			}
			if text := log.String(); !strings.Contains(text, test.line) {
				t.Errorf("no line %q in\n%s", test.line, text)
			}
			counted := n.Stats().ReceivedPerMessage
			if _, known := counted["feature"]; known != (test.ours == now) {
				t.Errorf("counted are %v", counted)
			}
			right.Close()
		})
	}
}

// The version that is spoken is said, and no feature is advertised.
func TestNoFeatureIsAdvertised(t *testing.T) {
	for _, ours := range []int32{codec.ProtocolVersion, codec.FeatureVersion} {
		left, right := net.Pipe()
		n := start(t, left, p2p.Config{Protocol: ours})
		n.Want(10)
		r := &raw{t, right}
		go func() {
			_ = r.send(&codec.Version{Protocol: codec.FeatureVersion})
			_ = r.send(wire.NewMsgVerAck())
		}()
		var said []string
		for m := r.read(); m.Command != "ping"; m = r.read() {
			said = append(said, m.Command)
			var v codec.Version
			if m.Command == "version" && (codec.Decode(&v, m.Payload, 0) != nil || v.Protocol != ours) {
				t.Errorf("said version %d", v.Protocol)
			}
		}
		if got := strings.Join(said, " "); got != "version wtxidrelay sendaddrv2 verack sendcmpct" {
			t.Errorf("said %s", got)
		}
		if got := next(t, n.established); got.Common != ours {
			t.Errorf("common is %d", got.Common)
		}
		right.Close()
	}
}

// A feeler asks for addresses, unless it is to be quiet; other connections ask in any case.
func TestQuietFeelers(t *testing.T) {
	for _, test := range []struct {
		kind       p2p.ConnectionType
		quiet, ask bool
	}{
		{p2p.Feeler, false, true},
		{p2p.Feeler, true, false},
		{p2p.OutboundFullRelay, true, true},
		{p2p.AddrFetch, true, true},
		{p2p.Manual, true, true},
		{p2p.BlockRelayOnly, false, false},
	} {
		var log lines
		left, right := net.Pipe()
		n := start(t, left, p2p.Config{Type: test.kind, QuietFeelers: test.quiet, Log: log.add})
		r := &raw{t, right}
		r.readAll()
		go func() {
			_ = r.send(&codec.Version{Protocol: codec.ProtocolVersion})
			_ = r.send(wire.NewMsgVerAck())
		}()
		if test.kind == p2p.Feeler {
			endsWith(t, n, p2p.ErrFeeler)
		} else {
			next(t, n.established)
		}
		text := log.String()
		if strings.Contains(text, "sending getaddr") != test.ask || !strings.Contains(text, "sending verack") {
			t.Errorf("%v, quiet %v: said\n%s", test.kind, test.quiet, text)
		}
		right.Close()
	}
}
