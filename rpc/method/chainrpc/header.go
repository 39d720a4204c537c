package chainrpc

import (
	"fmt"
	"math/big"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/txjson"
	"github.com/seed61375155/trawl/rpc/command"
)

// header is a block header as getblockheader and getblock show it.
type header struct {
	Hash          chainhash.Hash  `json:"hash"`
	Confirmations int32           `json:"confirmations"`
	Height        int32           `json:"height"`
	Version       int32           `json:"version"`
	VersionHex    string          `json:"versionHex"`
	MerkleRoot    chainhash.Hash  `json:"merkleroot"`
	Time          int64           `json:"time"`
	MedianTime    int64           `json:"mediantime"`
	Nonce         uint32          `json:"nonce"`
	Bits          string          `json:"bits"`
	Target        string          `json:"target"`
	Difficulty    float64         `json:"difficulty"`
	ChainWork     string          `json:"chainwork"`
	Txs           int             `json:"nTx"`
	Previous      *chainhash.Hash `json:"previousblockhash,omitempty"`
	Next          *chainhash.Hash `json:"nextblockhash,omitempty"`
}

// headerResults documents a header.
var headerResults = []command.Result{
	{Type: command.Hex, Key: "hash", Help: "hash of the block"},
	{
		Type: command.Number, Key: "confirmations",
		Help: "blocks from this one to the tip, both counted; -1 on a stale branch",
	},
	{Type: command.Number, Key: "height", Help: "height of the block"},
	{Type: command.Number, Key: "version", Help: "block version"},
	{Type: command.Hex, Key: "versionHex", Help: "block version in hexadecimal"},
	{Type: command.Hex, Key: "merkleroot", Help: "root of the tree of transaction ids"},
	{Type: command.Timestamp, Key: "time", Help: "time of the block"},
	{Type: command.Timestamp, Key: "mediantime", Help: "median time of the block and the ten before it"},
	{Type: command.Number, Key: "nonce", Help: "nonce"},
	{Type: command.Hex, Key: "bits", Help: "target in compact form"},
	{Type: command.Hex, Key: "target", Help: "number that the block's hash must not exceed"},
	{Type: command.Number, Key: "difficulty", Help: "difficulty, as a multiple of the least"},
	{Type: command.Hex, Key: "chainwork", Help: "expected number of hashes in the chain up to the block"},
	{Type: command.Number, Key: "nTx", Help: "number of transactions"},
	{Type: command.Hex, Key: "previousblockhash", Optional: true, Help: "hash of the block before"},
	{Type: command.Hex, Key: "nextblockhash", Optional: true, Help: "hash of the block after, on the active chain"},
}

// newHeader returns the header of a block that has the given number of
// transactions, seen from the active chain.
func newHeader(active *chainview.Chain, b *chainview.Block, txs int) header {
	h := header{
		Hash:          b.Hash,
		Confirmations: -1,
		Height:        b.Height,
		Version:       b.Version(),
		VersionHex:    fmt.Sprintf("%08x", uint32(b.Version())),
		MerkleRoot:    b.Header().MerkleRoot,
		Time:          b.Time().Unix(),
		MedianTime:    b.MedianTimePast(),
		Nonce:         b.Header().Nonce,
		Bits:          txjson.Bits(b.Bits()),
		Target:        txjson.Target(b.Bits()),
		Difficulty:    txjson.Difficulty(b.Bits()),
		ChainWork:     uint256Text(b.Work()),
		Txs:           txs,
	}
	if b.Parent != nil {
		h.Previous = &b.Parent.Hash
	}
	if active.Contains(b) {
		h.Confirmations = active.Height() - b.Height + 1
	}
	if next := active.Next(b); next != nil {
		h.Next = &next.Hash
	}
	return h
}

func uint256Text(n *big.Int) string { return fmt.Sprintf("%064x", n) }
