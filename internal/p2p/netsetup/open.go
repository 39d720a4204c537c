package netsetup

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/p2p/access"
	"github.com/seed61375155/trawl/internal/p2p/asmap"
	"github.com/seed61375155/trawl/internal/p2p/netaddr"
	"github.com/seed61375155/trawl/internal/p2p/sam"
	"github.com/seed61375155/trawl/internal/p2p/torcontrol"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
)

// Rules say how options are taken, where versions of Bitcoin Core differ; the zero value is that of 30.2.
type Rules struct {
	RefusesTwice bool   // an address to accept peers at may be named once
	OnlyOnion    bool   // Tor has the name onion alone, not tor
	HashesFile   bool   // a map of autonomous systems is known by the hash of its bytes, not of its bits
	SessionName  string // of a session in I2P in the log; empty: SAM session
	FindsAny     bool   // accepting peers at all addresses by name has own addresses found, as without a name
}

// A Config is all that the operator says of the network of peers.
type Config struct {
	Ways
	Binds
	Rules

	Listen      bool     // also without Binds
	Whitelist   []string // "[permissions@]address[/bits]" each
	External    []string // own addresses
	Discover    bool     // find own addresses
	ASMap       string   // file that maps addresses to autonomous systems; empty: none
	I2PIncoming bool     // be reached through I2P
	Keys        sam.Keys // of the node in I2P; nil: it is not reached there
	Tor         TorConfig
	Timeout     time.Duration
	Log         *slog.Logger
}

// A Network is the network of peers as the node has it.
type Network struct {
	Networks

	Listeners []Listener // open
	Whitelist []access.Whitelisted
	Local     []Local
	Source    TCP
	ASMap     *asmap.Map         // nil: none
	Tor       *torcontrol.Config // has Tor make an onion service; nil: it is not asked to
}

// Open reads the configuration, and opens the ports.
//
// Errors: [messages.StartError], access.Error.
func Open(ctx context.Context, c Config) (n Network, err error) {
	if err := c.conflict(); err != nil && c.RefusesTwice {
		return n, err
	}
	if c.Listen || len(c.Bind) > 0 || len(c.Whitebind) > 0 {
		if n.Listeners, err = Listen(ctx, c.Binds); err != nil {
			return n, err
		}
	}
	defer func() {
		if err != nil {
			CloseAll(n.Listeners)
		}
	}()
	if n.Whitelist, err = Whitelist(c.Whitelist); err != nil {
		return n, err
	}
	if n.Local, err = LocalAddresses(c.External, c.Discover, c.named(), c.Log); err != nil {
		return n, err
	}
	if n.ASMap, err = openASMap(c.ASMap, c.HashesFile, c.Log); err != nil {
		return n, err
	}
	c.Ways.OnlyOnion, c.TorLater = c.Rules.OnlyOnion, c.Tor.Control != "" && !c.NoOnion
	if n.Networks, err = Reach(ctx, c.Ways); err != nil {
		return n, err
	}
	n.Source = TCP{
		Proxies: n.Proxies, Names: n.Names, CJDNS: n.Reachable[netaddr.CJDNS],
		Timeout: c.Timeout, Log: c.Log, onion: new(atomic.Pointer[Proxy]),
	}
	if err = n.openTor(&c); err != nil {
		return n, err
	}
	if router := n.Proxies[netaddr.I2P].Addr; router != "" {
		keys := c.Keys
		if !c.I2PIncoming {
			keys = nil
		}
		n.Source.I2P = newI2P(router, keys, &c)
		if l := n.Source.I2P.listener(); l != nil {
			n.Listeners = append(n.Listeners, Listener{Listener: l})
		}
	}
	return n, nil
}

// openASMap reads the file of -asmap.
func openASMap(path string, hashesFile bool, log *slog.Logger) (*asmap.Map, error) {
	if path == "" {
		corelog.Printf(log, slog.LevelInfo, "Using /16 prefix for IP bucketing")
		return nil, nil
	}
	if _, err := vfs.OS.Stat(path); err != nil {
		return nil, messages.StartError(fmt.Sprintf("Could not find asmap file \"%s\"", path))
	}
	content, err := vfs.ReadFile(vfs.OS, path, asmap.MaxFile)
	if err != nil {
		corelog.Printf(log, slog.LevelError, "Failed to open asmap file from disk: %v", err)
		return nil, messages.StartError(fmt.Sprintf("Could not parse asmap file \"%s\"", path))
	}
	corelog.Printf(log, slog.LevelInfo, "Opened asmap file \"%s\" (%d bytes) from disk", path, len(content))
	m, ok := asmap.Parse(content)
	if !ok {
		corelog.Printf(log, slog.LevelError, "Sanity check of asmap file \"%s\" failed", path)
		return nil, messages.StartError(fmt.Sprintf("Could not parse asmap file \"%s\"", path))
	}
	if hashesFile {
		m = m.KnownByBytes()
	}
	corelog.Printf(log, slog.LevelInfo, "Using asmap version %s for IP bucketing", m.Version())
	return m, nil
}
