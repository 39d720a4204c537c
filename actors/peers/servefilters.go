package peers

import (
	"math"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/chainview"
)

const (
	// maxFilters and maxFilterHeaders are how many a peer may ask for at a time
	// (BIP157).
	maxFilters       = 1000
	maxFilterHeaders = 2000

	// checkpointEvery is how many blocks lie between filter headers in a list of
	// checkpoints (BIP157).
	checkpointEvery = 1000
)

// filterRange checks a request for filters as Core does, and returns its last block. A
// peer whose request cannot be right is disconnected, and the result is nil.
func (s *server) filterRange(typ wire.FilterType, start uint32, stop *chainhash.Hash, limit uint32) *chainview.Block {
	if typ != wire.GCSFilterRegular || s.cfg.Services&wire.SFNodeCF == 0 {
		s.Disconnect("peer requested unsupported block filter type: " + digits(uint64(typ)))
		return nil
	}
	b := s.chain.Lookup(stop)
	if b == nil || !s.mayHave(b) {
		s.Disconnect("peer requested invalid block hash: " + stop.String())
		return nil
	}
	height := uint32(b.Height)
	if start > height {
		s.Disconnect("peer sent invalid getcfilters/getcfheaders with start height " + digits(uint64(start)) +
			" and stop height " + digits(uint64(height)))
		return nil
	}
	if height-start >= limit {
		s.Disconnect("peer requested too many cfilters/cfheaders: " + digits(uint64(height-start)+1) + " / " +
			digits(uint64(limit)))
		return nil
	}
	if s.cfg.Filters == nil {
		return nil
	}
	return b
}

// filters answers getcfilters.
func (s *server) filters(m *wire.MsgGetCFilters) {
	stop := s.filterRange(m.FilterType, m.StartHeight, &m.StopHash, maxFilters)
	if stop == nil {
		return
	}
	for height := int32(m.StartHeight); height <= stop.Height; height++ {
		e, ok := s.filterOf(s.cfg.Filters.ByHash, stop.Ancestor(height))
		if !ok || !s.send(wire.NewMsgCFilter(m.FilterType, &e.Block, e.Filter)) {
			return
		}
	}
}

// filterHeaders answers getcfheaders.
func (s *server) filterHeaders(m *wire.MsgGetCFHeaders) {
	stop := s.filterRange(m.FilterType, m.StartHeight, &m.StopHash, maxFilterHeaders)
	if stop == nil {
		return
	}
	answer := wire.NewMsgCFHeaders()
	answer.FilterType, answer.StopHash = m.FilterType, stop.Hash
	if m.StartHeight > 0 {
		e, ok := s.filterOf(s.cfg.Filters.Header, stop.Ancestor(int32(m.StartHeight)-1))
		if !ok {
			return
		}
		answer.PrevFilterHeader = e.Header
	}
	for height := int32(m.StartHeight); height <= stop.Height; height++ {
		e, ok := s.filterOf(s.cfg.Filters.Header, stop.Ancestor(height))
		if !ok {
			return
		}
		_ = answer.AddCFHash(&e.FilterHash) // no more than fit
	}
	s.send(answer)
}

// checkpoints answers getcfcheckpt.
func (s *server) checkpoints(m *wire.MsgGetCFCheckpt) {
	stop := s.filterRange(m.FilterType, 0, &m.StopHash, math.MaxUint32)
	if stop == nil {
		return
	}
	count := stop.Height / checkpointEvery
	answer := wire.NewMsgCFCheckpt(m.FilterType, &stop.Hash, int(count))
	for i := range count {
		e, ok := s.filterOf(s.cfg.Filters.Header, stop.Ancestor((i+1)*checkpointEvery))
		if !ok {
			return
		}
		_ = answer.AddCFHeader(&e.Header) // no more than fit
	}
	s.send(answer)
}
