package wallets_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/walletfile/legacytest"
	"github.com/seed61375155/trawl/messages"
)

// Migrations of one wallet by different names: one of them makes the new wallets, and these are the files that are
// loaded. The others are told, and leave them alone.
func TestMigrateByOtherNames(t *testing.T) {
	for _, kind := range []string{"hd", "mixed"} {
		r := small(t, setup{})
		path := place(t, r.dir, "w/wallet.dat", legacytest.File(t, kind))
		if err := os.Symlink(filepath.Dir(path), filepath.Join(r.dir, "link")); err != nil {
			t.Fatal(err)
		}
		names := []string{"w", "w/", filepath.Dir(path), "link", filepath.Join(r.dir, "link")}
		errs := make(chan error)
		for _, name := range names {
			go func() {
				_, err := try(t, r.ref, messages.MigrateWallet{Name: name})
				errs <- err
			}()
		}
		done := 0
		for range names {
			err := <-errs
			var answer *messages.WalletError
			switch {
			case err == nil:
				done++
			case !errors.As(err, &answer) || answer.Text != "Wallet already loading." &&
				answer.Text != "Error: This wallet is already a descriptor wallet":
				t.Errorf("%s: %v", kind, err)
			}
		}
		if done != 1 {
			t.Errorf("%s: %d have migrated it", kind, done)
		}
		for _, name := range r.directory.Names() {
			do(t, r.wallet(t, name), messages.SetLabel{Address: "bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202", Label: "a"})
		}
	}
}

// A new wallet that somebody loads by another name before the migration does is theirs: it stays where it is.
func TestMigratedIsLoadedByOtherName(t *testing.T) {
	for range 5 {
		r := small(t, setup{})
		place(t, r.dir, "w/wallet.dat", legacytest.File(t, "hd"))
		const other = "w/"
		over, loaded := make(chan struct{}), make(chan bool)
		go func() {
			for {
				if _, err := try(t, r.ref, messages.LoadWallet{Name: other}); err == nil {
					loaded <- true
					return
				}
				select {
				case <-over:
					loaded <- false
					return
				default:
				}
			}
		}()
		_, err := try(t, r.ref, messages.MigrateWallet{Name: "w"})
		close(over)
		if !<-loaded {
			continue
		}
		if err == nil || !strings.Contains(err.Error(), "loaded by another name") {
			t.Error(err)
		}
		script := scriptOf(t, do(t, r.wallet(t, other), messages.NewAddress{}))
		do(t, r.ref, messages.UnloadWallet{Name: other})
		do(t, r.ref, messages.LoadWallet{Name: other})
		if !do(t, r.wallet(t, other), messages.GetAddressInfo{Script: script}).IsMine {
			t.Error("an address that was given out is lost")
		}
	}
}
