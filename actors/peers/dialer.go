package peers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// An attempt is a connection in the making.
type attempt struct {
	node string       // as the operator named it; empty: addr counts
	addr netaddr.Addr // zero: to be looked up
	typ  p2p.ConnectionType
	v2   bool
	done func(error) // is called once; may be nil

	archive bool // the node must give all blocks with their witnesses

	services wire.ServiceFlag // that the node is believed to offer
	seen     uint32           // when it was, since 1970 in seconds; 0: not known
}

// name is how the connection will be called.
func (a *attempt) name() string {
	if a.node != "" {
		return a.node
	}
	return a.addr.String()
}

func (a *attempt) end(err error) {
	if a.done != nil {
		a.done(err)
	}
}

// dialed is a connection that was made, or not.
type dialed struct {
	attempt *attempt
	conn    net.Conn
	addr    netaddr.Addr
	err     error
}

// Why nothing is dialed.
var (
	errConnected = errors.New("already connected")
	errNoLookup  = errors.New("names are not looked up")
)

// connected is who is connected already, as the dialer sees it.
type connected interface {
	connectionTo(name string, addr netaddr.Addr) *entry
	countType(typ p2p.ConnectionType) int
	outboundGroups(of func(netaddr.Addr) string) map[string]bool
}

// A dialer makes the node's connections, both those wanted by the operator and those chosen by
// the node.
type dialer struct {
	*base

	peers    func() connected
	book     *addrBook
	bans     unwelcomer
	networks *networks
	limits   limits
	pending  *pendingConns

	active     bool // the network is in use
	attempts   map[*attempt]struct{}
	added      []*addedNode
	nextFeeler time.Time
	anchors    []codec.Address // nodes to connect to before others
	announced  bool            // their number
}

func newDialer(
	b *base, book *addrBook, bans unwelcomer, n *networks, l limits, pending *pendingConns,
) *dialer {
	d := &dialer{
		base: b, book: book, bans: bans, networks: n, limits: l, pending: pending,
		active: !b.cfg.Inactive, anchors: slices.Clone(b.cfg.Anchors), attempts: make(map[*attempt]struct{}),
	}
	for _, node := range b.cfg.Connect {
		d.added = append(d.added, &addedNode{name: node, v2: b.cfg.V2, hidden: true})
	}
	for _, node := range b.cfg.Added {
		d.added = append(d.added, &addedNode{name: node, v2: b.cfg.V2})
	}
	for _, node := range b.cfg.Archives {
		d.added = append(d.added, &addedNode{name: node, v2: b.cfg.V2, archive: true})
	}
	return d
}

// reset forgets the attempts, when the actor's workers have been dropped.
func (d *dialer) reset() { clear(d.attempts) }

// setActive lets connections be made, or none.
func (d *dialer) setActive(on bool) {
	d.active = on
	if on {
		for _, a := range d.added {
			a.next = time.Time{}
		}
	}
}

// start begins to connect. It calls arrived with the result, in the actor.
func (d *dialer) start(ctx context.Context, run runner, a *attempt, arrived func(dialed)) {
	if err := d.mayDial(a); err != nil {
		a.end(err)
		return
	}
	d.attempts[a] = struct{}{}
	if d.cfg.Network.Traffic.NewerLog {
		d.debugf("trying %s connection (%v) to %s, lastseen=0.0hrs", versionName(a.v2), a.typ, a.name())
	} else {
		d.debugf("trying %s connection %s lastseen=0.0hrs", versionName(a.v2), a.name())
	}
	run(func() func() {
		m := d.dial(ctx, a)
		return func() { arrived(m) }
	})
}

func versionName(v2 bool) string {
	if v2 {
		return "v2"
	}
	return "v1"
}

// mayDial returns why an attempt may not be made, nil if it may.
func (d *dialer) mayDial(a *attempt) error {
	if !d.active {
		return errInactive
	}
	if d.peers().connectionTo(a.name(), a.addr) != nil {
		return errConnected
	}
	for other := range d.attempts {
		if other.name() == a.name() {
			return errConnected
		}
	}
	return nil
}

// dial makes the connection, in a worker.
func (d *dialer) dial(ctx context.Context, a *attempt) dialed {
	targets, err := d.targets(ctx, a)
	if err != nil {
		return dialed{attempt: a, err: err}
	}
	for _, target := range targets {
		var conn net.Conn
		conn, err = d.connect(ctx, target, a.typ)
		if err == nil {
			d.pending.add(conn)
			return dialed{attempt: a, conn: conn, addr: d.placed(addressOf(target))}
		}
	}
	return dialed{attempt: a, err: err}
}

