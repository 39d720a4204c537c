package peers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

// A dial is a connection in the making.
type dial struct {
	node string       // as the operator named it; empty: addr counts
	addr netaddr.Addr // zero: to be looked up
	typ  p2p.ConnectionType
	v2   bool
	done func(error) // may be nil
}

// name is how the connection will be called.
func (d *dial) name() string {
	if d.node != "" {
		return d.node
	}
	return d.addr.String()
}

// dialed is a connection that was made, or not.
type dialed struct {
	dial *dial
	conn net.Conn
	addr netaddr.Addr
	err  error
}

// Why nothing is dialed.
var (
	errInactive  = errors.New("network is not active")
	errConnected = errors.New("already connected")
	errNoLookup  = errors.New("names are not looked up")
)

// dial begins to connect.
func (t *Table) dial(c actor.Context, d *dial) {
	if err := t.mayDial(d); err != nil {
		d.end(err)
		return
	}
	t.dials[d] = struct{}{}
	if t.logs() {
		t.debugf("trying %s connection %s lastseen=0.0hrs", versionName(d.v2), d.name())
	}
	t.workers.start(c, func() any { return t.connect(d) })
}

func versionName(v2 bool) string {
	if v2 {
		return "v2"
	}
	return "v1"
}

// mayDial returns why not.
func (t *Table) mayDial(d *dial) error {
	if !t.active {
		return errInactive
	}
	if t.isConnected(d.name(), d.addr) || t.isDialing(d) {
		return errConnected
	}
	return nil
}

// isConnected reports whether there is a connection to a node by its name or
// its address.
func (t *Table) isConnected(name string, addr netaddr.Addr) bool {
	return t.find(func(e *entry) bool {
		return e.name == name || addr != netaddr.Addr{} && e.addr == addr
	}) != nil
}

func (t *Table) isDialing(d *dial) bool {
	for other := range t.dials {
		if other.name() == d.name() {
			return true
		}
	}
	return false
}

func (d *dial) end(err error) {
	if d.done != nil {
		d.done(err)
	}
}

// connect makes the connection, in a worker.
func (t *Table) connect(d *dial) dialed {
	ctx, cancel := context.WithTimeout(t.ctx, t.cfg.Timeout)
	defer cancel()
	targets, err := t.targets(ctx, d)
	if err != nil {
		return dialed{dial: d, err: err}
	}
	for _, target := range targets {
		var conn net.Conn
		conn, err = t.cfg.Source.Dial(ctx, target)
		if err == nil {
			t.transit.add(conn)
			return dialed{dial: d, conn: conn, addr: addressOf(target)}
		}
	}
	return dialed{dial: d, err: err}
}

// mostLookedUp is how many addresses of a name are tried.
const mostLookedUp = 8

// targets returns what to connect to, as "host:port".
func (t *Table) targets(ctx context.Context, d *dial) ([]string, error) {
	if d.node == "" {
		return []string{d.addr.String()}, nil
	}
	host, port := t.hostPort(d.node)
	if !isName(host) {
		return []string{t.numeric(d.node).String()}, nil
	}
	if t.cfg.NameProxy {
		return []string{net.JoinHostPort(host, strconv.Itoa(int(port)))}, nil
	}
	if !t.cfg.Lookup {
		return nil, errNoLookup
	}
	found, err := t.cfg.Source.Lookup(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", host, err)
	}
	var all []string
	for _, ip := range found[:min(len(found), mostLookedUp)] {
		all = append(all, netip.AddrPortFrom(ip.Unmap(), port).String())
	}
	return all, nil
}

// addressOf returns the address behind a target, zero for a name.
func addressOf(target string) netaddr.Addr {
	a, err := netaddr.Parse(target, 0)
	if err != nil {
		return netaddr.Addr{}
	}
	return a
}

// dialed enters a connection that was made.
func (t *Table) dialed(c actor.Context, m dialed) {
	delete(t.dials, m.dial)
	if m.conn != nil {
		t.transit.remove(m.conn)
	}
	err := m.err
	if err == nil {
		err = t.mayDial(&dial{node: m.dial.node, addr: m.addr, v2: m.dial.v2})
	}
	if err != nil {
		if m.conn != nil {
			_ = m.conn.Close()
		}
		t.debugf("connection attempt to %s failed: %v", m.dial.name(), err)
		m.dial.end(err)
		return
	}
	e := &entry{name: m.dial.name(), addr: m.addr, typ: m.dial.typ, dial: m.dial}
	e.allowed = t.permit(e)
	t.add(c, m.conn, e, m.dial.v2)
	m.dial.end(nil)
}

