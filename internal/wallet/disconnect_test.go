package wallet_test

import (
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/internal/wallet/txs"
	"github.com/seed61375155/trawl/messages"
)

// A block that leaves the chain may pay to scripts that became the wallet's after it
// was connected. Its payments may be confirmed anew, what its coinbase pays is lost.
func TestDisconnectedBlockConcernsNewScripts(t *testing.T) {
	w, err := wallet.Create(t.Context(), wallet.CreateParams{
		Params: smallPool(t), Blank: true, DisablePrivateKeys: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	from, err := wallet.Create(t.Context(), wallet.CreateParams{Params: smallPool(t), Seed: secretOf(1)})
	if err != nil {
		t.Fatal(err)
	}
	list, err := from.Keys().ListDescriptors(false)
	if err != nil {
		t.Fatal(err)
	}
	item := messages.ImportItem{Desc: string(list[0].Desc), Range: &[2]int64{0, 1}, Timestamp: 1}
	genesis := messages.Tip{Hash: chainhash.Hash{1}}
	w.Txs().SetTip(genesis)

	if _, err := w.Importer().Import([]messages.ImportItem{item}, keys.ImportTimes{}); err != nil {
		t.Fatal(err)
	}
	own := w.Keys().Scripts()
	coinbase := wire.NewMsgTx(2)
	coinbase.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}})
	coinbase.AddTxOut(wire.NewTxOut(5000, own[0]))
	paid, foreign := payment(1, own[1]), payment(2, []byte{0x51})
	block := &txs.Block{BlockRef: txs.BlockRef{Hash: chainhash.Hash{2}, Height: 1, Time: 10, MaxTime: 10}}
	block.Txs = []*wire.MsgTx{coinbase, paid, foreign}

	w.Txs().SetTip(messages.Tip{Hash: block.Hash, Height: 1}) // connected before the import
	if synced := w.Txs().DisconnectBlock(block, genesis, 20); !synced.Changed || len(synced.Scripts) == 0 {
		t.Errorf("the wallet has taken in %+v, want payments, and scripts for those that were used", synced)
	}
	if err := w.Verify(); err != nil {
		t.Error(err)
	}
	if w.Txs().Tip() != genesis {
		t.Errorf("the tip is %v", w.Txs().Tip())
	}
	for name, want := range map[string]struct {
		tx        *wire.MsgTx
		abandoned bool
	}{"coinbase": {coinbase, true}, "payment": {paid, false}} {
		id := want.tx.TxHash()
		got, err := w.Reports().Transaction(&id)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Tx.Confirmations != 0 || got.Tx.Abandoned != want.abandoned {
			t.Errorf("%s: %+v", name, got)
		}
	}
	id := foreign.TxHash()
	if _, err := w.Reports().Transaction(&id); err == nil {
		t.Error("a payment to others is the wallet's")
	}
	if again := w.Txs().Unconfirmed(); len(again) != 1 || again[0] != paid {
		t.Errorf("%d transactions to hand to the pool, want the payment", len(again))
	}
}

// A repeated import moves the reported birth time only if the descriptor was
// active after an earlier import. The blocks that are looked at are those since
// the earliest time of all.
func TestBirthTimeOfRepeatedImports(t *testing.T) {
	for _, test := range []struct {
		name     string
		active   []bool // of the imports, each a day before the last
		reported []int64
	}{
		{"never active", []bool{false, false}, []int64{10 * day, 10 * day}},
		{"active at first", []bool{true, false, false}, []int64{10 * day, 9 * day, 8 * day}},
		{"active later", []bool{false, true, false}, []int64{10 * day, 10 * day, 8 * day}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, err := wallet.Create(t.Context(), wallet.CreateParams{
				Params: smallPool(t), Blank: true, DisablePrivateKeys: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			from, err := wallet.Create(t.Context(), wallet.CreateParams{Params: smallPool(t), Seed: secretOf(1)})
			if err != nil {
				t.Fatal(err)
			}
			list, err := from.Keys().ListDescriptors(false)
			if err != nil {
				t.Fatal(err)
			}
			for i, active := range test.active {
				at := int64(10-i) * day
				item := messages.ImportItem{Desc: string(list[0].Desc), Active: active, Timestamp: at}
				item.Range = &[2]int64{0, 1}
				done, err := w.Importer().Import(
					[]messages.ImportItem{item}, keys.ImportTimes{Tip: 20 * day, Median: 20 * day},
				)
				if err != nil || done.Results[0].Err != nil {
					t.Fatal(err, done)
				}
				w.Importer().EndImport()
				if got := w.Info().Birthtime; got != test.reported[i] {
					t.Errorf("import %d: born %d, want %d", i, got, test.reported[i])
				}
				if got, _ := w.BirthTime(); got != at {
					t.Errorf("import %d: looks at blocks since %d, want %d", i, got, at)
				}
			}
		})
	}
}

const day = 24 * 60 * 60
