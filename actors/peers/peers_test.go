package peers_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// Two tables connect, see each other, and part.
func TestTwoNodes(t *testing.T) {
	for _, v2 := range []bool{false, true} {
		a, b := start(t, func(c *peers.Config) { c.V2 = v2 }), start(t, func(c *peers.Config) { c.V2 = v2 })
		must(t, a, messages.ConnectPeer{Node: b.addr})
		out := a.peersOf(t, 1)[0]
		in := b.peersOf(t, 1)[0]
		transport := "v1"
		if v2 {
			transport = "v2"
		}
		if out.Type != "manual" || out.Addr != b.addr || out.Inbound || out.Transport != transport ||
			out.Subversion == "" {
			t.Errorf("got %+v", out)
		}
		if in.Type != "inbound" || in.Addr != out.Bind || !in.Inbound || in.SessionID != out.SessionID {
			t.Errorf("got %+v", in)
		}
		must(t, b, messages.DisconnectPeer{Addr: in.Addr})
		a.peersOf(t, 0)
		b.peersOf(t, 0)
		must(t, a, messages.ConnectPeer{Node: b.addr})
		if again := a.peersOf(t, 1)[0]; again.ID != out.ID+1 {
			t.Errorf("second connection has id %d", again.ID)
		}
	}
}

// A node that tries v2 first also reaches a node that speaks v1 only.
func TestRetryV1(t *testing.T) {
	a, b := start(t, func(c *peers.Config) { c.V2 = true }), start(t)
	must(t, a, messages.AddNode{Node: b.addr})
	if got := a.peersOf(t, 1)[0]; got.Transport != "v1" || got.ID != 1 {
		t.Errorf("got %+v", got)
	}
}

// A peer that is disconnected sees an end, not an error, and at once.
func TestDisconnect(t *testing.T) {
	n := start(t)
	r, name := connect(t, n)
	n.eventually(t, "peers are quiet", func(p []messages.PeerInfo) bool { return p[0].Ping > 0 && r.Stats().Ping > 0 })
	began := time.Now()
	must(t, n, messages.DisconnectPeer{Addr: name})
	select {
	case err := <-r.ended:
		if !errors.Is(err, io.EOF) {
			t.Errorf("peer saw %v", err)
		}
	case <-time.After(patience):
		t.Fatal("not disconnected")
	}
	t.Log("took", time.Since(began))
	n.peersOf(t, 0)
	for _, q := range []messages.DisconnectPeer{{Addr: name}, {Addr: ""}, {ID: new(int64)}} {
		if _, err := ask.Ask(t.Context(), n.Ref, q); !errors.Is(err, messages.ErrPeerNotFound) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

// Messages go to whom they concern, and a peer is read on when they are handled.
func TestRouting(t *testing.T) {
	sys := actortest.New(t)
	sync, relay := sys.Probe("sync"), sys.Probe("relay")
	n := start(t, func(c *peers.Config) { c.Sync, c.Relay = sync.Ref, relay.Ref })
	r, _ := connect(t, n)
	peer := actortest.Expect[peerhandle.Joined](sync).Peer
	actortest.Expect[peerhandle.Joined](relay)
	if got := peer.Info(); got.ID != 0 || got.Remote.Version.Protocol == 0 {
		t.Errorf("got %+v", got)
	}
	compact := actortest.Expect[peerhandle.Received](sync)
	compact.Handled()

	ping := actortest.Expect[peerhandle.Received](sync)
	if got := ping.Message.Command(); got != wire.CmdPing {
		t.Errorf("got %s", got)
	}
	if st := r.Stats(); st.Pinged || st.PingWait == 0 {
		t.Error("a ping is answered before what came before it is handled")
	}
	ping.Handled()
	for late := time.After(patience); !r.Stats().Pinged; {
		select {
		case <-late:
			t.Fatal("no pong")
		case <-time.After(time.Millisecond):
		}
	}

	hash := chainhash.Hash{1}
	inv := &wire.MsgInv{InvList: []*wire.InvVect{
		{Type: wire.InvTypeTx, Hash: hash},
		{Type: wire.InvTypeBlock, Hash: hash},
		{Type: 5, Hash: hash},
		{Type: 77, Hash: hash},
	}}
	if err := errors.Join(r.Send(inv), r.Send(&wire.MsgSendHeaders{})); err != nil {
		t.Fatal(err)
	}
	blocks, txs := actortest.Expect[peerhandle.Received](sync), actortest.Expect[peerhandle.Received](relay)
	if got := blocks.Message.Message.(*wire.MsgInv).InvList; len(got) != 1 || got[0].Type != wire.InvTypeBlock {
		t.Errorf("blocks: %v", got)
	}
	if got := txs.Message.Message.(*wire.MsgInv).InvList; len(got) != 2 {
		t.Errorf("transactions: %v", got)
	}
	blocks.Handled()
	blocks.Handled() // counts once
	sync.Quiet()
	txs.Handled()
	if got := actortest.Expect[peerhandle.Received](sync).Message.Command(); got != wire.CmdSendHeaders {
		t.Errorf("got %s", got)
	}

	peer.Disconnect("test")
	if got := actortest.Expect[peerhandle.Left](sync); got.ID != 0 {
		t.Errorf("got %+v", got)
	}
	actortest.Expect[peerhandle.Left](relay)
}

// A relay that has failed hears of the peers again, with the fee rate that they named,
// and not of those that have left.
func TestRejoin(t *testing.T) {
	relay := actortest.New(t).Probe("relay")
	var restarted ask.Feed[peerhandle.Restarted]
	n := start(t, func(c *peers.Config) { c.Relay, c.Restarted = relay.Ref, &restarted })
	stays, _ := connect(t, n)
	actortest.Expect[peerhandle.Joined](relay)
	leaves, _ := connect(t, n)
	actortest.Expect[peerhandle.Joined](relay).Peer.Disconnect("test")
	left(t, leaves, "disconnected")
	actortest.Expect[peerhandle.Left](relay)
	for _, fee := range []int64{1000, 2000} {
		if err := stays.Send(wire.NewMsgFeeFilter(fee)); err != nil {
			t.Fatal(err)
		}
		actortest.Expect[peerhandle.Received](relay).Handled()
	}
	restarted.Publish(peerhandle.Restarted{})
	if got := actortest.Expect[peerhandle.Joined](relay).Peer.Info().ID; got != 0 {
		t.Errorf("peer %d joined again", got)
	}
	again := actortest.Expect[peerhandle.Received](relay)
	if got, ok := again.Message.Message.(*wire.MsgFeeFilter); !ok || got.MinFee != 2000 {
		t.Errorf("got %+v", again.Message.Message)
	}
	again.Handled()
	if err := stays.Send(&wire.MsgInv{InvList: []*wire.InvVect{{Type: wire.InvTypeTx}}}); err != nil {
		t.Fatal(err)
	}
	if got := actortest.Expect[peerhandle.Received](relay).Message.Command(); got != wire.CmdInv {
		t.Errorf("got %s", got)
	}
}
