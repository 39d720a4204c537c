package keys

import (
	"bytes"
	"errors"
	"testing"

	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// With how few addresses left a pool of slow keys is filled.
func TestLowMark(t *testing.T) {
	for pool, want := range map[int32]int{1: 1, 10: 10, 16: 16, 17: 16, 160: 16, 170: 17, 1000: 100} {
		if got := lowMark(pool); got != want {
			t.Errorf("of %d: %d, want %d", pool, got, want)
		}
	}
	r := slowRig(t, 2)
	change := r.set.active[walletfile.Slot{Type: walletfile.MerkleRoot, Internal: true}]
	for range 2 {
		if _, err := r.pool.NewAddress(messages.NewAddress{Change: true}); err != nil {
			t.Fatal(err)
		}
	}
	want := LowPool{ID: change.id(), Internal: true, Left: 0, Mark: 2}
	if low := r.pool.LowPools(); len(low) != 1 || low[0] != want {
		t.Errorf("%+v", low)
	}
	r.vault.Encrypt(walletfile.MasterKey{ID: 1}, walletfile.NewSecret(make([]byte, 32)))
	r.vault.Lock()
	if low := r.pool.LowPools(); low != nil {
		t.Errorf("locked: %+v", low)
	}
}

// A device's descriptors are taken one by one, each once; a wallet with one is not blank any more.
func TestOutsideAgain(t *testing.T) {
	r := newRig(false)
	r.flags.Set(r.flags.Value() | walletfile.Blank)
	texts := []string{"raw(51)", "wpkh(" + expandingXpub + "/0/*)"}
	for range 2 {
		if err := r.importer.SetupOutside(texts, false, 7); err != nil {
			t.Fatal(err)
		}
		if r.set.Len() != 1 || len(r.set.active) != 1 || r.flags.Has(walletfile.Blank) {
			t.Errorf("%d descriptors, %d active, flags %v", r.set.Len(), len(r.set.active), r.flags.Value())
		}
	}
	if err := r.importer.SetupOutside([]string{"wpkh(" + expandingXpub + "/0h/*)"}, true, 7); err == nil {
		t.Error("what cannot be derived is taken")
	}
	private := newRig(true)
	private.flags.Set(private.flags.Value() | walletfile.Blank)
	if err := private.importer.Setup(walletfile.NewSecret(bytes.Repeat([]byte{7}, 32)), 5); err != nil ||
		private.flags.Has(walletfile.Blank) {
		t.Errorf("flags %v, %v", private.flags.Value(), err)
	}
}

// A locked wallet adds and derives no extended keys, and completes no caches.
func TestLockedKeys(t *testing.T) {
	r := setUp(t, true)
	r.flags.Set(r.flags.Value() &^ walletfile.LastHardenedXpubCached)
	r.vault.Encrypt(walletfile.MasterKey{ID: 1}, walletfile.NewSecret(make([]byte, 32)))
	r.vault.Lock()
	r.log.Take()
	_, added := r.addKey(nil)
	_, derived := r.importer.DeriveHDKey(messages.DeriveHDKey{})
	for name, err := range map[string]error{"add": added, "derive": derived} {
		var refused *messages.WalletError
		if !errors.As(err, &refused) || refused.Code != codes.UnlockNeeded {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r.pool.CompleteCaches(); len(r.log.Take()) > 0 || r.flags.Has(walletfile.LastHardenedXpubCached) {
		t.Error("the caches of a locked wallet are completed")
	}
}
