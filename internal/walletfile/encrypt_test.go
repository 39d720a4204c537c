package walletfile_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/walletfile"
)

const iterations = 3 // enough where only the form counts

func masterRecord() walletfile.MasterKey {
	return walletfile.MasterKey{ID: 1, Salt: []byte("saltsalt"), Iterations: iterations}
}

// TestEncryption encrypts random keys and decrypts them with the right and with
// a wrong passphrase.
func TestEncryption(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		bytes32 := rapid.SliceOfN(rapid.Byte(), 32, 32)
		master := walletfile.NewSecret(bytes32.Draw(rt, "master"))
		passphrase := rapid.String().Draw(rt, "passphrase")
		locked, err := masterRecord().Lock(t.Context(), walletfile.NewSecret([]byte(passphrase)), master)
		if err != nil {
			rt.Fatal(err)
		}
		got, err := locked.Unlock(t.Context(), walletfile.NewSecret([]byte(passphrase)))
		if err != nil || !bytes.Equal(got.Bytes(), master.Bytes()) {
			rt.Fatal("another master key", err)
		}
		private := secp256k1.PrivKeyFromBytes(bytes32.Draw(rt, "key"))
		public := walletfile.PublicKey(private.PubKey().SerializeCompressed())
		if rapid.Bool().Draw(rt, "uncompressed") {
			public = private.PubKey().SerializeUncompressed()
		}
		key := walletfile.DescriptorCryptedKey{Public: public, Ciphertext: walletfile.EncryptKey(
			master, public, walletfile.NewSecret(private.Serialize()),
		)}
		if err := walletfile.CheckMaster(master, []walletfile.DescriptorCryptedKey{key}); err != nil {
			rt.Fatal(err)
		}
		if other, err := locked.Unlock(t.Context(), walletfile.NewSecret([]byte(passphrase+"x"))); err == nil {
			err = walletfile.CheckMaster(other, []walletfile.DescriptorCryptedKey{key})
			if !errors.Is(err, walletfile.ErrPassphrase) {
				rt.Fatal("wrong passphrase:", err)
			}
		}
	})
}

func TestCheckMasterOfDamagedKeys(t *testing.T) {
	master := walletfile.NewSecret(make([]byte, 32))
	private := secp256k1.PrivKeyFromBytes([]byte{7})
	public := walletfile.PublicKey(private.PubKey().SerializeCompressed())
	good := walletfile.DescriptorCryptedKey{
		Public: public, Ciphertext: walletfile.EncryptKey(master, public, walletfile.NewSecret(private.Serialize())),
	}
	for _, ciphertext := range [][]byte{nil, {1}, make([]byte, 48), good.Ciphertext[:32]} {
		bad := walletfile.DescriptorCryptedKey{Public: public, Ciphertext: ciphertext}
		if err := walletfile.CheckMaster(
			master, []walletfile.DescriptorCryptedKey{bad, good},
		); !errors.Is(err, walletfile.ErrPassphrase) {
			t.Errorf("%x first: %v", ciphertext, err)
		}
		if err := walletfile.CheckMaster(
			master, []walletfile.DescriptorCryptedKey{good, bad},
		); !errors.Is(err, walletfile.ErrSomeKeys) {
			t.Errorf("%x last: %v", ciphertext, err)
		}
	}
	if err := walletfile.CheckMaster(master, nil); err != nil {
		t.Errorf("no keys: %v", err)
	}
}

func TestUnlockRefuses(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name   string
		ctx    context.Context
		change func(*walletfile.MasterKey)
		want   error
	}{
		{"method", t.Context(), func(m *walletfile.MasterKey) { m.Method = 1 }, walletfile.ErrMethod},
		{"salt", t.Context(), func(m *walletfile.MasterKey) { m.Salt = nil }, walletfile.ErrMethod},
		{"no iterations", t.Context(), func(m *walletfile.MasterKey) { m.Iterations = 0 }, walletfile.ErrMethod},
		{"no ciphertext", t.Context(), func(m *walletfile.MasterKey) { m.Ciphertext = nil }, walletfile.ErrPassphrase},
		{
			"iterations without end", ended, func(m *walletfile.MasterKey) { m.Iterations = math.MaxUint32 },
			context.Canceled,
		},
	}
	for _, test := range tests {
		record := masterRecord()
		test.change(&record)
		if _, err := record.Unlock(test.ctx, walletfile.NewSecret(nil)); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

func TestTuneIterations(t *testing.T) {
	tests := []struct {
		name         string
		perIteration time.Duration
		want         uint32
	}{
		{"slow machine", 100 * time.Microsecond, walletfile.MinIterations},
		{"as slow as may be", 4 * time.Microsecond, walletfile.MinIterations},
		{"usual machine", 500 * time.Nanosecond, 200_000},
		{"clock that stands still", 0, math.MaxInt32 - 1},
	}
	for _, test := range tests {
		got := walletfile.TuneIterations(func(n uint32) time.Duration { return time.Duration(n) * test.perIteration })
		if got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

// TestSecretsDoNotPrint prints a secret and what holds one in all ways.
func TestSecretsDoNotPrint(t *testing.T) {
	const text = "a secret of thirty-two bytes...."
	secret := walletfile.NewSecret([]byte(text))
	holders := []any{
		secret,
		[]*walletfile.Secret{secret},
		walletfile.DescriptorKey{Secret: secret},
		&walletfile.PQCKey{Secret: secret},
		walletfile.Descriptor{Keys: []walletfile.DescriptorKey{{Secret: secret}}},
	}
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, nil))
	for _, holder := range holders {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			fmt.Fprintf(&out, verb, holder)
		}
		packed, err := json.Marshal(holder)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(packed)
		log.Info("a secret", "secret", holder)
	}
	printed := strings.ToLower(out.String())
	for _, form := range []string{text, hex.EncodeToString([]byte(text)), "97 32 115"} {
		if strings.Contains(printed, form) {
			t.Errorf("%q is printed in %s", form, printed)
		}
	}
	secret.Zero()
	if len(secret.Bytes()) != 0 {
		t.Error("not wiped")
	}
}
