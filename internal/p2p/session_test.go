package p2p_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/transport"
)

func TestHandshake(t *testing.T) {
	tests := []struct {
		name    string
		out, in bool // whether each side has v2
		want    transport.Kind
	}{
		{"v1", false, false, transport.V1},
		{"v1 where v2 is possible", false, true, transport.V1},
		{"v2", true, true, transport.V2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			you, _ := netaddr.Parse("8.8.8.8:8333", 0)
			left, right := net.Pipe()
			a := start(t, left, p2p.Config{
				Type: p2p.OutboundFullRelay, V2: test.out, Addr: you, Height: 7,
				Services: wire.SFNodeNetwork | wire.SFNodeWitness, UserAgent: "/a:1(x\x01)/",
			})
			b := start(t, right, p2p.Config{Type: p2p.Inbound, V2: test.in, NoTransactions: true})
			ofA, ofB := next(t, b.established), next(t, a.established)
			if ofA.UserAgent != "/a:1(x)/" || ofA.Version.StartHeight != 7 || ofA.Version.NoTransactions ||
				ofA.Version.You != you ||
				ofA.Version.Services != wire.SFNodeNetwork|wire.SFNodeWitness || ofA.Common != codec.ProtocolVersion ||
				!ofA.WtxidRelay || !ofA.AddrV2 {
				t.Errorf("b knows %+v", ofA)
			}
			if !ofB.Version.NoTransactions || ofB.Version.StartHeight != 0 {
				t.Errorf("a knows %+v", ofB)
			}
			sa, sb := a.Stats(), b.Stats()
			if sa.Transport != test.want || sb.Transport != test.want || sa.SessionID != sb.SessionID ||
				(sa.SessionID != [32]byte{}) != (test.want == transport.V2) {
				t.Errorf("got %v %x, %v %x", sa.Transport, sa.SessionID, sb.Transport, sb.SessionID)
			}
			b.Want(10)
			nextOf[*wire.MsgGetAddr](t, b) // only now: getaddr was sent before the verack came
		})
	}
}

func TestMessagesOfAllSizes(t *testing.T) {
	for _, v2 := range []bool{false, true} {
		a, b := pair(t, p2p.Config{V2: v2}, p2p.Config{V2: v2, Make: func(command string) wire.Message {
			return &codec.Raw{Name: command}
		}})
		b.Want(1000)
		for _, size := range []int{0, 1, 100, 1 << 16, 1<<18 + 1, codec.MaxPayload} {
			sent := &codec.Raw{Name: "block", Payload: bytes.Repeat([]byte{7}, size)}
			if err := a.Send(sent); err != nil {
				t.Fatal(err)
			}
			got := nextOf[*codec.Raw](t, b)
			for got.Name != "block" {
				got = nextOf[*codec.Raw](t, b)
			}
			if !bytes.Equal(got.Payload, sent.Payload) {
				t.Errorf("v2 %v: %d bytes differ", v2, size)
			}
		}
		if err := a.Send(&codec.Raw{Name: "block", Payload: make([]byte, codec.MaxPayload+1)}); err == nil {
			t.Error("a message too long was sent")
		}
	}
}

// Without credit nothing is read, so that the sender's queue fills.
func TestCreditStopsAFlood(t *testing.T) {
	a, b := pair(t, p2p.Config{Type: p2p.BlockRelayOnly, SendLimit: 10_000}, p2p.Config{})
	big := &codec.Raw{Name: "block", Payload: make([]byte, 60_000)}
	inv := wire.NewMsgInv()
	for range 3 {
		if err := a.Send(inv); err != nil {
			t.Fatal(err)
		}
	}
	b.Want(2)
	nextOf[*codec.SendCmpct](t, b)
	nextOf[*wire.MsgInv](t, b)
	if err := a.Send(big); err != nil {
		t.Fatal(err)
	}
	if a.CanWrite() {
		t.Error("nothing is queued")
	}
	select {
	case m := <-b.received:
		t.Errorf("got %s without credit", m.Command())
	default:
	}
	b.Want(10)
	next(t, a.writable)
	if !a.CanWrite() {
		t.Error("still full")
	}
}

