// Package attachment is the way to the Bitcoin Core that a node is attached to: its
// address, the login there, and the calls that are passed on.
package attachment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corenode"
	"github.com/seed61375155/trawl/internal/nodemsg"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/forward"
)

// maxCA bounds the bytes of a file of certificates.
const maxCA = 16 << 20

// A Config says which Bitcoin Core a node is attached to, and how.
type Config struct {
	// Core is a data directory of Bitcoin Core on this machine, or the address of its
	// RPC server as http://host:port or https://host:port, without a login. Required.
	Core string

	// Chain is as Config.Chain has it; empty: that of Core's configuration file, and
	// main without one.
	Chain string

	RPC        string // host:port of Core's RPC server; empty: as its configuration file says
	CookieFile string // of Core; empty: as its configuration file says
	LoginFile  string // with user:password and mode 0600, instead of the cookie
	CA         string // path of a file of certificates, PEM, for https; empty: the system's
	Insecure   bool   // a login may go over plain HTTP to another machine

	Forward  string // which calls are passed on: all, read or none; empty: see package rpc/forward
	ServeFew bool   // leave all calls but scans, filters and the like to Core

	From      int32 // height of the first block that is indexed: for a Core that has pruned those before; 0: all are
	NoVerify  bool  // block filters that are Core's are not built here, too, to compare them
	NoWallets bool  // the node keeps no wallets: calls about them are Core's
}

// An Attachment is the way to the Bitcoin Core that a node is attached to: the node
// validates nothing itself, its chain is that of Core. Make one with [New],
// and use it for one node.
type Attachment struct {
	core       *corenode.Client
	configured *corenode.Configured // nil: Core's configuration cannot be read
	forwarder  *forward.Forwarder
	chain      string
	verifies   bool
	from       int32
	node       atomic.Pointer[Node] // nil until it is there
}

// A Node is what is attached, as those see it who pass calls on.
type Node struct {
	Wallets     *ask.Directory // those that are loaded, by name
	Chain, Pool *ask.Ref       // follow Core's
	Log         *slog.Logger
}

// Attach tells of the node, once it is open.
func (a *Attachment) Attach(n Node) { a.node.Store(&n) }

// Client returns the client that calls Core for the node.
func (a *Attachment) Client() *corenode.Client { return a.core }

// Reload reads Core's configuration again, and has Core asked about every login that it has
// accepted before.
func (a *Attachment) Reload() error { return a.forwarder.Reload() }

// Serve has the calls of a table passed on that are Core's.
func (a *Attachment) Serve(t *command.Table) *command.Table { return a.forwarder.Serve(t) }

// New reads what Core's configuration says where Core is on this machine. It
// asks Core for nothing: a node starts without it. Its errors are for the operator.
func New(c Config) (*Attachment, error) {
	mode, ok := forward.ParseMode(c.Forward)
	if !ok {
		return nil, fmt.Errorf("%q is none of all, read and none", c.Forward)
	}
	a := &Attachment{chain: c.Chain, verifies: !c.NoVerify, from: c.From}
	cfg := corenode.Config{Insecure: c.Insecure, Login: c.LoginFile, Cookie: c.CookieFile}
	var err error
	if isURL(c.Core) {
		err = a.remote(&cfg, c)
	} else {
		err = a.local(&cfg, c)
	}
	if err != nil {
		return nil, err
	}
	if c.CA != "" {
		if cfg.CA, err = vfs.ReadFile(vfs.OS, c.CA, maxCA); err != nil {
			return nil, fmt.Errorf("certificates: %w", err)
		}
	}
	if a.core, err = corenode.New(cfg); err != nil {
		return nil, err
	}
	a.forwarder = forward.New(forward.Config{
		Core: a.core, Configured: a.configured, Reread: cfg.Configuration, Mode: mode, ServeFew: c.ServeFew,
		OwnWallet: a.ownWallet(c.NoWallets), Follow: a.follow, FollowPool: a.followPool, Known: a.known,
		NameUnknown: a.nameUnknown,
	})
	return a, nil
}

