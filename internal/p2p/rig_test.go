package p2p_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"
	"go.uber.org/goleak"

	"github.com/seed61375155/trawl/internal/p2p"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// magic is that of regtest.
var magic = [4]byte{0xfa, 0xbf, 0xb5, 0xda}

// patience is how long a test waits for what must come at once.
const patience = 10 * time.Second

// An owner records what its session tells.
type owner struct {
	established chan p2p.Remote
	received    chan p2p.Message
	misbehaved  chan error
	writable    chan struct{}
}

func newOwner() *owner {
	return &owner{
		make(chan p2p.Remote, 1), make(chan p2p.Message, 1000), make(chan error, 1000), make(chan struct{}, 1000),
	}
}

func (o *owner) Established(r p2p.Remote) { o.established <- r }
func (o *owner) Received(m p2p.Message)   { o.received <- m }
func (o *owner) Misbehaved(err error)     { o.misbehaved <- err }
func (o *owner) Writable()                { o.writable <- struct{}{} }

// A node is a session that runs.
type node struct {
	*p2p.Session
	*owner
	ended chan error
}

// start runs a session until the test ends.
func start(t *testing.T, conn net.Conn, cfg p2p.Config) *node {
	t.Helper()
	cfg.Magic = magic
	if cfg.Log == nil && !testing.Short() {
		cfg.Log = func(string) {} // formats the lines
	}
	o := newOwner()
	n := &node{p2p.New(conn, cfg, o), o, make(chan error, 1)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		n.ended <- n.Run(context.Background())
	}()
	t.Cleanup(func() {
		n.Close(nil)
		<-done
	})
	return n
}

// next returns what comes from a channel.
func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// nextOf returns the next message, which must be an M.
func nextOf[M wire.Message](t *testing.T, n *node) M {
	t.Helper()
	got := next(t, n.received)
	m, ok := got.Message.(M)
	if !ok {
		t.Fatalf("got %s", got.Command())
	}
	return m
}

// endsWith waits for the end of a session.
func endsWith(t *testing.T, n *node, want error) {
	t.Helper()
	if got := next(t, n.ended); !errors.Is(got, want) {
		t.Fatalf("ended with %v, want %v", got, want)
	}
}

// pair connects two sessions and waits for their handshake.
func pair(t *testing.T, out, in p2p.Config) (a, b *node) {
	t.Helper()
	left, right := net.Pipe()
	if out.Type == p2p.Inbound {
		out.Type = p2p.OutboundFullRelay
	}
	in.Type = p2p.Inbound
	a, b = start(t, left, out), start(t, right, in)
	next(t, a.established)
	next(t, b.established)
	return a, b
}
