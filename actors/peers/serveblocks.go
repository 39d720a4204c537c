package peers

import (
	"bytes"
	"strconv"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/chainview/merkleproof"
	"github.com/seed61375155/trawl/internal/p2p/codec"
)

const (
	// prunedDepth is how deep a block may lie that a pruned node gives out: it keeps
	// the last 288 blocks, and two are added for races (BIP159).
	prunedDepth = 288 + 2
)

// data answers the part of getdata that asks for blocks.
func (s *server) data(list []*wire.InvVect) {
	for _, v := range list {
		if b := s.chain.Lookup(&v.Hash); b != nil && !s.block(v, b) {
			return
		}
	}
}

// block sends a block in the form that was asked for. It reports false when the session
// has ended.
func (s *server) block(v *wire.InvVect, b *chainview.Block) bool {
	tip := s.chain.Active().Tip()
	if !s.mayHave(b) {
		s.debugf(
			"ProcessGetBlockData: ignoring request from peer=%d for old block that isn't in the main chain", s.info.ID,
		)
		return true
	}
	if s.isBeyondUploads(v, b) {
		s.Disconnect("historical block serving limit reached")
		return false
	}
	if s.cfg.Services&wire.SFNodeNetwork == 0 && tip.Height-b.Height > prunedDepth && !s.info.Permissions.NoBan {
		s.Disconnect("Ignore block request below NODE_NETWORK_LIMITED threshold")
		return false
	}
	if b.Status()&chainview.HasData == 0 {
		return true
	}
	if v.Type == wire.InvTypeFilteredBlock {
		return s.filtered(b)
	}
	m, err := s.form(v.Type, b, tip)
	if err != nil {
		s.log.Error("block not served", "peer", s.info.ID, "err", err)
		s.Disconnect("Cannot load block from disk")
		return false
	}
	// Looked up after the block was read: what was whole may have lost its witnesses in between.
	if v.Type == wire.InvTypeWitnessBlock && chainview.IsStripped(b) {
		s.debugf("Witness-pruned block %v requested as witness block by peer=%d, returning NOTFOUND", b.Hash, s.info.ID)
		m = &wire.MsgNotFound{InvList: []*wire.InvVect{v}}
	}
	if m != nil && !s.send(m) {
		return false
	}
	if b.Hash == s.continueAfter {
		s.continueAfter = chainhash.Hash{}
		inv := wire.NewMsgInv()
		_ = inv.AddInvVect(wire.NewInvVect(wire.InvTypeBlock, &tip.Hash)) // one
		return s.send(inv)
	}
	return true
}

// historicalAge is how much older than the best header a block is for which nothing of an
// upload limit is kept (Core: HISTORICAL_BLOCK_AGE).
const historicalAge = 7 * 24 * time.Hour

// isBeyondUploads reports whether the upload limit forbids to send a block: an old block, or
// parts of any block.
func (s *server) isBeyondUploads(v *wire.InvVect, b *chainview.Block) bool {
	if s.info.Permissions.Download || !s.totals.Uploads.State(s.cfg.Now()).OldReached {
		return false
	}
	best := chainview.BestHeader(s.chain, s.chain.Active())
	return v.Type == wire.InvTypeFilteredBlock || best.Time().Sub(b.Time()) > historicalAge
}