// Messages at the owner are bounded in bytes too: it gets no second large
// message before it has handled the first.
func TestReceiveLimit(t *testing.T) {
	a, b := pair(t, p2p.Config{Type: p2p.BlockRelayOnly}, p2p.Config{ReceiveLimit: 1000})
	b.Want(100)
	nextOf[*codec.SendCmpct](t, b)
	large := wire.NewMsgInv()
	for range 100 {
		_ = large.AddInvVect(&wire.InvVect{})
	}
	for range 2 {
		if err := a.Send(large); err != nil {
			t.Fatal(err)
		}
	}
	nextOf[*wire.MsgInv](t, b)
	b.Want(1) // done with sendcmpct only
	select {
	case <-b.received:
		t.Error("got a second message")
	case <-time.After(20 * time.Millisecond):
	}
	b.Want(1)
	nextOf[*wire.MsgInv](t, b)
}

func TestSendOverflow(t *testing.T) {
	a, _ := pair(t, p2p.Config{}, p2p.Config{})
	block := &codec.Raw{Name: "block", Payload: make([]byte, codec.MaxPayload)}
	var err error
	for range 4 {
		err = errors.Join(err, a.Send(block))
	}
	if !errors.Is(err, p2p.ErrSendOverflow) {
		t.Errorf("got %v", err)
	}
	endsWith(t, a, p2p.ErrSendOverflow)
}

// Close takes effect at once, also while a message is stuck on its way.
func TestCloseWhileStuck(t *testing.T) {
	a, b := pair(t, p2p.Config{}, p2p.Config{})
	_ = a.Send(&codec.Raw{Name: "block", Payload: make([]byte, codec.MaxPayload)})
	reason := errors.New("disconnect by id")
	begun := time.Now()
	a.Close(reason)
	a.Close(nil)
	endsWith(t, a, reason)
	b.Want(100)
	next(t, b.ended)
	if took := time.Since(begun); took > 100*time.Millisecond {
		t.Errorf("took %v", took)
	}
	if err := a.Send(wire.NewMsgInv()); !errors.Is(err, p2p.ErrClosed) {
		t.Errorf("sent to a closed session: %v", err)
	}
}

// Finish writes what is queued.
func TestFinish(t *testing.T) {
	a, b := pair(t, p2p.Config{Type: p2p.BlockRelayOnly}, p2p.Config{})
	for range 100 {
		_ = a.Send(wire.NewMsgInv())
	}
	reason := errors.New("done")
	a.Finish(reason, patience)
	if err := a.Send(wire.NewMsgInv()); !errors.Is(err, p2p.ErrClosed) {
		t.Errorf("sent after Finish: %v", err)
	}
	b.Want(1000)
	nextOf[*codec.SendCmpct](t, b)
	for range 100 {
		nextOf[*wire.MsgInv](t, b)
	}
	endsWith(t, a, reason)
	next(t, b.ended)
}

// The peer sees an end and no error, also while it floods us.
func TestThePeerSeesTheEnd(t *testing.T) {
	ours, theirs := loopback(t)
	n := start(t, ours, p2p.Config{})
	r := &raw{t, theirs}
	r.shakeHands()
	next(t, n.established)
	flood := make(chan struct{})
	go func() {
		defer close(flood)
		for r.write(make([]byte, 1<<16)) == nil { // without credit it is not read
		}
	}()
	begun := time.Now()
	n.Close(nil)
	if _, err := io.Copy(io.Discard, theirs); err != nil {
		t.Errorf("the peer got %v", err)
	}
	if took := time.Since(begun); took > 100*time.Millisecond {
		t.Errorf("took %v", took)
	}
	<-flood
	theirs.Close()
}

