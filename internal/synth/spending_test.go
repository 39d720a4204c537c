package synth_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/synth"
)

// TestSpending executes every script of the chains with btcd.
func TestSpending(t *testing.T) {
	for _, chain := range []synth.Spending{
		{Seed: 1, Blocks: 140, Txs: 3},
		{Seed: 2, Blocks: 104, Txs: 8, Signed: true},
	} {
		var file bytes.Buffer
		n, err := chain.WriteTo(&file)
		if err != nil || n != int64(file.Len()) {
			t.Fatalf("%d bytes of %d, %v", n, file.Len(), err)
		}
		params := &chaincfg.RegressionNetParams
		outs := txscript.NewMultiPrevOutFetcher(nil)
		prev, inputs := *params.GenesisHash, 0
		for height := int32(1); file.Len() > 0; height++ {
			head := file.Next(8)
			block, err := btcutil.NewBlockFromBytes(file.Next(int(binary.LittleEndian.Uint32(head[4:]))))
			if err != nil {
				t.Fatalf("height %d: %v", height, err)
			}
			if err := blockchain.CheckBlockSanity(block, params.PowLimit, blockchain.NewMedianTime()); err != nil {
				t.Fatalf("height %d: %v", height, err)
			}
			if err := blockchain.ValidateWitnessCommitment(block); err != nil {
				t.Fatalf("height %d: %v", height, err)
			}
			got, err := blockchain.ExtractCoinbaseHeight(block.Transactions()[0])
			if err != nil || got != height || block.MsgBlock().Header.PrevBlock != prev {
				t.Fatalf("height %d: %d, %v", height, got, err)
			}
			prev = *block.Hash()
			for _, tx := range block.MsgBlock().Transactions {
				if !blockchain.IsCoinBaseTx(tx) {
					execute(t, tx, outs)
					inputs += len(tx.TxIn)
				}
				id := tx.TxHash()
				for i, out := range tx.TxOut {
					outs.AddPrevOut(wire.OutPoint{Hash: id, Index: uint32(i)}, out)
				}
			}
		}
		if want := (chain.Blocks - 100) * chain.Txs * 2; inputs != want {
			t.Errorf("%d inputs, want %d", inputs, want)
		}
	}
}

func execute(t *testing.T, tx *wire.MsgTx, outs *txscript.MultiPrevOutFetcher) {
	t.Helper()
	hashes := txscript.NewTxSigHashes(tx, outs)
	for i, in := range tx.TxIn {
		out := outs.FetchPrevOutput(in.PreviousOutPoint)
		vm, err := txscript.NewEngine(out.PkScript, tx, i, txscript.StandardVerifyFlags, nil, hashes, out.Value, outs)
		if err == nil {
			err = vm.Execute()
		}
		if err != nil {
			t.Errorf("input %d of %v: %v", i, tx.TxHash(), err)
		}
	}
}