// filtered sends the transactions of a block that the peer's filter lets through, after a
// proof that they are in it; nothing where there is no filter. It reports false when the
// session has ended.
func (s *server) filtered(b *chainview.Block) bool {
	f := s.info.Filter
	if f == nil || !f.IsSet() {
		return true
	}
	block, err := s.chain.Block(&b.Hash)
	if err != nil {
		s.log.Error("block not served", "peer", s.info.ID, "err", err)
		s.Disconnect("Cannot load block from disk")
		return false
	}
	wanted := make(map[chainhash.Hash]bool)
	var ids []chainhash.Hash
	var txs []*wire.MsgTx
	for _, tx := range block.Transactions {
		id := tx.TxHash()
		if ids = append(ids, id); f.Relevant(tx, &id) {
			wanted[id] = true
			txs = append(txs, tx)
		}
	}
	var header bytes.Buffer
	if err := block.Header.Serialize(&header); err != nil {
		return true
	}
	header.Write(b.Payload())
	proof := merkleproof.New(ids, func(id chainhash.Hash) bool { return wanted[id] })
	if !s.send(&codec.Raw{Name: wire.CmdMerkleBlock, Payload: proof.Append(header.Bytes())}) {
		return false
	}
	for _, tx := range txs {
		var raw bytes.Buffer
		if err := tx.SerializeNoWitness(&raw); err != nil {
			return true
		}
		if !s.send(&codec.Raw{Name: wire.CmdTx, Payload: raw.Bytes()}) {
			return false
		}
	}
	return true
}

// form returns the message for a block in the form of a type of inventory; nil for one of
// no other type.
func (s *server) form(typ wire.InvType, b, tip *chainview.Block) (wire.Message, error) {
	deepest := tip.Height - s.cfg.Network.Traffic.CompactDepth
	switch {
	case typ == wire.InvTypeWitnessBlock, typ == codec.InvCmpctBlock && b.Height < deepest:
		raw, err := s.chain.Raw(&b.Hash)
		return &codec.Raw{Name: wire.CmdBlock, Payload: raw}, err
	case typ == wire.InvTypeBlock:
		block, err := s.chain.Block(&b.Hash)
		if err != nil {
			return nil, err
		}
		return withoutWitness(block, b.Payload())
	case typ == codec.InvCmpctBlock:
		block, err := s.chain.Block(&b.Hash)
		if err != nil {
			return nil, err
		}
		return codec.NewCmpctBlock(block, b.Payload()), nil
	default:
		return nil, nil
	}
}

// withoutWitness returns a block for peers that know no witnesses. payload is what
// stands between header and transactions.
func withoutWitness(block *wire.MsgBlock, payload []byte) (wire.Message, error) {
	var b bytes.Buffer
	if err := block.Header.Serialize(&b); err != nil {
		return nil, err
	}
	b.Write(payload)
	if err := wire.WriteVarInt(&b, 0, uint64(len(block.Transactions))); err != nil {
		return nil, err
	}
	for _, tx := range block.Transactions {
		if err := tx.SerializeNoWitness(&b); err != nil {
			return nil, err
		}
	}
	return &codec.Raw{Name: wire.CmdBlock, Payload: b.Bytes()}, nil
}

// blockTxs answers getblocktxn.
func (s *server) blockTxs(m *codec.GetBlockTxn) {
	b := s.chain.Lookup(&m.Block)
	if b == nil || b.Status()&chainview.HasData == 0 {
		s.debugf("Peer %d sent us a getblocktxn for a block we don't have", s.info.ID)
		return
	}
	if deepest := s.cfg.Network.Traffic.BlockTxDepth; b.Height < s.chain.Active().Height()-deepest {
		s.debugf("Peer %d sent us a getblocktxn for a block > %d deep", s.info.ID, deepest)
		s.block(wire.NewInvVect(wire.InvTypeWitnessBlock, &b.Hash), b)
		return
	}
	block, err := s.chain.Block(&b.Hash)
	if err != nil {
		s.log.Error("block not served", "peer", s.info.ID, "err", err)
		return
	}
	answer := &codec.BlockTxn{Block: m.Block}
	for _, index := range m.Indexes {
		if int(index) >= len(block.Transactions) {
			s.Misbehaving("getblocktxn with out-of-bounds tx indices")
			return
		}
		answer.Txs = append(answer.Txs, block.Transactions[index])
	}
	s.send(answer)
}

func digits(n uint64) string { return strconv.FormatUint(n, 10) }
