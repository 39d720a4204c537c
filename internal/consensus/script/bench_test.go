package script

import (
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// benchSpend signs a transaction with so many inputs of one kind.
func benchSpend(tb testing.TB, kind string, inputs int) (*wire.MsgTx, []*wire.TxOut, *txscript.MultiPrevOutFetcher) {
	tb.Helper()
	private, public := btcec.PrivKeyFromBytes(append(make([]byte, 31), 7))
	hash := btcutil.Hash160(public.SerializeCompressed())
	var pkScript []byte
	switch kind {
	case "p2pkh":
		pkScript = append(append([]byte{opDup, opHash160, 20}, hash...), opEqualVerify, opCheckSig)
	case "p2wpkh":
		pkScript = append([]byte{0, 20}, hash...)
	case "p2tr":
		var err error
		if pkScript, err = txscript.PayToTaprootScript(txscript.ComputeTaprootKeyNoScript(public)); err != nil {
			tb.Fatal(err)
		}
	}
	tx := wire.NewMsgTx(2)
	known := txscript.NewMultiPrevOutFetcher(nil)
	var spent []*wire.TxOut
	for i := range inputs {
		at := wire.OutPoint{Index: uint32(i)}
		tx.AddTxIn(wire.NewTxIn(&at, nil, nil))
		out := wire.NewTxOut(int64(1000+i), pkScript)
		known.AddPrevOut(at, out)
		spent = append(spent, out)
	}
	tx.AddTxOut(wire.NewTxOut(1000, pkScript))
	tx.AddTxOut(wire.NewTxOut(1000, pkScript))
	hashes := txscript.NewTxSigHashes(tx, known)
	for i, in := range tx.TxIn {
		var err error
		value := spent[i].Value
		switch kind {
		case "p2pkh":
			in.SignatureScript, err = txscript.SignatureScript(tx, i, pkScript, txscript.SigHashAll, private, true)
		case "p2wpkh":
			in.Witness, err = txscript.WitnessSignature(
				tx, hashes, i, value, pkScript, txscript.SigHashAll, private, true,
			)
		case "p2tr":
			in.Witness, err = txscript.TaprootWitnessSignature(
				tx, hashes, i, value, pkScript, txscript.SigHashDefault, private)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return tx, spent, known
}

// BenchmarkVerify is the time of one transaction, beside that of txscript.
func BenchmarkVerify(b *testing.B) {
	for _, kind := range []string{"p2pkh", "p2wpkh", "p2tr"} {
		for _, inputs := range []int{1, 50} {
			tx, spent, known := benchSpend(b, kind, inputs)
			b.Run(fmt.Sprintf("%s/%d/script", kind, inputs), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					s := NewSpend(tx, spent)
					for i := range tx.TxIn {
						if err := s.VerifyInput(i, Standard); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
			b.Run(fmt.Sprintf("%s/%d/txscript", kind, inputs), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					hashes := txscript.NewTxSigHashes(tx, known)
					for i, out := range spent {
						e, err := txscript.NewEngine(
							out.PkScript, tx, i, txscript.StandardVerifyFlags, nil, hashes, out.Value, known,
						)
						if err != nil {
							b.Fatal(err)
						}
						if err := e.Execute(); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
	}
}
