package rawtx

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcec/v2/schnorr/musig2"
)

// hexBytes are written as hex.
type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.DecodeString(string(text))
	return err
}

// bip327 is what the files of vectors of BIP327 have in common.
type bip327 struct {
	SK        hexBytes
	Pubkeys   []hexBytes
	Secnonce  hexBytes
	Secnonces []hexBytes
	Pnonces   []hexBytes
	Aggnonce  hexBytes
	Aggnonces []hexBytes
	Tweaks    []hexBytes
	Psigs     []hexBytes
	Msg       hexBytes
	Msgs      []hexBytes
	Valid     []bip327Case `json:"valid_test_cases"`
	Errors    []bip327Case `json:"error_test_cases"`
}

type bip327Case struct {
	Keys     []int    `json:"key_indices"`
	Nonces   []int    `json:"nonce_indices"`
	AggNonce int      `json:"aggnonce_index"`
	Given    hexBytes `json:"aggnonce"`
	Msg      int      `json:"msg_index"`
	Tweaks   []int    `json:"tweak_indices"`
	XOnly    []bool   `json:"is_xonly"`
	Signer   int      `json:"signer_index"`
	Psigs    []int    `json:"psig_indices"`
	Expected hexBytes
}

func readBIP327(t *testing.T, name string) (v bip327) {
	t.Helper()
	raw, err := os.ReadFile("testdata/bip-0327-" + name + "_vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// session is the signing of a case.
func (v *bip327) session(t *testing.T, c *bip327Case, message []byte) *musig {
	t.Helper()
	s := &musig{producer: &producer{with: &Signing{}, data: &signatures{}}, hash: [32]byte(message)}
	s.data.tap.musig = newMusigData()
	for _, i := range c.Keys {
		key, err := btcec.ParsePubKey(v.Pubkeys[i])
		if err != nil {
			t.Fatal(err)
		}
		s.keys, s.raw = append(s.keys, key), append(s.raw, v.Pubkeys[i])
	}
	for i, at := range c.Tweaks {
		s.tweaks = append(s.tweaks, musig2.KeyTweakDesc{Tweak: [32]byte(v.Tweaks[at]), IsXOnly: c.XOnly[i]})
	}
	all, _, _, err := musig2.AggregateKeys(s.keys, false, musig2.WithKeyTweaks(s.tweaks...))
	if err != nil {
		t.Fatal(err)
	}
	s.key = all.FinalKey
	return s
}

// Partial signatures are those of the vectors, with tweaks and without any.
func TestPublishedPartials(t *testing.T) {
	played := 0
	for _, name := range []string{"sign_verify", "tweak"} {
		v := readBIP327(t, name)
		private, public := btcec.PrivKeyFromBytes(v.SK)
		own := &key{private, public.SerializeCompressed(), true}
		for i := range v.Valid {
			c := &v.Valid[i]
			message, secret, nonces := v.Msg, v.Secnonce, v.Aggnonce
			if message == nil {
				message, secret, nonces = v.Msgs[c.Msg], v.Secnonces[0], v.Aggnonces[c.AggNonce]
			}
			s, nonce := v.session(t, c, message), secretNonce(secret)
			got := s.signPartial(&nonce, own, [66]byte(nonces), v.Pnonces[c.Nonces[c.Signer]])
			if !bytes.Equal(got, c.Expected) {
				t.Errorf("%s %d: %x, want %x", name, i, got, c.Expected)
			}
			played++
		}
	}
	if played != 4+5 {
		t.Errorf("played %d", played)
	}
}

// Partial signatures add up to the signature of the vectors, which verifies, and wrong ones to none.
func TestPublishedSums(t *testing.T) {
	v := readBIP327(t, "sig_agg")
	for i := range v.Valid {
		c := &v.Valid[i]
		s := v.session(t, c, v.Msg)
		for j, participant := range s.raw {
			note(s.data.tap.musig.nonces, s.at, [33]byte(participant), v.Pnonces[c.Nonces[j]])
			note(s.data.tap.musig.partials, s.at, [33]byte(participant), v.Psigs[c.Psigs[j]])
		}
		got := s.combine()
		if !bytes.Equal(got, c.Expected) {
			t.Errorf("%d: %x, want %x", i, got, c.Expected)
		}
		sig, err := schnorr.ParseSignature(c.Expected)
		if err != nil || !sig.Verify(v.Msg, s.key) {
			t.Errorf("%d: the signature does not verify: %v", i, err)
		}
		wrong := bytes.Clone(v.Psigs[c.Psigs[0]])
		wrong[31] ^= 1
		note(s.data.tap.musig.partials, s.at, [33]byte(s.raw[0]), wrong)
		if got := s.combine(); got != nil {
			t.Errorf("%d: signed with a wrong part: %x", i, got)
		}
	}
}
