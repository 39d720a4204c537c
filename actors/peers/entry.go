package peers

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/link"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/transport"
	"github.com/seed61375155/trawl/messages"
)

// An entry is a connection in the table.
type entry struct {
	id      int64
	name    string       // as getpeerinfo shows it
	addr    netaddr.Addr // of the other end; zero when only its name is known
	bind    netaddr.Addr // own end
	onion   bool         // came from Tor
	shunned bool         // came from a discouraged address
	typ     p2p.ConnectionType
	allowed link.Permissions
	session *p2p.Session
	line    *line
	ref     *ask.Ref
	dial    *dial // nil: inbound

	established bool
	remote      p2p.Remote
}

// disconnecting is how lines of the log say that the peer is left.
func (e *entry) disconnecting() string { return e.line.info.Disconnecting() }

// add puts a connection into the table and starts its actor.
func (t *Table) add(c actor.Context, conn net.Conn, e *entry, v2 bool) {
	e.id = t.nextID.Add(1) - 1
	e.bind = addrOf(conn.LocalAddr())
	cfg := t.session(e.id, e.typ, v2)
	if !t.cfg.Relay.IsAbsent() && e.allowed.Relay {
		cfg.NoTransactions = false
	}
	cfg.Addr, cfg.LogAddr = e.addr, t.logAddr(e.name)
	e.line = newLine(t.base, t.self, e)
	e.session = p2p.New(conn, cfg, e.line)
	e.line.session = e.session
	ref, err := ask.Spawn(c, t.cfg.Log, fmt.Sprintf("peer-%d", e.id), 1, newConn(e.line), nil)
	if err != nil {
		_ = conn.Close()
		t.log.Error("peer without an actor", "err", err)
		return
	}
	e.ref = ref
	t.peers = append(t.peers, e)
	if to := t.logAddr(e.name); to != "" {
		t.debugf("Added connection to %s peer=%d", to, e.id)
	} else {
		t.debugf("Added connection peer=%d", e.id)
	}
}

// addrOf returns the address of one end of a connection, zero when it has none.
func addrOf(a net.Addr) netaddr.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netaddr.Addr{}
	}
	return netaddr.FromAddrPort(tcp.AddrPort())
}

// find returns the first connection that fits, nil when none does.
func (t *Table) find(fits func(*entry) bool) *entry {
	if i := slices.IndexFunc(t.peers, fits); i >= 0 {
		return t.peers[i]
	}
	return nil
}

func (t *Table) byID(id int64) *entry { return t.find(func(e *entry) bool { return e.id == id }) }

// disconnect ends a connection for the operator.
func (t *Table) disconnect(q *messages.DisconnectPeer) error {
	var e *entry
	how := "address"
	if q.ID != nil {
		e, how = t.byID(*q.ID), "id"
	} else {
		e = t.find(func(e *entry) bool { return e.name == q.Addr })
	}
	if e == nil {
		return messages.ErrPeerNotFound
	}
	t.debugf("disconnect by %s match, %s", how, e.disconnecting())
	e.session.Close(errDisconnected)
	return nil
}

// errDisconnected ends a session for the operator.
var errDisconnected = fmt.Errorf("disconnected by request: %w", p2p.ErrClosed)

// joined notes that a peer has shaken hands.
func (t *Table) joined(m joined) {
	if e := t.byID(m.id); e != nil {
		e.established, e.remote = true, m.remote
		t.addrs.join(&addrPeer{
			conn: e.line, id: e.id, typ: e.typ, addr: e.addr, cacheKey: e.network() + " " + e.bind.String(),
			unlimited: e.allowed.Addr, v2: e.remote.AddrV2, since: e.line.info.Since,
		})
		t.reached(e)
	}
}

// ended takes out a connection whose actor has stopped.
func (t *Table) ended(c actor.Context, who *actor.PID) {
	e := t.find(func(e *entry) bool { return e.ref.PID().Equal(who) })
	if e == nil {
		return
	}
	e.session.Close(nil) // an actor that failed too often left it
	t.remove(e)
	if errors.Is(e.line.reason, p2p.ErrSelf) {
		t.printf("connected to self at %s, disconnecting", e.name)
	}
	if errors.Is(e.line.reason, p2p.ErrFeeler) {
		t.debugf("feeler connection completed, %s", e.disconnecting())
		e.remote = e.session.Stats().Remote
		t.reached(e)
	}
	if e.established && e.typ != p2p.Inbound && e.typ != p2p.BlockRelayOnly {
		t.book.addrs.Connected(e.addr, t.cfg.Now())
	}
	if errors.Is(e.line.reason, p2p.ErrRetryV1) && e.dial != nil && t.active {
		t.debugf("retrying with v1 transport protocol for peer=%d", e.id)
		again := *e.dial
		again.v2, again.done = false, nil
		t.dial(c, &again)
		return
	}
	t.maintain(c)
}

func (t *Table) remove(e *entry) {
	t.peers = slices.DeleteFunc(t.peers, func(o *entry) bool { return o == e })
	t.addrs.leave(e.id)
}

func (t *Table) count() (n messages.PeerCount) {
	for _, e := range t.peers {
		if e.typ == p2p.Inbound {
			n.In++
		} else {
			n.Out++
		}
	}
	return n
}

func (t *Table) infos() []messages.PeerInfo {
	infos := make([]messages.PeerInfo, len(t.peers))
	for i, e := range t.peers {
		infos[i] = e.info()
		if p, ok := t.addrs.peer(e.id); ok {
			infos[i].AddrRelay, infos[i].AddrProcessed, infos[i].AddrLimited = p.enabled, p.processed, p.limited
		}
	}
	return infos
}

// info is what getpeerinfo shows.
func (e *entry) info() messages.PeerInfo {
	st := e.session.Stats()
	info := messages.PeerInfo{
		ID: e.id, Addr: e.name, Network: e.network(), Type: e.typ.String(), Inbound: e.typ == p2p.Inbound,
		Transport: st.Transport.String(), Permissions: permissionNames(e.allowed),
		Services: uint64(st.Remote.Version.Services), Version: st.Remote.Version.Protocol,
		Subversion: st.Remote.UserAgent, StartHeight: st.Remote.Version.StartHeight,
		RelayTxs:    e.established && !st.Remote.Version.NoTransactions && e.typ != p2p.BlockRelayOnly && e.typ != p2p.Feeler,
		Established: e.established, Connected: st.Connected, LastSend: st.LastSent, LastRecv: st.LastReceived,
		Sent: st.Sent, Received: st.Received, SentBy: st.SentPerMessage, ReceivedBy: st.ReceivedPerMessage,
		TimeOffset: st.Remote.TimeOffset, Ping: st.Ping, MinPing: st.MinPing, Pinged: st.Pinged, PingWait: st.PingWait,
		CompactFrom: e.line.compact.Load(),
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

// hostPort returns a node's name with its port.
func (t *Table) hostPort(node string) (host string, port uint16) {
	host, port, _ = netaddr.SplitHostPort(node, t.cfg.Port)
	return host, port
}

// permissionNames lists permissions as getpeerinfo does.
func permissionNames(p link.Permissions) []string {
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

// isName reports whether a node is named by a name.
func isName(host string) bool {
	_, err := netaddr.ParseHost(host)
	return err != nil
}
