package rawtx

import (
	"encoding/base64"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
)

// The signature equals the vector for this key and message in Bitcoin Core's
// tests.
func TestSignMessage(t *testing.T) {
	const (
		wif     = "cUeKHd5orzT3mz8P9pxyREHfsWtVfgsfDjiZZBcjUBAaGk1BTj7N"
		message = "This is just a test message"
		want    = "INbVnW4e6PeRmsv2Qgu8NuopvrVjkcxob+sX8OcZG0SALhWybUjzMLPdAsXI46YZGb0KQTRii+wWIQzRpG/U+S0="
	)
	key, ok := descriptor.ParseWIF(wif, descriptor.NetworkOf(&chaincfg.RegressionNetParams))
	if !ok {
		t.Fatal("no key")
	}
	keys := Keys{}
	keys.AddScalar(&key.Scalar, key.Compressed)
	hash := [20]byte(btcutil.Hash160(key.PublicKey()))
	signature, ok := keys.SignMessage(hash, message)
	if got := base64.StdEncoding.EncodeToString(signature); !ok || got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if !VerifyMessage(hash, signature, message) {
		t.Error("the signature does not verify")
	}
	if VerifyMessage(hash, signature, message+".") || VerifyMessage([20]byte{}, signature, message) {
		t.Error("a wrong message or key verifies")
	}
	if _, ok := keys.SignMessage([20]byte{}, message); ok {
		t.Error("signed without the key")
	}
	for i := range signature {
		broken := append([]byte(nil), signature...)
		broken[i] ^= 1
		if VerifyMessage(hash, broken, message) {
			t.Errorf("verifies with byte %d changed", i)
		}
	}
	for n := range signature {
		if VerifyMessage(hash, signature[:n], message) {
			t.Errorf("verifies with %d bytes", n)
		}
	}
}