// connectOnce serves messages.ConnectPeer.
func (t *Table) connectOnce(c actor.Context, m *connectPeer) {
	typ, ok := connectionType(m.Req.Type)
	if !ok {
		m.Answer(messages.Done{}, messages.ErrNoSlot)
		return
	}
	if !t.hasSlot(typ) {
		m.Answer(messages.Done{}, messages.ErrNoSlot)
		return
	}
	t.dial(c, &dial{node: m.Req.Node, typ: typ, v2: t.wantsV2(m.Req.V2), done: func(err error) {
		if err != nil {
			t.debugf("no connection to %s: %v", m.Req.Node, err)
		}
		m.Answer(messages.Done{}, nil)
	}})
}

// connectionType returns the type of that name; the empty one is manual.
func connectionType(name string) (p2p.ConnectionType, bool) {
	if name == "" {
		return p2p.Manual, true
	}
	for typ := p2p.Manual; typ <= p2p.AddrFetch; typ++ {
		if typ.String() == name {
			return typ, true
		}
	}
	return 0, false
}

func (t *Table) wantsV2(asked *bool) bool {
	if asked == nil {
		return t.cfg.V2
	}
	return *asked && t.cfg.V2
}

// An addedNode is one that the node stays connected to.
type addedNode struct {
	name   string
	v2     bool
	hidden bool // named by -connect: in no list
	next   time.Time
}

// How long after an attempt an added node is tried again, and one of -connect.
const (
	retryAfter  = time.Minute
	retryHidden = time.Second
)

func (t *Table) addNode(c actor.Context, node string, v2 bool) error {
	same := func(a *addedNode) bool {
		at := t.numeric(node)
		return !a.hidden && (a.name == node || at != netaddr.Addr{} && t.numeric(a.name) == at)
	}
	if slices.ContainsFunc(t.added, same) {
		return messages.ErrNodeAdded
	}
	t.added = append(t.added, &addedNode{name: node, v2: v2})
	t.maintain(c)
	return nil
}

func (t *Table) removeNode(node string) error {
	before := len(t.added)
	t.added = slices.DeleteFunc(t.added, func(a *addedNode) bool { return !a.hidden && a.name == node })
	if len(t.added) == before {
		return messages.ErrNodeNotAdded
	}
	return nil
}

// numeric returns the address that a node is named by, zero for a name.
func (t *Table) numeric(node string) netaddr.Addr {
	host, port := t.hostPort(node)
	return addressOf(net.JoinHostPort(host, strconv.Itoa(int(port))))
}

// connectionTo returns the connection to an added node, nil when there is none.
func (t *Table) connectionTo(node string) *entry {
	addr := t.numeric(node)
	return t.find(func(e *entry) bool {
		return e.name == node || addr != netaddr.Addr{} && e.addr == addr
	})
}

func (t *Table) addedNodes() []messages.AddedNode {
	list := []messages.AddedNode{}
	for _, a := range t.added {
		if a.hidden {
			continue
		}
		node := messages.AddedNode{Node: a.name}
		if e := t.connectionTo(a.name); e != nil {
			node.Addr, node.Inbound = e.addr.String(), e.typ == p2p.Inbound
		}
		list = append(list, node)
	}
	return list
}

// maxManual is how many added nodes are connected at a time (Core:
// MAX_ADDNODE_CONNECTIONS).
const maxManual = 8

// connectAdded dials the added nodes whose time has come.
func (t *Table) connectAdded(c actor.Context) {
	now := time.Now()
	for _, a := range t.added {
		if now.Before(a.next) || t.connectionTo(a.name) != nil {
			continue
		}
		if !a.hidden && t.countType(p2p.Manual)+t.dialingType(p2p.Manual) >= maxManual {
			continue
		}
		a.next = now.Add(retryAfter)
		if a.hidden {
			a.next = now.Add(retryHidden)
		}
		t.dial(c, &dial{node: a.name, typ: p2p.Manual, v2: a.v2})
	}
}

func (t *Table) countType(typ p2p.ConnectionType) (n int) {
	for _, e := range t.peers {
		if e.typ == typ {
			n++
		}
	}
	return n
}

func (t *Table) dialingType(typ p2p.ConnectionType) (n int) {
	for d := range t.dials {
		if d.typ == typ {
			n++
		}
	}
	return n
}
