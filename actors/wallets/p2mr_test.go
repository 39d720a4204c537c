package wallets_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// qbitBackups are wallets of qbitd 1.0.0.
const qbitBackups = "../../internal/e2e/testdata/golden/qbit/backups"

// p2mrNetwork is a network whose outputs pay to P2MR.
func p2mrNetwork(tb testing.TB) *dialect.Network {
	tb.Helper()
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		tb.Fatal(err)
	}
	return network
}

// p2mrRig is a registry on it.
func p2mrRig(tb testing.TB, s setup) *rig {
	tb.Helper()
	network := p2mrNetwork(tb)
	s.network, s.noFilters, s.now = network, true, genesis
	chain := chaintest.New(network.Params)
	chain.MineN(3)
	return newRig(tb, chain, s)
}

// spendOf is a transaction that spends an output at an address, as a request to
// sign it.
func spendOf(tb testing.TB, address string) messages.SignWithWallet {
	tb.Helper()
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{})
	tx.AddTxOut(wire.NewTxOut(1000, []byte{txscript.OP_TRUE}))
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		tb.Fatal(err)
	}
	amount := btcutil.Amount(p2mrNetwork(tb).Rules.MaxMoney / 2)
	prev := messages.PrevOut{Script: scriptAt(tb, address), Amount: &amount}
	return messages.SignWithWallet{RawTx: raw.Bytes(), Prevs: []messages.PrevOut{prev}}
}

// made returns how many signatures each key in a wallet's file has made, as the
// file is on disk at this moment.
func made(tb testing.TB, r *rig, name string) (sum uint32) {
	tb.Helper()
	content, err := os.ReadFile(filepath.Join(r.dir, name, walletdb.FileName))
	if err != nil {
		tb.Fatal(err)
	}
	path := filepath.Join(tb.TempDir(), walletdb.FileName)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		tb.Fatal(err)
	}
	loaded, severity, err := walletdb.Verify(
		tb.Context(), path, walletdb.Options{Magic: network.Magic},
		walletfile.LoadOptions{Network: network.Descriptors(), MerkleRoots: true}, walletdb.Limits{})
	if err != nil || severity != walletfile.OK {
		tb.Fatalf("severity %d: %v", severity, err)
	}
	defer loaded.Zero()
	for _, d := range loaded.Descriptors {
		for _, key := range d.PQCKeys {
			sum += key.Made()
		}
		for _, key := range d.PQCCryptedKeys {
			sum += key.Counter
		}
	}
	return sum
}

// Signatures are counted on disk before they are given out, whether the wallet
// is encrypted or not, and the wallet that cannot be written signs nothing.
func TestSignaturesAreCounted(t *testing.T) {
	r := p2mrRig(t, setup{keyPool: 2})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	request := spendOf(t, do(t, ref, messages.NewAddress{Type: "p2mr"}))
	for n := range uint32(2) {
		got := do(t, ref, request)
		if !got.Complete || len(got.PQCKeys) != 1 || got.PQCKeys[0].Made != n+1 {
			t.Errorf("complete: %v, keys %+v, %+v", got.Complete, got.PQCKeys, got.Errors)
		}
		if written := made(t, r, "w"); written != n+1 {
			t.Errorf("the file counts %d, want %d", written, n+1)
		}
	}
	do(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("x")})
	_, err := try(t, ref, request)
	refusal(t, err, -13, "Error: Please enter the wallet passphrase with walletpassphrase first.")
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	if got := do(t, ref, request); !got.Complete || got.PQCKeys[0].Made != 3 {
		t.Errorf("complete: %v, keys %+v", got.Complete, got.PQCKeys)
	}
	if written := made(t, r, "w"); written != 3 {
		t.Errorf("the file counts %d, want 3", written)
	}
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	ref = r.wallet(t, "w")
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	if err := os.RemoveAll(filepath.Join(r.dir, "w")); err != nil {
		t.Fatal(err)
	}
	if got, err := try(t, ref, request); err == nil || got.RawTx != nil {
		t.Errorf("signed without a file: %+v", got)
	}
}

// packetOf is a packet that spends an output at an address, as a request to sign it.
func packetOf(tb testing.TB, address string) messages.FillPacket {
	tb.Helper()
	request := spendOf(tb, address)
	tx := new(wire.MsgTx)
	if err := tx.Deserialize(bytes.NewReader(request.RawTx)); err != nil {
		tb.Fatal(err)
	}
	p := psbt.New(tx, 0)
	p.Inputs[0].PutOutput(psbt.WitnessUTXO, wire.NewTxOut(int64(*request.Prevs[0].Amount), request.Prevs[0].Script))
	return messages.FillPacket{PSBT: p.Encode(), Sign: true}
}

