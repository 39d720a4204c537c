package wallets_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
)

// A wallet has seen every block that a client may have heard of.
func TestFollowsTheChain(t *testing.T) {
	chain := newChain()
	chain.MineN(5)
	r := newRig(t, chain, setup{noFilters: true, keyPool: 2, now: genesis})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	script := scriptOf(t, do(t, ref, messages.NewAddress{Type: "bech32"}))
	fork := chain.Active().Tip()
	for range 3 {
		chain.Mine(chaintest.Template{Script: script}) // not announced
		tip := chain.Active().Tip()
		info := do(t, ref, messages.GetWalletInfo{})
		if info.LastProcessedHash != tip.Hash || info.TxCount != int(tip.Height-fork.Height) {
			t.Errorf("after height %d: %+v", tip.Height, info)
		}
	}
	on := fork
	for range 5 {
		on = chain.MineOn(on, chaintest.Template{})
	}
	if got := do(t, ref, messages.GetBalances{}); got.Immature != 0 || got.Last.Hash != on.Hash {
		t.Errorf("after the reorganisation: %+v", got)
	}
	chain.MineN(200) // more than a batch
	if got := do(t, ref, messages.GetBalances{}); got.Last.Height != 210 {
		t.Errorf("after many blocks: %+v", got)
	}
}

func scriptOf(tb testing.TB, address string) []byte {
	tb.Helper()
	script, err := descriptor.ScriptOfAddress(address, descriptor.NetworkOf(&chaincfg.RegressionNetParams))
	if err != nil {
		tb.Fatal(err)
	}
	return script
}

