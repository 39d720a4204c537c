package wallets_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/messages"
)

// begin asks an actor from a goroutine of its own.
func begin[Q messages.Request[R], R any](t *testing.T, ref *ask.Ref, q Q) <-chan error {
	t.Helper()
	answer := make(chan error, 1)
	go func() {
		_, err := try(t, ref, q)
		answer <- err
	}()
	return answer
}

// rawOf is a transaction without inputs of the wallet.
func rawOf(t *testing.T) []byte {
	t.Helper()
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 1}, nil, nil))
	tx.AddTxOut(wire.NewTxOut(1000, foreign))
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	return raw.Bytes()
}

// A payment may panic in its job, or in the actor. All callers of the wallet are answered, answered payments are kept,
// and the next payment is made. A panic of another request may come between a payment and its answer: the caller is
// told of the restart, and the payment is made once or not at all.
func TestPaymentPanics(t *testing.T) {
	network := enginetest.Regtest(t)
	newSigning := network.NewSigning
	var until atomic.Int32
	network.NewSigning = func(tx *wire.MsgTx, coins map[wire.OutPoint]*wire.TxOut) *rawtx.Signing {
		if until.Add(-1) == 0 {
			panic("boom")
		}
		return newSigning(tx, coins)
	}
	coins := slices.Repeat([]string{"bech32"}, 14)
	r, ref := pooled(t, setup{network: network}, coins...)
	sent, unsure, restarted := 0, 0, 0
	for n := range int32(6) {
		until.Store(n + 1)
		answers := []<-chan error{
			begin(t, ref, pay(1_000_000)), begin(t, ref, pay(2_000_000)),
			begin(t, ref, messages.SignWithWallet{RawTx: rawOf(t)}), begin(t, ref, messages.NewAddress{Label: "more"}),
		}
		for i, answer := range answers {
			err := <-answer
			switch {
			case err == nil && i < 2:
				sent++
			case errors.Is(err, ask.ErrRestarted):
				if restarted++; i < 2 {
					unsure++
				}
			case err != nil:
				t.Errorf("panic %d: request %d: %v", n+1, i, err)
			}
		}
		until.Store(0)
		do(t, r.ref, messages.SyncWallets{})
	}
	if restarted < 3 {
		t.Errorf("%d requests were answered by a panic: the test says nothing", restarted)
	}
	do(t, ref, pay(1_000_000))
	out := do(t, ref, messages.GetWalletInfo{}).TxCount - len(coins) - 1
	if out < sent || out > sent+unsure {
		t.Errorf("%d payments before the last, of which %d were answered and %d may be there", out, sent, unsure)
	}
}

// A wallet that stops while a payment waits for the memory pool answers this payment and those behind it, and has
// paid nothing.
func TestStopWhilePaying(t *testing.T) {
	asked := make(chan struct{}, 16)
	r, ref := rich(t, setup{front: func(r *rig, pool *ask.Ref) *ask.Ref {
		return r.sys.Spawn("front", func() actor.Actor {
			return actor.ReceiveFunc(func(c actor.Context) {
				switch m := c.Message().(type) {
				case *ask.Call[messages.GetPoolClusters, messages.PoolClusters]:
					asked <- struct{}{} // and never answered
				case *ask.Call[messages.GetPoolTxs, messages.PoolTxs]:
					m.Answer(messages.PoolTxs{}, nil)
				default:
					ask.Unhandled(c)
				}
			})
		})
	}}, "bech32", "bech32")
	answers := []<-chan error{begin(t, ref, pay(1_000_000))}
	<-asked
	answers = append(answers, begin(t, ref, pay(2_000_000)), begin(t, ref, messages.SetPayFee{Rate: 5000}))
	<-asked // for the fee: it waits for no payment
	do(t, ref, messages.NewAddress{Label: "meanwhile"})
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	for i, answer := range answers {
		if err := <-answer; !errors.Is(err, ask.ErrStopped) {
			t.Errorf("request %d: %v, want %v", i, err, ask.ErrStopped)
		}
	}
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	if got := do(t, r.wallet(t, "w"), messages.GetWalletInfo{}).TxCount; got != 2 {
		t.Errorf("%d transactions, want two in", got)
	}
}

// A panic of a write, and of the last step of a locking, is answered. A wallet that was being locked is locked
// afterwards.
func TestWorkPanics(t *testing.T) {
	var boom atomic.Bool
	panics := func() {
		if boom.CompareAndSwap(true, false) {
			panic("boom")
		}
	}
	r := small(t, setup{forget: panics, fail: func() error { panics(); return nil }})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	do(t, ref, messages.NewAddress{Label: "kept"})
	do(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("x")})
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	boom.Store(true)
	if _, err := try(t, ref, messages.NewAddress{Label: "lost"}); !errors.Is(err, ask.ErrRestarted) {
		t.Errorf("writing: %v", err)
	}
	if got := do(t, ref, messages.ListLabels{}); len(got) != 1 || got[0] != "kept" {
		t.Errorf("labels %q", got)
	}
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	boom.Store(true)
	if _, err := try(t, ref, messages.LockWallet{}); !errors.Is(err, ask.ErrRestarted) {
		t.Errorf("locking: %v", err)
	}
	_, err := try(t, ref, messages.ListDescriptors{Private: true})
	refusal(t, err, -13, "Error: Please enter the wallet passphrase with walletpassphrase first.")
	do(t, ref, messages.BackupWallet{Path: filepath.Join(t.TempDir(), "copy.dat")})
}

// A wallet that is unloaded while passphrases are tried answers all of them, and the next one finds its keys.
func TestUnloadWhileUnlocking(t *testing.T) {
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "w", Passphrase: messages.Secret("x")})
	ref := r.wallet(t, "w")
	answers := []<-chan error{
		begin(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour}),
		begin(t, ref, messages.ChangePassphrase{Old: messages.Secret("x"), New: messages.Secret("y")}),
		begin(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("wrong"), For: time.Hour}),
	}
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	changed := false
	for i, answer := range answers {
		err := <-answer
		var refused *messages.WalletError
		if err != nil && !errors.Is(err, ask.ErrStopped) && (!errors.As(err, &refused) || refused.Code != -14) {
			t.Errorf("request %d: %v", i, err)
		}
		changed = changed || i == 1 && err == nil
	}
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	_, err := try(t, r.wallet(t, "w"), messages.UnlockWallet{Passphrase: messages.Secret("y"), For: time.Hour})
	if changed && err != nil {
		t.Errorf("the new passphrase: %v", err)
	}
	if err != nil {
		do(t, r.wallet(t, "w"), messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	}
}
