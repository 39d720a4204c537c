package psbt_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
)

// v2Start is a packet of version 2 up to the end of its global map, with an input and an output.
const v2Start = "psbt\xff\x01\x02\x04\x02\x00\x00\x00\x01\x04\x01\x01\x01\x05\x01\x01\x01\xfb\x04\x02\x00\x00\x00\x00"

var v2Spends = "\x01\x0e\x20" + zeros[:32] + "\x01\x0f\x04" + zeros[:4]

// TestFaultsOfV2: what is wrong with fields of version 2, whichever Core's errors are wanted. To Core 30.2 those are
// unknown until the version is read.
func TestFaultsOfV2(t *testing.T) {
	version := func(n string) string { return "psbt\xff\x01\xfb\x04" + n + "\x00\x00\x00" }
	for name, test := range map[string]struct{ raw, want string }{
		"whole":         {v2Start + v2Spends + "\x00\x01\x03\x08" + zeros[:8] + "\x01\x04\x00\x00", ""},
		"version 1":     {version("\x01") + "\x00", "There is no PSBT version 1"},
		"version 3":     {version("\x03") + "\x00", "Unsupported version number"},
		"no separator":  {version("\x02"), "Separator is missing at the end of the global map"},
		"key too long":  {"psbt\xff\x02\x02\x00", "Size of key was not 1 for the type Global Transaction Version"},
		"count's key":   {"psbt\xff\x02\x05\x00", "Size of key was not 1 for the type Global Output Count"},
		"flags' key":    {"psbt\xff\x02\x06\x00", "Size of key was not 1 for the type Global TX Modifiable Flags"},
		"input's key":   {v2Start + "\x02\x0f\x00", "Size of key was not 1 for the type Input Previous Output's Index"},
		"output's key":  {v2Start + v2Spends + "\x00\x02\x03\x00", "Size of key was not 1 for the type Output Amount"},
		"twice":         {v2Start + "\x01\x10\x04" + zeros[:4] + "\x01\x10", "Duplicate Key, input key \"10\" already provided"},
		"size of value": {"psbt\xff\x01\x02\x05" + zeros[:5], "Size of value was not the stated size"},
		"size of count": {"psbt\xff\x01\x04\x02\x01\x00", "Size of value was not the stated size"},
		"size of flags": {"psbt\xff\x01\x06\x02\x01\x00", "Size of value was not the stated size"},
		"huge count":    {"psbt\xff\x01\x04\x05\xfe\x01\x00\x00\x02", "ReadCompactSize(): size too large"},
		"more inputs": {
			"psbt\xff\x01\x02\x04\x02\x00\x00\x00\x01\x04\x05\xfe\x00\x00\x00\x02\x01\x05\x01\x00\x01\xfb\x04\x02\x00\x00\x00\x00" +
				v2Spends + "\x00", "Inputs provided does not match the number of inputs in transaction.",
		},
		"fewer outputs": {v2Start + v2Spends + "\x00", "Outputs provided does not match the number of outputs in transaction."},
		"wrong previous transaction": {
			v2Start + v2Spends + "\x01\x00\x0a" + zeros[:10] + "\x00", "Non-witness UTXO does not match outpoint hash",
		},
	} {
		text := base64.StdEncoding.EncodeToString([]byte(test.raw))
		if test.want != "" {
			test.want += ": iostream error"
		}
		for core, decode := range map[string]func(string) (*psbt.Packet, error){
			"30": psbt.Decode, "32": psbt.DecodeCore32,
		} {
			got, want := "", test.want
			if _, err := decode(text); err != nil {
				got = err.Error()
			}
			if name == "version 1" && core == "30" {
				want = "Unsupported version number: iostream error"
			}
			if got != want && (core == "32" || strings.Contains(test.raw, "\xfb\x04")) {
				t.Errorf("%s, as Core %s: got %q, want %q", name, core, got, want)
			}
		}
	}
}

