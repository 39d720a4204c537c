package netsetup

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"golang.org/x/net/proxy"

	"github.com/seed61375155/trawl/internal/p2p/netaddr"
)

// UnixProxy begins the name of a proxy that is a socket of the file system.
const UnixProxy = "unix:"

// TCP is the peers.Source of nodes that reach their peers directly, or through SOCKS5
// proxies.
type TCP struct {
	Proxies   map[netaddr.Network]string // "host:port" or "unix:path" by network; none: directly
	Names     string                     // proxy for names; empty: they are looked up
	Randomize bool                       // other credentials for each connection, as Tor separates by them
}

// Dial implements peers.Source.
func (t TCP) Dial(ctx context.Context, addr string) (net.Conn, error) {
	through := t.Names
	if a, err := netaddr.Parse(addr, 0); err == nil {
		through = ""
		if a.IsRoutable() { // others are near, where no proxy leads
			through = t.Proxies[a.Network()]
		}
		if _, direct := a.AddrPort(); !direct && through == "" {
			return nil, fmt.Errorf("%s: no proxy for %s", addr, a.Network())
		}
	}
	var direct net.Dialer
	if through == "" {
		return direct.DialContext(ctx, "tcp", addr)
	}
	var auth *proxy.Auth
	if t.Randomize {
		auth = &proxy.Auth{User: rand.Text(), Password: rand.Text()}
	}
	network := "tcp"
	if path, ok := strings.CutPrefix(through, UnixProxy); ok {
		network, through = "unix", path
	}
	socks, err := proxy.SOCKS5(network, through, auth, &direct)
	if err != nil {
		return nil, err
	}
	return socks.(proxy.ContextDialer).DialContext(ctx, "tcp", addr)
}

// Lookup implements peers.Source.
func (TCP) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}