// How long a connection may take that others make for the node: a proxy, which builds
// circuits, or an I2P router, which builds tunnels first.
const (
	throughProxy = time.Minute
	throughI2P   = 10 * time.Minute
)

// A privateSource makes connections that do not tell where they come from. It never connects directly.
type privateSource interface {
	DialPrivately(ctx context.Context, addr string) (net.Conn, error)
}

var errNotHidden = errors.New("no proxy hides the connection")

// connect connects to a target. The time limit depends on the target's network.
func (d *dialer) connect(ctx context.Context, target string, typ p2p.ConnectionType) (net.Conn, error) {
	limit := d.cfg.Timeout
	switch a := d.placed(addressOf(target)); {
	case a.Network() == netaddr.I2P:
		limit += throughI2P
	case a == netaddr.Addr{} || a.Network() == netaddr.Onion || d.cfg.Proxies[a.Network()].Addr != "",
		typ == p2p.PrivateBroadcast:
		limit += throughProxy
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if typ == p2p.PrivateBroadcast {
		if hidden, ok := d.cfg.Source.(privateSource); ok {
			return hidden.DialPrivately(ctx, target)
		}
		return nil, errNotHidden
	}
	return d.cfg.Source.Dial(ctx, target)
}

// maxLookedUp is how many addresses of a name are tried.
const maxLookedUp = 8

// targets returns what to connect to, as "host:port".
func (d *dialer) targets(ctx context.Context, a *attempt) ([]string, error) {
	if a.node == "" {
		return []string{a.addr.String()}, nil
	}
	host, port := d.hostPort(a.node)
	if !isName(host) {
		return []string{d.numeric(a.node).String()}, nil
	}
	if d.cfg.NameProxy {
		return []string{net.JoinHostPort(host, strconv.Itoa(int(port)))}, nil
	}
	if !d.cfg.Lookup {
		return nil, errNoLookup
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Timeout)
	defer cancel()
	found, err := d.cfg.Source.Lookup(ctx, host)
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", host, err)
	}
	var all []string
	for _, ip := range found[:min(len(found), maxLookedUp)] {
		all = append(all, netip.AddrPortFrom(ip.Unmap(), port).String())
	}
	return all, nil
}

// finish ends an attempt. Unless it returns an error the connection is there, and is
// the caller's.
func (d *dialer) finish(m dialed) error {
	delete(d.attempts, m.attempt)
	if m.conn != nil {
		d.pending.remove(m.conn)
	}
	err := m.err
	if err == nil {
		err = d.mayDial(&attempt{node: m.attempt.node, addr: m.addr})
	}
	if err != nil {
		if m.conn != nil {
			_ = m.conn.Close()
		}
		d.debugf("connection attempt to %s failed: %v", m.attempt.name(), err)
	}
	return err
}

// dialing returns how many connections of a type are in the making.
func (d *dialer) dialing(typ p2p.ConnectionType) (n int) {
	for a := range d.attempts {
		if a.typ == typ {
			n++
		}
	}
	return n
}

// connectionType returns the type of that name; the empty one is manual.
func connectionType(name string) (p2p.ConnectionType, bool) {
	for typ := p2p.Manual; typ <= p2p.AddrFetch; typ++ {
		if typ.String() == cmp.Or(name, p2p.Manual.String()) {
			return typ, true
		}
	}
	return 0, false
}

// wantsV2 reports whether the encrypted transport is tried first: if it is enabled, and asked
// does not refuse.
func (d *dialer) wantsV2(asked *bool) bool { return d.cfg.V2 && (asked == nil || *asked) }

// hostPort returns a node's name with its port. The default is the network's port, whichever
// port this node listens at.
func (d *dialer) hostPort(node string) (host string, port uint16) {
	host, port, _ = netaddr.SplitHostPort(node, d.cfg.Network.P2PPort)
	if a, err := netaddr.Parse(node, 0); err == nil && a.Network() == netaddr.I2P {
		port = a.Port() // which has none by default
	}
	return host, port
}

// numeric returns the address that a node is named by, zero for a name.
func (d *dialer) numeric(node string) netaddr.Addr {
	host, port := d.hostPort(node)
	return d.placed(addressOf(net.JoinHostPort(host, strconv.Itoa(int(port)))))
}

// addressOf returns the address behind a target, zero for a name.
func addressOf(target string) netaddr.Addr {
	a, err := netaddr.Parse(target, 0)
	if err != nil {
		return netaddr.Addr{}
	}
	return a
}

// isName reports whether a node is named by a name.
func isName(host string) bool {
	_, err := netaddr.ParseHost(host)
	return err != nil
}
