package netsetup

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// UnixProxy begins the name of a proxy that is a socket of the file system.
const UnixProxy = "unix:"

// A Proxy is a SOCKS5 proxy, or for I2P a router's SAM bridge.
type Proxy struct {
	Addr      string // "host:port" or "unix:path"; empty: there is none
	Randomize bool   // other credentials for each connection, as Tor separates by them
}

// TCP is the peers.Source of nodes that reach their peers directly, through SOCKS5 proxies,
// or through an I2P router.
type TCP struct {
	Proxies map[netaddr.Network]Proxy // by network; none: directly
	Names   Proxy                     // for names; none: they are looked up
	I2P     *I2P                      // the way into I2P; may be nil
	CJDNS   bool                      // the host reaches that network, whose addresses are in fc00::/8
	Timeout time.Duration             // for a connection to be made; 0: that of ctx
	Log     *slog.Logger              // may be nil

	onion *atomic.Pointer[Proxy] // for Tor, which may say later where it is; may be nil
}

// SetOnion says where the proxy for Tor is, from now on. It may be called while others dial.
func (t TCP) SetOnion(through Proxy) {
	if t.onion != nil {
		t.onion.Store(&through)
	}
}

// Close ends what leads into I2P. It implements io.Closer.
func (t TCP) Close() error {
	if t.I2P != nil {
		t.I2P.Close()
	}
	return nil
}

// proxyFor returns the proxy for a network.
func (t TCP) proxyFor(network netaddr.Network) Proxy {
	if network == netaddr.Onion && t.onion != nil {
		if late := t.onion.Load(); late != nil {
			return *late
		}
	}
	return t.Proxies[network]
}

// proxyTime is how long a proxy may take to connect: Tor builds circuits.
const proxyTime = time.Minute

// Dial implements peers.Source.
func (t TCP) Dial(ctx context.Context, addr string) (net.Conn, error) {
	through := t.Names
	a, err := netaddr.Parse(addr, 0)
	if err == nil {
		through = Proxy{}
		if t.CJDNS {
			a = a.OnCJDNS()
		}
		if a.IsRoutable() { // others are near, where no proxy leads
			through = t.proxyFor(a.Network())
		}
		if a.Network() == netaddr.I2P && t.I2P != nil {
			return t.I2P.Connect(ctx, a)
		}
		if _, direct := a.AddrPort(); !direct && through.Addr == "" {
			return nil, fmt.Errorf("%s: no proxy for %s", addr, a.Network())
		}
	}
	if through.Addr == "" {
		return t.connect(ctx, addr)
	}
	return t.dialThrough(ctx, through, addr)
}

// DialPrivately connects without telling the other end where from: through Tor, or from an address in I2P
// that is used once. It never connects directly.
func (t TCP) DialPrivately(ctx context.Context, addr string) (net.Conn, error) {
	a, err := netaddr.Parse(addr, 0)
	if err != nil {
		return nil, err
	}
	if a.Network() == netaddr.I2P {
		if t.I2P == nil {
			return nil, fmt.Errorf("%s: no proxy for %s", addr, a.Network())
		}
		return t.I2P.connectOnce(ctx, a)
	}
	through := t.proxyFor(netaddr.Onion)
	if through.Addr == "" {
		return nil, fmt.Errorf("%s: no proxy for %s", addr, netaddr.Onion)
	}
	return t.dialThrough(ctx, through, addr)
}

// connect makes a connection without a proxy.
func (t TCP) connect(ctx context.Context, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: t.Timeout}
	if path, ok := strings.CutPrefix(addr, UnixProxy); ok {
		return d.DialContext(ctx, "unix", path)
	}
	return d.DialContext(ctx, "tcp", addr)
}

// dialThrough has a proxy make a connection.
func (t TCP) dialThrough(ctx context.Context, through Proxy, addr string) (net.Conn, error) {
	t.debugf("proxy", "Using proxy: %s to connect to %s", through.Addr, addr)
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	conn, err := t.connect(ctx, through.Addr)
	if err != nil {
		return nil, fmt.Errorf("proxy %s: %w", through.Addr, err)
	}
	var login *ProxyLogin
	if through.Randomize {
		login = &ProxyLogin{User: rand.Text(), Password: rand.Text()}
	}
	t.debugf("net", "SOCKS5 connecting %s", host)
	if err := within(ctx, conn, func() error { return ConnectProxy(conn, host, uint16(n), login) }); err != nil {
		_ = conn.Close()
		return nil, err
	}
	t.debugf("net", "SOCKS5 connected %s", host)
	return conn, nil
}

// within does what speaks with a proxy, in the time that it has, and no longer than ctx.
func within(ctx context.Context, conn net.Conn, do func() error) error {
	_ = conn.SetDeadline(time.Now().Add(proxyTime))
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	err := do()
	if !stop() {
		return context.Cause(ctx)
	}
	_ = conn.SetDeadline(time.Time{})
	return err
}

func (t TCP) debugf(category, format string, args ...any) {
	if t.Log != nil {
		corelog.Printf(t.Log.With(slog.String(corelog.CategoryKey, category)), slog.LevelDebug, format, args...)
	}
}

// Lookup implements peers.Source.
func (TCP) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}
