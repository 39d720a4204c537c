package netsetup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"

	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/messages"
)

// A Listener is where peers are accepted.
type Listener struct {
	net.Listener

	Onion bool          // what comes is from Tor
	Grant *access.Grant // what peers may that come here (-whitebind); nil: nothing more
}

// Binds are the addresses to accept peers at.
type Binds struct {
	Bind        []string // "host", "host:port" or "host:port=onion"
	Whitebind   []string // "[permissions@]address:port"
	Port        uint16   // where an address names none
	Program     string   // name of this program, in texts
	NoOnionBind bool     // without an address of Bind, the port for Tor stays closed
}

// announced returns the addresses that peers may be sent, and the port where one names
// none: the first that an address of Bind has, or else one of Whitebind, or Port.
func (b Binds) announced() (addrs []netaddr.Addr, port uint16) {
	for _, bind := range b.Bind {
		a, err := netaddr.Parse(bind, b.Port)
		if err != nil { // as one for Tor
			continue
		}
		addrs = append(addrs, a)
		if bare, err := netaddr.Parse(bind, 0); port == 0 && err == nil {
			port = portOf(bare)
		}
	}
	for _, bind := range b.Whitebind {
		if grant, a, err := access.ParseWhitebind(bind); err == nil && !grant.Permissions.NoBan {
			addrs = append(addrs, a)
			port = cmp.Or(port, portOf(a))
		}
	}
	return addrs, cmp.Or(port, b.Port)
}

// conflict refuses an address that is named twice.
//
// Errors: [messages.StartError].
func (b Binds) conflict() error {
	seen := make(map[netaddr.Addr]bool)
	check := func(a netaddr.Addr) error {
		if seen[a] {
			return messages.StartError(fmt.Sprintf("Duplicate binding configuration for address %v. "+
				"Please check your -bind, -bind=...=onion and -whitebind settings.", a))
		}
		seen[a] = true
		return nil
	}
	for _, bind := range b.Whitebind {
		if _, a, err := access.ParseWhitebind(bind); err == nil {
			if err := check(a); err != nil {
				return err
			}
		}
	}
	for _, bind := range b.Bind {
		if a, _, err := b.parse(bind); err == nil {
			if err := check(a); err != nil {
				return err
			}
		}
	}
	return nil
}

// named returns the addresses without those that stand for all of this host, if these have own addresses found.
func (c *Config) named() Binds {
	b := c.Binds
	all := func(bind string) bool {
		a, onion, err := b.parse(bind)
		at, ok := a.AddrPort()
		return err == nil && ok && !onion && at.Addr().IsUnspecified()
	}
	if c.FindsAny && slices.ContainsFunc(b.Bind, all) {
		b.Bind, b.Whitebind = nil, nil
		_, b.Port = c.announced()
	}
	return b
}

func portOf(a netaddr.Addr) uint16 {
	at, _ := a.AddrPort()
	return at.Port()
}

// Whitelist reads permissions of peers, "[permissions@]address[/bits]" each.
//
// Errors: access.Error.
func Whitelist(texts []string) ([]access.Whitelisted, error) {
	var list []access.Whitelisted
	for _, text := range texts {
		w, err := access.ParseWhitelist(text)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// Listen opens the ports for peers: where no address is named, on all of this host. Without
// an address of Bind, the next port is for Tor, unless NoOnionBind says otherwise.
//
// Errors: [messages.StartError], access.Error.
func Listen(ctx context.Context, b Binds) ([]Listener, error) {
	if len(b.Bind) == 0 && len(b.Whitebind) == 0 {
		return b.openAny(ctx)
	}
	bare := b.Bind
	if len(b.Bind) == 0 && !b.NoOnionBind {
		bare = []string{torBind}
	}
	var opened []Listener
	for _, bind := range bare {
		l, err := b.openBind(ctx, bind)
		if err != nil {
			CloseAll(opened)
			return nil, err
		}
		opened = append(opened, l)
	}
	for _, bind := range b.Whitebind {
		grant, addr, err := access.ParseWhitebind(bind)
		var l Listener
		if err == nil {
			l, err = b.openBind(ctx, addr.String())
		}
		if err != nil {
			CloseAll(opened)
			return nil, err
		}
		l.Grant = &grant
		opened = append(opened, l)
	}
	return opened, nil
}

// CloseAll closes listeners.
func CloseAll(listeners []Listener) {
	for _, l := range listeners {
		_ = l.Close()
	}
}

// openAny opens a port on all addresses of this host, and the next one for Tor. IPv6
// may be missing.
func (b Binds) openAny(ctx context.Context) ([]Listener, error) {
	var opened []Listener
	if !b.NoOnionBind {
		tor, err := b.openBind(ctx, torBind)
		if err != nil {
			return nil, err
		}
		opened = append(opened, tor)
	}
	for _, every := range []netip.Addr{netip.IPv6Unspecified(), netip.IPv4Unspecified()} {
		l, err := b.open(ctx, netip.AddrPortFrom(every, b.Port))
		switch {
		case err == nil:
			opened = append(opened, Listener{Listener: l})
		case every.Is4():
			CloseAll(opened)
			return nil, err
		}
	}
	return opened, nil
}

// forOnion ends an address of -bind at which Tor hands over what comes to the node's
// onion service.
const forOnion = "=onion"

// torBind is where Tor hands over what comes, unless an address of -bind says otherwise.
const torBind = "127.0.0.1" + forOnion

// openBind opens the port of an option -bind. One for Tor that names none has the port
// after the given one.
func (b Binds) openBind(ctx context.Context, bind string) (Listener, error) {
	a, onion, err := b.parse(bind)
	at, ok := a.AddrPort()
	if err != nil || !ok {
		return Listener{}, messages.StartError("Cannot resolve -bind address: '" + bind + "'")
	}
	l, err := b.open(ctx, at)
	return Listener{Listener: l, Onion: onion}, err
}

// parse reads an option -bind.
func (b Binds) parse(bind string) (a netaddr.Addr, onion bool, err error) {
	port := b.Port
	addr, onion := strings.CutSuffix(bind, forOnion)
	if onion {
		port++
	}
	a, err = netaddr.Parse(addr, port)
	return a, onion, err
}

// open opens a port.
//
// Errors: [messages.StartError].
func (b Binds) open(ctx context.Context, at netip.AddrPort) (net.Listener, error) {
	network := "tcp6"
	if at.Addr().Is4() {
		network = "tcp4"
	}
	var c net.ListenConfig
	l, err := c.Listen(ctx, network, at.String())
	if err == nil {
		return l, nil
	}
	const noPort = "\nError: Failed to listen on any port. Use -listen=0 if you want this."
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, messages.StartError(fmt.Sprintf(
			"Unable to bind to %v on this computer. %s is probably already running.%s", at, b.Program, noPort,
		))
	}
	reason := err.Error()
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		text := errno.Error()
		reason = fmt.Sprintf("%s%s (%d)", strings.ToUpper(text[:1]), text[1:], int(errno))
	}
	return nil, messages.StartError(fmt.Sprintf(
		"Unable to bind to %v on this computer (bind returned error %s)%s", at, reason, noPort,
	))
}
