package wallets

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed61375155/trawl/actors/wallets/internal/files"
	"github.com/seed61375155/trawl/messages"
)

// A spec is what the instances of one wallet's actor have in common: where its
// file is, and how far its loading has come.
type spec struct {
	*files.Spec

	cfg     *Config
	fault   fault           // of the file, if it cannot be written
	loaded  atomic.Bool     // completely once
	aborted context.Context //nolint:containedctx // ends when the rescan of the loading is not wanted any more
	abort   context.CancelFunc

	mu      sync.Mutex
	loading messages.WalletLoading
}

// An origin makes or finds the file of a wallet that is loaded next.
type origin interface {
	Run(ctx context.Context) (*files.Opened, error)

	// Undo takes back what Run did. The wallet is not open any more.
	Undo() error
}

// spec returns the spec of a wallet by its name.
func (s *shared) spec(name string) *spec {
	w := &spec{
		Spec: s.files.Spec(name), cfg: &s.cfg, loading: messages.WalletLoading{Name: name, Since: time.Now()},
	}
	w.Step = func(what string) { w.progress(what, 0) }
	w.aborted, w.abort = context.WithCancel(context.Background())
	return w
}

// progress notes what the loading is at.
func (s *spec) progress(what string, done float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loading.Step, s.loading.Progress = what, done
}

// status tells how far the loading has come.
func (s *spec) status() messages.WalletLoading {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loading
}

// open opens the wallet's file.
//
// Errors: *messages.WalletError.
func (s *spec) open(ctx context.Context) (*files.Opened, error) {
	return s.Open(ctx, s.fault.present())
}

// reopen makes a ledger of the file that an earlier instance kept open because
// it could not be written. If there is no such file, or it cannot be loaded,
// reopen opens the wallet's file.
//
// Errors: *messages.WalletError.
func (s *spec) reopen(ctx context.Context) (*files.Opened, error) {
	file := s.fault.take()
	if file == nil {
		return s.open(ctx)
	}
	o, err := s.Load(ctx, file, s.fault.present())
	if err != nil {
		s.cfg.Log.Warn("wallet file is opened again", "wallet", s.Label(), "err", err)
		if err := file.Close(); err != nil {
			s.cfg.Log.Warn("wallet not closed cleanly", "wallet", s.Label(), "err", err)
		}
		return s.open(ctx)
	}
	return o, nil
}
