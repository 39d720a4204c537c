package zmqsink

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A subscriber gets what it wants, in both forms of the protocol, with the numbers of each
// topic.
func TestTopics(t *testing.T) {
	p := open(t, 1000, "hashtx", "hashblock", "rawblock")
	long := strings.Repeat("x", 70_000)
	a, b, all := meet(t, dial(t, p)), meet(t, dial(t, p)), meet(t, dial(t, p))
	a.subscribe("hash")
	b.send("\x00\x09\x01rawblock") // as ZMTP 3.0 has it
	b.send("\x00\x08\x01nothing\x01\x01x\x00\x02yz\x04\x04\x03FOO")
	all.subscribe("")
	for _, p := range []*peer{a, b, all} {
		p.synced()
	}
	publish := func() {
		p.Publish("hashtx", []byte("1"))
		p.Publish("rawblock", []byte(long))
		p.Publish("hashblock", nil)
		p.Publish("unknown", []byte("4"))
	}
	publish()
	a.want(got{"hashtx", "1", 0}, got{"hashblock", "", 0})
	b.want(got{"rawblock", long, 0})
	all.want(got{"hashtx", "1", 0}, got{"rawblock", long, 0}, got{"hashblock", "", 0})

	a.send(string(command("CANCEL", []byte("hash"))))
	b.send("\x00\x09\x00rawblock")
	a.subscribe("hashb")
	a.synced()
	b.synced()
	p.Skip("hashblock", 3)
	publish()
	a.want(got{"hashblock", "", 4})
	all.want(got{"hashtx", "1", 1}, got{"rawblock", long, 1}, got{"hashblock", "", 4})
	b.synced() // nothing came before the PONG
	if !p.Has("hashtx") || p.Has("unknown") {
		t.Error("has a topic that it has not, or not one that it has")
	}
}

