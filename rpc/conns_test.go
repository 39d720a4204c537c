package rpc

import (
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// When there are too many connections, the longest quiet one goes; when a call
// runs on all of them, the new one does.
func TestConnectionLimit(t *testing.T) {
	b := newBlocker()
	s := startServer(t, Config{User: "u", Password: "p", MaxConns: 2})
	s.Ready(blockerTable(t, b))
	first := dial(t, s)
	waitFor(t, func() bool { return s.conns.open() == 1 })
	second := dial(t, s)
	waitFor(t, func() bool { return s.conns.open() == 2 })
	c := newClient(t, s)
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
	if _, err := first.Read(make([]byte, 1)); err == nil {
		t.Error("the first connection is open")
	}
	var calls sync.WaitGroup
	for range 2 { // the second connection makes room
		calls.Go(func() { c.want(t, v2Call("block"), `200 {"jsonrpc":"2.0","result":"done","id":1}`) })
		<-b.began
	}
	if _, err := second.Read(make([]byte, 1)); err == nil {
		t.Error("the second connection is open")
	}
	if got, err := io.ReadAll(dial(t, s)); string(got) != noRoom {
		t.Errorf("got %q, %v", got, err)
	}
	close(b.free)
	calls.Wait()
	c.want(t, v2Call("quick"), `200 {"jsonrpc":"2.0","result":1,"id":1}`)
}

// A distant is a connection from an address.
type distant struct {
	net.Conn
	from   string
	closed bool
}

func (d *distant) Close() error { d.closed = true; return nil }

func (*distant) SetWriteDeadline(time.Time) error { return nil }

func (d *distant) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(d.from))
}

// A queued listener hands out a connection.
type queued struct {
	net.Listener
	conn net.Conn
}

func (q *queued) Accept() (c net.Conn, err error) {
	if c, q.conn = q.conn, nil; c == nil {
		return nil, net.ErrClosed
	}
	return c, nil
}

// A connection from where nobody may call ends at once, or its request is refused.
func TestStrangersAreHungUpOn(t *testing.T) {
	for _, hangsUp := range []bool{false, true} {
		var allowed []netaddr.Subnet
		if hangsUp {
			allowed = alwaysAllowed
		}
		for from, strange := range map[string]bool{"192.0.2.7:1": true, "127.0.0.1:1": false, "[::1]:1": false} {
			c := &distant{from: from}
			taken, err := connListener{&queued{conn: c}, newConns(2), false, allowed}.Accept()
			if ends := strange && hangsUp; ends != c.closed || ends != (taken == nil) || ends != (err != nil) {
				t.Errorf("%v %s: closed %v, %v", hangsUp, from, c.closed, err)
			}
		}
	}
}

// An address, or an IPv6 network of 64 bits, has a limit of its own, which does
// not count for this machine.
func TestConnectionsOfOnePeer(t *testing.T) {
	s := newConns(100)
	s.perPeer = 2
	for _, test := range []struct {
		from  string
		fresh int // how many of the connections stay
	}{
		{"192.0.2.1:1 192.0.2.1:2 192.0.2.1:3", 2},
		{"192.0.2.2:1 [::ffff:192.0.2.2]:2 192.0.2.2:3", 2},
		{"[2001:db8::1]:1 [2001:db8::2]:1 [2001:db8::3]:1", 2},
		{"[2001:db8:1::1]:1 [2001:db8:2::1]:1 [2001:db8:3::1]:1", 3},
		{"127.0.0.1:1 127.0.0.1:2 127.0.0.1:3 127.0.0.1:4", 4},
		{"[::1]:1 [::1]:2 [::1]:3", 3},
	} {
		var all []*distant
		for from := range strings.FieldsSeq(test.from) {
			c := &distant{from: from}
			if s.add(c) == nil {
				t.Fatalf("%s was refused", from)
			}
			all = append(all, c)
		}
		for i, c := range all {
			if want := i < len(all)-test.fresh; c.closed != want {
				t.Errorf("%s: closed is %v", c.from, c.closed)
			}
		}
	}
	if got := len(s.byPeer); got != 8 {
		t.Errorf("%d peers are known", got)
	}
	s.close()
	if s.total != 0 || len(s.byPeer) != 0 || s.quiet[0].Len()+s.quiet[1].Len() != 0 {
		t.Errorf("%d connections, %v, %d quiet after the end", s.total, s.byPeer, s.quiet[0].Len()+s.quiet[1].Len())
	}
	if s.add(&distant{from: "127.0.0.1:9"}) != nil {
		t.Error("a connection after the end")
	}
}

// A connection is not closed while its request is being answered. When the server stops it is closed after
// the answer.
func TestHeldConnections(t *testing.T) {
	s := newConns(1)
	held := &distant{from: "127.0.0.1:1"}
	c := s.add(held)
	c.hold()
	if s.add(&distant{from: "127.0.0.1:2"}) != nil {
		t.Error("one too many")
	}
	s.close()
	if held.closed {
		t.Error("closed while it was answered")
	}
	c.release()
	if !held.closed || s.total != 0 {
		t.Errorf("closed is %v, %d connections", held.closed, s.total)
	}
	if err := c.Close(); err != nil || s.total != 0 { // as net/http does
		t.Errorf("got %v, %d connections", err, s.total)
	}
}

// Connections of users who have logged in are closed after all others, even if the others were used later.
func TestUsersStay(t *testing.T) {
	s := newConns(3)
	var all []*distant
	add := func(user *string) {
		d := &distant{from: "127.0.0.1:1"}
		all = append(all, d)
		c := s.add(d)
		c.hold()
		c.belongTo(user)
		c.release()
	}
	name := "u"
	for _, user := range []*string{&name, nil, &name, nil, &name, &name} {
		add(user)
	}
	for i, want := range []bool{true, true, false, true, false, false} {
		if all[i].closed != want {
			t.Errorf("connection %d: closed is %v", i, all[i].closed)
		}
	}
}
