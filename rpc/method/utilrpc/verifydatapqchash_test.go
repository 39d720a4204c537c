package utilrpc_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
)

// proofOfData is a proof for the hash 000102..., by the key of the entropy 000102..., beside
// a leaf that anyone can spend. qbit 1.0.0 makes the same signature and address.
func proofOfData(tb testing.TB) map[string]any {
	tb.Helper()
	counting := make([]byte, slhdsa.EntropySize)
	for i := range counting {
		counting[i] = byte(i)
	}
	key, err := slhdsa.GenerateKey(counting)
	if err != nil {
		tb.Fatal(err)
	}
	right, err := slhdsa.Reserve([]slhdsa.Use{{Key: key.Public(), More: 1}}, func([]slhdsa.Use) error { return nil })
	if err != nil {
		tb.Fatal(err)
	}
	signed := p2mr.DataHash(p2mr.Hash(counting[:32]))
	signature, err := key.Sign(right, signed[:])
	if err != nil {
		tb.Fatal(err)
	}
	const ofQbit = "36b1a4950af88731dc0ba0bfe6edf784bde8a7e1760e248e1bfa91c3909c6081"
	if sum := sha256.Sum256(signature); hex.EncodeToString(sum[:]) != ofQbit {
		tb.Errorf("signature of sum %x", sum)
	}
	leaf := p2mr.KeyScript(key.Public())
	control := p2mr.ControlBlock{
		Version: p2mr.ScriptVersion, Path: []p2mr.Hash{p2mr.LeafHash(p2mr.ScriptVersion, []byte{0x51})},
	}
	public := key.Public()
	return map[string]any{
		"address":      "qbrt1z6wv8w6sf00e72jmrtyhds79ym8twuvv9304c4yclhxse6s3wfldqdw7vp5",
		"message_hash": hex.EncodeToString(counting[:32]), "signature": hex.EncodeToString(signature),
		"pubkey": hex.EncodeToString(public[:]), "leaf_script": hex.EncodeToString(leaf),
		"control_block": hex.EncodeToString(control.Bytes()), "leaf_version": 192, "proof_mode": "p2mr-pubkey",
	}
}

