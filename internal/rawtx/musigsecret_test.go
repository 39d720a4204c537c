package rawtx

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr/musig2"
	"pgregory.net/rapid"

	"github.com/seed61375155/trawl/internal/curve"
)

// TestMusigSecrets: nonces and partial signatures are those of the library, for any participants, some of them the
// same, and any tweaks.
func TestMusigSecrets(t *testing.T) {
	if raceEnabled {
		t.Skip("`make large` runs it")
	}
	draw32 := func(t *rapid.T, label string) [32]byte {
		return [32]byte(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, label))
	}
	rapid.Check(t, func(t *rapid.T) {
		s := &musig{hash: draw32(t, "hash")}
		var owners []*key
		for range rapid.IntRange(1, 4).Draw(t, "participants") {
			scalar := [32]byte{31: byte(rapid.IntRange(1, 3).Draw(t, "key"))}
			private, public := btcec.PrivKeyFromBytes(scalar[:])
			owners = append(owners, &key{private, curve.PublicKey(&scalar, true), true})
			s.keys, s.raw = append(s.keys, public), append(s.raw, public.SerializeCompressed())
		}
		for range rapid.IntRange(0, 3).Draw(t, "tweaks") {
			tweak := draw32(t, "tweak")
			tweak[0] &= 0x7f
			s.tweaks = append(s.tweaks, musig2.KeyTweakDesc{Tweak: tweak, IsXOnly: rapid.Bool().Draw(t, "x only")})
		}
		all, _, _, err := musig2.AggregateKeys(s.keys, false, musig2.WithKeyTweaks(s.tweaks...))
		if err != nil {
			t.Skip(err)
		}
		s.key = all.FinalKey

		var secrets []secretNonce
		var publics [][musig2.PubNonceSize]byte
		for i, own := range owners {
			random := draw32(t, "random")
			want, err := musig2.GenNonces(
				musig2.WithPublicKey(s.keys[i]), musig2.WithNonceSecretKeyAux(own.private),
				musig2.WithNonceCombinedKeyAux(s.key), musig2.WithNonceMessageAux(s.hash),
				musig2.WithCustomRand(bytes.NewReader(bytes.Clone(random[:]))),
			)
			if err != nil {
				t.Fatal(err)
			}
			secret, public := newNonce(&random, own, s.key, &s.hash)
			if secret != want.SecNonce || !bytes.Equal(public, want.PubNonce[:]) {
				t.Fatalf("nonce %x, want %x", public, want.PubNonce)
			}
			if random != [32]byte{} {
				t.Fatal("the random bytes are left")
			}
			secrets, publics = append(secrets, secret), append(publics, want.PubNonce)
		}
		nonces, err := musig2.AggregateNonces(publics)
		if err != nil {
			t.Skip(err)
		}
		for i, own := range owners {
			want, err := musig2.Sign(secrets[i], own.private, nonces, s.keys, s.hash, musig2.WithTweaks(s.tweaks...))
			if err != nil {
				t.Fatal(err)
			}
			scalar := want.S.Bytes()
			if got := s.signPartial(&secrets[i], own, nonces, publics[i][:]); !bytes.Equal(got, scalar[:]) {
				t.Fatalf("partial signature %x, want %x", got, scalar)
			}
			wrong := publics[i]
			wrong[0] ^= 1
			if got := s.signPartial(&secrets[i], own, nonces, wrong[:]); got != nil {
				t.Fatalf("signed with another nonce: %x", got)
			}
			other := &key{own.private, s.raw[i][:32], true}
			if got := s.signPartial(&secrets[i], other, nonces, publics[i][:]); got != nil {
				t.Fatalf("signed for another key: %x", got)
			}
			if got := s.signPartial(new(secretNonce), own, nonces, publics[i][:]); got != nil {
				t.Fatalf("signed without a nonce: %x", got)
			}
		}
	})
}
