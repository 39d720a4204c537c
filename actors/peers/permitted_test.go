package peers_test

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/messages"
)

// allow permits something to all peers that connect.
func allow(tb testing.TB, may peerhandle.Permissions) func(*peers.Config) {
	tb.Helper()
	all, err := netaddr.ParseSubnet("0.0.0.0/0")
	if err != nil {
		tb.Fatal(err)
	}
	return func(c *peers.Config) {
		c.Whitelist = []access.Whitelisted{{Subnet: all, Grant: access.Grant{Permissions: may, In: true}}}
	}
}

// Which messages about transactions reach relay, and for which the peer is left.
func TestMessagesAboutTransactions(t *testing.T) {
	hash := chainhash.Hash{1}
	inv := &wire.MsgInv{InvList: []*wire.InvVect{{Type: wire.InvTypeTx, Hash: hash}}}
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{Sequence: 1})
	tx.AddTxOut(wire.NewTxOut(1, []byte{0x51}))
	bloom := func(c *peers.Config) { c.Services |= wire.SFNodeBloom }
	blocksOnly := func(c *peers.Config) { c.BlocksOnly = true }
	none := func(*peers.Config) {}
	filtered := peerhandle.Permissions{BloomFilter: true}
	for name, test := range map[string]struct {
		wish   func(*peers.Config)
		may    peerhandle.Permissions
		m      wire.Message
		passes bool
		leaves bool
	}{
		"an announcement":              {none, peerhandle.Permissions{}, inv, true, false},
		"a transaction":                {none, peerhandle.Permissions{}, tx, true, false},
		"blocks only, an announcement": {blocksOnly, peerhandle.Permissions{}, inv, false, true},
		"blocks only, a transaction":   {blocksOnly, peerhandle.Permissions{}, tx, false, true},
		"blocks only, permitted":       {blocksOnly, peerhandle.Permissions{Relay: true}, inv, true, false},
		"the pool":                     {none, peerhandle.Permissions{}, &wire.MsgMemPool{}, false, true},
		"the pool, permitted":          {none, peerhandle.Permissions{Mempool: true}, &wire.MsgMemPool{}, true, false},
		"the pool, not to be banned":   {none, peerhandle.Permissions{NoBan: true}, &wire.MsgMemPool{}, false, false},
		"the pool, with filters":       {bloom, peerhandle.Permissions{}, &wire.MsgMemPool{}, true, false},
		"the pool, filters permitted":  {none, filtered, &wire.MsgMemPool{}, true, false},
		"a filter":                     {bloom, peerhandle.Permissions{}, &wire.MsgFilterClear{}, true, false},
		"a filter that is not served":  {none, peerhandle.Permissions{}, &wire.MsgFilterClear{}, false, true},
	} {
		relay := actortest.New(t).Probe("relay")
		n := start(t, test.wish, allow(t, test.may), func(c *peers.Config) { c.Relay = relay.Ref })
		r, _ := connect(t, n)
		actortest.Expect[peerhandle.Joined](relay)
		if err := r.Send(test.m); err != nil {
			t.Fatal(err)
		}
		if test.leaves {
			left(t, r, name)
			actortest.Expect[peerhandle.Left](relay)
			continue
		}
		if test.passes {
			got := actortest.Expect[peerhandle.Received](relay)
			if got.Message.Command() != test.m.Command() {
				t.Errorf("%s: relay got %s", name, got.Message.Command())
			}
			got.Handled()
		}
		if err := r.Send(wire.NewMsgFeeFilter(7)); err != nil { // it is read on
			t.Fatal(err)
		}
		got := actortest.Expect[peerhandle.Received](relay)
		if got.Message.Command() != wire.CmdFeeFilter {
			t.Errorf("%s: then relay got %s", name, got.Message.Command())
		}
		got.Handled()
	}
}

// A node without a memory pool has none of the transactions that peers ask for, and sends the blocks.
func TestTransactionsWithoutPool(t *testing.T) {
	l := openLibrary(t)
	b, id := l.at(5), chainhash.Hash{1}
	get := &wire.MsgGetData{InvList: []*wire.InvVect{
		wire.NewInvVect(wire.InvTypeTx, &id), wire.NewInvVect(wire.InvTypeWitnessBlock, &b.Hash),
	}}
	got := l.ask(get)
	if len(got) != 2 || got[0].Command() != wire.CmdNotFound || got[1].Command() != wire.CmdBlock {
		t.Errorf("got %v", got)
	}
}

// A peer that has not shaken hands is listed without what it would have said.
func TestBeforeTheHandshake(t *testing.T) {
	n := start(t)
	conn, err := net.Dial("tcp", n.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	list := n.eventually(t, "it is listed", func(list []messages.PeerInfo) bool { return len(list) == 1 })
	p := list[0]
	if p.Established || p.StartHeight != -1 || p.RelayTxs || p.Bind != n.addr || p.Addr != conn.LocalAddr().String() ||
		p.Network != "not_publicly_routable" || p.SessionID != "" {
		t.Errorf("listed as %+v", p)
	}
	if got := must(t, n, messages.CountPeers{}); got != (messages.PeerCount{In: 1}) {
		t.Errorf("counted %+v", got)
	}
}

// If all slots are taken, a peer is evicted: the last to connect of the peers that gave neither blocks nor
// transactions.
func TestEvicts(t *testing.T) {
	const room = 24
	useful := func(id int64) bool { return id >= room-4 } // the last to come
	sys := actortest.New(t)
	serve := func(c actor.Context) {
		switch m := c.Message().(type) {
		case *ask.Call[nodemsg.GetPeerSync, map[int64]nodemsg.PeerSync]:
			states := make(map[int64]nodemsg.PeerSync)
			for id := range int64(room) {
				if useful(id) {
					states[id] = nodemsg.PeerSync{LastBlock: time.Now()}
				}
			}
			m.Answer(states, nil)
		case *ask.Call[nodemsg.GetPeerRelay, map[int64]nodemsg.PeerRelay]:
			states := make(map[int64]nodemsg.PeerRelay)
			for id := range int64(room) {
				if useful(id + 4) {
					states[id] = nodemsg.PeerRelay{LastTx: time.Now()}
				}
			}
			m.Answer(states, nil)
		case peerhandle.Received:
			m.Handled()
		}
	}
	spawn := func(name string) *ask.Ref {
		return sys.Spawn(name, func() actor.Actor { return actor.ReceiveFunc(serve) })
	}
	n := start(t, func(c *peers.Config) {
		c.MaxIncoming, c.Sync, c.Relay = room, spawn("sync"), spawn("relay")
	})
	for range room {
		connect(t, n)
	}
	n.peersOf(t, room)
	connect(t, n)
	list := n.eventually(t, "one is evicted", func(list []messages.PeerInfo) bool {
		return len(list) == room && list[room-1].ID == room
	})
	var ids []int64
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	for id := range int64(room) {
		if useful(id) && !slices.Contains(ids, id) {
			t.Errorf("peer %d is gone, which gave blocks; left are %v", id, fmt.Sprint(ids))
		}
		if useful(id+4) && !slices.Contains(ids, id) {
			t.Errorf("peer %d is gone, which gave transactions; left are %v", id, fmt.Sprint(ids))
		}
	}
}
