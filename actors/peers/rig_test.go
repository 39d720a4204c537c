package peers_test

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
	"github.com/seed61375155/trawl/messages"
)

// patience is how long a test waits for what must come soon.
const patience = 10 * time.Second

// A node is a peer table that listens on loopback.
type node struct {
	*ask.Ref
	addr string // where it listens
}

// start starts a table. Its configuration is completed, and then changed by the
// test's own wishes.
func start(tb testing.TB, wishes ...func(*peers.Config)) *node {
	tb.Helper()
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		tb.Fatal(err)
	}
	listener := listen(tb)
	sys := actortest.New(tb)
	cfg := peers.Config{
		Network: network, Chain: new(chainview.Current), Log: sys.Log,
		Listeners: []netsetup.Listener{{Listener: listener}},
		UserAgent: "/Satoshi:30.2.0/Trawl:test/", Services: wire.SFNodeNetwork | wire.SFNodeWitness,
		MaxPeers: peers.DefaultMaxPeers, Lookup: true,
	}
	for _, wish := range wishes {
		wish(&cfg)
	}
	return &node{sys.Spawn("peers", peers.New(cfg), peers.Requests...), listener.Addr().String()}
}

func listen(tb testing.TB) net.Listener {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	return listener
}

// must asks, and gets an answer.
func must[Q messages.Request[R], R any](tb testing.TB, to *node, q Q) R {
	tb.Helper()
	got, err := ask.Ask(tb.Context(), to.Ref, q)
	if err != nil {
		tb.Fatalf("%T: %v", q, err)
	}
	return got
}

// eventually waits until something holds of the peers of a node, and returns
// them.
func (n *node) eventually(tb testing.TB, what string, holds func([]messages.PeerInfo) bool) []messages.PeerInfo {
	tb.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if list := must(tb, n, messages.GetPeers{}); holds(list) {
			return list
		}
		<-time.After(time.Millisecond)
	}
	tb.Fatalf("never: %s; peers: %+v", what, must(tb, n, messages.GetPeers{}))
	return nil
}

// peersOf waits for that many peers that have shaken hands.
func (n *node) peersOf(tb testing.TB, count int) []messages.PeerInfo {
	tb.Helper()
	return n.eventually(tb, "peers connect", func(list []messages.PeerInfo) bool {
		return len(list) == count &&
			!slices.ContainsFunc(list, func(p messages.PeerInfo) bool { return !p.Established })
	})
}

// A remote is a session of the test's, and what it has received.
type remote struct {
	*p2p.Session
	inbox chan p2p.Message
	shook chan struct{}
	ended chan error
	name  string // as the node calls it
}

func (r *remote) Established(p2p.Remote)  { close(r.shook) }
func (r *remote) Received(m p2p.Message)  { r.inbox <- m }
func (*remote) Misbehaved(error)          {}
func (*remote) Writable()                 {}
func (r *remote) run(ctx context.Context) { r.ended <- r.Run(ctx) }

// connect connects a session to a node, and waits for the handshake.
func connect(tb testing.TB, n *node) (r *remote, name string) {
	tb.Helper()
	r = dial(tb, n)
	select {
	case <-r.shook:
	case <-time.After(patience):
		tb.Fatal("no handshake")
	}
	return r, r.name
}

// empty returns an empty message; that of filtered blocks, which nodes do not read, is raw.
func empty(command string) wire.Message {
	if command == wire.CmdMerkleBlock {
		return &codec.Raw{Name: command}
	}
	return codec.New(command)
}

// remoteAgent is the user agent of sessions that are connected to a node.
const remoteAgent = "/Remote:1.2.3/"

// dial connects a session to a node.
func dial(tb testing.TB, n *node, wishes ...func(*p2p.Config)) *remote {
	tb.Helper()
	conn, err := net.Dial("tcp", n.addr)
	if err != nil {
		tb.Fatal(err)
	}
	r := &remote{
		inbox: make(chan p2p.Message, 100_000), shook: make(chan struct{}), ended: make(chan error, 1),
		name: conn.LocalAddr().String(),
	}
	cfg := p2p.Config{
		Type: p2p.OutboundFullRelay, Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda},
		Services: wire.SFNodeNetwork | wire.SFNodeWitness, Make: empty, UserAgent: remoteAgent,
	}
	for _, wish := range wishes {
		wish(&cfg)
	}
	r.Session = p2p.New(conn, cfg, r)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.run(ctx)
	}()
	tb.Cleanup(func() {
		cancel()
		<-done
	})
	r.Want(1 << 20)
	return r
}

// left waits until the node has left a peer.
func left(tb testing.TB, r *remote, why string) {
	tb.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		tb.Fatalf("%s: still connected", why)
	}
}
