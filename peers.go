package trawl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/version"
	rpcnet "github.com/seed61375155/trawl/rpc/method/net"
)

// A PeerConfig says how a node takes part in the network of its peers. The zero
// value connects to nobody and accepts nobody, but nodes can be added.
type PeerConfig struct {
	// Bind are the addresses to accept peers at, "host", "host:port" or
	// "host:port=onion"; with Listen and no Bind, all of this host.
	Listen bool
	Bind   []string

	// Whitebind are further addresses, "[permissions@]address:port", and
	// Whitelist addresses of peers, "[permissions@]address[/bits]", whose peers
	// have permissions, by default those that Core gives them.
	Whitebind, Whitelist []string
	WhitelistRelay       bool          // relay transactions of peers with the default permissions
	WhitelistForceRelay  bool          // also those that are in the pool already
	BanTime              time.Duration // of bans that do not say, default a day

	Port uint16 // default that of the network

	// Automatic has the node find peers and connect to them: by DNSSeeds, where the
	// network has some, and by SeedNodes.
	Automatic     bool
	DNSSeeds      bool
	ForceDNSSeeds bool // also when addresses are known
	SeedNodes     []string

	// Proxy are SOCKS5 proxies, "host[:port]" or "unix:path" for all networks, with
	// "=network" for one; Onion is that for Tor. OnlyNet names the networks to
	// connect to, by default all that can be reached.
	Proxy          []string
	Onion          string
	NoOnion        bool // do not reach Tor through Proxy either
	CJDNS          bool // the host reaches the CJDNS network
	ProxyRandomize bool
	OnlyNet        []string

	ExternalIP []string // own addresses as seen from outside
	Discover   bool     // find own addresses

	Connect  []string // stay connected to these nodes, and find no others
	AddNodes []string // stay connected to these nodes, too

	Filters     bool          // serve block filters; needs Config.BlockFilterIndex
	MaxPeers    int           // connections in both directions that were not asked for; 0: none
	Lookup      bool          // look up names of nodes
	Inactive    bool          // begin without network
	V2          bool          // speak the encrypted transport
	Comments    []string      // in the user agent
	Timeout     time.Duration // for a connection to be made, default 5 s
	PeerTimeout time.Duration // for the handshake, default 60 s
	SendBuffer  int           // bytes for one peer, default 1,000,000
	RecvBuffer  int           // likewise, default 5,000,000
}

// A StartError is a reason not to start, in Core's words and meant for the
// operator.
type StartError string

// Error implements error.
func (e StartError) Error() string { return string(e) }

// peersConfig is what the peer table is told, with its listeners, which are open.
//
// Errors: StartError, access.Error.
func (n *Node) peersConfig(ctx context.Context) (cfg peers.Config, err error) {
	p := n.cfg.Peers
	if p.Filters && !n.cfg.BlockFilterIndex {
		return cfg, StartError("Cannot set -peerblockfilters without -blockfilterindex.")
	}
	agent, err := rpcnet.Subversion(n.net.Software.Agent, p.Comments, version.Number)
	if err != nil {
		return cfg, err
	}
	listeners, err := n.openListeners(ctx)
	if err != nil {
		return cfg, err
	}
	defer func() {
		if err != nil {
			closeAll(listeners)
		}
	}()
	list, err := whitelist(p.Whitelist)
	if err != nil {
		return cfg, err
	}
	local, err := n.locals()
	if err != nil {
		return cfg, err
	}
	cfg = peers.Config{
		Local: local, Automatic: p.Automatic && p.MaxPeers > 0, ForceSeeds: p.ForceDNSSeeds, SeedNodes: p.SeedNodes,
		Dir: n.cfg.Dir, BanTime: p.BanTime, Whitelist: list,
		Defaults: access.Defaults{Relay: p.WhitelistRelay, ForceRelay: p.WhitelistForceRelay},
		Network:  n.net, Chain: n.view, Now: n.clock.Now, Log: n.cfg.Log,
		Listeners: listeners, Connect: p.Connect, Added: p.AddNodes, Port: p.Port, Lookup: p.Lookup,
		Inactive: p.Inactive, V2: p.V2, UserAgent: agent, Services: n.services(), MaxPeers: p.MaxPeers,
		Timeout: p.Timeout, PeerTimeout: p.PeerTimeout, SendLimit: p.SendBuffer, RecvLimit: p.RecvBuffer,
		Restarted: &n.rejoin, BlocksOnly: n.cfg.BlocksOnly,
	}
	if cfg.Addrs, err = peers.OpenAddrs(n.cfg.Dir, n.net.Magic, n.cfg.Log); err != nil {
		return cfg, err
	}
	if p.DNSSeeds && p.Lookup {
		cfg.Seeds = n.seeds()
	}
	return cfg, n.reach(&cfg)
}

