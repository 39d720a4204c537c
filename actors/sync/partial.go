package sync

import (
	"bytes"
	"iter"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/p2p/codec"
	"github.com/seed61375155/trawl/internal/poolview"
)

// maxBlockTxs is more transactions than a block can hold.
const maxBlockTxs = 4_000_000 / 40

// A partial is a compact block whose transactions are not all there yet.
type partial struct {
	header  wire.BlockHeader
	payload []byte        // what follows the header
	txs     []*wire.MsgTx // nil: missing
	spent   bool          // it was tried to be completed, in vain
}

// Why a compact block cannot be used.
type compactFault uint8

const (
	compactFine    compactFault = iota
	compactInvalid              // no honest peer sends it
	compactUnclear              // its short ids are not clear: chance, or a trick
)

// newPartial fills in the transactions that the pool has.
func newPartial(m *codec.CmpctBlock, pool iter.Seq[*poolview.Tx]) (*partial, compactFault) {
	count := len(m.ShortIDs) + len(m.Prefilled)
	if count == 0 || count > maxBlockTxs {
		return nil, compactInvalid
	}
	p := &partial{header: m.Header, payload: m.Payload, txs: make([]*wire.MsgTx, count)}
	for _, pre := range m.Prefilled {
		if pre.Index >= count {
			return nil, compactInvalid
		}
		p.txs[pre.Index] = pre.Tx
	}
	places := make(map[codec.ShortID]int, len(m.ShortIDs))
	at := 0
	for _, id := range m.ShortIDs {
		for p.txs[at] != nil {
			at++
		}
		places[id] = at
		at++
	}
	if len(places) != len(m.ShortIDs) {
		return nil, compactUnclear
	}
	p.fill(codec.CompactKey(m), places, pool)
	return p, compactFine
}

// fill puts transactions into the places of their short ids. Where two have the same
// one, neither is taken.
func (p *partial) fill(key *[16]byte, places map[codec.ShortID]int, pool iter.Seq[*poolview.Tx]) {
	ambiguous := make(map[int]bool)
	for tx := range pool {
		at, ok := places[codec.CompactID(key, &tx.WID)]
		switch {
		case !ok || ambiguous[at]:
		case p.txs[at] != nil:
			p.txs[at] = nil
			ambiguous[at] = true
		default:
			p.txs[at] = tx.Tx
		}
	}
}

// missing returns the places of the transactions that are not there.
func (p *partial) missing() []uint16 {
	var list []uint16
	for i, tx := range p.txs {
		if tx == nil {
			list = append(list, uint16(i))
		}
	}
	return list
}

// complete returns the serialized block with the missing transactions.
func (p *partial) complete(txs []*wire.MsgTx, segwit bool) ([]byte, compactFault) {
	block := wire.MsgBlock{Header: p.header, Transactions: make([]*wire.MsgTx, len(p.txs))}
	for i, tx := range p.txs {
		if tx == nil {
			if len(txs) == 0 {
				return nil, compactInvalid
			}
			tx, txs = txs[0], txs[1:]
		}
		block.Transactions[i] = tx
	}
	if len(txs) > 0 {
		return nil, compactInvalid
	}
	p.spent = true
	if !belongs(&block, segwit) {
		return nil, compactUnclear
	}
	var raw bytes.Buffer
	_ = block.Serialize(&raw) // to memory
	return slices.Insert(raw.Bytes(), wire.MaxBlockHeaderPayload, p.payload...), compactFine
}
