package peers

import (
	"cmp"
	"context"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/nodefiles"
)

// Choices are an operator's settings of the network, whose fields trawl.PeerConfig documents; zero values keep the
// defaults.
type Choices struct {
	Listen bool
	Bind   []string

	Whitebind, Whitelist []string
	WhitelistRelay       bool
	WhitelistForceRelay  bool
	BanTime              time.Duration

	Port uint16

	Automatic     bool
	DNSSeeds      bool
	ForceDNSSeeds bool
	SeedNodes     []string
	Seeds         []string
	NoFixedSeeds  bool
	ASMap         string
	Capture       bool

	Proxy                   []string
	Onion                   string
	NoOnion, NoOnionBind    bool
	I2P                     string
	I2PIncoming             bool
	CJDNS                   bool
	ProxyRandomize          bool
	OnlyNet                 []string
	TorControl, TorPassword string

	ExternalIP []string
	Discover   bool

	Connect  []string
	AddNodes []string
	Archives []string

	PrivateBroadcast bool
	Warn             func(text string) // of odd choices; may be nil

	BloomFilters bool
	Filters      bool // for the owner of the index
	MaxPeers     int
	MaxIncoming  int
	MaxRelaying  int
	SendRate     int // for the actor that relays
	Lookup       bool
	Inactive     bool
	LogIPs       bool
	V2           bool
	Reconcile    bool
	Comments     []string // in Config.UserAgent
	Timeout      time.Duration
	PeerTimeout  time.Duration
	SendBuffer   int
	RecvBuffer   int
	UploadLimit  uint64
}

// A Host tells of a node, apart from its operator's choices.
type Host struct {
	Prunes   bool // old blocks may be deleted
	FixedKey bool // new tables of addresses have the key of tests
}

// Apply applies the choices to a configuration that has Network, Dir and Log already. It reads the files of the network
// and opens the listeners, which are the actor's.
//
// Errors: [messages.StartError], access.Error.
func (c *Config) Apply(ctx context.Context, p *Choices, h Host) error {
	files := nodefiles.Files{Dir: c.Dir, FixedKey: h.FixedKey}
	network, err := p.open(ctx, c, files)
	if err != nil {
		return err
	}
	c.Automatic, c.ForceSeeds, c.NoSeeds = p.Automatic && p.MaxPeers > 0, p.ForceDNSSeeds, !p.DNSSeeds
	c.SeedNodes, c.NoFixedSeeds = p.SeedNodes, p.NoFixedSeeds
	if p.DNSSeeds && p.Lookup {
		c.Seeds = c.Network.DNSSeeds(p.Seeds)
	}
	c.Connect, c.Added, c.Archives, c.Lookup, c.Inactive = p.Connect, p.AddNodes, p.Archives, p.Lookup, p.Inactive
	c.BanTime, c.Defaults = p.BanTime, access.Defaults{Relay: p.WhitelistRelay, ForceRelay: p.WhitelistForceRelay}
	c.MaxPeers, c.MaxIncoming, c.MaxRelaying, c.UploadLimit = p.MaxPeers, p.incoming(), p.MaxRelaying, p.UploadLimit
	c.Timeout, c.PeerTimeout, c.SendLimit, c.RecvLimit = p.Timeout, p.PeerTimeout, p.SendBuffer, p.RecvBuffer
	c.V2, c.Reconcile, c.LogIPs, c.Capture = p.V2, p.Reconcile, p.LogIPs, p.Capture
	c.Services = p.services(h.Prunes, c.Network.Archive)

	c.Local, c.Listeners, c.Whitelist = network.Local, network.Listeners, network.Whitelist
	c.Source, c.Proxies, c.NameProxy = network.Source, network.Proxies, network.Names.Addr != ""
	c.Reachable, c.ASMap = network.Reachable, network.ASMap
	c.Tor, c.OnionLate, c.Private = network.Tor, network.OnionLate, p.PrivateBroadcast
	if err := p.checkPrivate(c); err != nil {
		netsetup.CloseAll(network.Listeners)
		return err
	}
	if c.KeepAnchors = p.Automatic; p.Automatic {
		c.Anchors = files.TakeAnchors(c.Network.Magic, maxAnchors, c.Log)
	}
	files.ASMap = network.ASMap
	if c.Addrs, err = files.OpenAddrs(c.Network.Magic, c.Log); err != nil {
		netsetup.CloseAll(network.Listeners)
	}
	return err
}

