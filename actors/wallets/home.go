package wallets

import (
	"context"
	"sync"
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

	// first makes or finds the file that the first instance opens; nil: it is
	// there. undo takes back what first did, after a failure.
	first func(ctx context.Context) (*opened, error)
	undo  func() error

	mayLag bool // it may be behind the tip when it is loaded, and follow the blocks that are to come

	fault fault // of the file, if it cannot be written

	mu       sync.Mutex
	attached bool // has been loaded completely once
	aborted  bool // the rescan of the loading is not wanted any more
	stop     context.CancelFunc
	loading  messages.WalletLoading
}

// newHome returns the home of a wallet by its name, which is a path relative to
// the wallets directory.
func newHome(cfg *Config, name string) *home {
	dir := walletdir.Join(cfg.Dir, name)
	return &home{
		cfg: cfg, net: cfg.Network.Descriptors(), name: name, dir: dir, file: walletdir.File(dir),
		loading: messages.WalletLoading{Name: name, Since: time.Now()},
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

// abort ends the loading, now or as soon as it gets to the rescan.
func (h *home) abort() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.aborted = true
	if h.stop != nil {
		h.stop()
	}
}

// onAbort has stop called when the loading is aborted, or has been.
func (h *home) onAbort(stop context.CancelFunc) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop = stop
	if h.aborted {
		stop()
	}
}

func (h *home) isAttached() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.attached
}

// settle notes that the wallet is loaded, or never will be, and returns what
// takes the beginnings back.
func (h *home) settle(loaded bool) (undo func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.attached = h.attached || loaded
	undo, h.undo = h.undo, nil
	if undo == nil {
		undo = func() error { return nil }
	}
	return undo
}

// undoable reports whether nothing of the wallet stays if it is not loaded.
func (h *home) undoable() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.undo != nil
}

// onFailure has undo called if the wallet is not loaded in the end.
func (h *home) onFailure(undo func() error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.undo = undo
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
