package trawl

import (
	"cmp"
	"context"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/actors/relay"
	"github.com/seed61375155/trawl/actors/sync"
	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
	"github.com/seed61375155/trawl/internal/part"
	"github.com/seed61375155/trawl/internal/version"
	rpcnet "github.com/seed61375155/trawl/rpc/method/net"
	"github.com/seed61375155/trawl/store/nodefiles"
)

// A PeerConfig says how a node takes part in the network of its peers. The zero
// value connects to nobody and accepts nobody, but nodes can be added.
type PeerConfig struct {
	// Bind are addresses to accept peers at, "host", "host:port" or "host:port=onion"; with Listen and none, all.
	Listen bool
	Bind   []string

	// Whitebind are further addresses, "[permissions@]address:port", and Whitelist addresses of peers,
	// "[permissions@]address[/bits]", whose peers have permissions, by default those that Core gives them.
	Whitebind, Whitelist []string
	WhitelistRelay       bool          // relay transactions of peers with the default permissions
	WhitelistForceRelay  bool          // also those that are in the pool already
	BanTime              time.Duration // of bans that do not say, default a day

	Port uint16 // where the node listens, default that of the network

	// Automatic has the node find peers and connect to them: by DNSSeeds, where the
	// network has some, and by SeedNodes.
	Automatic     bool
	DNSSeeds      bool
	ForceDNSSeeds bool // also when addresses are known
	SeedNodes     []string
	Seeds         []string // names that DNSSeeds asks for, in place of the network's
	NoFixedSeeds  bool     // do not take built-in addresses where no others are known
	ASMap         string   // file that maps addresses to autonomous systems; each system counts as one hand
	Capture       bool     // write all messages of peers to files

	// Proxy are SOCKS5 proxies, "host[:port]" or "unix:path" for all networks, with
	// "=network" for one; Onion is that for Tor. OnlyNet names the networks to
	// connect to, by default all that can be reached.
	Proxy                   []string
	Onion                   string
	NoOnion, NoOnionBind    bool   // do not reach Tor through Proxy either; do not listen for it by default
	I2P                     string // the SAM bridge of an I2P router, "host[:port]"; empty: none
	I2PIncoming             bool   // be reached there, at an address that stays
	CJDNS                   bool   // the host reaches the CJDNS network
	ProxyRandomize          bool
	OnlyNet                 []string
	TorControl, TorPassword string // control port, "host[:port]", by which Tor makes an onion service; empty: none

	ExternalIP []string // own addresses as seen from outside
	Discover   bool     // find own addresses

	Connect  []string // stay connected to these nodes, and find no others
	AddNodes []string // stay connected to these nodes, too
	Archives []string // likewise, while they give all blocks with their witnesses; on qbit's networks alone

	BloomFilters bool          // serve bloom filters (BIP37)
	Filters      bool          // serve block filters; needs Config.BlockFilterIndex
	MaxPeers     int           // connections not asked for, in both directions; 0: none
	MaxIncoming  int           // of these, by others; default all, with Automatic all but 11; below 0: none
	Lookup       bool          // look up names of nodes
	Inactive     bool          // begin without network
	V2           bool          // speak the encrypted transport
	Reconcile    bool          // offer to reconcile transactions (BIP330)
	Comments     []string      // in the user agent
	LogIPs       bool          // lines of the log name peers by their addresses
	Timeout      time.Duration // for a connection to be made, default 5 s
	PeerTimeout  time.Duration // for the handshake, default 60 s
	SendBuffer   int           // bytes for one peer, default 1,000,000
	RecvBuffer   int           // likewise, default 5,000,000
	UploadLimit  uint64        // bytes to all peers a day, beyond which old blocks are not served; 0: none
}

