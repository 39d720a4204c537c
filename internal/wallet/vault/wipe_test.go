package vault

import (
	"bytes"
	"context"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// filled is a vault that is not encrypted, with a private key of each kind, and
// the bytes of them that it holds.
func filled(t *testing.T) (v *Vault, held [][]byte) {
	t.Helper()
	id := chainhash.Hash{1}
	v = New(new(records.Log))
	key := descriptor.PrivateKey{Compressed: true}
	key.Scalar[31] = 5
	v.AddKeys(id, []descriptor.PrivateKey{key})
	private, err := slhdsa.GenerateKey(bytes.Repeat([]byte{1}, 128))
	if err != nil {
		t.Fatal(err)
	}
	v.AddPQC(id, &descriptor.P2MRKey{Public: private.Public(), Secret: private.Bytes()})
	for _, key := range v.secretOf[id].keys {
		held = append(held, key.Secret.Bytes())
	}
	for _, key := range v.secretOf[id].pqc {
		held = append(held, key.plain.Secret.Bytes())
	}
	return v, held
}

func checkWiped(t *testing.T, when string, wiped bool, held ...[]byte) {
	t.Helper()
	for i, secret := range held {
		if zero := bytes.Equal(secret, make([]byte, len(secret))); len(secret) == 0 || zero != wiped {
			t.Errorf("%s: secret %d of %d bytes is wiped: %v, want %v", when, i, len(secret), zero, wiped)
		}
	}
}

// A vault overwrites secrets that it does not need any more.
func TestWiping(t *testing.T) {
	v, held := filled(t)
	checkWiped(t, "a new vault", false, held...)
	v.Close()
	checkWiped(t, "closed", true, held...)

	v, held = filled(t)
	record, master := walletfile.MasterKey{ID: 1}, walletfile.NewSecret(bytes.Repeat([]byte{7}, 32))
	v.Encrypt(record, master)
	checkWiped(t, "encrypted", true, held...)
	checkWiped(t, "the caller's master key", false, master.Bytes())
	first := v.master.Bytes()
	if err := v.Unlock(master); err != nil {
		t.Fatal(err)
	}
	second := v.master.Bytes()
	checkWiped(t, "unlocked again", true, first)
	checkWiped(t, "unlocked", false, second)
	v.Lock()
	checkWiped(t, "locked", true, second)
	if err := v.Unlock(master); err != nil {
		t.Fatal(err)
	}
	third := v.master.Bytes()
	v.Close()
	checkWiped(t, "closed while unlocked", true, third)
	checkWiped(t, "the caller's master key, at the end", false, master.Bytes())
}

// A key that was checked is wiped, that of the vault is not; and a wrong or broken one
// is refused.
func TestUncheckedWiping(t *testing.T) {
	private, err := slhdsa.GenerateKey(bytes.Repeat([]byte{1}, 128))
	if err != nil {
		t.Fatal(err)
	}
	other, err := slhdsa.GenerateKey(bytes.Repeat([]byte{2}, 128))
	if err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, test := range map[string]struct {
		ctx    context.Context
		secret []byte
		want   bool
	}{
		"right":         {t.Context(), private.Bytes(), true},
		"of another":    {t.Context(), other.Bytes(), false},
		"too short":     {t.Context(), private.Bytes()[1:], false},
		"not of pair":   {t.Context(), append(bytes.Repeat([]byte{3}, 16), private.Bytes()[16:]...), false},
		"after the end": {ended, private.Bytes(), false},
	} {
		v := New(new(records.Log))
		public := private.Public()
		v.Load(&walletfile.Descriptor{PQCKeys: []walletfile.PQCKey{{
			Public: public, Secret: walletfile.NewSecret(test.secret),
		}}})
		unchecked := v.UncheckedKeys(1)
		if len(unchecked) != 1 {
			t.Fatalf("%s: %d keys to check", name, len(unchecked))
		}
		secret := unchecked[0].secret.Bytes()
		if got := unchecked[0].Check(test.ctx); got != test.want {
			t.Errorf("%s: found right: %v", name, got)
		}
		checkWiped(t, name, true, secret)
		checkWiped(t, name, false, v.secretOf[chainhash.Hash{}].pqc[public].plain.Secret.Bytes())
	}
}