func TestVerifyData(t *testing.T) {
	table, proof := newTableOf(t, p2mrNetworks["regtest"]), proofOfData(t)
	ask := func(proof any) string {
		params, err := json.Marshal([]any{proof})
		if err != nil {
			t.Fatal(err)
		}
		return reply(t, table, "verifydatapqchash", parse(t, string(params)))
	}
	const valid = `{"valid":true,"address":"qbrt1z6wv8w6sf00e72jmrtyhds79ym8twuvv9304c4yclhxse6s3wfldqdw7vp5",` +
		`"message_hash":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",` +
		`"datasig_hash":"892da4f0deede06b7aa1721ae45968148b1e7d88e164dcf73dfac5be497d410f",` +
		`"pubkey":"a1dab3577c94a2f33e80e41e593da88e36040b763fd6d077df412faa033062a3","proof_mode":"p2mr-pubkey",` +
		`"p2mr_merkle_root":"d398776a097bf3e54b63592ed878a4d9d6ee31858beb8a931fb9a19d422e4fda"}`
	if got := ask(proof); got != valid {
		t.Errorf("got %s", got)
	}
	invalid := func(why string) string { return `{"valid":false,"error":"` + why + `"}` }
	wrong := func(text string) string { return `{"code":-8,"message":"` + text + `"}` }
	anchor, ok := descriptor.AddressOf([]byte{0x51, 2, 0x4e, 0x73}, p2mrNetworks["regtest"])
	if !ok {
		t.Fatal("no address of pay-to-anchor")
	}
	signature, leaf := proof["signature"].(string), proof["leaf_script"].(string)
	for _, test := range []struct {
		member string
		value  any
		want   string
	}{
		{"extra", 1, valid},
		{"signature", "00" + signature[2:], invalid("signature does not verify")},
		{"message_hash", strings.Repeat("00", 32), invalid("signature does not verify")},
		{"address", p2mrAddress, invalid("leaf_script/control_block do not match address")},
		{"control_block", "c1", invalid("leaf_script/control_block do not match address")},
		{"leaf_script", leaf[:len(leaf)-2] + "ac", invalid("leaf_script is not a single-key P2MR pubkey leaf for pubkey")},
		{"leaf_script", leaf + "519c", invalid("leaf_script is not a single-key P2MR pubkey leaf for pubkey")},
		{"pubkey", strings.Repeat("00", 32), invalid("leaf_script is not a single-key P2MR pubkey leaf for pubkey")},
		{"leaf_version", 194, invalid("unsupported P2MR leaf version")},
		{"leaf_version", 256, wrong("leaf_version out of range")},
		{"leaf_version", -1, wrong("leaf_version out of range")},
		{"control_block", "c100", wrong("Invalid P2MR control block size")},
		{"control_block", "c0", wrong("P2MR control byte bit 0 must be set")},
		{"control_block", "c3", wrong("leaf_version does not match control_block")},
		{"control_block", "", wrong("control_block must be hexadecimal string (not '')")},
		{"signature", "00", wrong("signature must be exactly 3680 bytes")},
		{"pubkey", "00", wrong("pubkey must be exactly 32 bytes")},
		{"message_hash", "00", wrong("message_hash must be exactly 32 bytes")},
		{"message_hash", "x", wrong("message_hash must be hexadecimal string (not 'x')")},
		{"proof_mode", "x", wrong(`Only proof_mode \"p2mr-pubkey\" is currently supported`)},
		{"address", "x", `{"code":-5,"message":"Invalid address"}`},
		{"address", anchor, `{"code":-5,"message":"Address is not a P2MR address"}`}, // nobody's
		{"pubkey", nil, `{"code":-3,"message":"Missing pubkey"}`},
		{
			"leaf_version", "192", `{"code":-3,"message":"JSON value of type string for field leaf_version is not of ` +
				`expected type number"}`,
		},
	} {
		changed := maps.Clone(proof)
		changed[test.member] = test.value
		if got := ask(changed); got != test.want {
			t.Errorf("%s %.80v\ngot  %s\nwant %s", test.member, test.value, got, test.want)
		}
	}
	if got := ask("x"); got != `{"code":-3,"message":"Missing address"}` {
		t.Errorf("got %s", got)
	}
}

// p2mrAddress is of a single key.
const p2mrAddress = "qbrt1zxf5ykj6zyrzmufgpx2ypq0hana078y9u80ncvdq6xe6k3ra2jrgqmqssy8"

// FuzzVerifyData gives proofs with arbitrary members: they are refused, and only the unchanged proof is valid.
func FuzzVerifyData(f *testing.F) {
	table, proof := newTableOf(f, p2mrNetworks["regtest"]), proofOfData(f)
	leaf, _ := hex.DecodeString(proof["leaf_script"].(string))
	control, _ := hex.DecodeString(proof["control_block"].(string))
	f.Add(leaf, control, 192)
	f.Add(leaf[:33], control[:1], 0)
	f.Fuzz(func(t *testing.T, script, block []byte, version int) {
		changed := maps.Clone(proof)
		changed["leaf_script"], changed["control_block"] = hex.EncodeToString(script), hex.EncodeToString(block)
		changed["leaf_version"] = version
		params, err := json.Marshal([]any{changed})
		if err != nil {
			t.Fatal(err)
		}
		got := reply(t, table, "verifydatapqchash", parse(t, string(params)))
		right := bytes.Equal(script, leaf) && bytes.Equal(block, control) && version == 192
		if strings.HasPrefix(got, `{"valid":true`) != right {
			t.Errorf("%x %x %d: %s", script, block, version, got)
		}
	})
}
