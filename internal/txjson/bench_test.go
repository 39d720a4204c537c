package txjson

import (
	"bytes"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
)

// usual returns a transaction as most are: it spends two P2WPKH outputs and makes one, and
// one of P2TR.
func usual() (*wire.MsgTx, []chainview.Coin) {
	tx := wire.NewMsgTx(2)
	var spent []chainview.Coin
	wpkh := append([]byte{0, 20}, bytes.Repeat([]byte{7}, 20)...)
	for n := range uint32(2) {
		in := wire.TxIn{PreviousOutPoint: wire.OutPoint{Index: n}, Sequence: wire.MaxTxInSequenceNum - 2}
		in.Witness = wire.TxWitness{bytes.Repeat([]byte{0x30}, 71), bytes.Repeat([]byte{2}, 33)}
		tx.TxIn = append(tx.TxIn, &in)
		spent = append(spent, chainview.Coin{Script: wpkh, Value: 1e8, Height: 1000})
	}
	tx.AddTxOut(wire.NewTxOut(12345678, wpkh))
	tx.AddTxOut(wire.NewTxOut(9876, append([]byte{0x51, 32}, bytes.Repeat([]byte{3}, 32)...)))
	return tx, spent
}

// BenchmarkTx asks what a transaction in a block costs that getblock shows.
func BenchmarkTx(b *testing.B) {
	tx, spent := usual()
	p := &Printer{Net: descriptor.NetworkOf(&chaincfg.MainNetParams), WitnessScale: 4}
	for name, show := range map[string]bool{"verbosity=2": false, "verbosity=3": true} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				var err error
				dst, err = jsontree.Append(dst[:0], p.Tx(tx, Options{Spent: spent, ShowSpent: show, Hex: true}))
				if err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(dst)))
		})
	}
}
