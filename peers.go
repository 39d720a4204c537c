package trawl

import (
	"context"
	"time"

	"github.com/seed61375155/trawl/actors/peers"
	"github.com/seed61375155/trawl/actors/relay"
	"github.com/seed61375155/trawl/actors/sync"
	"github.com/seed61375155/trawl/internal/part"
	"github.com/seed61375155/trawl/internal/version"
	"github.com/seed61375155/trawl/rpc/method/netrpc"
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
	Automatic, DNSSeeds bool
	ForceDNSSeeds       bool // also when addresses are known
	SeedNodes           []string
	Seeds               []string // names that DNSSeeds asks for, in place of the network's
	NoFixedSeeds        bool     // do not take built-in addresses where no others are known
	ASMap               string   // file that maps addresses to autonomous systems; each system counts as one hand
	Capture             bool     // write all messages of peers to files

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

	PrivateBroadcast bool              // sendrawtransaction hands over by Tor or I2P alone
	Warn             func(text string) // is called with odd choices; may be nil

	BloomFilters, Filters  bool          // serve bloom filters (BIP37), block filters (with Config.BlockFilterIndex)
	MaxPeers               int           // connections not asked for, in both directions; 0: none
	MaxIncoming            int           // of these, by others; default all, with Automatic all but 11; below 0: none
	MaxRelaying, SendRate  int           // of those, by peers that relay, default all; transactions told a second, 14
	Lookup, Inactive       bool          // look up names of nodes; begin without network
	LogIPs, V2, Reconcile  bool          // log addresses of peers; speak the encrypted transport; reconcile (BIP330)
	Comments               []string      // in the user agent
	Timeout, PeerTimeout   time.Duration // for a connection, default 5 s, and for the handshake, default 60 s
	SendBuffer, RecvBuffer int           // bytes for one peer, default 1,000,000 and 5,000,000
	UploadLimit            uint64        // bytes to all peers a day, beyond which old blocks are not served; 0: none
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
		BlocksOnly: n.cfg.BlocksOnly, SendRate: n.cfg.Peers.SendRate,
		MaxTipAge: n.cfg.MaxTipAge, Now: n.clock.Now, Restarted: &n.rejoin,
	}), relay.Requests, nil)
	n.clock.OnSet(func() { r.Ref.Tell(relay.ClockSet{}) })
	return r, err
}

func (n parts) startPeers(ctx context.Context, u *part.Uses) (part.Running, error) {
	p := n.cfg.Peers
	if p.Filters && !n.cfg.BlockFilterIndex {
		return part.Running{}, StartError("Cannot set -peerblockfilters without -blockfilterindex.")
	}
	agent, err := netrpc.Subversion(n.net.Software.Agent, p.Comments, version.Number)
	if err != nil {
		return part.Running{}, err
	}
	cfg := peers.Config{
		Network: n.net, Chain: n.view, Now: n.clock.Now, Log: n.cfg.Log, Dir: n.cfg.Dir, NotSaved: u.Unsaved,
		Sync: u.Ref(syncPart), Relay: u.Ref(relayPart), Indexer: u.Ref(indexerPart), News: &n.peersJoined,
		Meter: &n.peerMeter, Restarted: &n.rejoin, BlocksOnly: n.cfg.BlocksOnly, UserAgent: agent,
		CheckAddrs: n.knobs.CheckAddrs, Pool: u.Ref(mempoolPart),
	}
	host := peers.Host{Prunes: n.cfg.Prune != nil, FixedKey: n.knobs.FixedKey}
	if err := cfg.Apply(ctx, (*peers.Choices)(p), host); err != nil {
		return part.Running{}, err
	}
	if p.Filters {
		cfg.Filters = n.store
	}
	r, err := n.spawn(peersPart, peers.New(cfg), peers.Requests, nil)
	if err != nil {
		cfg.CloseListeners() // the actor would have them
		return r, err
	}
	n.clock.OnSet(func() { r.Ref.Tell(peers.ClockSet{}) })
	return r, nil
}