// peersConfig is what the peer table is told, with its listeners, which are open.
// Errors: StartError, access.Error.
func (n parts) peersConfig(ctx context.Context) (cfg peers.Config, err error) {
	p := n.cfg.Peers
	if p.Filters && !n.cfg.BlockFilterIndex {
		return cfg, StartError("Cannot set -peerblockfilters without -blockfilterindex.")
	}
	agent, err := rpcnet.Subversion(n.net.Software.Agent, p.Comments, version.Number)
	if err != nil {
		return cfg, err
	}
	files := nodefiles.Files{Dir: n.cfg.Dir, FixedKey: n.knobs.FixedKey}
	network, err := netsetup.Open(ctx, netsetup.Config{
		Ways: netsetup.Ways{
			Proxy: p.Proxy, Onion: p.Onion, NoOnion: p.NoOnion, I2P: p.I2P, CJDNS: p.CJDNS,
			Randomize: p.ProxyRandomize, OnlyNet: p.OnlyNet, Lookup: p.Lookup,
		},
		Binds: netsetup.Binds{
			Bind: p.Bind, Whitebind: p.Whitebind, Port: cmp.Or(p.Port, n.net.P2PPort), NoOnionBind: p.NoOnionBind,
			Program: n.net.Software.Own,
		},
		Listen: p.Listen, Whitelist: p.Whitelist, External: p.ExternalIP, Discover: p.Discover && p.Listen,
		Tor: netsetup.TorConfig{
			Control: p.TorControl, Password: p.TorPassword, Key: files.OnionKey(), Port: n.net.P2PPort,
		},
		ASMap: p.ASMap, I2PIncoming: p.I2PIncoming, Keys: files.I2PKey(), Timeout: p.Timeout, Log: n.cfg.Log,
	})
	if err != nil {
		return cfg, err
	}
	incoming := p.MaxIncoming
	if incoming == 0 && !p.Automatic {
		incoming = cmp.Or(p.MaxPeers, -1)
	}
	cfg = peers.Config{
		News: &n.peersJoined, Meter: &n.peerMeter,
		Local: network.Local, Automatic: p.Automatic && p.MaxPeers > 0, ForceSeeds: p.ForceDNSSeeds,
		NoSeeds: !p.DNSSeeds, SeedNodes: p.SeedNodes, NoFixedSeeds: p.NoFixedSeeds,
		Dir: n.cfg.Dir, BanTime: p.BanTime, Whitelist: network.Whitelist,
		Defaults: access.Defaults{Relay: p.WhitelistRelay, ForceRelay: p.WhitelistForceRelay},
		Network:  n.net, Chain: n.view, Now: n.clock.Now, Log: n.cfg.Log,
		Listeners: network.Listeners, Connect: p.Connect, Added: p.AddNodes, Archives: p.Archives,
		Lookup: p.Lookup, Inactive: p.Inactive, V2: p.V2, UserAgent: agent, Services: n.services(),
		MaxPeers: p.MaxPeers, MaxIncoming: incoming, UploadLimit: p.UploadLimit,
		Timeout: p.Timeout, PeerTimeout: p.PeerTimeout, SendLimit: p.SendBuffer, RecvLimit: p.RecvBuffer,
		Restarted: &n.rejoin, BlocksOnly: n.cfg.BlocksOnly, Reconcile: p.Reconcile, LogIPs: p.LogIPs,
		Source: network.Source, Proxies: network.Proxies, NameProxy: network.Names.Addr != "",
		Reachable: network.Reachable, ASMap: network.ASMap, CheckAddrs: n.knobs.CheckAddrs, Capture: p.Capture,
		Tor: network.Tor, OnionLate: network.OnionLate,
	}
	if p.DNSSeeds && p.Lookup {
		cfg.Seeds = n.net.DNSSeeds(p.Seeds)
	}
	if cfg.KeepAnchors = p.Automatic; p.Automatic {
		cfg.Anchors = files.TakeAnchors(n.net.Magic, peers.MaxAnchors, n.cfg.Log)
	}
	files.ASMap = network.ASMap
	if cfg.Addrs, err = files.OpenAddrs(n.net.Magic, n.cfg.Log); err != nil {
		netsetup.CloseAll(network.Listeners)
	}
	return cfg, err
}

// services is what the node offers its peers.
func (n parts) services() wire.ServiceFlag {
	offered := wire.SFNodeNetworkLimited | wire.SFNodeWitness
	if n.cfg.Prune == nil {
		offered |= wire.SFNodeNetwork | n.net.Archive
	}
	p := n.cfg.Peers
	has := map[wire.ServiceFlag]bool{wire.SFNodeBloom: p.BloomFilters, wire.SFNodeCF: p.Filters, wire.SFNodeP2PV2: p.V2}
	for flag, on := range has {
		if on {
			offered |= flag
		}
	}
	return offered
}

// startSync starts what follows the chains of the peers.
func (n parts) startSync(_ context.Context, u *part.Uses) (part.Running, error) {
	r, err := n.spawn(syncPart, sync.New(sync.Config{
		Network: n.net, Chain: u.Ref(chainPart), View: n.view, Tip: n.tip, Now: n.clock.Now, Log: n.cfg.Log,
		MaxTipAge: n.cfg.MaxTipAge, Stale: &n.staleSeen,
		Pool: u.Ref(mempoolPart), Changes: n.pool, BlocksOnly: n.cfg.BlocksOnly,
	}), sync.Requests, nil)
	n.clock.OnSet(func() { r.Ref.Tell(sync.ClockSet{}) })
	return r, err
}

// startRelay starts what passes transactions on.
func (n parts) startRelay(_ context.Context, u *part.Uses) (part.Running, error) {
	r, err := n.spawn(relayPart, relay.New(relay.Config{
		Pool: u.Ref(mempoolPart), Changes: n.pool, Network: n.net, Chain: n.view, Tip: n.tip, Log: n.cfg.Log,
		BlocksOnly: n.cfg.BlocksOnly, MaxTipAge: n.cfg.MaxTipAge, Now: n.clock.Now, Restarted: &n.rejoin,
	}), relay.Requests, nil)
	n.clock.OnSet(func() { r.Ref.Tell(relay.ClockSet{}) })
	return r, err
}

func (n parts) startPeers(ctx context.Context, u *part.Uses) (part.Running, error) {
	cfg, err := n.peersConfig(ctx)
	if err != nil {
		return part.Running{}, err
	}
	cfg.Sync, cfg.Relay, cfg.NotSaved = u.Ref(syncPart), u.Ref(relayPart), u.Unsaved
	if cfg.Indexer = u.Ref(indexerPart); n.cfg.Peers.Filters {
		cfg.Filters = n.store
	}
	r, err := n.spawn(peersPart, peers.New(cfg), peers.Requests, nil)
	if err != nil {
		netsetup.CloseAll(cfg.Listeners) // the actor would have them
		return r, err
	}
	n.clock.OnSet(func() { r.Ref.Tell(peers.ClockSet{}) })
	return r, nil
}
