package wallets_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed61375155/trawl/messages"
)

// A key without addresses stays in the file and in its backups, and in an encrypted wallet. Descriptors are made of it
// when they are asked for.
func TestHDKeyStays(t *testing.T) {
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "w", Blank: true})
	xpub := do(t, r.wallet(t, "w"), messages.AddHDKey{})
	account := messages.DeriveHDKey{Path: []uint32{87 | 1<<31}, Private: true}
	want := do(t, r.wallet(t, "w"), account)
	same := func(name, when string) {
		t.Helper()
		got := do(t, r.wallet(t, name), account)
		if got.XPub != want.XPub || got.Origin != want.Origin || string(got.XPrv) != string(want.XPrv) {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
	}
	backup := filepath.Join(t.TempDir(), "b.dat")
	do(t, r.wallet(t, "w"), messages.BackupWallet{Path: backup})
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	same("w", "loaded again")
	if shown := do(t, r.ref, messages.PreviewRestore{Backup: backup}); len(shown.Descriptors) != 1 {
		t.Errorf("preview: %+v", shown.Descriptors)
	}
	do(t, r.ref, messages.RestoreWallet{Name: "back", Backup: backup})
	same("back", "restored")
	do(t, r.wallet(t, "w"), messages.EncryptWallet{Passphrase: messages.Secret("x")})
	const locked = "Error: Please enter the wallet passphrase with walletpassphrase first."
	_, err := try(t, r.wallet(t, "w"), account)
	refusal(t, err, -13, locked)
	_, err = try(t, r.wallet(t, "w"), messages.AddHDKey{})
	refusal(t, err, -13, locked)
	do(t, r.wallet(t, "w"), messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	same("w", "encrypted")
	texts := do(t, r.wallet(t, "w"), messages.CreateWalletDescriptor{Type: "legacy", HDKey: xpub})
	origin := do(t, r.wallet(t, "w"), messages.DeriveHDKey{Path: []uint32{44 | 1<<31, 1 | 1<<31, 1 << 31}})
	if len(texts) != 2 || !strings.HasPrefix(texts[0], "pkh("+origin.Origin+origin.XPub+"/0/*)") {
		t.Errorf("%q, want the key %s%s", texts, origin.Origin, origin.XPub)
	}
}
