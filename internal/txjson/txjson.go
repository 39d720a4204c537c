// Package txjson prints transactions and scripts as Bitcoin Core's RPC does:
// the same members in the same order, the same words, the same numbers.
//
// A [Printer] turns wire data into values that jsontree writes; a method embeds
// them in its own result where that has more members. The package is pure, and
// its functions are safe for concurrent use. Scripts and transactions may come
// from anyone: every one of them can be printed.
//
// Source: TxToUniv, ScriptToUniv and ScriptToAsmStr of Bitcoin Core 30.2
// (src/core_write.cpp).
package txjson

import (
	"bytes"
	"crypto/sha256"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/jsontree"
)

// A Printer prints the transactions of one network.
type Printer struct {
	Net          *descriptor.Network // what addresses look like
	WitnessScale int                 // weight of a byte outside the witness
}

// Options say what a printed transaction shows beyond what it holds itself.
// The zero value is what decoderawtransaction shows.
type Options struct {
	// Spent are the outputs that the inputs spend, in their order. With them
	// the fee is known. They are not looked at unless there is one for every
	// input, and never for a coinbase.
	Spent []chainview.Coin

	ShowSpent bool            // print Spent, each with its input
	BlockHash *chainhash.Hash // if set, the block the transaction is part of
	Hex       bool            // print the serialized transaction
	Change    []bool          // for each output: it is a wallet's change
}

// A Tx is a transaction as shown. Members that are not shown are zero.
type Tx struct {
	TxID      chainhash.Hash   `json:"txid"`
	Hash      chainhash.Hash   `json:"hash"` // with witness
	Version   uint32           `json:"version"`
	Size      int              `json:"size"` // bytes, with witness
	VSize     int              `json:"vsize"`
	Weight    int              `json:"weight"`
	LockTime  uint32           `json:"locktime"`
	Inputs    []Input          `json:"vin"`
	Outputs   []Output         `json:"vout"`
	Fee       *jsontree.Amount `json:"fee,omitempty"`
	BlockHash *chainhash.Hash  `json:"blockhash,omitempty"`
	Hex       jsontree.Hex     `json:"hex,omitempty"`
}

// An Output is one output of a transaction as shown.
type Output struct {
	Value  jsontree.Amount `json:"value"`
	Index  int             `json:"n"`
	Script ScriptPubKey    `json:"scriptPubKey"`
	Change bool            `json:"ischange,omitempty"`
}

// Tx prints a transaction.
func (p *Printer) Tx(tx *wire.MsgTx, opts Options) Tx {
	coinbase := consensus.IsCoinbase(tx)
	if coinbase || len(opts.Spent) != len(tx.TxIn) {
		opts.Spent = nil
	}
	raw := serialized(tx)
	size, stripped := len(raw), tx.SerializeSizeStripped()
	weight := stripped*(p.WitnessScale-1) + size
	id, hash := hashes(raw, stripped)
	shown := Tx{
		TxID:      id,
		Hash:      hash,
		Version:   uint32(tx.Version),
		Size:      size,
		VSize:     (weight + p.WitnessScale - 1) / p.WitnessScale,
		Weight:    weight,
		LockTime:  tx.LockTime,
		Inputs:    make([]Input, len(tx.TxIn)),
		Outputs:   make([]Output, len(tx.TxOut)),
		BlockHash: opts.BlockHash,
	}
	for i, in := range tx.TxIn {
		shown.Inputs[i] = newInput(in, coinbase)
		if opts.ShowSpent && opts.Spent != nil {
			shown.Inputs[i].Prevout = p.prevout(&opts.Spent[i])
		}
	}
	for i, out := range tx.TxOut {
		isChange := i < len(opts.Change) && opts.Change[i]
		shown.Outputs[i] = Output{jsontree.Amount(out.Value), i, p.ScriptPubKey(out.PkScript), isChange}
	}
	if len(opts.Spent) > 0 {
		shown.Fee = fee(tx, opts.Spent)
	}
	if opts.Hex {
		shown.Hex = raw
	}
	return shown
}

// fee returns what the inputs are worth beyond the outputs.
func fee(tx *wire.MsgTx, spent []chainview.Coin) *jsontree.Amount {
	var sum jsontree.Amount
	for i := range spent {
		sum += jsontree.Amount(spent[i].Value)
	}
	for _, out := range tx.TxOut {
		sum -= jsontree.Amount(out.Value)
	}
	return &sum
}

func serialized(tx *wire.MsgTx) []byte {
	raw := bytes.NewBuffer(make([]byte, 0, tx.SerializeSize()))
	_ = tx.Serialize(raw) // a buffer cannot fail
	return raw.Bytes()
}

// hashes returns the id of a serialized transaction, and the hash of all its bytes.
// Without its witnesses, their marker and flag, it has the size stripped.
func hashes(raw []byte, stripped int) (id, hash chainhash.Hash) {
	hash = chainhash.DoubleHashH(raw)
	if len(raw) == stripped {
		return hash, hash
	}
	const version, lockTime, mark = 4, 4, 2
	body := raw[version+mark:][:stripped-version-lockTime]
	h := sha256.New()
	h.Write(raw[:version])
	h.Write(body)
	h.Write(raw[len(raw)-lockTime:])
	return sha256.Sum256(h.Sum(id[:0])), hash
}
