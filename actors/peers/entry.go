package peers

import (
	"encoding/hex"
	"net"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/internal/p2p/sam"
	"github.com/seed61375155/trawl/internal/p2p/transport"
	"github.com/seed61375155/trawl/messages"
)

// An entry is a connection in the table.
type entry struct {
	id          int64
	name        string       // as getpeerinfo shows it
	addr        netaddr.Addr // of the other end; zero when only its name is known
	bind        netaddr.Addr // of this end
	onion       bool         // came from Tor
	discouraged bool         // came from a discouraged address
	archive     bool         // must give all blocks with their witnesses (-connectarchive)
	typ         p2p.ConnectionType
	allowed     peerhandle.Permissions
	session     *p2p.Session
	conn        *connection
	ref         *ask.Ref
	attempt     *attempt // that made it; nil: inbound

	established bool
	remote      p2p.Remote
	confirmed   bool // has got the transaction that the connection was made for
}

// relays reports whether the peer wants transactions.
func (e *entry) relays() bool {
	return e.established && (!e.remote.Version.NoTransactions || e.conn.listens.Load())
}

// disconnecting is how lines of the log say that the peer is left.
func (e *entry) disconnecting() string { return e.conn.info.Disconnecting() }

// addrOf returns the address of one end of a connection, zero when it has none.
func addrOf(a net.Addr) netaddr.Addr {
	switch a := a.(type) {
	case *net.TCPAddr:
		return netaddr.FromAddrPort(a.AddrPort())
	case sam.Endpoint:
		return a.Addr
	default:
		return netaddr.Addr{}
	}
}

// info is what getpeerinfo shows, but for the relay of addresses.
func (e *entry) info() messages.PeerInfo {
	st := e.session.Stats()
	info := messages.PeerInfo{
		ID: e.id, Addr: e.name, Network: e.network(), AS: e.conn.cfg.ASMap.AS(e.addr),
		Type: e.typ.String(), Inbound: e.typ == p2p.Inbound,
		Transport: st.Transport.String(), Permissions: permissionNames(e.allowed),
		Services: uint64(e.conn.peerServices(st.Remote.Version.Services)), Version: st.Remote.Version.Protocol,
		Subversion: st.Remote.UserAgent, StartHeight: st.Remote.Version.StartHeight,
		RelayTxs:    e.relays() && e.typ != p2p.BlockRelayOnly && e.typ != p2p.Feeler && e.typ != p2p.PrivateBroadcast,
		Established: e.established, Connected: st.Connected, LastSend: st.LastSent, LastRecv: st.LastReceived,
		Sent: st.Sent, Received: st.Received, SentBy: st.SentPerMessage, ReceivedBy: st.ReceivedPerMessage,
		TimeOffset: st.Remote.TimeOffset, Ping: st.Ping, MinPing: st.MinPing, Pinged: st.Pinged, PingWait: st.PingWait,
		CompactFrom: e.conn.compact.Load(), Archive: e.archive,
	}
	if st.Remote.Common == 0 {
		info.StartHeight = -1
	}
	if e.bind.IsValid() {
		info.Bind = e.bind.String()
	}
	if local := st.Remote.Version.You; local.IsValid() {
		info.Local = local.String()
	}
	if st.Transport == transport.V2 {
		info.SessionID = hex.EncodeToString(st.SessionID[:])
	}
	return info
}

// notRoutable is the network of addresses that are on no public one.
const notRoutable = "not_publicly_routable"

// cameBy tells apart peers on different networks, and peers that came by different addresses of the node.
func (e *entry) cameBy() string { return e.network() + " " + e.bind.String() }

// network is the network through which the peer is connected.
func (e *entry) network() string {
	switch {
	case e.onion:
		return netaddr.Onion.String()
	case e.addr.IsRoutable():
		return e.addr.Network().String()
	default:
		return notRoutable
	}
}

// permissionNames lists permissions as getpeerinfo does.
func permissionNames(p peerhandle.Permissions) []string {
	names := []string{}
	for _, known := range []struct {
		is   bool
		name string
	}{
		{p.BloomFilter, "bloomfilter"},
		{p.NoBan, "noban"},
		{p.ForceRelay, "forcerelay"},
		{p.Relay, "relay"},
		{p.Mempool, "mempool"},
		{p.Download, "download"},
		{p.Addr, "addr"},
	} {
		if known.is {
			names = append(names, known.name)
		}
	}
	return names
}

// A peerSet is the connections that there are, by ascending id.
type peerSet []*entry

// find returns the first connection that fits, nil when none does.
func (s peerSet) find(fits func(*entry) bool) *entry {
	if i := slices.IndexFunc(s, fits); i >= 0 {
		return s[i]
	}
	return nil
}

func (s peerSet) byID(id int64) *entry { return s.find(func(e *entry) bool { return e.id == id }) }

func (s peerSet) byActor(who *actor.PID) *entry {
	return s.find(func(e *entry) bool { return e.ref.PID().Equal(who) })
}

// connectionTo returns a connection to a node by its name or, unless that is zero, by
// its address; nil when there is none.
func (s peerSet) connectionTo(name string, addr netaddr.Addr) *entry {
	return s.find(func(e *entry) bool { return e.name == name || addr != netaddr.Addr{} && e.addr == addr })
}

// without returns the set without a connection.
func (s peerSet) without(e *entry) peerSet {
	return slices.DeleteFunc(s, func(other *entry) bool { return other == e })
}

// countType returns how many connections of a type there are.
func (s peerSet) countType(typ p2p.ConnectionType) (n int) {
	for _, e := range s {
		if e.typ == typ {
			n++
		}
	}
	return n
}

// count returns how many connections there are in each direction.
func (s peerSet) count() messages.PeerCount {
	in := s.countType(p2p.Inbound)
	return messages.PeerCount{In: in, Out: len(s) - in}
}

// inboundCount returns how many inbound connections there are that are not about to
// end.
func (s peerSet) inboundCount() (n int) {
	for _, e := range s {
		if e.typ == p2p.Inbound && !e.conn.isClosed() {
			n++
		}
	}
	return n
}

// relayingCount returns how many of these want transactions.
func (s peerSet) relayingCount() (n int) {
	for _, e := range s {
		if e.typ == p2p.Inbound && !e.conn.isClosed() && e.relays() {
			n++
		}
	}
	return n
}

// outboundGroups returns the groups of addresses that the node is connected to by its
// own choice: one of each is enough.
func (s peerSet) outboundGroups(of func(netaddr.Addr) string) map[string]bool {
	groups := make(map[string]bool)
	for _, e := range s {
		if e.typ == p2p.OutboundFullRelay || e.typ == p2p.BlockRelayOnly || e.typ == p2p.Manual {
			groups[of(e.addr)] = true
		}
	}
	return groups
}

// minOffsets is how many peers must have sent their time before it counts.
const minOffsets = 5

// timeOffset is the median of how far the clocks of outbound peers are ahead.
func (s peerSet) timeOffset() time.Duration {
	var offsets []time.Duration
	for _, e := range s {
		if e.established && e.typ != p2p.Inbound && e.typ != p2p.PrivateBroadcast {
			offsets = append(offsets, e.remote.TimeOffset)
		}
	}
	if len(offsets) < minOffsets {
		return 0
	}
	slices.Sort(offsets)
	return offsets[len(offsets)/2]
}
