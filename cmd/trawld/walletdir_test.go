package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl"
)

// walletsOf starts a session in a data directory, and returns what it says of wallets.
func walletsOf(t *testing.T, dir string, args ...string) (cfg *trawl.WalletConfig, stderr string) {
	t.Helper()
	var errs, out strings.Builder
	read := func(_ context.Context, s *session) (err error) {
		cfg, err = walletConfig(s)
		return err
	}
	args = append([]string{"-datadir=" + dir, "-regtest"}, args...)
	if status := run(args, streams{&out, &errs, dir}, read); status != 0 {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	return cfg, errs.String()
}

// A folder for wallets is made together with its parent folder. Where it is missing later,
// wallets lie beside the other files, as in Core.
func TestWalletsDir(t *testing.T) {
	dir := t.TempDir()
	wallets := filepath.Join(dir, "regtest", "wallets")
	if cfg, _ := walletsOf(t, dir); cfg.Dir != "" {
		t.Errorf("in a new directory: %s", cfg.Dir)
	}
	if err := os.Remove(wallets); err != nil {
		t.Fatal(err)
	}
	if cfg, _ := walletsOf(t, dir); cfg.Dir != filepath.Dir(wallets) {
		t.Errorf("without wallets: %s", cfg.Dir)
	}
	if _, err := os.Stat(wallets); err == nil {
		t.Error("the folder is made again")
	}
}

// A wallet that is named twice, by whatever path, is told of.
func TestDuplicateWallets(t *testing.T) {
	dir := t.TempDir()
	same := filepath.Join(dir, "regtest", "wallets", "a")
	_, stderr := walletsOf(t, dir, "-wallet=a", "-wallet=b", "-wallet=a", "-wallet="+same)
	want := "Warning: Ignoring duplicate -wallet a.\nWarning: Ignoring duplicate -wallet " + same + ".\n"
	if stderr != want {
		t.Errorf("got %q", stderr)
	}
}
