package wallets_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/chaintest"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/messages"
)

// A keyWatch counts the private keys of all signings of a network.
type keyWatch struct {
	mu    sync.Mutex
	made  []*rawtx.Signing
	waits int // writes to the disk that were looked at
	held  int // private keys in memory meanwhile
}

func (k *keyWatch) watch(network *dialect.Network) {
	newSigning := network.NewSigning
	network.NewSigning = func(tx *wire.MsgTx, coins map[wire.OutPoint]*wire.TxOut) *rawtx.Signing {
		s := newSigning(tx, coins)
		k.mu.Lock()
		defer k.mu.Unlock()
		k.made = append(k.made, s)
		return s
	}
}

// write is called as the disk is written.
func (k *keyWatch) write() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.made) == 0 { // nothing is being signed
		return nil
	}
	k.waits++
	for _, s := range k.made {
		k.held += len(s.Keys) + len(s.P2MR.Keys)
	}
	return nil
}

// take returns what was counted, and forgets it.
func (k *keyWatch) take() (waits, held int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	waits, held = k.waits, k.held
	k.made, k.waits, k.held = nil, 0, 0
	return waits, held
}

// No private key is in memory while signatures are counted on the disk, whichever way a transaction comes.
func TestNoKeyWaitsForTheDisk(t *testing.T) {
	network, err := dialect.Named("qbit", "regtest", dialect.Choices{AnyOutput: true})
	if err != nil {
		t.Fatal(err)
	}
	var keys keyWatch
	keys.watch(network)
	chain := chaintest.New(network.Params)
	chain.MineN(3)
	r := newRig(t, chain, setup{network: network, noFilters: true, now: genesis, keyPool: 2, fail: keys.write})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	ref := r.wallet(t, "w")
	tx, raw := wire.NewMsgTx(2), new(bytes.Buffer)
	amount := btcutil.Amount(network.Rules.MaxMoney / 10)
	var prevs []messages.PrevOut
	for i, kind := range []string{"bech32", "p2mr", "bech32m"} {
		address := do(t, ref, messages.NewAddress{Type: kind, HasType: true})
		script, err := descriptor.ScriptOfAddress(address, network.Descriptors())
		if err != nil {
			t.Fatal(err)
		}
		tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: uint32(i)}})
		prevs = append(prevs, messages.PrevOut{Index: uint32(i), Script: script, Amount: &amount})
	}
	tx.AddTxOut(wire.NewTxOut(1000, []byte{txscript.OP_TRUE}))
	if err := tx.Serialize(raw); err != nil {
		t.Fatal(err)
	}
	check := func(way string, complete bool) {
		t.Helper()
		if waits, held := keys.take(); !complete || waits == 0 || held > 0 {
			t.Errorf("%s: complete: %v, %d private keys waited for %d writes", way, complete, held, waits)
		}
	}
	do(t, ref, messages.KeypoolRefill{}) // nothing else writes from now on
	keys.take()
	check("transaction", do(t, ref, messages.SignWithWallet{RawTx: raw.Bytes(), Prevs: prevs}).Complete)
	p := psbt.New(tx, 0)
	for i, prev := range prevs {
		p.Inputs[i].PutOutput(psbt.WitnessUTXO, wire.NewTxOut(int64(amount), prev.Script))
	}
	check("packet", do(t, ref, messages.FillPacket{PSBT: p.Encode(), Sign: true, Finalize: true}).Complete)
}
