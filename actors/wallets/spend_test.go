package wallets_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/enginetest"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/messages"
)

// foreign is a script that is nobody's here.
var foreign = append([]byte{0, 20}, bytes.Repeat([]byte{7}, 20)...)

// pay is a request to send an amount, with coins that are not confirmed yet.
func pay(amount btcutil.Amount) messages.Spend {
	rate := int64(2000)
	return messages.Spend{
		Payments: []messages.Payment{{Script: foreign, Amount: amount}}, FeeRate: &rate, Version: 2, Unsafe: true,
		MaxConf: 9_999_999, Sign: messages.SignAll, Send: true,
	}
}

// rich returns a wallet with coins of 1 BTC in the memory pool, one for each type.
func rich(t *testing.T, s setup, types ...string) (*rig, *ask.Ref) {
	t.Helper()
	if s.pool == nil {
		s.pool = func() []messages.PoolTx { return nil }
	}
	r := small(t, s)
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	for i, kind := range types {
		network := s.network
		if network == nil {
			network = enginetest.Regtest(t)
		}
		address := do(t, ref, messages.NewAddress{Type: kind, HasType: true})
		script, err := descriptor.ScriptOfAddress(address, network.Descriptors())
		if err != nil {
			t.Fatal(err)
		}
		tx := payment(script, byte(i+1))
		r.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{{Tx: tx, Added: true}}})
	}
	do(t, r.ref, messages.SyncWallets{})
	return r, ref
}

// Coins of every type are spent, at the rate that was asked for, by a transaction that
// holds against their scripts.
func TestSpend(t *testing.T) {
	types := []string{"legacy", "p2sh-segwit", "bech32", "bech32m"}
	_, ref := rich(t, setup{}, types...)
	before := do(t, ref, messages.ListUnspent{MaxConf: 1, IncludeUnsafe: true})
	q := pay(390_000_000)
	q.Values = map[string]string{"comment": "rent"}
	got := do(t, ref, q)
	if !got.Sent || !got.Complete || got.Tx.TxHash() != got.TxID || len(got.Tx.TxIn) != len(types) {
		t.Fatalf("got %+v", got)
	}
	coins := make(map[wire.OutPoint]*wire.TxOut)
	for _, u := range before {
		coins[wire.OutPoint{Hash: u.TxID, Index: u.Index}] = wire.NewTxOut(int64(u.Amount), u.Script)
	}
	var spent []*wire.TxOut
	fee := int64(0)
	for _, in := range got.Tx.TxIn {
		spent = append(spent, coins[in.PreviousOutPoint])
		fee += coins[in.PreviousOutPoint].Value
	}
	for _, out := range got.Tx.TxOut {
		fee -= out.Value
	}
	if err := rawtx.Verify(got.Tx, spent); err != nil {
		t.Error(err)
	}
	vsize := (int64(got.Tx.SerializeSizeStripped())*3 + int64(got.Tx.SerializeSize()) + 3) / 4
	if fee != int64(got.Fee) || fee < 2*vsize || fee > 2*vsize+8 {
		t.Errorf("fee %d, told %d, for %d virtual bytes", fee, got.Fee, vsize)
	}
	if got.Tx.TxOut[got.Change].Value != 400_000_000-390_000_000-fee {
		t.Errorf("change %d", got.Tx.TxOut[got.Change].Value)
	}
	if kept := do(t, ref, messages.GetTransaction{TxID: got.TxID}); kept.Tx.Comment != "rent" || kept.Fee != -got.Fee {
		t.Errorf("kept %+v", kept)
	}
	if left := do(t, ref, messages.ListUnspent{MaxConf: 1, IncludeUnsafe: true}); len(left) != 0 {
		t.Errorf("left %d coins", len(left))
	}
}

