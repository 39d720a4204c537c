package peers

import (
	"context"
	"log/slog"
	"math/big"
	"net"
	"net/netip"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/addrman"
	"github.com/seed61375155/trawl/internal/p2p/asmap"
	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/netsetup"
	"github.com/seed61375155/trawl/internal/p2p/peerhandle"
	"github.com/seed61375155/trawl/internal/p2p/torcontrol"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/segment"
)

// A Source makes connections.
type Source interface {
	// Dial connects to "host:port".
	Dial(ctx context.Context, addr string) (net.Conn, error)

	// Lookup returns the addresses of a name.
	Lookup(ctx context.Context, host string) ([]netip.Addr, error)
}

// A FilterReader reads block filters and their headers. A [segment.Store] does.
//
// Errors: [*segment.DamagedError], and others for missing filters.
type FilterReader interface {
	ByHash(block *chainhash.Hash) (segment.Entry, error)
	Header(block *chainhash.Hash) (segment.Entry, error) // without the filter
}

// Config is what the actors are made of.
type Config struct {
	Network *dialect.Network
	Chain   *chainview.Current
	Now     func() time.Time
	Log     *slog.Logger

	Meter *ask.Meter // counts the actors of connections; may be nil

	// Sync gets what peers say of headers and blocks, Relay what they say of
	// transactions, see package peerhandle. Either may be absent.
	Sync, Relay *ask.Ref
	BlocksOnly  bool // peers may send no transactions (-blocksonly)
	Reconcile   bool // offer to reconcile transactions (-txreconciliation)

	Private bool     // hand transactions over privately where asked to (-privatebroadcast)
	Pool    *ask.Ref // judges transactions that were handed over long ago; absent: they are given up

	Filters FilterReader // what peers get of filters (-peerblockfilters); nil: nothing
	Indexer *ask.Ref     // repairs filters; absent without the index

	// MinimumWork is the least work of a chain whose headers are given out; default: the
	// network's minimum.
	MinimumWork *big.Int

	Reachable map[netaddr.Network]bool // networks whose addresses are used; nil: all
	Local     []netsetup.Local         // where the node can be reached

	FS       vfs.FS           // of the files; nil: the operating system's
	Dir      string           // of banlist.json, peers.dat, anchors.dat; empty: nothing is kept
	NotSaved func(error)      // called if files were not written at the end; may be nil
	Addrs    *addrman.Manager // of nodes, see nodefiles.Files.OpenAddrs; nil: none yet
	LogIPs   bool             // lines of the log name peers by their addresses (-logips)

	ASMap       *asmap.Map      // which addresses are in one hand (-asmap); may be nil
	CheckAddrs  int             // one in so many uses of Addrs has it checked (-checkaddrman); 0: none
	Anchors     []codec.Address // nodes to connect to first, for blocks alone
	KeepAnchors bool            // write the anchors for the next start
	Capture     bool            // write all messages to files below Dir (-capturemessages)

	BanTime   time.Duration        // of bans that do not say; default DefaultBanTime
	Whitelist []access.Whitelisted // permissions by address (-whitelist)
	Defaults  access.Defaults      // of permissions

	Listeners  []netsetup.Listener // where peers are accepted
	Automatic  bool                // find peers, and connect to them
	Seeds      []string            // DNS names that have addresses of nodes
	ForceSeeds bool                // ask them at every start
	NoSeeds    bool                // the operator does not want them asked
	SeedNodes  []string            // nodes to ask for addresses

	// FixedSeeds are addresses that are taken where no others are known of their network; default
	// those of the network.
	FixedSeeds   []netaddr.Addr
	NoFixedSeeds bool // the operator does not want them taken

	// Proxies are those of the source, by network. With NameProxy the source connects
	// to names through a proxy, and none is looked up here.
	Proxies   map[netaddr.Network]netsetup.Proxy
	NameProxy bool

	Connect     []string // stay connected to these nodes
	Added       []string // likewise, and by addnode
	Archives    []string // likewise, while they give all blocks with their witnesses (-connectarchive)
	Lookup      bool     // names of nodes are looked up (-dns)
	Inactive    bool     // begin without network (-networkactive=0)
	V2          bool     // speak the encrypted transport (-v2transport)
	UserAgent   string
	Services    wire.ServiceFlag
	MaxPeers    int           // connections that are not manual, in both directions
	MaxIncoming int           // of them, those that others make; 0: what Core leaves for them, below 0: none
	MaxRelaying int           // of these, those that relay transactions; 0: all, below 0: none
	Timeout     time.Duration // for a connection to be made; default 5 s
	PeerTimeout time.Duration // for the handshake; default 60 s
	SendLimit   int           // bytes; default that of p2p.Config
	RecvLimit   int           // likewise
	UploadLimit uint64        // bytes to all peers a day; 0: none (-maxuploadtarget)

	Source Source // default: TCP

	Tor       *torcontrol.Config // has Tor make an onion service for the node; nil: it is not asked to
	OnionLate bool               // Tor is reached as soon as it says where its proxy is

	// News is where peers that have joined or left are announced; nil: nowhere.
	News *ask.Feed[messages.PeerChanged]

	// Restarted announces that Relay has failed and restarted: all peers are
	// introduced to it again. May be nil.
	Restarted *ask.Feed[peerhandle.Restarted]
}

const (
	// DefaultMaxPeers is Core's DEFAULT_MAX_PEER_CONNECTIONS.
	DefaultMaxPeers = 125

	// DefaultTimeout is Core's DEFAULT_CONNECT_TIMEOUT.
	DefaultTimeout = 5 * time.Second
)

func (c *Config) setDefaults() {
	if c.FS == nil {
		c.FS = vfs.OS
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.BanTime <= 0 {
		c.BanTime = DefaultBanTime
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.MinimumWork == nil {
		c.MinimumWork, _ = new(big.Int).SetString("0"+c.Network.MinimumChainWork, 16)
	}
	if c.FixedSeeds == nil {
		c.FixedSeeds = addrman.FixedSeeds(c.Network.FixedSeeds)
	}
	if c.Network.Archive == 0 {
		c.Archives = nil
	}
	if c.Source == nil {
		c.Source = netsetup.TCP{}
	}
}

// height is that of the best block, 0 while there is no chain.
func (b *base) height() int32 {
	if reader := b.cfg.Chain.Open(); reader != nil {
		return reader.Active().Height()
	}
	return 0
}