// Signatures in packets are counted on disk before they are given out; those already there are not made again.
func TestPacketsAreCounted(t *testing.T) {
	r := p2mrRig(t, setup{keyPool: 2})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	do(t, r.ref, messages.CreateWallet{Name: "other"})
	ref := r.wallet(t, "w")
	q := packetOf(t, do(t, ref, messages.NewAddress{Type: "p2mr"}))
	if got := do(t, r.wallet(t, "other"), q); got.PSBT != q.PSBT || got.Complete || len(got.PQCKeys) > 0 {
		t.Errorf("another wallet: %+v", got)
	}
	update := q
	update.Sign = false
	updated := do(t, ref, update)
	if p, err := psbt.DecodeP2MR(updated.PSBT); err != nil || !p.Inputs[0].Has(psbt.P2MRLeaf) ||
		p.Inputs[0].Has(psbt.P2MRSig) || updated.Complete || made(t, r, "w") != 0 {
		t.Errorf("only updated: %+v, %v", updated, err)
	}
	signed := do(t, ref, q)
	if len(signed.PQCKeys) != 1 || signed.PQCKeys[0].Made != 1 || signed.Complete || made(t, r, "w") != 1 {
		t.Errorf("signed: %+v", signed)
	}
	q.PSBT, q.Finalize = signed.PSBT, true
	if got := do(t, ref, q); !got.Complete || len(got.PQCKeys) > 0 || got.Tx == nil || made(t, r, "w") != 1 {
		t.Errorf("finalized: %+v", got)
	}
	wrong, err := psbt.DecodeP2MR(signed.PSBT)
	if err != nil {
		t.Fatal(err)
	}
	sig := wrong.Inputs[0].Of(psbt.P2MRSig)[0]
	wrong.Inputs[0].Put(psbt.P2MRSig, sig.Data, append([]byte{sig.Value[0] ^ 1}, sig.Value[1:]...))
	q.PSBT = wrong.Encode()
	_, err = try(t, ref, q)
	refusal(t, err, -25, "Invalid cached P2MR script signature in PSBT input")
	if n := made(t, r, "w"); n != 1 {
		t.Errorf("the file counts %d", n)
	}
	do(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("x")})
	_, err = try(t, ref, q)
	refusal(t, err, -13, "Error: Please enter the wallet passphrase with walletpassphrase first.")
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	q.PSBT = updated.PSBT
	if got := do(t, ref, q); !got.Complete || got.PQCKeys[0].Made != 2 || made(t, r, "w") != 2 {
		t.Errorf("encrypted: %+v", got)
	}
	if err := os.RemoveAll(filepath.Join(r.dir, "w")); err != nil {
		t.Fatal(err)
	}
	if got, err := try(t, ref, q); err == nil {
		t.Errorf("signed without a file: %+v", got)
	}
}

// Keys sign once for a payment, whether it is sent or handed out as a packet, and not at all where the wallet is
// locked.
func TestPaymentsAreCounted(t *testing.T) {
	r := p2mrRig(t, setup{keyPool: 2, pool: emptyPool})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	script := spendOf(t, do(t, ref, messages.NewAddress{Type: "p2mr"})).Prevs[0].Script
	coin := payment(script, 1)
	r.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{{Tx: coin, Added: true}}})
	do(t, r.ref, messages.SyncWallets{})
	q := pay(10_000_000)
	q.Payments[0].Script, q.Sign, q.Send = script, messages.SignSome, false
	check := func(what string, got messages.Spent, complete bool, want uint32) {
		t.Helper()
		if n := made(t, r, "w"); got.Complete != complete || n != want {
			t.Errorf("%s: complete %v, the file counts %d, want %d", what, got.Complete, n, want)
		}
		if told := len(got.PQCKeys) == 1 && got.PQCKeys[0].Made == want; told != complete {
			t.Errorf("%s: it tells of keys %+v", what, got.PQCKeys)
		}
		p, err := psbt.DecodeP2MR(got.PSBT)
		if err != nil {
			t.Fatal(err)
		}
		if p.Final(0) != complete || !complete && (!p.Inputs[0].Has(psbt.P2MRLeaf) || p.Inputs[0].Has(psbt.P2MRSig)) {
			t.Errorf("%s: packet %s", what, got.PSBT)
		}
		if complete && p.Extract().WitnessHash() != got.Tx.WitnessHash() {
			t.Errorf("%s: the packet has other signatures than the transaction", what)
		}
	}
	check("packet", do(t, ref, q), true, 1)
	do(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("x")})
	check("locked", do(t, ref, q), false, 1)
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	q.Send = true
	got := do(t, ref, q)
	if check("sent", got, true, 2); !got.Sent {
		t.Error("not sent")
	}
}

// A foreign output is not signed, and takes no signature.
func TestForeignP2MR(t *testing.T) {
	r := p2mrRig(t, setup{keyPool: 1})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	do(t, r.ref, messages.CreateWallet{Name: "other"})
	request := spendOf(t, do(t, r.wallet(t, "other"), messages.NewAddress{Type: "p2mr"}))
	got := do(t, r.wallet(t, "w"), request)
	if got.Complete || len(got.PQCKeys) > 0 || len(got.Errors) != 1 ||
		got.Errors[0].Text != "Witness program was passed an empty witness" {
		t.Errorf("got %+v", got)
	}
}