// Acknowledged changes are in the file when the process has gone without a
// word: concurrent requests are answered when their changes are on disk.
func TestAcknowledgedIsWritten(t *testing.T) {
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	var mu sync.Mutex
	var labels []string
	var group sync.WaitGroup
	for n := range 20 {
		group.Go(func() {
			label := fmt.Sprintf("label %02d", n)
			if _, err := try(t, ref, messages.NewAddress{Label: label}); err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			labels = append(labels, label)
		})
	}
	group.Wait()
	// A copy of the file as it is on disk, with its journal.
	dir := filepath.Join(t.TempDir(), "copy")
	for _, name := range files(t, filepath.Join(r.dir, "w")) {
		content, err := os.ReadFile(filepath.Join(r.dir, "w", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(dir, "w"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "w", name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other := small(t, setup{dir: dir})
	do(t, other.ref, messages.LoadWallet{Name: "w"})
	slices.Sort(labels)
	if got := do(t, other.wallet(t, "w"), messages.ListLabels{}); !slices.Equal(got, labels) {
		t.Errorf("got %q, want %q", got, labels)
	}
}

// clumsyReader panics when blocks are looked up, as often as it is told to.
type clumsyReader struct {
	chainview.Reader
	times *atomic.Int32
}

func (r clumsyReader) Lookup(hash *chainhash.Hash) *chainview.Block {
	if r.times.Add(-1) >= 0 {
		panic("boom")
	}
	return r.Reader.Lookup(hash)
}

// A panic of a wallet's actor is answered at once, and the next request finds
// the wallet as it was last written.
func TestWalletFails(t *testing.T) {
	chain := newChain()
	chain.MineN(5)
	var clumsy atomic.Int32
	r := newRig(t, clumsyReader{chain, &clumsy}, setup{noFilters: true, keyPool: 2, now: genesis})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	do(t, ref, messages.NewAddress{Label: "kept"})
	height := int32(5)
	for failed := 0; failed < 3; {
		chain.MineN(1)
		height++
		clumsy.Store(1)
		_, err := try(t, ref, messages.GetBalances{})
		switch {
		case errors.Is(err, ask.ErrRestarted):
			failed++
		case err != nil, height > 30:
			t.Fatalf("got %v at height %d", err, height)
		default: // what the wallet did after it had started failed instead
		}
		if got := do(t, ref, messages.ListLabels{}); !slices.Equal(got, []string{"kept"}) {
			t.Errorf("labels %q", got)
		}
	}
	if got := do(t, ref, messages.GetBalances{}); got.Last.Height != height {
		t.Errorf("%+v", got)
	}
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
}

// A wallet that fails again and again is given up, and the others live on. Its
// file is as it was.
func TestWalletFailsTooOften(t *testing.T) {
	chain := newChain()
	chain.MineN(5)
	var clumsy atomic.Int32
	r := newRig(t, clumsyReader{chain, &clumsy}, setup{noFilters: true, keyPool: 2, now: genesis})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	do(t, r.ref, messages.CreateWallet{Name: "other"})
	ref := r.wallet(t, "w")
	do(t, ref, messages.NewAddress{Label: "kept"})
	do(t, r.wallet(t, "other"), messages.GetBalances{}) // it looks nothing up any more
	chain.MineN(1)
	clumsy.Store(1000)
	if _, err := try(t, ref, messages.GetBalances{}); !errors.Is(err, ask.ErrRestarted) {
		t.Errorf("got %v", err)
	}
	<-ref.Done()
	clumsy.Store(0)
	for r.directory.Lookup("w") != nil { // until the registry has noticed
		do(t, r.ref, messages.GetLoading{})
	}
	if names := r.directory.Names(); !slices.Equal(names, []string{"other"}) {
		t.Errorf("loaded: %q", names)
	}
	do(t, r.wallet(t, "other"), messages.GetBalances{})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	if got := do(t, r.wallet(t, "w"), messages.ListLabels{}); !slices.Equal(got, []string{"kept"}) {
		t.Errorf("labels %q", got)
	}
}

// A panic while a wallet is being restored fails the restoring, and leaves
// nothing behind.
func TestRestoringFails(t *testing.T) {
	path, _ := maker(t, 2)
	chain := newChain()
	chain.MineN(50)
	r := newRig(t, chain, setup{keyPool: 2, now: genesis, source: func(match.Source) match.Source { return broken{} }})
	_, err := try(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	refusal(t, err, -4, "Wallet loading failed. "+ask.ErrRestarted.Error())
	if left := files(t, r.dir); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

type broken struct{}

func (broken) View() match.View { panic("boom") }

// Keys come and go with the passphrase and the time.
func TestPassphrase(t *testing.T) {
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	_, err := try(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	refusal(t, err, -15, "Error: running with an unencrypted wallet, but walletpassphrase was called.")
	_, err = try(t, ref, messages.EncryptWallet{})
	refusal(t, err, -8, "passphrase cannot be empty")
	do(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("first")})
	_, err = try(t, ref, messages.ListDescriptors{Private: true})
	refusal(t, err, -13, "Error: Please enter the wallet passphrase with walletpassphrase first.")
	_, err = try(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("wrong"), For: time.Hour})
	refusal(t, err, -14, "Error: The wallet passphrase entered was incorrect.")
	do(t, ref, messages.ChangePassphrase{Old: messages.Secret("first"), New: messages.Secret("second")})
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("second"), For: time.Hour})
	if info := do(t, ref, messages.GetWalletInfo{}); !info.UnlockedUntil.Equal(genesis.Add(time.Hour)) {
		t.Errorf("unlocked until %v", info.UnlockedUntil)
	}
	want := do(t, ref, messages.ListDescriptors{Private: true})
	do(t, ref, messages.LockWallet{})
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("second"), For: time.Millisecond})
	for do(t, ref, messages.GetWalletInfo{}).UnlockedUntil != (time.Time{}) {
	}
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	ref = r.wallet(t, "w")
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("second"), For: time.Hour})
	got := do(t, ref, messages.ListDescriptors{Private: true})
	if len(got) != len(want) || !bytes.Equal(got[0].Desc, want[0].Desc) {
		t.Error("other descriptors after loading")
	}
}

