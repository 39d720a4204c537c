package chaintest

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/dialect"
)

// MergeMine makes a serialized block merge-mined: a block of another chain, which
// holds nothing else, has the work. It panics where raw is no block.
func MergeMine(net *dialect.Network, raw []byte) []byte {
	block, _, err := net.ReadBlock(raw)
	if err != nil {
		panic(err)
	}
	rest := raw[net.HeaderLen(raw):]
	block.Header.Version = 1<<29 | int32(net.P2MR.ChainID)<<13 | 1<<8
	var merged bytes.Buffer
	_ = block.Header.Serialize(&merged) // to memory
	merged.Write(auxPoW(&block.Header))
	merged.Write(rest)
	return merged.Bytes()
}

// auxPoW returns the payload that proves the work of a header.
func auxPoW(header *wire.BlockHeader) []byte {
	hash := header.BlockHash()
	commitment := []byte{0xfa, 0xbe, 'm', 'm'}
	for _, b := range slices.Backward(hash[:]) {
		commitment = append(commitment, b)
	}
	commitment = binary.LittleEndian.AppendUint32(commitment, 1) // a tree of this chain alone
	commitment = binary.LittleEndian.AppendUint32(commitment, 0)
	coinbase := wire.NewMsgTx(1)
	coinbase.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{
		Index: wire.MaxPrevOutIndex,
	}, SignatureScript: commitment})
	coinbase.AddTxOut(wire.NewTxOut(0, []byte{0x51}))
	parent := wire.BlockHeader{Version: 1, MerkleRoot: coinbase.TxHash(), Bits: header.Bits}
	limit := consensus.TargetOf(header.Bits)
	for hash := parent.BlockHash(); consensus.HashNumber(&hash).Cmp(limit) > 0; hash = parent.BlockHash() {
		parent.Nonce++
	}
	var payload bytes.Buffer
	_ = coinbase.SerializeNoWitness(&payload) // to memory
	payload.Write(make([]byte, 1+4+1+4))      // neither branch has hashes
	_ = parent.Serialize(&payload)
	return payload.Bytes()
}
