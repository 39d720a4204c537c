package peers_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
	"github.com/seed61375155/trawl/messages"
)

// A fragile chain panics when a certain block is looked for.
type fragile struct{ *chaintest.Chain }

func (f fragile) Lookup(hash *chainhash.Hash) *chainview.Block {
	if *hash == (chainhash.Hash{0xbb}) {
		panic("a bug that one peer has found")
	}
	return f.Chain.Lookup(hash)
}

// A panic while one peer is served ends that peer's connection, and nothing else.
func TestPanicEndsOneSession(t *testing.T) {
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	view := new(chainview.Current)
	view.Set(fragile{chaintest.New(network.Params)})
	n := start(t, func(c *peers.Config) { c.Chain = view })
	honest, name := connect(t, n)
	for range 3 {
		r, _ := connect(t, n)
		if err := r.Send(&wire.MsgGetData{InvList: []*wire.InvVect{
			{Type: wire.InvTypeBlock, Hash: chainhash.Hash{0xbb}},
		}}); err != nil {
			t.Fatal(err)
		}
		left(t, r, "panic")
	}
	list := n.peersOf(t, 1)
	if list[0].Addr != name {
		t.Errorf("the honest peer is gone: %+v", list)
	}
	honest.Ping()
	n.eventually(t, "ping", func(list []messages.PeerInfo) bool { return list[0].ReceivedBy["ping"] > 0 })
}

// A sleeper never connects.
type sleeper struct{ dialing chan struct{} }

func (s sleeper) Dial(ctx context.Context, _ string) (net.Conn, error) {
	s.dialing <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func (sleeper) Lookup(context.Context, string) ([]netip.Addr, error) { return nil, nil }

// A node that stops answers waiting callers, cancels its dialing, and leaves its peers.
func TestStop(t *testing.T) {
	s := sleeper{make(chan struct{})}
	n := start(t, func(c *peers.Config) { c.Source, c.Timeout = s, time.Hour })
	r, _ := connect(t, n)
	answered := make(chan error, 1)
	go func() {
		_, err := ask.Ask(context.Background(), n.Ref, messages.ConnectPeer{Node: "1.2.3.4"})
		answered <- err
	}()
	<-s.dialing
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; !errors.Is(err, ask.ErrStopped) {
		t.Errorf("answered with %v", err)
	}
	left(t, r, "stop")
	if _, err := net.Dial("tcp", n.addr); err == nil {
		t.Error("still listening")
	}
}

// A connection through a SOCKS5 proxy reaches its target, under credentials of its own; nearby
// nodes are connected to directly.
func TestProxy(t *testing.T) {
	other := start(t)
	proxy := &socks{t: t, to: other.addr, Listener: listen(t)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		proxy.serve()
	}()
	t.Cleanup(func() {
		_ = proxy.Close()
		<-done
	})
	at := proxy.Addr().String()
	through := netsetup.Proxy{Addr: at, Randomize: true}
	source := netsetup.TCP{
		Names: through, Proxies: map[netaddr.Network]netsetup.Proxy{netaddr.IPv4: through, netaddr.Onion: through},
	}
	n := start(t, func(c *peers.Config) { c.Source, c.NameProxy, c.Proxies = source, true, source.Proxies })
	const onion = "kpgvmscirrdqpekbqjsvw5teanhatztpp2gl6eee4zkowvwfxwenqaid.onion:8333"
	for i, node := range []string{"8.8.8.8:8333", "name.test:8333", onion} {
		must(t, n, messages.ConnectPeer{Node: node})
		n.peersOf(t, i+1)
	}
	must(t, n, messages.ConnectPeer{Node: other.addr})
	list := n.peersOf(t, 4)
	proxy.mu.Lock()
	defer proxy.mu.Unlock()
	if !slices.Equal(proxy.asked, []string{"8.8.8.8", "name.test", onion[:len(onion)-5]}) {
		t.Errorf("asked for %v", proxy.asked)
	}
	if list[2].Network != "onion" || proxy.users[0] == proxy.users[1] {
		t.Errorf("%s, users %v", list[2].Network, proxy.users)
	}
}

// A socks is a proxy that leads everywhere to one place.
type socks struct {
	net.Listener

	t  *testing.T
	to string

	mu           sync.Mutex
	asked, users []string
}

// serve serves one connection after the other, as they are made here.
func (s *socks) serve() {
	for {
		conn, err := s.Accept()
		if err != nil {
			return
		}
		to, err := s.lead(conn)
		if err != nil {
			s.t.Error(err)
			return
		}
		for _, pair := range [][2]net.Conn{{conn, to}, {to, conn}} {
			s.t.Cleanup(func() { _ = pair[0].Close() })
			go func() {
				_, _ = io.Copy(pair[0], pair[1])
				_ = pair[0].Close()
			}()
		}
	}
}

// lead does what comes before the bytes of a connection (RFC 1928 and 1929).
func (s *socks) lead(conn net.Conn) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := reader{conn}
	r.next(int(r.next(2)[1])) // methods
	_, _ = conn.Write([]byte{5, 2})
	r.next(1)
	s.users = append(s.users, string(r.next(int(r.next(1)[0]))))
	r.next(int(r.next(1)[0])) // password
	_, _ = conn.Write([]byte{1, 0})
	switch r.next(4)[3] {
	case 3: // numeric addresses, too
		s.asked = append(s.asked, string(r.next(int(r.next(1)[0]))))
	}
	r.next(2) // port
	_, _ = conn.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	return net.Dial("tcp", s.to)
}

type reader struct{ io.Reader }

func (r reader) next(n int) []byte {
	b := make([]byte, n)
	_, _ = io.ReadFull(r, b)
	return b
}
