package descriptor_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
)

// TestNoNetwork uses the main network wherever there is none.
func TestNoNetwork(t *testing.T) {
	const address, wif = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1"
	script, err := descriptor.ScriptOfAddress(address, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := descriptor.AddressOf(script, nil); !ok || got != address {
		t.Errorf("address %s", got)
	}
	var none *descriptor.Network
	for name, pair := range map[string][2]any{
		"describe": {descriptor.Describe(script, nil).Descriptor, descriptor.Describe(script, mainNet).Descriptor},
		"infer":    {descriptor.Infer(script, nil), descriptor.Infer(script, mainNet)},
		"witness":  {descriptor.InferWitness([]byte{0x51}, nil), descriptor.InferWitness([]byte{0x51}, mainNet)},
		"type":     {none.ScriptType(script), mainNet.ScriptType(script)},
		"template": {none.Template(script).Form, mainNet.Template(script).Form},
		"allows":   {none.Allows(script), true},
		"bech32":   {none.LooksBech32("bc1q"), true},
		"chain":    {*descriptor.NetworkOf(nil), *mainNet},
		"parse":    {parse(t, "pkh("+testXpub+")", nil).String(), parse(t, "pkh("+testXpub+")", mainNet).String()},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: got %v, want %v", name, pair[0], pair[1])
		}
	}
	key, ok := descriptor.ParseXPub(testXpub, nil)
	if !ok || descriptor.EncodeXPub(key, nil) != testXpub {
		t.Error("extended public key")
	}
	secret, ok := descriptor.ParseWIF(wif, nil)
	if !ok || !bytes.HasPrefix(descriptor.EncodeXPrv(key, &secret.Scalar, nil), []byte("xprv")) {
		t.Error("private keys")
	}
	if got, ok := descriptor.FixedScript("addr("+address+")", nil); !ok || !bytes.Equal(got, script) {
		t.Error("fixed script")
	}
	if !descriptor.NewKnown(nil).AddPublic(parseKey(t, testKey)) {
		t.Error("known keys")
	}
	if set, err := descriptor.ScriptSet(t.Context(), "addr("+address+")", nil, 0, 0); err != nil || set == nil {
		t.Error(err)
	}
}

func parseKey(t *testing.T, text string) []byte {
	t.Helper()
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
