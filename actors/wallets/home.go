package wallets

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed61375155/trawl/descriptor"
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
	dir := wholePath(cfg.Dir, name)
	return &home{
		cfg: cfg, net: cfg.Network.Descriptors(), name: name, dir: dir, file: withFile(dir),
		loading: messages.WalletLoading{Name: name, Since: time.Now()},
	}
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

func withFile(dir string) string {
	return strings.TrimSuffix(dir, string(filepath.Separator)) + string(filepath.Separator) + walletdb.FileName
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

// dirIn returns the default directory of wallets for a network's folder. It is
// the folder itself if that has wallets, as with old versions of Core, but no
// directory named wallets. Otherwise it is the directory wallets below the
// folder, which is made if it is missing.
func dirIn(netDir string) (string, error) {
	dir := filepath.Join(netDir, "wallets")
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return dir, nil
	}
	for _, pattern := range []string{walletdb.FileName, filepath.Join("*", walletdb.FileName)} {
		if old, err := filepath.Glob(filepath.Join(netDir, pattern)); err == nil && len(old) > 0 {
			return netDir, nil
		}
	}
	return dir, os.MkdirAll(dir, 0o700)
}
