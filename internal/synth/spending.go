package synth

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
)

// Spending chooses a chain whose blocks spend outputs, as blocks of the main chain
// do. Each spends the outputs of the coinbase of 100 blocks before, by transactions
// of two inputs and two outputs.
type Spending struct {
	Seed   uint64
	Blocks int  // above the genesis block
	Txs    int  // of each block from height 101 on, without the coinbase
	Signed bool // every input has a signature, by a key of its own; else none has
}

// maturity is how many blocks a coinbase waits before it may be spent.
const maturity = 100

// WriteTo writes the blocks in the form of a blk file, unobfuscated.
func (c Spending) WriteTo(w io.Writer) (total int64, err error) {
	params := &chaincfg.RegressionNetParams
	prev, began := params.GenesisBlock.Header.BlockHash(), params.GenesisBlock.Header.Timestamp
	coinbases := make([]chainhash.Hash, c.Blocks+1)
	for height := 1; height <= c.Blocks; height++ {
		b := wire.NewMsgBlock(wire.NewBlockHeader(0x20000000, &prev, &chainhash.Hash{}, params.PowLimitBits, 0))
		b.Header.Timestamp = began.Add(time.Duration(height) * 10 * time.Minute)
		b.Transactions = []*wire.MsgTx{c.coinbase(height)}
		if height > maturity {
			for n := range c.Txs {
				tx, err := c.spend(coinbases[height-maturity], height-maturity, n)
				if err != nil {
					return total, err
				}
				b.Transactions = append(b.Transactions, tx)
			}
		}
		commit(b)
		coinbases[height] = b.Transactions[0].TxHash()
		b.Header.MerkleRoot = root(b.Transactions, (*wire.MsgTx).TxHash)
		for hash := b.BlockHash(); consensus.HashNumber(&hash).Cmp(params.PowLimit) > 0; hash = b.BlockHash() {
			b.Header.Nonce++
		}
		prev = b.BlockHash()
		n, err := writeRecord(w, b)
		if total += n; err != nil {
			return total, err
		}
	}
	return total, nil
}

func writeRecord(w io.Writer, b *wire.MsgBlock) (int64, error) {
	var raw bytes.Buffer
	raw.Write(make([]byte, 8))
	err := b.Serialize(&raw)
	record := raw.Bytes()
	binary.LittleEndian.PutUint32(record, uint32(chaincfg.RegressionNetParams.Net))
	binary.LittleEndian.PutUint32(record[4:], uint32(len(record)-8))
	n, writeErr := w.Write(record)
	return int64(n), errors.Join(err, writeErr)
}

// perOutput is what a coinbase pays to each output, and what is left of it when it has
// been spent.
const perOutput, rest = 1000, 900

func (c Spending) coinbase(height int) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, Sequence: wire.MaxTxInSequenceNum,
		SignatureScript: heightScript(height), Witness: wire.TxWitness{make([]byte, 32)},
	})
	for n := range 2 * c.Txs {
		tx.AddTxOut(wire.NewTxOut(perOutput, c.output(height, n)))
	}
	return tx
}

// spend returns transaction n of those that spend the coinbase of a height.
func (c Spending) spend(coinbase chainhash.Hash, height, n int) (*wire.MsgTx, error) {
	tx := wire.NewMsgTx(2)
	for k := 2 * n; k < 2*n+2; k++ {
		tx.AddTxIn(&wire.TxIn{
			PreviousOutPoint: wire.OutPoint{Hash: coinbase, Index: uint32(k)}, Sequence: wire.MaxTxInSequenceNum - 1,
		})
		tx.AddTxOut(wire.NewTxOut(rest, appendScript(nil, mix(c.Seed), uint64(height), uint64(k))))
	}
	return tx, c.unlock(tx, height, 2*n)
}

// commit puts the commitment to the witnesses into the coinbase.
func commit(b *wire.MsgBlock) {
	hash := root(b.Transactions, func(tx *wire.MsgTx) chainhash.Hash {
		if tx == b.Transactions[0] {
			return chainhash.Hash{}
		}
		return tx.WitnessHash()
	})
	commitment := chainhash.DoubleHashB(append(hash[:], make([]byte, 32)...))
	b.Transactions[0].AddTxOut(wire.NewTxOut(0, append([]byte{0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed}, commitment...)))
}

// root returns the merkle root of what hash makes of transactions.
func root(txs []*wire.MsgTx, hash func(*wire.MsgTx) chainhash.Hash) chainhash.Hash {
	hashes := make([]chainhash.Hash, len(txs))
	for i, tx := range txs {
		hashes[i] = hash(tx)
	}
	return merkle(hashes)
}

// merkle returns the root over hashes, which it overwrites.
func merkle(hashes []chainhash.Hash) chainhash.Hash {
	for len(hashes) > 1 {
		if len(hashes)%2 == 1 {
			hashes = append(hashes, hashes[len(hashes)-1])
		}
		for i := range len(hashes) / 2 {
			hashes[i] = chainhash.DoubleHashH(append(hashes[2*i][:], hashes[2*i+1][:]...))
		}
		hashes = hashes[:len(hashes)/2]
	}
	return hashes[0]
}
