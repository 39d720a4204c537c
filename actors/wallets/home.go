package wallets

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// A home is what the instances of one wallet's actor have in common: where its
// file is, and how far its loading has come.
type home struct {
	cfg  *Config
	net  *descriptor.Network
	name string
	dir  string // as Core names it in texts
	file string

	mayLag bool // it may be behind the tip when it is loaded, and follow the blocks that are to come

	fault   fault           // of the file, if it cannot be written
	loaded  atomic.Bool     // completely once
	aborted context.Context //nolint:containedctx // ends when the rescan of the loading is not wanted any more
	abort   context.CancelFunc

	mu      sync.Mutex
	loading messages.WalletLoading
}

// An origin makes or finds the file of a wallet that is loaded next.
type origin interface {
	run(ctx context.Context) (*opened, error)

	// undo takes back what run did. The wallet is not open any more.
	undo() error
}

// newHome returns the home of a wallet by its name, which is a path relative to
// the wallets directory.
func newHome(cfg *Config, name string) *home {
	dir := wholePath(cfg.Dir, name)
	h := &home{
		cfg: cfg, net: cfg.Network.Descriptors(), name: name, dir: dir, file: walletdb.FileIn(dir),
		loading: messages.WalletLoading{Name: name, Since: time.Now()},
	}
	h.aborted, h.abort = context.WithCancel(context.Background())
	return h
}

// wholePath joins a name to a directory as Core does: nothing of it is cleaned
// up, so that texts show what the client wrote.
func wholePath(dir, name string) string {
	switch {
	case filepath.IsAbs(name):
		return name
	case strings.HasSuffix(dir, string(filepath.Separator)):
		return dir + name
	default:
		return dir + string(filepath.Separator) + name
	}
}

// label is how the wallet is called in the log.
func (h *home) label() string {
	if h.name == "" {
		return "default wallet"
	}
	return h.name
}

// step notes what the loading is at.
func (h *home) step(what string, progress float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loading.Step, h.loading.Progress = what, progress
}

// status tells how far the loading has come.
func (h *home) status() messages.WalletLoading {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.loading
}

// checkName refuses names of new wallets by which a path can leave the wallets directory
// without being absolute.
func (h *home) checkName() error {
	if wrong := wallet.WrongName(h.name); wrong != "" {
		return codes.Errorf(codes.Wallet, "Wallet file verification failed. %s", wrong)
	}
	return nil
}

// checkPath refuses what cannot be a wallet's directory.
func (h *home) checkPath() error {
	if wrong := h.wrongPath(); wrong != "" {
		return codes.Errorf(codes.Wallet, "Wallet file verification failed. %s", wrong)
	}
	return nil
}

// wrongPath says why something cannot be a wallet's directory; it is empty where it can.
func (h *home) wrongPath() string {
	link, err := os.Lstat(h.dir)
	to, broken := os.Stat(h.dir)
	if err != nil || broken == nil && to.IsDir() || link.Mode().IsRegular() && filepath.Base(h.name) == h.name {
		return "" // what is not there may be made
	}
	return fmt.Sprintf("Invalid -wallet path '%s'. -wallet path should point to a directory where wallet.dat and "+
		"database/log.?????????? files can be stored, a location where such a directory could be created, "+
		"or (for backwards compatibility) the name of an existing data file in -walletdir (\"%s\")", h.name, h.cfg.Dir)
}