func isURL(text string) bool {
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// defaultPorts are those of Core's RPC servers.
var defaultPorts = map[string]uint16{
	"main": 8332, "test": 18332, "testnet4": 48332, "signet": 38332, "regtest": 18443,
}

func (a *Attachment) remote(cfg *corenode.Config, c Config) (err error) {
	if a.chain == "" {
		a.chain = "main"
	}
	if c.RPC != "" {
		return errors.New("the address of the RPC server is given twice")
	}
	if c.CookieFile == "" && c.LoginFile == "" {
		return errors.New("a Bitcoin Core at an address needs -attachlogin or -attachcookie")
	}
	cfg.Address, err = corenode.ParseAddress(c.Core, defaultPorts[a.chain])
	return err
}

func (a *Attachment) local(cfg *corenode.Config, c Config) error {
	found, err := corenode.ReadConfig(c.Core, c.Chain)
	if err != nil {
		return err
	}
	a.configured, a.chain, cfg.Address, cfg.MaxConns = &found, found.Chain, found.Address, found.MaxConns
	if c.RPC != "" {
		if cfg.Address, err = hostPort(c.RPC, found.Address.Port); err != nil {
			return err
		}
	}
	cfg.Configuration = func() (corenode.Configured, error) { return corenode.ReadConfig(c.Core, found.Chain) }
	return nil
}

// hostPort reads host, host:port or [host]:port.
func hostPort(text string, port uint16) (corenode.Address, error) {
	host, number, err := net.SplitHostPort(text)
	if bare := strings.Trim(text, "[]"); bare != "" && (!strings.Contains(bare, ":") || net.ParseIP(bare) != nil) {
		return corenode.Address{Host: bare, Port: port}, nil
	}
	n, bad := strconv.ParseUint(number, 10, 16)
	if err != nil || bad != nil || n == 0 || host == "" {
		return corenode.Address{}, fmt.Errorf("%q is not of the form host:port", text)
	}
	return corenode.Address{Host: host, Port: uint16(n)}, nil
}

// BlocksDir returns the directory of Core's block files, empty where Core is at an address.
func (a *Attachment) BlocksDir() string {
	if a.configured == nil {
		return ""
	}
	return a.configured.BlocksDir
}

// NetDir returns Core's directory of the chain, empty where Core is at an address.
func (a *Attachment) NetDir() string {
	if a.configured == nil {
		return ""
	}
	return a.configured.NetDir
}

// Chain returns the chain that Core is on, as Config.Chain has it.
func (a *Attachment) Chain() string { return a.chain }

// From returns the height of the first block whose filter is wanted.
func (a *Attachment) From() int32 { return a.from }

// Verifies reports whether block filters that are Core's are built here, too.
func (a *Attachment) Verifies() bool { return a.verifies }

// MaySend reports whether the node may hand transactions of its own to Core.
func (a *Attachment) MaySend() bool { return a.forwarder.Mode.Sends() }

// NoWallets is that of the Config.
func (a *Attachment) NoWallets() bool { return a.forwarder.OwnWallet == nil }

// Address returns where Core's RPC server is, as a URL without a login.
func (a *Attachment) Address() string { return a.core.Address() }

// Logins returns what judges the logins of Core's users at an rpc.Server.
func (a *Attachment) Logins() rpc.Logins { return a.forwarder.Logins() }

// CheckDirs refuses directories of the node that Core's lie in, or that lie in them.
func (a *Attachment) CheckDirs(dirs ...string) error {
	if a.configured == nil {
		return nil
	}
	for _, own := range dirs {
		for _, core := range []string{a.configured.DataDir, a.configured.NetDir, a.configured.BlocksDir} {
			if own != "" && (below(own, core) || below(core, own)) {
				return messages.StartError(fmt.Sprintf(
					"%s and Bitcoin Core's %s lie in each other: nothing is written to Bitcoin Core's directory. "+
						"Choose another -datadir.", own, core))
			}
		}
	}
	return nil
}

// below reports whether a path is a directory or lies in it, by their identity on the disk.
// A path that does not exist yet counts as its parent does.
func below(path, dir string) bool {
	of, err := os.Stat(dir)
	if err != nil {
		return false
	}
	path, err = filepath.Abs(path)
	if err != nil {
		return false
	}
	for {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		}
		if at, err := os.Stat(path); err == nil && os.SameFile(at, of) {
			return true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
}

// ownWallet returns what tells the node's wallets from Core's; nil: it has none.
func (a *Attachment) ownWallet(none bool) func(name *string) bool {
	if none {
		return nil
	}
	return func(name *string) bool {
		n := a.node.Load()
		switch {
		case n == nil:
			return false
		case name == nil: // any
			return len(n.Wallets.Names()) > 0
		}
		return n.Wallets.Lookup(*name) != nil
	}
}

func (a *Attachment) follow(ctx context.Context) error {
	if n := a.node.Load(); n != nil {
		_, err := ask.Ask(ctx, n.Chain, nodemsg.FollowNode{})
		return err
	}
	return messages.ErrNodeAway
}

// known returns why nothing is known of Core's chain yet.
func (a *Attachment) known(ctx context.Context) error {
	n := a.node.Load()
	if n == nil {
		return messages.ErrNodeAway
	}
	s, err := ask.Ask(ctx, n.Chain, messages.GetAttachState{})
	if err != nil {
		return err
	}
	return whyUnknown(&s)
}

// whyUnknown returns why nothing is known of Core's chain in a state; nil: it is known.
func whyUnknown(s *messages.AttachState) error {
	switch {
	case s.Tip.Height > 0, s.Phase == messages.AttachFollowing, s.Phase == messages.AttachHolding:
		return nil
	case s.Phase == messages.AttachHeaders:
		return command.Errorf(command.InWarmup, "The headers of Bitcoin Core's chain are fetched for the first time")
	}
	reason := s.Reason
	if reason == "" {
		reason = "it is about to be asked"
	}
	return command.Errorf(command.InWarmup, "Nothing is known of Bitcoin Core's chain yet: %s", reason)
}

func (a *Attachment) followPool(ctx context.Context) error {
	if n := a.node.Load(); n != nil {
		_, err := ask.Ask(ctx, n.Pool, nodemsg.FollowPool{})
		return err
	}
	return messages.ErrNodeAway
}

func (a *Attachment) nameUnknown(name string, err error) {
	if n := a.node.Load(); n != nil {
		n.Log.Warn("Cannot ask Bitcoin Core whether it has a wallet of that name, too", "wallet", name, "err", err)
	}
}
