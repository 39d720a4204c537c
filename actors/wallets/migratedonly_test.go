package wallets_test

import (
	"slices"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile/legacytest"
	"github.com/seed61375155/trawl/messages"
)

// New wallets that are not to be loaded lie there, and are not loaded at the next start either.
func TestMigratedOnly(t *testing.T) {
	r := small(t, setup{})
	place(t, r.dir, "w/wallet.dat", legacytest.File(t, "mixed"))
	got := do(t, r.ref, messages.MigrateWallet{Name: "w", DontLoad: true})
	want := []string{"w", "w_watchonly", "w_solvables"}
	if names := []string{got.Name, got.WatchOnly, got.Solvables}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	if loaded := r.directory.Names(); len(loaded) > 0 {
		t.Errorf("loaded: %q", loaded)
	}
	for _, name := range want {
		do(t, r.ref, messages.LoadWallet{Name: name})
	}
}
