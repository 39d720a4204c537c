package peers_test

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/messages"
)

// pipes connects to peers that are in the same bubble.
type pipes struct{ t *testing.T }

// end is one end of a pipe, at an address.
type end struct {
	net.Conn

	at *net.TCPAddr
}

func (e end) RemoteAddr() net.Addr { return e.at }
func (e end) LocalAddr() net.Addr  { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p pipes) Dial(_ context.Context, addr string) (net.Conn, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	here, there := net.Pipe()
	r := &remote{inbox: make(chan p2p.Message, 1000), shook: make(chan struct{}), ended: make(chan error, 1)}
	r.Session = p2p.New(end{there, net.TCPAddrFromAddrPort(at)}, p2p.Config{
		Type: p2p.Inbound, Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda}, Services: wire.SFNodeNetwork | wire.SFNodeWitness,
	}, r)
	r.Want(1 << 20)
	// It leaves after a while, so that sessions end in whatever order requests come.
	time.AfterFunc(2*time.Second, func() { r.Close(nil) })
	go r.run(context.Background()) //nolint:contextcheck // ends with its connection, not with the dialing
	return end{here, net.TCPAddrFromAddrPort(at)}, nil
}

func (pipes) Lookup(context.Context, string) ([]netip.Addr, error) { return nil, nil }

// The tests of every actor: the table, and its connections.
func TestSuite(t *testing.T) {
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		actortest.InBubble(t)
		view := new(chainview.Current)
		view.Set(chaintest.New(network.Params))
		sys := actortest.New(t)
		n := &node{Ref: sys.Spawn("peers", peers.New(peers.Config{
			Network: network, Chain: view, Log: sys.Log, Source: pipes{t}, Dir: t.TempDir(),
			UserAgent: "/Satoshi:30.2.0/Trawl:test/", Services: wire.SFNodeNetwork | wire.SFNodeWitness,
			MaxPeers: peers.DefaultMaxPeers, Private: true,
		}), peers.Requests...)}
		const node = "8.8.8.8:8333"
		checked := byte(0)
		return &actortest.Subject{
			Ref: n.Ref, Served: peers.Requests,
			Requests: []actortest.Request{
				actortest.Sample(messages.ConnectPeer{Node: node}),
				actortest.Sample(messages.DisconnectPeer{Addr: node}),
				actortest.Sample(messages.AddNode{Node: "9.9.9.9:8333"}),
				actortest.Sample(messages.RemoveNode{Node: "9.9.9.9:8333"}),
				actortest.Sample(messages.SetNetworkActive{Active: true}),
				actortest.Sample(messages.AddPeerAddress{Host: "7.7.7.7", Port: 8333}),
				actortest.Sample(messages.SetBan{Subnet: "6.6.6.6"}),
				actortest.Sample(messages.BroadcastPrivately{Tx: wire.NewMsgTx(2)}),
			},
			Check: func() {
				checked++
				name := netip.AddrPortFrom(netip.AddrFrom4([4]byte{8, 8, 4, checked}), 8333).String()
				must(t, n, messages.ConnectPeer{Node: name})
				time.Sleep(time.Second)
				synctest.Wait()
				connected := func(p messages.PeerInfo) bool { return p.Addr == name && p.Established }
				if !slices.ContainsFunc(must(t, n, messages.GetPeers{}), connected) {
					t.Errorf("%s is not connected", name)
				}
				if _, err := ask.Ask(t.Context(), n.Ref, messages.DisconnectPeer{Addr: name}); err != nil {
					t.Error(err)
				}
			},
		}
	})
}
