package wallets_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/messages"
)

// Several P2MR descriptors of a wallet sign one transaction with one signature each that is counted, whether it is
// given as it is or in a packet. An input of others takes none; without its signature the transaction is not
// complete, and with it it is.
func TestManyP2MRSign(t *testing.T) {
	r := p2mrRig(t, setup{keyPool: 1})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	do(t, r.ref, messages.CreateWallet{Name: "other"})
	ref, other := r.wallet(t, "w"), r.wallet(t, "other")
	tx := wire.NewMsgTx(2)
	var prevs []messages.PrevOut
	amount := btcutil.Amount(p2mrNetwork(t).Rules.MaxMoney / 10)
	for i, address := range []string{
		do(t, ref, messages.NewAddress{Type: "p2mr"}), do(t, other, messages.NewAddress{Type: "p2mr"}),
		do(t, ref, messages.NewAddress{Type: "p2mr", Change: true}),
	} {
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: uint32(i)}})
		prevs = append(prevs, messages.PrevOut{Index: uint32(i), Script: scriptAt(t, address), Amount: &amount})
	}
	tx.AddTxOut(wire.NewTxOut(1000, []byte{0x51}))
	request := func(raw []byte) messages.SignWithWallet { return messages.SignWithWallet{RawTx: raw, Prevs: prevs} }
	var raw bytes.Buffer
	if err := tx.Serialize(&raw); err != nil {
		t.Fatal(err)
	}
	counted := func(what, wallet string, keys []messages.PQCUse, want int, sum uint32) {
		t.Helper()
		if n := made(t, r, wallet); len(keys) != want || n != sum {
			t.Errorf("%s: keys %+v, want %d; the file counts %d, want %d", what, keys, want, n, sum)
		}
	}
	own := do(t, ref, request(raw.Bytes()))
	counted("two descriptors", "w", own.PQCKeys, 2, 2)
	if own.Complete || len(own.Errors) != 1 || own.Errors[0].Index != 1 {
		t.Errorf("without the other's signature: %v, %+v", own.Complete, own.Errors)
	}
	all := do(t, other, request(own.RawTx))
	counted("the other", "other", all.PQCKeys, 1, 1)
	if !all.Complete {
		t.Errorf("the signatures that were there do not count: %+v", all.Errors)
	}
	theirs := do(t, other, request(raw.Bytes()))
	counted("the other alone", "other", theirs.PQCKeys, 1, 2)
	both := do(t, ref, request(theirs.RawTx))
	counted("with the other's signature", "w", both.PQCKeys, 2, 4)
	if !both.Complete {
		t.Errorf("with the other's signature: %+v", both.Errors)
	}
	if again := do(t, ref, request(both.RawTx)); !again.Complete || len(again.PQCKeys) > 0 {
		t.Errorf("signed before: %v, keys %+v", again.Complete, again.PQCKeys)
	}

	p := psbt.New(tx, 0)
	for i := range p.Inputs {
		p.Inputs[i].PutOutput(psbt.WitnessUTXO, wire.NewTxOut(int64(amount), prevs[i].Script))
	}
	first := do(t, ref, messages.FillPacket{PSBT: p.Encode(), Sign: true, Finalize: true})
	counted("packet", "w", first.PQCKeys, 2, 6)
	last := do(t, other, messages.FillPacket{PSBT: first.PSBT, Sign: true, Finalize: true})
	counted("packet of the other", "other", last.PQCKeys, 1, 3)
	if first.Complete || !last.Complete || last.Tx == nil {
		t.Errorf("complete %v, then %v", first.Complete, last.Complete)
	}
}

// A wallet is unlocked before its key pools are full: they are filled up in the background. Addresses that are
// given out from these pools are on disk.
func TestUnlockWaitsForNoKeys(t *testing.T) {
	const keyPool = 1000 // seconds of work
	r := p2mrRig(t, setup{keyPool: keyPool, fill: time.Hour})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	do(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("x")})
	few := do(t, ref, messages.GetWalletInfo{}).KeypoolSize
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	if n := do(t, ref, messages.GetWalletInfo{}).KeypoolSize; n >= keyPool {
		t.Errorf("%d keys when the wallet is unlocked", n)
	}
	for do(t, ref, messages.GetWalletInfo{}).KeypoolSize <= few {
		time.Sleep(time.Millisecond)
	}
	address := do(t, ref, messages.NewAddress{Type: "p2mr"})
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	if info := do(t, r.wallet(t, "w"), messages.GetAddressInfo{Script: scriptAt(t, address)}); !info.IsMine {
		t.Errorf("%s is foreign", address)
	}
}