// CloseListeners closes what Apply has opened, where the actor does not start.
func (c *Config) CloseListeners() { netsetup.CloseAll(c.Listeners) }

func (p *Choices) open(ctx context.Context, c *Config, files nodefiles.Files) (netsetup.Network, error) {
	return netsetup.Open(ctx, netsetup.Config{
		Ways: netsetup.Ways{
			Proxy: p.Proxy, Onion: p.Onion, NoOnion: p.NoOnion, I2P: p.I2P, CJDNS: p.CJDNS,
			Randomize: p.ProxyRandomize, OnlyNet: p.OnlyNet, Lookup: p.Lookup,
		},
		Binds: netsetup.Binds{
			Bind: p.Bind, Whitebind: p.Whitebind, Port: cmp.Or(p.Port, c.Network.P2PPort), NoOnionBind: p.NoOnionBind,
			Program: c.Network.Software.Own,
		},
		Listen: p.Listen, Whitelist: p.Whitelist, External: p.ExternalIP, Discover: p.Discover && p.Listen,
		Tor: netsetup.TorConfig{
			Control: p.TorControl, Password: p.TorPassword, Key: files.OnionKey(), Port: c.Network.P2PPort,
			Defend: c.Network.Traffic.DefendedOnion,
		},
		Rules: netsetup.Rules(c.Network.PeerOptions), ASMap: p.ASMap, I2PIncoming: p.I2PIncoming,
		Keys: files.I2PKey(), Timeout: p.Timeout, Log: c.Log,
	})
}

// checkPrivate refuses to hand transactions over privately where that cannot be.
func (p *Choices) checkPrivate(c *Config) error {
	const requested = "Private broadcast of own transactions requested (-privatebroadcast)"
	reached := c.Reachable[netaddr.Onion] || c.OnionLate
	switch {
	case !p.PrivateBroadcast:
	case !reached && !c.Reachable[netaddr.I2P]:
		return messages.StartError(requested + ", but none of Tor or I2P networks is reachable")
	case !p.Automatic:
		return messages.StartError(requested + ", but -connect is also configured. They are incompatible because the " +
			"private broadcast needs to open new connections to randomly chosen Tor or I2P peers. Consider using " +
			"-maxconnections=0 -addnode=... instead")
	case !p.ProxyRandomize && reached && p.Warn != nil:
		p.Warn(requested + " and -proxyrandomize is disabled. Tor circuits for private broadcast connections may be " +
			"correlated to other connections over Tor. For maximum privacy set -proxyrandomize=1.")
	}
	return nil
}

// incoming is Config.MaxIncoming: where the node finds no peers itself, others may make all connections.
func (p *Choices) incoming() int {
	if p.MaxIncoming == 0 && !p.Automatic {
		return cmp.Or(p.MaxPeers, -1)
	}
	return p.MaxIncoming
}

// services is what the node offers its peers; archive is offered where no blocks are deleted.
func (p *Choices) services(prunes bool, archive wire.ServiceFlag) wire.ServiceFlag {
	offered := wire.SFNodeNetworkLimited | wire.SFNodeWitness
	if !prunes {
		offered |= wire.SFNodeNetwork | archive
	}
	has := map[wire.ServiceFlag]bool{wire.SFNodeBloom: p.BloomFilters, wire.SFNodeCF: p.Filters, wire.SFNodeP2PV2: p.V2}
	for flag, on := range has {
		if on {
			offered |= flag
		}
	}
	return offered
}