func TestSendBeforeTheHandshake(t *testing.T) {
	ours, theirs := net.Pipe()
	n := start(t, ours, p2p.Config{})
	if err := n.Send(wire.NewMsgInv()); !errors.Is(err, p2p.ErrEarly) {
		t.Errorf("got %v", err)
	}
	theirs.Close()
}

func TestFeelerFindsANode(t *testing.T) {
	left, right := net.Pipe()
	a := start(t, left, p2p.Config{Type: p2p.Feeler})
	start(t, right, p2p.Config{})
	endsWith(t, a, p2p.ErrFeeler)
}

func TestSelf(t *testing.T) {
	var nonces p2p.Nonces
	left, right := net.Pipe()
	start(t, left, p2p.Config{Type: p2p.Manual, Nonces: &nonces})
	b := start(t, right, p2p.Config{Nonces: &nonces})
	endsWith(t, b, p2p.ErrSelf)
}

func TestDesirableServices(t *testing.T) {
	want := func(wire.ServiceFlag) wire.ServiceFlag { return wire.SFNodeNetwork | wire.SFNodeWitness }
	left, right := net.Pipe()
	a := start(t, left, p2p.Config{Type: p2p.OutboundFullRelay, Desirable: want})
	start(t, right, p2p.Config{Services: wire.SFNodeNetwork})
	endsWith(t, a, p2p.ErrServices)

	// A peer that the operator connects to needs no services.
	pair(t, p2p.Config{Type: p2p.Manual, Desirable: want}, p2p.Config{Services: wire.SFNodeNetwork})
}

// A peer that does not know v2 hangs up upon the key.
func TestRetryV1(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	other, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	a := start(t, conn, p2p.Config{Type: p2p.Manual, V2: true})
	b := start(t, other, p2p.Config{})
	endsWith(t, b, transport.ErrHeader)
	endsWith(t, a, p2p.ErrRetryV1)
}

// A silentConn takes nothing before it is closed, so that its other end can be seen to
// hang up first.
type silentConn struct {
	net.Conn

	once   sync.Once
	closed chan struct{}
}

func (c *silentConn) Write([]byte) (int, error) {
	<-c.closed
	return 0, net.ErrClosed
}

func (c *silentConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// A peer may hang up before our key is written. If we close the connection then, v1 is
// not tried.
func TestRetryV1BeforeTheKey(t *testing.T) {
	for _, test := range []struct {
		name  string
		v2    bool
		leave func(a *node, other net.Conn)
		retry bool
	}{
		{"peer hangs up", true, func(_ *node, other net.Conn) { _ = other.Close() }, true},
		{"peer of v1 hangs up", false, func(_ *node, other net.Conn) { _ = other.Close() }, false},
		{"we hang up", true, func(a *node, _ net.Conn) { a.Close(nil) }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			ours, other := net.Pipe()
			a := start(
				t, &silentConn{Conn: ours, closed: make(chan struct{})}, p2p.Config{Type: p2p.Manual, V2: test.v2},
			)
			test.leave(a, other)
			if err := next(t, a.ended); errors.Is(err, p2p.ErrRetryV1) != test.retry {
				t.Errorf("ended with %v", err)
			}
		})
	}
}

func TestAPanicEndsOneSession(t *testing.T) {
	a, b := pair(t, p2p.Config{}, p2p.Config{Make: func(string) wire.Message { panic("a bug") }})
	_ = a.Send(wire.NewMsgInv())
	b.Want(1)
	endsWith(t, b, p2p.ErrPanic)
	next(t, a.ended)
}

// Sessions that come and go leave nothing behind, which TestMain looks for.
func TestManySessions(t *testing.T) {
	var nodes []*node
	for i := range 100 {
		a, b := pair(t, p2p.Config{V2: i%2 == 0}, p2p.Config{V2: true})
		nodes = append(nodes, a, b)
	}
	for i, n := range nodes {
		if i%2 == 0 {
			n.Close(nil)
		}
	}
	for _, n := range nodes {
		n.Want(1000)
		next(t, n.ended)
	}
}