// A publisher without a log serves subscribers that come, fail and go.
func TestNoLog(t *testing.T) {
	p, err := Open(Config{Topics: []Topic{{Name: "hashtx", Address: "tcp://127.0.0.1:0", HWM: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	meet(t, dial(t, p)).synced()
	wrong := dial(t, p)
	if _, err := io.WriteString(wrong, strings.Repeat("no greeting", 10)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(wrong); err != nil {
		t.Log(err) // it is cut off
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// Each topic at each address has its own numbers, whichever sockets they share.
func TestAddresses(t *testing.T) {
	path := t.TempDir() + "/s"
	p, err := Open(Config{Log: quiet(), Topics: []Topic{
		{"a", "ipc://" + path, 1}, {"a", "tcp://[::1]:0", 1}, {"b", "ipc://" + path, 1000},
	}})
	if err != nil {
		t.Skip(err) // where there is no IPv6
	}
	if len(p.sockets) != 2 || p.sockets[0].hwm != 1 {
		t.Errorf("%d sockets", len(p.sockets))
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	one := meet(t, conn)
	one.subscribe("")
	one.synced()
	p.Publish("b", []byte("x"))
	one.want(got{"b", "x", 0})
	one.synced() // what we have read does not count for the mark any more
	p.Publish("a", []byte("y"))
	one.want(got{"a", "y", 0})
	closed(t, p)
	if !one.ended() {
		t.Error("not ended")
	}
	closed(t, p)
}

// A subscriber that does not read loses messages above the mark; no other subscriber does.
func TestMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fake(t, 5, maxWaiting, "x")
		stalled, quick := meet(t, pipe(t, p)), meet(t, pipe(t, p))
		for _, s := range []*peer{stalled, quick} {
			s.subscribe("")
			s.synced()
		}
		for i := range 20 {
			p.Publish("x", []byte{byte(i)})
			quick.want(got{"x", string(rune(i)), uint32(i)})
		}
		for i := range 5 {
			stalled.want(got{"x", string(rune(i)), uint32(i)})
		}
		synctest.Wait()
		p.Publish("x", []byte("y"))
		stalled.want(got{"x", "y", 20})
		quick.want(got{"x", "y", 20})
		synctest.Wait()
		if used := p.sockets[0].budget.used.Load(); used != 0 {
			t.Errorf("%d bytes are said to wait", used)
		}
	})
}

// Above the bound of bytes each subscriber has one message, even without a mark.
func TestBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fake(t, 0, 1_000_000, "x")
		var peers []*peer
		for range 10 {
			s := meet(t, pipe(t, p))
			s.subscribe("x")
			s.synced()
			peers = append(peers, s)
		}
		body := make([]byte, 100_000)
		for range 50 {
			p.Publish("x", body)
		}
		late := meet(t, pipe(t, p))
		late.subscribe("x")
		late.synced()
		p.Publish("x", body)
		late.want(got{"x", string(body), 50})
		synctest.Wait()
		if used := p.sockets[0].budget.used.Load(); used < 1_000_000 || used > 1_000_500 {
			t.Errorf("%d bytes wait", used)
		}
		for _, s := range peers {
			for i := range uint32(10) {
				s.want(got{"x", string(body), i})
			}
		}
		synctest.Wait()
		if used := p.sockets[0].budget.used.Load(); used != 0 {
			t.Errorf("%d bytes are said to wait", used)
		}
	})
}

// A peer that does not speak as a subscriber is cut off; the others are still served.
func TestGarbage(t *testing.T) {
	greeted := string(libzmqGreeting)
	for name, said := range map[string]string{
		"http":           "GET / HTTP/1.1\r\n\r\n",
		"no signature":   "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7e\x03\x01" + strings.Repeat("\x00", 52),
		"bad signature":  greeted[:signatureSize-1] + "\x7e" + greeted[signatureSize:] + libzmqReady,
		"version 2":      "\xff\x00\x00\x00\x00\x00\x00\x00\x01\x7f\x01\x02\x00\x00",
		"curve":          strings.Replace(greeted, "NULL", "CURV", 1),
		"message":        greeted + "\x00\x01\x01",
		"flags":          greeted + "\x08\x01\x01",
		"more commands":  greeted + "\x05\x01\x01",
		"other command":  greeted + "\x04\x06\x05ERROR",
		"no type":        greeted + "\x04\x06\x05READY",
		"publisher":      greeted + strings.Replace(libzmqReady, "SUB", "PUB", 1),
		"bad properties": greeted + "\x04\x08\x05READY\x05a",
		"long value":     greeted + "\x04\x0c\x05READY\x01a\xff\xff\xff\xff",
		"empty command":  greeted + "\x04\x00",
		"short command":  greeted + "\x04\x02\x05R",
		"long frame":     greeted + "\x02\x00\x00\x00\x00\x00\x00\x10\x01",
		"huge frame":     greeted + "\x02\xff\xff\xff\xff\xff\xff\xff\xff",
		"late frame":     greeted + libzmqReady + "\x02\x00\x00\x00\x01\x00\x00\x00\x00",
		"late ping":      greeted + libzmqReady + "\x04\x06\x04PING\x00",
		"late error":     greeted + libzmqReady + "\x04\x07\x05ERROR\x00",
		"late command":   greeted + libzmqReady + "\x04\x01\x05",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := fake(t, 10, maxWaiting, "x")
				good := meet(t, pipe(t, p))
				good.subscribe("")
				good.synced()
				conn := pipe(t, p)
				var group sync.WaitGroup
				group.Go(func() { _, _ = io.Copy(io.Discard, conn) })
				_, _ = io.WriteString(conn, said) // may be cut off before it has all been read
				synctest.Wait()
				if n := connections(p); n != 1 {
					t.Errorf("%d connections", n)
				}
				group.Wait()
				p.Publish("x", nil)
				good.want(got{"x", "", 0})
			})
		})
	}
}

// A peer without a complete handshake is cut off after handshakeTime; a peer that has completed it may be silent.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fake(t, 10, maxWaiting, "x")
		pipe(t, p)
		half := pipe(t, p)
		var group sync.WaitGroup
		group.Go(func() { _, _ = io.Copy(io.Discard, half) })
		if _, err := half.Write(libzmqGreeting); err != nil {
			t.Fatal(err)
		}
		good := meet(t, pipe(t, p))
		time.Sleep(handshakeTime - time.Second)
		if n := connections(p); n != 3 {
			t.Errorf("%d connections", n)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if n := connections(p); n != 1 {
			t.Errorf("%d connections", n)
		}
		time.Sleep(time.Hour)
		good.subscribe("x")
		good.synced()
		group.Wait()
	})
}