// A coin goes to only one of several payments at the same time, and every payment that
// was answered is in the file.
func TestSpendOnce(t *testing.T) {
	r, ref := rich(t, setup{}, "bech32", "bech32")
	var group sync.WaitGroup
	var mu sync.Mutex
	spent := make(map[wire.OutPoint]chainhash.Hash)
	for range 8 {
		group.Go(func() {
			got, err := try(t, ref, pay(60_000_000))
			if err != nil {
				refusal(t, err, -6, "Insufficient funds")
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for _, in := range got.Tx.TxIn {
				if other, twice := spent[in.PreviousOutPoint]; twice {
					t.Errorf("%v and %v spend the same", other, got.TxID)
				}
				spent[in.PreviousOutPoint] = got.TxID
			}
		})
	}
	group.Wait()
	if len(spent) != 2 {
		t.Fatalf("%d coins are spent, want 2", len(spent))
	}
	copied := filepath.Join(t.TempDir(), "wallets")
	if err := os.CopyFS(copied, os.DirFS(r.dir)); err != nil {
		t.Fatal(err)
	}
	next := small(t, setup{dir: copied})
	do(t, next.ref, messages.LoadWallet{Name: "w"})
	for _, id := range spent {
		do(t, next.wallet(t, "w"), messages.GetTransaction{TxID: id})
	}
}

// A request with the same key is served once, also by the next process; with other
// arguments it is refused.
func TestSpendAgain(t *testing.T) {
	r, ref := rich(t, setup{}, "bech32m", "bech32m")
	q := pay(10_000_000)
	q.Key = &messages.IdempotencyKey{Key: "order 7", Arguments: "a"}
	first := do(t, ref, q)
	other := q
	other.Key = &messages.IdempotencyKey{Key: "order 7", Arguments: "b"}
	check := func(ref *ask.Ref) {
		if again := do(t, ref, q); again.TxID != first.TxID || again.Reason != first.Reason {
			t.Errorf("got %v, want %v", again, first)
		}
		_, err := try(t, ref, other)
		refusal(t, err, -8, "idempotency_key was used with other arguments")
	}
	check(ref)
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	check(r.wallet(t, "w"))
}

// A payment that is asked for again is announced again, by the next process too, until it is given up.
func TestSpendAgainAnnounces(t *testing.T) {
	var mu sync.Mutex
	var announced []chainhash.Hash
	r, ref := rich(t, setup{submitted: func(q messages.SubmitTx) {
		mu.Lock()
		defer mu.Unlock()
		if !q.Quietly {
			announced = append(announced, q.Tx.TxHash())
		}
	}}, "bech32", "bech32")
	q := pay(10_000_000)
	q.Key = &messages.IdempotencyKey{Key: "order 7", Arguments: "a"}
	id := do(t, ref, q).TxID
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	ref = r.wallet(t, "w")
	do(t, ref, q)
	if want := []chainhash.Hash{id, id}; !slices.Equal(announced, want) {
		t.Errorf("announced %v, want %v", announced, want)
	}
	do(t, ref, messages.AbandonTx{TxID: id})
	_, err := try(t, ref, q)
	refusal(t, err, -4, "The payment with this idempotency_key, transaction "+id.String()+
		", was abandoned. Use another idempotency_key to pay again")
	if len(announced) != 2 {
		t.Errorf("announced once given up: %v", announced)
	}
}

// Where the file cannot be written nothing is sent.
func TestSpendFullDisk(t *testing.T) {
	var full atomic.Bool
	_, ref := rich(t, setup{fail: func() error {
		if full.Load() {
			return errors.New("no space left on device")
		}
		return nil
	}}, "bech32")
	full.Store(true)
	if got, err := try(t, ref, pay(10_000_000)); err == nil {
		t.Fatalf("sent %v", got)
	}
	full.Store(false)
	if got := do(t, ref, messages.GetWalletInfo{}); got.TxCount != 1 {
		t.Errorf("%d transactions, want the payment in alone", got.TxCount)
	}
}

func TestSpendRefusals(t *testing.T) {
	r, ref := rich(t, setup{}, "bech32")
	dust := pay(100)
	low := pay(1_000_000)
	low.FeeRate = new(int64(50))
	none := pay(1_000_000)
	none.FeeRate = nil
	foreignInput := pay(1_000_000)
	foreignInput.Inputs = []messages.SpendInput{{At: wire.OutPoint{Hash: chainhash.Hash{9}}}}
	for _, c := range []struct {
		q    messages.Spend
		text string
	}{
		{pay(200_000_000), "Insufficient funds"},
		{dust, "Transaction amount too small"},
		{low, "Fee rate (0.050 sat/vB) is lower than the minimum fee rate setting (1.000 sat/vB)"},
		{none, "Fee estimation failed. Fallbackfee is disabled. Wait a few blocks or enable -fallbackfee."},
		{foreignInput, "Unable to find UTXO for external input"},
	} {
		_, err := try(t, ref, c.q)
		if c.q.Inputs == nil {
			refusal(t, err, -6, c.text)
		} else {
			refusal(t, err, -4, c.text)
		}
	}
	list := do(t, ref, messages.ListUnspent{MaxConf: 1, IncludeUnsafe: true})
	coin := wire.OutPoint{Hash: list[0].TxID, Index: list[0].Index}
	do(t, ref, messages.LockCoins{Coins: []wire.OutPoint{coin}})
	_, err := try(t, ref, pay(1_000_000))
	refusal(t, err, -6, "Insufficient funds")
	_, err = try(t, ref, messages.LockCoins{Coins: []wire.OutPoint{coin}})
	refusal(t, err, -8, "Invalid parameter, output already locked")
	do(t, ref, messages.LockCoins{Unlock: true, All: true})
	do(t, ref, pay(1_000_000))
	_, err = try(t, ref, messages.LockCoins{Coins: []wire.OutPoint{coin}})
	refusal(t, err, -8, "Invalid parameter, expected unspent output")
	do(t, r.ref, messages.CreateWallet{Name: "watches", DisablePrivateKeys: true})
	_, err = try(t, r.wallet(t, "watches"), pay(1_000_000))
	refusal(t, err, -4, "Error: Private keys are disabled for this wallet")
}

// A packet of the wallet's coins is signed by it: at once, or in two steps.
func TestFillPacket(t *testing.T) {
	_, ref := rich(t, setup{}, "legacy", "p2sh-segwit", "bech32", "bech32m")
	q := pay(390_000_000)
	q.Sign, q.Send = messages.SignNothing, false
	tx := do(t, ref, q).Tx
	for _, version := range []uint32{0, 2} {
		fillPacket(t, ref, psbt.New(tx, version))
	}
	_, err := try(t, ref, messages.FillPacket{PSBT: "cHNidP8="})
	refusal(t, err, -22, "TX decode failed Separator is missing at the end of the global map: iostream error")
	apart := psbt.New(tx, 2)
	apart.Inputs[0].Put(psbt.HeightLock, nil, []byte{1, 0, 0, 0})
	apart.Inputs[1].Put(psbt.TimeLock, nil, []byte{0, 0, 0, 0x60})
	for _, sign := range []bool{false, true} {
		_, err := try(t, ref, messages.FillPacket{PSBT: apart.Encode(), Sign: sign})
		refusal(t, err, -25, "The transaction cannot be valid")
	}
}

func fillPacket(t *testing.T, ref *ask.Ref, made *psbt.Packet) {
	t.Helper()
	made.Global.Put(psbt.TxModifiable, nil, []byte{psbt.InputsModifiable | psbt.OutputsModifiable})
	if made.Version == 0 {
		made.Global.Drop(psbt.TxModifiable)
	}
	unsigned := made.Encode()
	known := do(t, ref, messages.FillPacket{PSBT: unsigned, Derivations: true})
	p, err := psbt.Decode(known.PSBT)
	if err != nil || known.Complete || p.Version != made.Version {
		t.Fatalf("complete %v, %v", known.Complete, err)
	}
	var spent []*wire.TxOut
	for i := range p.Inputs {
		spent = append(spent, p.Coin(i))
	}
	final := do(t, ref, messages.FillPacket{PSBT: known.PSBT, Sign: true, Finalize: true})
	if !final.Complete {
		t.Fatal("not complete")
	}
	if err := rawtx.Verify(final.Tx, spent); err != nil {
		t.Error(err)
	}
	signed := do(t, ref, messages.FillPacket{PSBT: known.PSBT, Sign: true})
	if p, err = psbt.Decode(signed.PSBT); err != nil || signed.Complete || p.Final(0) || p.Version != made.Version {
		t.Fatalf("complete %v, %v", signed.Complete, err)
	}
	if flags, ok := p.Global.One(psbt.TxModifiable); ok != (made.Version == 2) || ok && flags[0] != 0 {
		t.Errorf("may be modified: %x", flags)
	}
	newSigning := func(tx *wire.MsgTx, coins map[wire.OutPoint]*wire.TxOut) *rawtx.Signing {
		return rawtx.NewSigning(tx, coins, 21e14, false)
	}
	if !rawtx.NewPacketSigning(p, newSigning).Finalize() {
		t.Error("signatures do not suffice")
	}
	if err := rawtx.Verify(p.Extract(), spent); err != nil {
		t.Error(err)
	}
}
