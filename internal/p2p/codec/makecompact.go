package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/siphash"
)

// CompactKey is the key of a compact block's short ids (BIP152).
func CompactKey(m *CmpctBlock) *[16]byte {
	var b bytes.Buffer
	_ = m.Header.Serialize(&b) // to memory
	b.Write(m.Payload)
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(b.Bytes(), m.Nonce))
	return (*[16]byte)(sum[:16])
}

// CompactID is what a compact block says of a transaction.
func CompactID(key *[16]byte, wtxid *chainhash.Hash) (id ShortID) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], siphash.SumKey(key, wtxid[:]))
	copy(id[:], b[:])
	return id
}

// NewCmpctBlock returns the compact block of a block, with the coinbase in full. A block
// has at least that. payload is what follows its header, if anything.
func NewCmpctBlock(block *wire.MsgBlock, payload []byte) *CmpctBlock {
	m := &CmpctBlock{
		Header: block.Header, Payload: payload,
		Nonce:     rand.Uint64(), //nolint:gosec // differs from node to node, and need not be secret
		ShortIDs:  make([]ShortID, len(block.Transactions)-1),
		Prefilled: []PrefilledTx{{Tx: block.Transactions[0]}},
	}
	key := CompactKey(m)
	for i, tx := range block.Transactions[1:] {
		id := tx.WitnessHash()
		m.ShortIDs[i] = CompactID(key, &id)
	}
	return m
}
