package wallets_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/messages"
)

// scriptAt returns the output script of an address of the P2MR network.
func scriptAt(tb testing.TB, address string) []byte {
	tb.Helper()
	script, err := descriptor.ScriptOfAddress(address, p2mrNetwork(tb).Descriptors())
	if err != nil {
		tb.Fatal(err)
	}
	return script
}

// Data is signed with a key of the wallet, provably, and the signature is counted on disk before it is given out.
func TestSignData(t *testing.T) {
	r := p2mrRig(t, setup{keyPool: 2})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	do(t, r.ref, messages.CreateWallet{Name: "other"})
	ref := r.wallet(t, "w")
	script := scriptAt(t, do(t, ref, messages.NewAddress{Type: "p2mr"}))
	q := messages.SignDataHash{Script: script, Hash: [32]byte{1, 2}}
	sign := func(q messages.SignDataHash, nth uint32) messages.DataSignature {
		t.Helper()
		got := do(t, ref, q)
		root, _ := p2mr.ParseOutputScript(script)
		control, err := p2mr.ParseControlBlock(got.Control)
		if err != nil {
			t.Fatal(err)
		}
		proof := p2mr.DataProof{
			Root: root, Data: q.Hash, Key: slhdsa.PublicKey(got.Key), Signature: got.Signature, Script: got.Leaf,
			Control: control,
		}
		if err := proof.Verify(); err != nil {
			t.Error(err)
		}
		if len(got.PQCKeys) != 1 || got.PQCKeys[0].Made != nth || made(t, r, "w") != nth {
			t.Errorf("counted %+v and %d in the file, want %d", got.PQCKeys, made(t, r, "w"), nth)
		}
		return got
	}
	first := sign(q, 1)
	q.Key, q.Leaf, q.Control = &first.Key, first.Leaf, first.Control
	sign(q, 2)
	const noLeaf = "No supported single-key P2MR pubkey leaf was found for this address"
	for name, test := range map[string]struct {
		change func(q *messages.SignDataHash)
		want   string
	}{
		"another key":    {func(q *messages.SignDataHash) { q.Key = new([32]byte) }, noLeaf},
		"another script": {func(q *messages.SignDataHash) { q.Leaf = []byte{0x51} }, noLeaf},
		"another path":   {func(q *messages.SignDataHash) { q.Control = make([]byte, 33) }, noLeaf},
		"another output": {
			func(q *messages.SignDataHash) { q.Script = p2mr.OutputScript(p2mr.Hash{}) },
			"P2MR address is not in this wallet",
		},
	} {
		changed := q
		test.change(&changed)
		_, err := try(t, ref, changed)
		t.Log(name)
		refusal(t, err, -4, test.want)
	}
	_, err := try(t, r.wallet(t, "other"), q)
	refusal(t, err, -4, "P2MR address is not in this wallet")
	do(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("x")})
	_, err = try(t, ref, q)
	refusal(t, err, -13, "Error: Please enter the wallet passphrase with walletpassphrase first.")
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	sign(q, 3)
	if err := os.RemoveAll(filepath.Join(r.dir, "w")); err != nil {
		t.Fatal(err)
	}
	if got, err := try(t, ref, q); err == nil {
		t.Errorf("signed without a file: %+v", got)
	}
}

// A wallet that only watches signs no data.
func TestSignDataWatching(t *testing.T) {
	r := p2mrRig(t, setup{keyPool: 2})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	do(t, r.ref, messages.CreateWallet{Name: "watch", DisablePrivateKeys: true})
	q := messages.SignDataHash{Script: scriptAt(t, do(t, r.wallet(t, "w"), messages.NewAddress{Type: "p2mr"}))}
	watch := r.wallet(t, "watch")
	var items []messages.PubKeyItem
	for _, key := range do(t, r.wallet(t, "w"), messages.ExportPubKeys{}) {
		items = append(items, messages.PubKeyItem{Key: key.Key})
	}
	do(t, watch, messages.ImportPubKeys{Entries: items})
	_, err := try(t, watch, q)
	refusal(t, err, -4, "Private key is not available for the selected P2MR pubkey leaf")
}
