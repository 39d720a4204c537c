package chain

import (
	"bytes"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/engine"
	"github.com/seed61375155/trawl/messages"
)

// createAux makes a block for merged mining, and keeps it.
func (s *Chain) createAux(e engine.Engine, q *messages.CreateAuxBlock) (messages.AuxBlock, error) {
	tip := e.Reader().Active().Tip()
	if q.On != tip.Hash {
		return messages.AuxBlock{}, messages.ErrTipMoved
	}
	raw, err := e.Template(q.Script, q.Txs, btcutil.Amount(q.Fees))
	if err != nil {
		return messages.AuxBlock{}, err
	}
	height, merged := tip.Height+1, s.cfg.Network.MergedMining
	if merged == nil || height < merged.From {
		return messages.AuxBlock{}, messages.ErrNotMergeMined
	}
	block, _, err := s.cfg.Network.ReadBlock(raw)
	if err != nil {
		return messages.AuxBlock{}, err
	}
	header := block.Header
	header.Version = merged.Version(header.Version)
	header.Bits = merged.NextBits(tip, header.Timestamp.Unix())
	made := messages.AuxBlock{Hash: header.BlockHash(), Parent: tip.Hash, Height: height, Bits: header.Bits}
	for _, out := range block.Transactions[0].TxOut {
		made.Value += out.Value
	}
	s.aux.prune(tip.Hash, s.cfg.Now())
	s.aux.keep(made.Hash, newCandidate(&header, block.Transactions), s.cfg.Now())
	return made, nil
}

// submitAux submits a block that was kept. It goes when it is accepted.
func (s *Chain) submitAux(e engine.Engine, q *messages.SubmitAuxBlock) (messages.Done, error) {
	s.aux.prune(currentTip(e).Hash, s.cfg.Now())
	block := s.aux.get(q.Hash)
	if block == nil {
		return messages.Done{}, &messages.RejectError{Reason: "stale-prevblk"}
	}
	if err := e.Submit(block.with(q.Payload)); err != nil {
		return messages.Done{}, err
	}
	s.aux.drop(q.Hash)
	return messages.Done{}, nil
}

func serialized(write func(*bytes.Buffer) error) []byte {
	var raw bytes.Buffer
	_ = write(&raw) // a buffer does not fail
	return raw.Bytes()
}

func headerBytes(h *wire.BlockHeader) []byte {
	return serialized(func(b *bytes.Buffer) error { return h.Serialize(b) })
}