// A backup is a wallet like any other.
func TestBackup(t *testing.T) {
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	do(t, ref, messages.NewAddress{Label: "there"})
	do(t, ref, messages.KeypoolRefill{}) // as loading does
	dir := t.TempDir()
	do(t, ref, messages.BackupWallet{Path: filepath.Join(dir, "copy.dat")})
	for _, path := range []string{
		filepath.Join(r.dir, "w", "wallet.dat"), dir, filepath.Join(dir, "no", "such", "dir"),
	} {
		_, err := try(t, ref, messages.BackupWallet{Path: path})
		refusal(t, err, -4, "Error: Wallet backup failed!")
	}
	do(t, ref, messages.BackupWallet{}) // as in Core, to nowhere
	do(t, r.ref, messages.RestoreWallet{Name: "v", Backup: filepath.Join(dir, "copy.dat")})
	same(t, stateOf(t, r.wallet(t, "v")), stateOf(t, ref))
}

// Inputs of the wallet are signed, whatever the type of their address.
func TestSign(t *testing.T) {
	chain := newChain()
	r := newRig(t, chain, setup{noFilters: true, keyPool: 2, now: genesis})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	tx := wire.NewMsgTx(2)
	tx.AddTxOut(wire.NewTxOut(1000, []byte{txscript.OP_TRUE}))
	coins := txscript.NewMultiPrevOutFetcher(nil)
	for _, kind := range []string{"legacy", "p2sh-segwit", "bech32", "bech32m"} {
		script := scriptOf(t, do(t, ref, messages.NewAddress{Type: kind}))
		b := chain.Mine(chaintest.Template{Script: script})
		at := wire.OutPoint{Hash: coinbaseOf(chain, b)}
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: at})
		coins.AddPrevOut(at, blockOf(chain, b).Transactions[0].TxOut[0])
	}
	do(t, ref, messages.GetBalances{}) // it has seen the blocks
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	got := do(t, ref, messages.SignWithWallet{RawTx: raw.Bytes()})
	if !got.Complete || len(got.Errors) > 0 {
		t.Errorf("not complete: %+v", got.Errors)
	}
	var signed wire.MsgTx
	if err := signed.Deserialize(bytes.NewReader(got.RawTx)); err != nil {
		t.Fatal(err)
	}
	hashes := txscript.NewTxSigHashes(&signed, coins)
	for i, in := range signed.TxIn {
		coin := coins.FetchPrevOutput(in.PreviousOutPoint)
		vm, err := txscript.NewEngine(
			coin.PkScript, &signed, i, txscript.StandardVerifyFlags, nil, hashes, coin.Value, coins,
		)
		if err != nil {
			t.Fatal(err)
		}
		if err := vm.Execute(); err != nil {
			t.Errorf("input %d: %v", i, err)
		}
	}
	tx.TxIn[0].PreviousOutPoint.Hash[0]++
	raw.Reset()
	if err := tx.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	got = do(t, ref, messages.SignWithWallet{RawTx: raw.Bytes()})
	if got.Complete || len(got.Errors) == 0 || got.Errors[0].Text != "Input not found or already spent" {
		t.Errorf("a foreign input: %+v", got.Errors)
	}
}

// BenchmarkSign signs a transaction with many inputs, each of which spends an output of another key.
func BenchmarkSign(b *testing.B) {
	const inputs = 1000
	r := small(b, setup{keyPool: inputs})
	do(b, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(b, "w")
	tx := wire.NewMsgTx(2)
	var prevs []messages.PrevOut
	for i := range inputs {
		script := scriptOf(b, do(b, ref, messages.NewAddress{Type: "bech32"}))
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: uint32(i)}, nil, nil))
		amount := btcutil.Amount(1_000_000)
		prevs = append(prevs, messages.PrevOut{Index: uint32(i), Script: script, Amount: &amount})
	}
	tx.AddTxOut(wire.NewTxOut(1000, foreign))
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		b.Fatal(err)
	}
	q := messages.SignWithWallet{RawTx: raw.Bytes(), Prevs: prevs}
	b.ResetTimer()
	for b.Loop() {
		if got := do(b, ref, q); !got.Complete {
			b.Fatal(got.Errors[0])
		}
	}
}