// services is what the node offers its peers.
func (n *Node) services() wire.ServiceFlag {
	offered := wire.SFNodeNetworkLimited | wire.SFNodeWitness
	if n.cfg.Prune == nil {
		offered |= wire.SFNodeNetwork | n.net.Services
	}
	if n.cfg.Peers.Filters {
		offered |= wire.SFNodeCF
	}
	if n.cfg.Peers.V2 {
		offered |= wire.SFNodeP2PV2
	}
	return offered
}

// whitelist reads who has permissions.
//
// Errors: access.Error.
func whitelist(texts []string) ([]access.Whitelisted, error) {
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

// openListeners opens the ports for peers.
//
// Errors: StartError.
func (n *Node) openListeners(ctx context.Context) ([]peers.Listener, error) {
	p := n.cfg.Peers
	if !p.Listen && len(p.Bind) == 0 && len(p.Whitebind) == 0 {
		return nil, nil
	}
	port := p.Port
	if port == 0 {
		port = n.net.P2PPort
	}
	if len(p.Bind) == 0 && len(p.Whitebind) == 0 {
		return openAny(ctx, port)
	}
	var opened []peers.Listener
	for _, bind := range p.Bind {
		l, err := openBind(ctx, bind, port)
		if err != nil {
			closeAll(opened)
			return nil, err
		}
		opened = append(opened, l)
	}
	for _, bind := range p.Whitebind {
		grant, addr, err := access.ParseWhitebind(bind)
		var l peers.Listener
		if err == nil {
			l, err = openBind(ctx, addr.String(), port)
		}
		if err != nil {
			closeAll(opened)
			return nil, err
		}
		l.Grant = &grant
		opened = append(opened, l)
	}
	return opened, nil
}

func closeAll(listeners []peers.Listener) {
	for _, l := range listeners {
		_ = l.Close()
	}
}

// openAny opens a port on all addresses of this host. IPv6 may be missing.
func openAny(ctx context.Context, port uint16) ([]peers.Listener, error) {
	var opened []peers.Listener
	for _, every := range []netip.Addr{netip.IPv6Unspecified(), netip.IPv4Unspecified()} {
		l, err := open(ctx, netip.AddrPortFrom(every, port))
		switch {
		case err == nil:
			opened = append(opened, peers.Listener{Listener: l})
		case every.Is4():
			closeAll(opened)
			return nil, err
		}
	}
	return opened, nil
}

// openBind opens the port of an option -bind.
func openBind(ctx context.Context, bind string, port uint16) (peers.Listener, error) {
	addr, onion := strings.CutSuffix(bind, "=onion")
	a, err := netaddr.Parse(addr, port)
	at, ok := a.AddrPort()
	if err != nil || !ok {
		return peers.Listener{}, StartError("Cannot resolve -bind address: '" + bind + "'")
	}
	l, err := open(ctx, at)
	return peers.Listener{Listener: l, Onion: onion}, err
}

// open opens a port.
//
// Errors: StartError.
func open(ctx context.Context, at netip.AddrPort) (net.Listener, error) {
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
		return nil, StartError(fmt.Sprintf("Unable to bind to %v on this computer. Bitcoin Core is probably already running.%s", at, noPort))
	}
	reason := err.Error()
	if errno, ok := errors.AsType[syscall.Errno](err); ok {
		text := errno.Error()
		reason = fmt.Sprintf("%s%s (%d)", strings.ToUpper(text[:1]), text[1:], int(errno))
	}
	return nil, StartError(fmt.Sprintf("Unable to bind to %v on this computer (bind returned error %s)%s", at, reason, noPort))
}