// There are at most maxSubscribers connections. A new connection replaces the oldest without a subscription; if all
// have subscribed, it is closed.
func TestConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fake(t, 10, maxWaiting, "x")
		first := pipe(t, p)
		for range maxSubscribers - 1 {
			pipe(t, p)
		}
		good := meet(t, pipe(t, p))
		good.subscribe("x")
		good.synced()
		if _, err := first.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("got %v", err)
		}
		if n := connections(p); n != maxSubscribers {
			t.Errorf("%d connections", n)
		}
		s := p.sockets[0]
		s.mu.Lock()
		for sub := range s.subscribers {
			s.activate(sub)
		}
		s.mu.Unlock()
		if _, err := pipe(t, p).Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("got %v", err)
		}
		good.synced()
	})
}

// faulty is a connection that panics.
type faulty struct {
	net.Conn
	inRead, inWrite atomic.Bool
}

func (f *faulty) Read(b []byte) (int, error) {
	n, err := f.Conn.Read(b)
	if f.inRead.Load() {
		panic("read")
	}
	return n, err
}

func (f *faulty) Write(b []byte) (int, error) {
	if f.inWrite.Load() {
		panic("write")
	}
	return f.Conn.Write(b)
}

// A panic ends the connection that it came from, nothing else.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fake(t, 10, maxWaiting, "x")
		good := meet(t, pipe(t, p))
		good.subscribe("")
		good.synced()
		for i, breakIt := range []func(*faulty){
			func(f *faulty) { f.inRead.Store(true) }, func(f *faulty) { f.inWrite.Store(true) },
		} {
			ours, theirs := net.Pipe()
			f := &faulty{Conn: theirs}
			p.sockets[0].add(f)
			bad := meet(t, ours)
			bad.subscribe("")
			bad.synced()
			breakIt(f)
			_, _ = ours.Write(command("SUBSCRIBE", nil)) // fails in one case
			p.Publish("x", nil)
			good.want(got{"x", "", uint32(i)})
			synctest.Wait()
			if n := connections(p); n != 1 {
				t.Errorf("%d connections", n)
			}
			_ = ours.Close()
		}
		if used := p.sockets[0].budget.used.Load(); used != 0 {
			t.Errorf("%d bytes are said to wait", used)
		}
	})
}

// A bad address is an error, and nothing stays open.
func TestBadAddress(t *testing.T) {
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, bad := range []string{
		"", "foo", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:x", "tcp://127.0.0.1:70000", "tcp://no.such.host.invalid:0",
		"tcp://nosuchinterface:0", "tcp://" + taken.Addr().String(), "inproc://x", "ipc://", "ipc://*",
		"ipc:///no/such/folder/s", "127.0.0.1:0",
	} {
		first := fmt.Sprintf("ipc://%s/s", t.TempDir())
		p, err := Open(Config{Topics: []Topic{{"x", first, 1}, {"x", bad, 1}}, Log: quiet()})
		if err == nil {
			t.Errorf("%q: no error", bad)
			closed(t, p)
		}
		if strings.Contains(bad, "such") && !strings.HasPrefix(bad, "ipc") && !errors.Is(err, errAddress) {
			t.Errorf("%q: %v", bad, err)
		}
		if _, err := net.Dial("unix", strings.TrimPrefix(first, "ipc://")); err == nil {
			t.Errorf("%q: still open", bad)
		}
	}
	goods := []string{"tcp://*:*", "tcp://127.0.0.1:0", "tcp://lo:0", "tcp://localhost:0"}
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		_ = l.Close() // this machine has IPv6
		goods = append(goods, "tcp://[::1]:0", "tcp://[::]:0", "tcp://[::1]:*")
	}
	for _, good := range goods {
		p, err := Open(Config{Topics: []Topic{{"x", good, 1}}, Log: quiet()})
		if err != nil {
			t.Errorf("%s: %v", good, err)
			continue
		}
		closed(t, p)
	}
}

// failing is a listener that has no connection to give.
type failing struct{ noListener }

func (failing) Accept() (net.Conn, error) { return nil, errors.New("too many open files") }

// A socket that waits until it can accept again ends at once.
func TestCloseInPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSocket(failing{}, 1, &budget{limit: 1}, quiet())
		s.start()
		time.Sleep(acceptPause / 2)
		begun := time.Now()
		if err := s.close(); err != nil || time.Since(begun) > 0 {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}
