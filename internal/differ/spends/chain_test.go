package spends_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"testing"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/differ"
)

// A chain is what both nodes have, made here block by block.
type chain struct {
	tb      testing.TB
	pair    *differ.Pair
	tip     chainhash.Hash
	height  int32
	start   time.Time
	rich    []wire.OutPoint // coinbases of the first blocks
	purse   wire.OutPoint   // pays for coins
	value   int64           // of the purse
	helpers []helper
	extra   uint64
	nowit   bool // no commitment: before segwit
}

const (
	subsidy  = 50_0000_0000
	halving  = 150
	maturity = 100
)

func newChain(tb testing.TB, pair *differ.Pair, nowit bool) *chain {
	tb.Helper()
	c := &chain{
		tb: tb, pair: pair, nowit: nowit, tip: *chaincfg.RegressionNetParams.GenesisHash,
		start: differ.Now().Add(-10 * time.Hour),
	}
	for range maturity + 20 {
		block := c.block(nil)
		if c.height < maturity/5 {
			c.rich = append(c.rich, wire.OutPoint{Hash: block.Transactions[0].TxHash()})
		}
		c.accept(block)
	}
	return c
}

// block makes a block on the tip.
func (c *chain) block(txs []*wire.MsgTx) *wire.MsgBlock {
	c.tb.Helper()
	c.extra++
	height := c.height + 1
	coinbase := wire.NewMsgTx(2)
	sig := pushShort(nil, number(int64(height)))
	sig = push(sig, binary.LittleEndian.AppendUint64(nil, c.extra))
	coinbase.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: wire.MaxPrevOutIndex}, SignatureScript: sig,
		Sequence: wire.MaxTxInSequenceNum,
	})
	coinbase.AddTxOut(wire.NewTxOut(subsidy>>(height/halving), anyone))
	block := &wire.MsgBlock{Header: wire.BlockHeader{
		Version: 0x20000000, PrevBlock: c.tip,
		Timestamp: c.start.Add(time.Duration(height) * time.Second).Truncate(time.Second),
		Bits:      chaincfg.RegressionNetParams.PowLimitBits,
	}}
	block.Transactions = append([]*wire.MsgTx{coinbase}, txs...)
	if !c.nowit {
		coinbase.TxIn[0].Witness = wire.TxWitness{make([]byte, 32)}
		root := merkle(block, true)
		commitment := sha256.Sum256(append(root[:], make([]byte, 32)...))
		commitment = sha256.Sum256(commitment[:])
		magic := []byte{txscript.OP_RETURN, 36, 0xaa, 0x21, 0xa9, 0xed}
		coinbase.AddTxOut(wire.NewTxOut(0, append(magic, commitment[:]...)))
	}
	block.Header.MerkleRoot = merkle(block, false)
	target := blockchain.CompactToBig(block.Header.Bits)
	for {
		hash := block.BlockHash()
		if blockchain.HashToBig(&hash).Cmp(target) <= 0 {
			return block
		}
		block.Header.Nonce++
	}
}

func merkle(block *wire.MsgBlock, witness bool) chainhash.Hash {
	txs := make([]*btcutil.Tx, len(block.Transactions))
	for i, tx := range block.Transactions {
		txs[i] = btcutil.NewTx(tx)
	}
	return blockchain.CalcMerkleRoot(txs, witness)
}

func submit(block *wire.MsgBlock) differ.Call {
	var raw bytes.Buffer
	_ = block.Serialize(&raw) // buffers take everything
	return differ.Call{Method: "submitblock", Params: []any{hex.EncodeToString(raw.Bytes())}}
}

// extend makes a block the tip that both will accept.
func (c *chain) extend(block *wire.MsgBlock) {
	c.tip = block.BlockHash()
	c.height++
}

// accept submits a block that both must accept.
func (c *chain) accept(block *wire.MsgBlock) {
	c.tb.Helper()
	if got := c.pair.Send(submit(block))[0]; string(got.Core.Result) != "null" || !got.Core.OK() {
		c.tb.Fatalf("height %d: %v", c.height+1, got.Core)
	}
	c.extend(block)
}

// fund makes coins and helpers in a block.
func (c *chain) fund(coins []*coin, helpers int) {
	c.tb.Helper()
	tx := wire.NewMsgTx(2)
	cost := int64(len(coins))*coinValue + int64(helpers)*helperValue
	if c.value < cost {
		c.purse, c.value, c.rich = c.rich[0], subsidy, c.rich[1:]
	}
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: c.purse, Sequence: wire.MaxTxInSequenceNum})
	for _, coin := range coins {
		tx.AddTxOut(coin.out)
	}
	for range helpers {
		tx.AddTxOut(wire.NewTxOut(helperValue, anyone))
	}
	c.value -= cost
	tx.AddTxOut(wire.NewTxOut(c.value, anyone))
	hash := tx.TxHash()
	c.purse = wire.OutPoint{Hash: hash, Index: uint32(len(tx.TxOut) - 1)}
	c.helpers = c.helpers[:0]
	for i := range len(coins) + helpers {
		at := wire.OutPoint{Hash: hash, Index: uint32(i)}
		if i < len(coins) {
			coins[i].at = at
		} else {
			c.helpers = append(c.helpers, helper{at})
		}
	}
	c.accept(c.block([]*wire.MsgTx{tx}))
}

// text returns the result of a reply that is a text, empty for null.
func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // null stays empty
	return s
}
