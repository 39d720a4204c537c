package wallets

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdir"
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
	dir := walletdir.Join(cfg.Dir, name)
	h := &home{
		cfg: cfg, net: cfg.Network.Descriptors(), name: name, dir: dir, file: walletdir.File(dir),
		loading: messages.WalletLoading{Name: name, Since: time.Now()},
	}
	h.aborted, h.abort = context.WithCancel(context.Background())
	return h
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

// checkPath refuses a name that leads to no wallet's directory. New wallets, and those of networks that refuse it, have
// none that leads out of the directory of wallets.
func (h *home) checkPath(fresh bool) error {
	if wrong := h.wrongPath(fresh); wrong != "" {
		return codes.Errorf(codes.Wallet, "Wallet file verification failed. %s", wrong)
	}
	return nil
}

// wrongPath says what checkPath refuses; it is empty for nothing.
func (h *home) wrongPath(fresh bool) string {
	if fresh || !h.cfg.Network.Answers.AnyWalletName {
		if wrong := walletdir.CheckName(h.name); wrong != "" {
			return wrong
		}
	}
	return walletdir.CheckPath(h.cfg.Dir, h.name)
}

// checkNamed refuses to make a wallet without a name.
func (h *home) checkNamed() error {
	if h.name == "" && !h.cfg.Network.Answers.UnnamedWallets {
		return codes.Errorf(codes.Parameter, "Wallet name cannot be empty")
	}
	return nil
}
