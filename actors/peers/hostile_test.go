package peers_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// frame returns a message of the v1 transport.
func frame(command string, payload []byte, sum ...byte) []byte {
	var b bytes.Buffer
	b.Write([]byte{0xfa, 0xbf, 0xb5, 0xda})
	var name [12]byte
	copy(name[:], command)
	b.Write(name[:])
	n := len(payload)
	b.Write([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)})
	if sum == nil {
		sum = chainhash.DoubleHashB(payload)[:4]
	}
	b.Write(sum)
	b.Write(payload)
	return b.Bytes()
}

// shaken opens a raw connection whose handshake is done.
func shaken(t *testing.T, n *node) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", n.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	version, err := codec.Encode(
		&codec.Version{Protocol: 70016, Services: 9, Time: time.Now().Unix(), Nonce: 1, UserAgent: "/test/"}, 70016,
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(append(frame("version", version), frame("verack", nil)...)); err != nil {
		t.Fatal(err)
	}
	name := conn.LocalAddr().String()
	n.eventually(t, "handshake", func(list []messages.PeerInfo) bool {
		return slices.ContainsFunc(list, func(p messages.PeerInfo) bool { return p.Addr == name && p.Established })
	})
	return conn
}

// closes waits until the node closes a connection.
func closes(t *testing.T, conn net.Conn, what string) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%s: still connected", what)
	}
}

// Peers that send what cannot be are dropped, each alone: an honest one stays.
func TestGarbage(t *testing.T) {
	n := start(t)
	honest, name := connect(t, n)
	noise := make([]byte, 1<<20)
	_, _ = rand.Read(noise)
	for _, test := range []struct {
		what      string
		handshake bool
		bytes     []byte
	}{
		{"noise", false, noise},
		{"noise after the handshake", true, noise},
		{"wrong magic", true, []byte("ABCDping\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00")},
		{"a length beyond all", true, frame("block", nil, 0, 0, 0, 0)[:16]},
		{"too many inventory entries", true, frame("inv", inventory(50_001))},
		{"too many headers", true, frame("headers", []byte{0xfd, 0xd1, 0x07})},
		{"filterload", true, frame("filterload", make([]byte, 10))},
		{"a feature after the handshake", true, frame("wtxidrelay", nil)},
		{"a long locator", true, frame("getheaders", locator(102))},
	} {
		var conn net.Conn
		if test.handshake {
			conn = shaken(t, n)
		} else {
			var err error
			if conn, err = net.Dial("tcp", n.addr); err != nil {
				t.Fatal(err)
			}
		}
		if test.what == "a length beyond all" {
			test.bytes = append(test.bytes, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)
		}
		_, _ = conn.Write(test.bytes) // may be cut off
		closes(t, conn, test.what)
		_ = conn.Close()
	}
	list := n.eventually(
		t, "only the honest peer is left", func(list []messages.PeerInfo) bool { return len(list) == 1 },
	)
	if list[0].Addr != name {
		t.Errorf("another peer is left: %+v", list[0])
	}
	honest.Ping()
	n.eventually(t, "ping", func(list []messages.PeerInfo) bool { return list[0].ReceivedBy["ping"] > 0 })
}

func inventory(count int) []byte {
	payload := []byte{0xfd, byte(count), byte(count >> 8)}
	return append(payload, make([]byte, 36*count)...)
}

func locator(count int) []byte {
	return append(append(make([]byte, 4), byte(count)), make([]byte, 32*(count+1))...)
}

// Messages that are only malformed are ignored, as Core does.
func TestBrokenIsForgiven(t *testing.T) {
	n := start(t)
	conn := shaken(t, n)
	for _, b := range [][]byte{
		frame("inv", []byte{1, 2, 3}), frame("addrv2", nil), frame("tx", bytes.Repeat([]byte{1}, 40)),
		frame("ping", []byte{1}), frame("nonsense", make([]byte, 1000)), frame("inv", []byte{0}, 1, 2, 3, 4),
		append(frame("sendheaders", nil), frame("getaddr", []byte("trailing bytes"))...), frame("block", make([]byte, 80)),
		frame("cmpctblock", make([]byte, 90)), frame("getcfilters", nil), frame("getdata", []byte{0xff}),
	} {
		if _, err := conn.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := conn.Write(frame("ping", []byte("12345678"))); err != nil {
		t.Fatal(err)
	}
	expectPong(t, conn)
}

func expectPong(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	var got []byte
	buffer := make([]byte, 4096)
	for !bytes.Contains(got, []byte("12345678")) {
		k, err := conn.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, buffer[:k]...)
	}
}