// The key pool of a new wallet is filled up later; the first addresses do not
// wait for it, and the same ones come after the wallet was loaded again.
func TestDeferredKeys(t *testing.T) {
	r := p2mrRig(t, setup{keyPool: 20, fill: time.Millisecond})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	var addresses []string
	for range 3 {
		addresses = append(addresses, do(t, ref, messages.NewAddress{Type: "p2mr"}))
	}
	for do(t, ref, messages.GetWalletInfo{}).KeypoolSize < 17 {
		time.Sleep(time.Millisecond)
	}
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	ref = r.wallet(t, "w")
	for _, address := range addresses {
		if info := do(t, ref, messages.GetAddressInfo{Script: spendOf(t, address).Prevs[0].Script}); !info.IsMine {
			t.Errorf("%s is foreign", address)
		}
	}
	waitChecked(t, ref)
	if v := do(t, ref, messages.GetWalletInfo{}).PQC; v.Valid < 34 || v.Failed > 0 {
		t.Errorf("checked: %+v", v)
	}
}

// waitChecked waits until all private keys have been checked.
func waitChecked(tb testing.TB, ref *ask.Ref) {
	tb.Helper()
	for do(tb, ref, messages.GetWalletInfo{}).PQC.Pending > 0 {
		time.Sleep(time.Millisecond)
	}
}

// TestRestoreP2MR restores qbitd's wallets. They sign when their keys have been
// checked.
func TestRestoreP2MR(t *testing.T) {
	for name, passphrase := range map[string]string{
		"signer": "", "default": "", "default-early": "", "encrypted": "quantum", "watch": "", "blank": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content, err := os.ReadFile(filepath.Join(qbitBackups, name+".dat"))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "backup.dat")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			r := p2mrRig(t, setup{keyPool: 16})
			do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
			ref := r.wallet(t, "w")
			if passphrase != "" {
				do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret(passphrase), For: time.Hour})
			}
			if name == "watch" || name == "blank" {
				return
			}
			request := spendOf(t, do(t, ref, messages.NewAddress{Type: "p2mr"}))
			if do(t, ref, messages.GetWalletInfo{}).PQC.Pending > 0 {
				_, err := try(t, ref, request)
				if err != nil {
					refusal(t, err, -4, "Error: plaintext PQC wallet key validation is still in progress. "+
						"Check getwalletinfo.pqc_key_validation before signing or sending.")
				}
				waitChecked(t, ref)
			}
			if got := do(t, ref, request); !got.Complete {
				t.Errorf("not complete: %+v", got.Errors)
			}
		})
	}
}

// TestWrongKey restores a wallet one of whose private keys is not what it should
// be: it signs nothing.
func TestWrongKey(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(qbitBackups, "default-early.dat"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), walletdb.FileName)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	r := p2mrRig(t, setup{keyPool: 16})
	damage(t, path)
	do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	ref := r.wallet(t, "w")
	address := do(t, ref, messages.NewAddress{Type: "p2mr"})
	waitChecked(t, ref)
	if v := do(t, ref, messages.GetWalletInfo{}).PQC; v.Failed != 1 {
		t.Errorf("checked: %+v", v)
	}
	_, err = try(t, ref, spendOf(t, address))
	const failed = "Error: plaintext PQC wallet key validation failed. " +
		"Wallet signing is disabled until the wallet is restored or repaired."
	refusal(t, err, -4, failed)
	before := do(t, ref, messages.GetWalletInfo{}).KeypoolSizeInternal
	for _, sign := range []messages.Signs{messages.SignAll, messages.SignSome} {
		to := messages.Payment{Script: scriptAt(t, address), Amount: 1000}
		_, err = try(t, ref, messages.Spend{Sign: sign, Payments: []messages.Payment{to}})
		refusal(t, err, -4, failed)
	}
	if after := do(t, ref, messages.GetWalletInfo{}).KeypoolSizeInternal; after != before {
		t.Errorf("%d addresses for change are left of %d", after, before)
	}
	_, err = try(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("x")})
	refusal(t, err, -4, "Error: plaintext PQC wallet key validation failed. "+
		"Wallet encryption is disabled until the wallet is restored or repaired.")
}

// damage changes the secret half of one private key in a file.
func damage(tb testing.TB, path string) {
	tb.Helper()
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{})
	if err != nil {
		tb.Fatal(err)
	}
	db, err := walletdb.Open(path, walletdb.Options{Magic: network.Magic})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	records, err := db.Records()
	if err != nil {
		tb.Fatal(err)
	}
	for _, record := range records {
		entry, err := walletfile.Parse(record)
		key, ok := entry.(walletfile.PQCKey)
		if err != nil || !ok {
			continue
		}
		secret := bytes.Clone(key.Secret.Bytes())
		secret[0] ^= 1
		key.Secret = walletfile.NewSecret(secret)
		if err := db.Update(func(b *walletdb.Batch) error { return b.PutEntry(key) }); err != nil {
			tb.Fatal(err)
		}
		return
	}
	tb.Fatal("no private key")
}
