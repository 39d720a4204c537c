package p2p_test

import (
	"net"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/peer"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

// A btcdPeer is a peer of btcd's own package, and what it has heard.
type btcdPeer struct {
	*peer.Peer
	verack  chan struct{}
	headers chan *wire.MsgHeaders
}

// startBtcd runs a peer of btcd over conn.
func startBtcd(t *testing.T, conn net.Conn, inbound, v2 bool) *btcdPeer {
	t.Helper()
	b := &btcdPeer{verack: make(chan struct{}), headers: make(chan *wire.MsgHeaders, 1)}
	cfg := &peer.Config{
		ChainParams:      &chaincfg.RegressionNetParams,
		UserAgentName:    "btcd",
		UserAgentVersion: "1.2.3",
		Services:         wire.SFNodeNetwork | wire.SFNodeWitness | wire.SFNodeP2PV2, // else it has no v2
		AllowSelfConns:   true,
		UsingV2Conn:      v2,
		Listeners: peer.MessageListeners{
			OnVerAck:  func(*peer.Peer, *wire.MsgVerAck) { close(b.verack) },
			OnHeaders: func(_ *peer.Peer, m *wire.MsgHeaders) { b.headers <- m },
		},
	}
	if inbound {
		b.Peer = peer.NewInboundPeer(cfg)
	} else {
		var err error
		if b.Peer, err = peer.NewOutboundPeer(cfg, conn.RemoteAddr().String()); err != nil {
			t.Fatal(err)
		}
	}
	b.AssociateConnection(conn)
	t.Cleanup(func() {
		b.Disconnect()
		b.WaitForDisconnect()
	})
	return b
}

// loopback returns both ends of a TCP connection.
func loopback(t *testing.T) (dialed, accepted net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if dialed, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if accepted, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	return dialed, accepted
}

func TestWithBtcd(t *testing.T) {
	tests := []struct {
		name     string
		v2, dial bool // dial: the connection is ours
		want     transport.Kind
	}{
		{"v1 out", false, true, transport.V1},
		{"v1 in", false, false, transport.V1},
		{"v2 out", true, true, transport.V2},
		{"v2 in", true, false, transport.V2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ours, theirs := loopback(t)
			cfg := p2p.Config{V2: test.v2, Services: wire.SFNodeNetwork | wire.SFNodeWitness}
			if test.dial {
				cfg.Type = p2p.OutboundFullRelay
			} else {
				ours, theirs = theirs, ours
			}
			a := start(t, ours, cfg)
			b := startBtcd(t, theirs, test.dial, test.v2)
			if r := next(t, a.established); r.UserAgent != "/btcwire:0.5.0/btcd:1.2.3/" {
				t.Errorf("got user agent %s", r.UserAgent)
			}
			next(t, b.verack)
			talk(t, a, b)
			if got := a.Stats().Transport; got != test.want {
				t.Errorf("got transport %v", got)
			}
		})
	}
}

// talk lets btcd ask for headers, and get them.
func talk(t *testing.T, a *node, b *btcdPeer) {
	t.Helper()
	a.Want(10)
	genesis := chaincfg.RegressionNetParams.GenesisBlock.Header
	ask(t, a, b, chainhash.Hash{1})
	if err := a.Send(&codec.Headers{List: []wire.BlockHeader{genesis}}); err != nil {
		t.Fatal(err)
	}
	if got := next(t, b.headers); len(got.Headers) != 1 || got.Headers[0].BlockHash() != genesis.BlockHash() {
		t.Errorf("got %+v", got)
	}
	ask(t, a, b, chainhash.Hash{2}) // comes after the answer to the ping of the handshake
	if a.Stats().Ping == 0 {
		t.Error("btcd answered no ping")
	}
}

// ask lets btcd ask for headers, and waits until we are asked.
func ask(t *testing.T, a *node, b *btcdPeer, from chainhash.Hash) {
	t.Helper()
	if err := b.PushGetHeadersMsg([]*chainhash.Hash{&from}, &chainhash.Hash{9}); err != nil {
		t.Fatal(err)
	}
	for {
		m := next(t, a.received)
		a.Want(1)
		if asked, ok := m.Message.(*wire.MsgGetHeaders); ok {
			if *asked.BlockLocatorHashes[0] != from || asked.HashStop != (chainhash.Hash{9}) {
				t.Errorf("got %+v", asked)
			}
			return
		}
	}
}
