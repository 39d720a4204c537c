package e2e_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/btcutil/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/internal/e2e"
)

// TestSecretTextsLeaveMemory looks for passphrases and the texts of private keys in
// the memory of a node, once the calls that they came or went with are answered, and
// the wallets are locked.
func TestSecretTextsLeaveMemory(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-keypool=5"}})
	s := &texts{tb: t, d: d, of: map[string][]byte{}}

	s.passphrases()
	s.imports()
	s.signing()
	s.descriptors()
	s.shown()
	s.refused()

	for range 300 { // what is free is overwritten as it is used again
		d.Get(nil, "getblockcount")
	}
	s.call("locked", nil, "walletlock")
	memory, left := writable(t, d.PID()), 0
	for name, secret := range s.of {
		if n := bytes.Count(memory, secret); n > 0 {
			left += n
			at := bytes.Index(memory, secret)
			t.Logf("%s: %d copies are left, one of them in %q", name, n, memory[max(at-64, 0):min(at+len(secret)+64, len(memory))])
		}
	}
	if left > maxTexts {
		t.Errorf("%d copies of %d secrets are left, want at most %d", left, len(s.of), maxTexts)
	}
}

// maxTexts is how many copies of all secrets may be left on stacks that have grown.
// There were some 90 before they were overwritten, and mostly there are none.
const maxTexts = 2

// texts are the secrets that a node was given or has returned, by their kind.
type texts struct {
	tb testing.TB
	d  *e2e.Daemon
	of map[string][]byte
}

// call calls a method that must succeed, for a wallet.
func (s *texts) call(wallet string, result any, method string, params ...any) {
	s.tb.Helper()
	if err := s.d.CallWallet(context.Background(), wallet, result, method, params...); err != nil {
		s.tb.Fatalf("%s: %v", method, err)
	}
}

// refuse calls a method that must not.
func (s *texts) refuse(wallet, method string, params ...any) {
	s.tb.Helper()
	if err := s.d.CallWallet(context.Background(), wallet, nil, method, params...); err == nil {
		s.tb.Fatalf("%s succeeded", method)
	}
}

// phrase returns a new passphrase.
func (s *texts) phrase(name string) string {
	text := "a phrase: " + rand.Text()
	s.of[name] = []byte(text)
	return text
}

// extended returns a new extended private key.
func (s *texts) extended(name string) string {
	seed := make([]byte, 32)
	_, _ = rand.Read(seed)
	key, err := hdkeychain.NewMaster(seed, &chaincfg.RegressionNetParams)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.of[name] = []byte(key.String())
	return key.String()
}

// wif returns a new private key in wallet import format.
func (s *texts) wif(name string) string {
	key, err := btcec.NewPrivateKey()
	if err != nil {
		s.tb.Fatal(err)
	}
	text, err := btcutil.NewWIF(key, &chaincfg.RegressionNetParams, true)
	if err != nil {
		s.tb.Fatal(err)
	}
	s.of[name] = []byte(text.String())
	return text.String()
}

// described returns a descriptor with its checksum.
func (s *texts) described(desc string) string {
	var info struct{ Checksum string }
	s.d.Get(&info, "getdescriptorinfo", desc)
	return desc + "#" + info.Checksum
}

func (s *texts) passphrases() {
	first := s.phrase("createwallet")
	s.d.Get(nil, "createwallet", "locked", false, false, first)
	second, third := s.phrase("walletpassphrasechange"), s.phrase("walletpassphrasechange again")
	s.call("locked", nil, "walletpassphrasechange", first, second)
	s.call("locked", nil, "walletpassphrasechange", second, third)
	s.call("locked", nil, "walletpassphrase", third, 1000)
	s.refuse("locked", "walletpassphrase", s.phrase("walletpassphrase, wrong"), 1000)
	s.d.Get(nil, "createwallet", "encrypted")
	s.call("encrypted", nil, "encryptwallet", s.phrase("encryptwallet"))
}

func (s *texts) imports() {
	desc := s.described("wpkh(" + s.extended("importdescriptors") + "/84h/1h/0h/0/*)")
	s.call("locked", nil, "importdescriptors", []any{map[string]any{"desc": desc, "timestamp": "now", "active": true}})
	wif := s.described("pkh(" + s.wif("importdescriptors, wif") + ")")
	s.call("locked", nil, "importdescriptors", []any{
		map[string]any{"desc": wif, "timestamp": "now"},
		map[string]any{"desc": strings.Repeat("x", 100_000), "timestamp": "now"},
	})
	many := s.described("wpkh(" + s.extended("importdescriptors, many paths") + "/<0;1>/*)")
	s.call("locked", nil, "importdescriptors", []any{map[string]any{"desc": many, "timestamp": "now"}})
}

func (s *texts) signing() {
	var raw string
	input := map[string]any{"txid": strings.Repeat("ab", 32), "vout": 0}
	s.d.Get(&raw, "createrawtransaction", []any{input}, map[string]any{"data": hex.EncodeToString([]byte("x"))})
	s.d.Get(nil, "signrawtransactionwithkey", raw, []any{s.wif("signrawtransactionwithkey")})
}

func (s *texts) descriptors() {
	s.d.Get(nil, "deriveaddresses", s.described("wpkh("+s.extended("deriveaddresses")+"/0h/*)"), []int{0, 3})
	s.d.Get(nil, "scantxoutset", "start", []any{"wpkh(" + s.extended("scantxoutset") + "/0h/*)"})
	s.d.Get(nil, "generatetodescriptor", 1, s.described("wpkh("+s.wif("generatetodescriptor")+")"))
}

// shown asks for the private keys of a wallet that the node has made.
func (s *texts) shown() {
	s.call("locked", nil, "listdescriptors", true)
	var keys []struct{ XPrv string }
	s.call("locked", &keys, "gethdkeys", map[string]any{"private": true})
	for i, key := range keys {
		s.of[fmt.Sprintf("gethdkeys %d", i)] = []byte(key.XPrv)
	}
}

// refused has requests with secrets that are not understood.
func (s *texts) refused() {
	s.refuse("locked", "walletpasphrase", s.phrase("a method that is none"), 60)
	s.refuse("locked", "walletpassphrase", s.phrase("an argument too many"), 60, 60)
	s.refuse("locked", "walletpassphrase", s.phrase("an argument of a wrong type"), "60")
	s.refuse("none", "walletpassphrase", s.phrase("a wallet that is none"), 60)
	s.refuse("locked", "importdescriptors", []any{map[string]any{"desc": s.extended("no descriptor")}})
	escaped, err := json.Marshal(s.phrase("with escapes"))
	if err != nil {
		s.tb.Fatal(err)
	}
	body := `{"method":"walletpassphrase","params":["\n\u00e9` + string(escaped[1:]) + `,60]}`
	_, _ = s.d.Post(context.Background(), "/wallet/locked", []byte(body))
	_, _ = s.d.Post(context.Background(), "/", []byte(`{"params":["`+s.phrase("no JSON")+`"`))
	_, _ = s.d.Post(context.Background(), "/", []byte(`[{"method":"echo"},{"method":"walletpassphrase","params":["`+
		s.phrase("in a batch")+`",60]}]`))
}