// Core 32 has one text for keys of a wrong size, one for keys that are there twice, and refuses keys of MuSig2
// that are none.
func TestErrorsOfCore32(t *testing.T) {
	xpub := "\x01" + zeros[:45] + pubKey
	for name, test := range map[string]struct{ raw, want string }{
		"unsigned tx": {"psbt\xff\x02\x00\x00", "Size of key was not 1 for the type Global Unsigned TX"},
		"xpub":        {"psbt\xff\x02\x01\x00", "Size of key was not 79 for the type Global XPUB"},
		"version":     {"psbt\xff\x02\xfb\x00", "Size of key was not 1 for the type Global PSBT Version"},
		"xpub twice": {
			"psbt\xff\x4f" + xpub + "\x04" + zeros[:4] + "\x4f" + xpub,
			"Duplicate Key, global key \"" + hex.EncodeToString([]byte(xpub)) + "\" already provided",
		},
		"utxo":              {inInput + "\x02\x00\x00", "Size of key was not 1 for the type Input Non-witness UTXO"},
		"witness utxo":      {inInput + "\x02\x01\x00", "Size of key was not 1 for the type Input Witness UTXO"},
		"partial signature": {inInput + "\x02\x02\x00", "Size of key was not the expected size for the type partial signature pubkey"},
		"hash type":         {inInput + "\x02\x03\x00", "Size of key was not 1 for the type Input Sighash Type"},
		"redeem script":     {inInput + "\x02\x04\x00", "Size of key was not 1 for the type Input redeemScript"},
		"witness script":    {inInput + "\x02\x05\x00", "Size of key was not 1 for the type Input witnessScript"},
		"derivation":        {inInput + "\x02\x06\x00", "Size of key was not the expected size for the type BIP32 keypath"},
		"final script":      {inInput + "\x02\x07\x00", "Size of key was not 1 for the type Input Final scriptSig"},
		"final witness":     {inInput + "\x02\x08\x00", "Size of key was not 1 for the type Input Final scriptWitness"},
		"ripemd160":         {inInput + "\x02\x0a\x00", "Size of key was not 21 for the type Input RIPEMD160 Preimage"},
		"sha256":            {inInput + "\x02\x0b\x00", "Size of key was not 33 for the type Input SHA256 Preimage"},
		"hash160":           {inInput + "\x02\x0c\x00", "Size of key was not 21 for the type Input Hash160 Preimage"},
		"hash256":           {inInput + "\x02\x0d\x00", "Size of key was not 33 for the type Input Hash256 Preimage"},
		"key signature":     {inInput + "\x02\x13\x00", "Size of key was not 1 for the type Input Taproot Key Path Signature"},
		"leaf signature":    {inInput + "\x02\x14\x00", "Size of key was not 65 for the type Input Taproot Script Path Signature"},
		"leaf":              {inInput + "\x02\x15\x00", "Input Taproot leaf script key is not at least 34 bytes"},
		"tap derivation":    {inInput + "\x02\x16\x00", "Size of key was not 33 for the type Input Taproot BIP32 Keypath"},
		"internal key":      {inInput + "\x02\x17\x00", "Size of key was not 1 for the type Input Taproot Internal Key"},
		"root":              {inInput + "\x02\x18\x00", "Size of key was not 1 for the type Input Taproot Merkle Root"},
		"participants":      {inInput + "\x02\x1a\x00", "Size of key was not 34 for the type Input MuSig2 Participants Pubkeys"},
		"participants' key": {inInput + "\x22\x1a" + zeros[:33], "Input musig2 aggregate pubkey is invalid"},
		"a participant":     {inInput + "\x22\x1a" + pubKey + "\x22" + zeros[:34], "Input musig2 participant pubkey is invalid"},
		"half a participant": {
			inInput + "\x22\x1a" + pubKey + "\x22" + pubKey + "\x02",
			"Input musig2 participants pubkeys value size is not a multiple of 33",
		},
		"nonce":               {inInput + "\x43\x1b" + pubKey + zeros[:33], "musig2 aggregate pubkey is invalid"},
		"partial musig":       {inInput + "\x43\x1c" + zeros[:33] + pubKey, "musig2 participant pubkey is invalid"},
		"unknown twice":       {inInput + "\x02\x70\x01\x00\x02\x70\x01", "Duplicate Key, input key \"7001\" already provided"},
		"out redeem script":   {inOutput + "\x02\x00\x00", "Size of key was not 1 for the type Output redeemScript"},
		"out witness script":  {inOutput + "\x02\x01\x00", "Size of key was not 1 for the type Output witnessScript"},
		"out internal key":    {inOutput + "\x02\x05\x00", "Size of key was not 1 for the type Output Taproot Internal Key"},
		"out tree":            {inOutput + "\x02\x06\x00", "Size of key was not 1 for the type Output Taproot Tree Key"},
		"out tap derivation":  {inOutput + "\x02\x07\x00", "Size of key was not 33 for the type Output Taproot BIP32 Keypath"},
		"out participants":    {inOutput + "\x02\x08\x00", "Size of key was not 34 for the type Output MuSig2 Participants Pubkeys"},
		"out participant key": {inOutput + "\x22\x08" + zeros[:33], "Output musig2 aggregate pubkey is invalid"},
		"out unknown twice":   {inOutput + "\x01\x70\x00\x01\x70", "Duplicate Key, output key \"70\" already provided"},
		"bytes are missing":   {inInput + "\x01\x03\x04\x00", "SpanReader::read(): end of data"},
	} {
		_, err := psbt.DecodeCore32(base64.StdEncoding.EncodeToString([]byte(test.raw)))
		if err == nil || strings.TrimSuffix(err.Error(), ": iostream error") != test.want {
			t.Errorf("%s: got %v, want %s", name, err, test.want)
		}
	}
}
