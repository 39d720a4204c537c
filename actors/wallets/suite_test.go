package wallets_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed61375155/trawl/actors/wallets"
	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/walletfile/legacytest"
	"github.com/seed61375155/trawl/messages"
)

// keeps makes a wallet with a label, and returns how to see that both are there.
func (r *rig) keeps(t *testing.T) (check func()) {
	t.Helper()
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	do(t, r.wallet(t, "w"), messages.NewAddress{Label: "kept"})
	return func() {
		t.Helper()
		do(t, r.ref, messages.SyncWallets{})
		if r.directory.Lookup("w") == nil {
			do(t, r.ref, messages.LoadWallet{Name: "w"})
		}
		if got := do(t, r.wallet(t, "w"), messages.ListLabels{}); !slices.Contains(got, "kept") {
			t.Errorf("labels %q", got)
		}
		tip := r.current.Open().Active().Tip().Height
		if got := do(t, r.wallet(t, "w"), messages.GetBalances{}).Last.Height; got != tip {
			t.Errorf("at height %d of %d", got, tip)
		}
	}
}

// The tests of every actor: the registry, and its wallets.
func TestRegistrySuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		r := small(t, setup{})
		place(t, r.dir, "old/wallet.dat", legacytest.File(t, "mixed"))
		return &actortest.Subject{
			Ref: r.ref, Served: wallets.Requests, Check: r.keeps(t),
			Requests: []actortest.Request{
				actortest.Sample(messages.CreateWallet{Name: "new"}), actortest.Sample(messages.LoadWallet{Name: "w"}),
				actortest.Sample(messages.UnloadWallet{Name: "w"}),
				actortest.Sample(messages.RestoreWallet{Name: "back", Backup: filepath.Join(r.dir, "w", "wallet.dat")}),
				actortest.Sample(messages.MigrateWallet{Name: "old"}),
				actortest.Sample(messages.PreviewRestore{Backup: filepath.Join(r.dir, "w", "wallet.dat")}),
			},
		}
	})
}

// The tests of every actor: one wallet.
func TestWalletSuite(t *testing.T) {
	actortest.Suite(t, func(t *testing.T) *actortest.Subject {
		t.Helper()
		chain := newChain()
		chain.MineN(5)
		r := newRig(t, chain, setup{noFilters: true, keyPool: 2, now: genesis})
		check := r.keeps(t)
		return &actortest.Subject{
			Ref: r.wallet(t, "w"), Served: wallets.WalletRequests, Check: check,
			Requests: []actortest.Request{
				actortest.Sample(messages.NewAddress{Label: "more"}),
				actortest.Sample(messages.ExportWatchOnly{Path: filepath.Join(t.TempDir(), "watched.dat")}),
				actortest.Sample(messages.BackupWallet{Path: filepath.Join(t.TempDir(), "copy.dat")}),
				actortest.Sample(messages.KeypoolRefill{Size: 5}), actortest.Sample(messages.AddHDKey{}),
				actortest.Sample(messages.DeriveHDKey{Path: []uint32{87 | 1<<31}}),
			},
			News: func() {
				chain.MineN(1)
				r.announce()
			},
		}
	})
}