// A peer that sends byte by byte is served. A peer without a handshake is disconnected after
// PeerTimeout.
func TestSlowBytes(t *testing.T) {
	n := start(t, func(c *peers.Config) { c.PeerTimeout = time.Second })
	conn := shaken(t, n)
	for _, b := range frame("ping", []byte("12345678")) {
		if _, err := conn.Write([]byte{b}); err != nil {
			t.Fatal(err)
		}
	}
	expectPong(t, conn)
	silent, err := net.Dial("tcp", n.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closes(t, silent, "silent peer")
}

// Connections that come and go, as fast as they can, leave nothing behind; a
// hundred at a time are served.
func TestStorm(t *testing.T) {
	const clients, rounds = 20, 25
	n := start(t)
	honest, name := connect(t, n)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for j := range rounds {
				conn, err := net.Dial("tcp", n.addr)
				if err != nil {
					continue // the queue of the operating system may be full
				}
				if (i+j)%2 == 0 {
					_, _ = conn.Write(frame("version", make([]byte, 86)))
				}
				_ = conn.Close()
			}
		})
	}
	all.Wait()
	n.peersOf(t, 1)
	for range 99 {
		shaken(t, n)
	}
	if got := must(t, n, messages.CountPeers{}); got.In != 100 {
		t.Errorf("%d peers", got.In)
	}
	honest.Ping()
	n.eventually(t, "ping", func(list []messages.PeerInfo) bool {
		return slices.ContainsFunc(
			list, func(p messages.PeerInfo) bool { return p.Addr == name && p.ReceivedBy["ping"] > 0 },
		)
	})
}

// A flood stops at TCP: what the node holds of it is bounded, and the peer is
// dropped at once all the same, while one of its messages is being worked on.
func TestFloodAndDisconnect(t *testing.T) {
	sys := actortest.New(t)
	busy := sys.Probe("sync") // takes a block, and never is done with it
	n := start(t, func(c *peers.Config) { c.Sync = busy.Ref })
	conn := shaken(t, n)
	actortest.Expect[peerhandle.Joined](busy)
	block := frame("block", largeBlock())
	before := heap()
	flooded := make(chan error, 1)
	go func() {
		for {
			if _, err := conn.Write(block); err != nil {
				flooded <- err
				return
			}
		}
	}()
	actortest.Expect[peerhandle.Received](busy)
	select {
	case <-flooded:
		t.Fatal("dropped")
	case <-time.After(200 * time.Millisecond): // it is stuck by now
	}
	if grown := heap() - before; grown > 64<<20 {
		t.Errorf("the flood takes %d MB", grown>>20)
	}
	id := int64(0)
	began := time.Now()
	must(t, n, messages.DisconnectPeer{ID: &id})
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the answer took %v", took)
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Errorf("the peer saw %v", err)
	}
	t.Log("closed after", time.Since(began))
	n.peersOf(t, 0)
	actortest.Expect[peerhandle.Left](busy)
	busy.Quiet()
	<-flooded
}

func largeBlock() []byte {
	block := wire.MsgBlock{}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{SignatureScript: make([]byte, 1_000_000)})
	tx.AddTxOut(&wire.TxOut{})
	_ = block.AddTransaction(tx)
	var b bytes.Buffer
	_ = block.Serialize(&b)
	return b.Bytes()
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A peer that asks and does not read stops itself: what waits for it is bounded.
func TestAsksAndDoesNotRead(t *testing.T) {
	l := openLibrary(t)
	conn := shaken(t, l.n)
	ask := frame("getcfilters", append([]byte{0, 1, 0, 0, 0}, func() []byte { h := l.at(1000).Hash; return h[:] }()...))
	before := heap()
	go func() {
		for {
			if _, err := conn.Write(ask); err != nil {
				return
			}
		}
	}()
	l.n.eventually(t, "much is sent", func(list []messages.PeerInfo) bool { return list[len(list)-1].Sent > 1<<20 })
	<-time.After(200 * time.Millisecond)
	if grown := heap() - before; grown > 64<<20 {
		t.Errorf("%d MB wait", grown>>20)
	}
}
