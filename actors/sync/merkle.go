package sync

import (
	"bytes"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
)

// belongs reports whether the transactions of a block are those that its header
// commits to, and their witnesses those that its coinbase does. Any other fault
// of the block is a fault of its header, too.
func belongs(block *wire.MsgBlock, segwit bool) bool {
	if len(block.Transactions) == 0 {
		return false
	}
	ids := make([]chainhash.Hash, len(block.Transactions))
	for i, tx := range block.Transactions {
		ids[i] = tx.TxHash()
	}
	root, ambiguous := merkleRoot(ids)
	if ambiguous || root != block.Header.MerkleRoot {
		return false
	}
	if !consensus.IsCoinbase(block.Transactions[0]) {
		// Other faults of the block do not matter, but a transaction of 64 bytes
		// may be taken for two hashes of the tree.
		return !slices.ContainsFunc(
			block.Transactions, func(tx *wire.MsgTx) bool { return tx.SerializeSizeStripped() == 64 },
		)
	}
	return witnessesBelong(block, segwit)
}

// merkleRoot also reports whether another list of hashes has the same root
// (CVE-2012-2459).
func merkleRoot(level []chainhash.Hash) (root chainhash.Hash, ambiguous bool) {
	for len(level) > 1 {
		for i := 0; i+1 < len(level); i += 2 {
			ambiguous = ambiguous || level[i] == level[i+1]
		}
		if len(level)%2 == 1 {
			level = append(level, level[len(level)-1])
		}
		next := make([]chainhash.Hash, len(level)/2)
		for i := range next {
			var pair [2 * chainhash.HashSize]byte
			copy(pair[:], level[2*i][:])
			copy(pair[chainhash.HashSize:], level[2*i+1][:])
			next[i] = chainhash.DoubleHashH(pair[:])
		}
		level = next
	}
	return level[0], ambiguous
}

// commitmentStart begins the script that commits to the witnesses (BIP141).
var commitmentStart = []byte{0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed}

func witnessesBelong(block *wire.MsgBlock, segwit bool) bool {
	commitment := commitmentOf(block.Transactions[0])
	if !segwit || commitment == nil {
		for _, tx := range block.Transactions {
			if tx.HasWitness() {
				return false
			}
		}
		return true
	}
	coinbase := block.Transactions[0]
	if len(coinbase.TxIn) == 0 || len(coinbase.TxIn[0].Witness) != 1 ||
		len(coinbase.TxIn[0].Witness[0]) != chainhash.HashSize {
		return false
	}
	ids := make([]chainhash.Hash, len(block.Transactions)) // the coinbase counts as zeros
	for i, tx := range block.Transactions[1:] {
		ids[i+1] = tx.WitnessHash()
	}
	root, _ := merkleRoot(ids)
	want := chainhash.DoubleHashB(append(root[:], coinbase.TxIn[0].Witness[0]...))
	return bytes.Equal(want, commitment)
}

// commitmentOf returns what the last output of a kind commits to, nil when there is
// none.
func commitmentOf(coinbase *wire.MsgTx) []byte {
	for i := len(coinbase.TxOut) - 1; i >= 0; i-- {
		script := coinbase.TxOut[i].PkScript
		if len(script) >= len(commitmentStart)+chainhash.HashSize && bytes.HasPrefix(script, commitmentStart) {
			return script[len(commitmentStart):][:chainhash.HashSize]
		}
	}
	return nil
}
