package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
)

// snapshotHeight is the height of a snapshot that every regtest knows.
const snapshotHeight = 200

// payToAnyone is P2WSH of OP_TRUE.
var payToAnyone = func() (script [34]byte) {
	hash := sha256.Sum256([]byte{txscript.OP_TRUE})
	script[1] = sha256.Size
	copy(script[2:], hash[:])
	return script
}()

// SnapshotChain returns the blocks, in hex and from height 1 on, of the only chain whose unspent
// outputs at height 200 every regtest knows (kernel/chainparams.cpp of Bitcoin Core). Each block has
// only a coinbase, which pays to a script that anybody may spend from. Each follows the block before by
// a second.
func SnapshotChain(tb testing.TB) (blocks []string) {
	tb.Helper()
	net := &chaincfg.RegressionNetParams
	last := net.GenesisBlock.Header
	for height := int64(1); height <= snapshotHeight; height++ {
		script, err := txscript.NewScriptBuilder().AddInt64(height).AddOp(txscript.OP_0).Script()
		if err != nil {
			tb.Fatal(err)
		}
		coinbase := wire.NewMsgTx(2)
		coinbase.AddTxIn(&wire.TxIn{
			PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, SignatureScript: script,
			Sequence: wire.MaxTxInSequenceNum - 1,
		})
		coinbase.AddTxOut(wire.NewTxOut(subsidy(height), payToAnyone[:]))
		coinbase.LockTime = uint32(height - 1)
		block := wire.NewMsgBlock(&wire.BlockHeader{
			Version: 4, PrevBlock: last.BlockHash(), MerkleRoot: coinbase.TxHash(),
			Timestamp: last.Timestamp.Add(time.Second), Bits: last.Bits,
		})
		for !solved(&block.Header) {
			block.Header.Nonce++
		}
		if err := block.AddTransaction(coinbase); err != nil {
			tb.Fatal(err)
		}
		var raw bytes.Buffer
		if err := block.Serialize(&raw); err != nil {
			tb.Fatal(err)
		}
		blocks = append(blocks, hex.EncodeToString(raw.Bytes()))
		last = block.Header
	}
	return blocks
}

// subsidy is what a block of regtest may create, in satoshis.
func subsidy(height int64) int64 { return 50_0000_0000 >> (height / 150) }

// solved reports whether a header has the proof of work of regtest, as good as always: half of all hashes.
func solved(h *wire.BlockHeader) bool {
	hash := h.BlockHash()
	return hash[len(hash)-1] < 0x80
}
