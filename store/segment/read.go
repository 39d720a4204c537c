package segment

import (
	"bytes"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// Has reports whether the filter of a block is stored.
func (s *Store) Has(block *chainhash.Hash) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, ok := s.catalog.find(block)
	return ok
}

// ByHash returns the filter of a block, on whichever chain it is, with all its
// stored fields. The bytes are the caller's.
//
// Errors: [ErrNotFound], [*DamagedError], [ErrClosed].
func (s *Store) ByHash(block *chainhash.Hash) (Entry, error) {
	e, err := s.Header(block)
	if err != nil {
		return Entry{}, err
	}
	v := s.View()
	defer v.Release()
	if v.regions == nil {
		return Entry{}, ErrClosed
	}
	fault := Guard(func() {
		var filter []byte
		if filter, err = v.filter(int64(e.Height), block); err == nil {
			e.Filter = bytes.Clone(filter)
		}
	})
	if fault != nil {
		sl, _ := v.slot(int64(e.Height), block)
		err = v.damaged(sl, fault)
	}
	if err != nil {
		return Entry{}, err
	}
	return e, nil
}

// ByHeight is [Store.ByHash] of the active chain's block at a height.
func (s *Store) ByHeight(height int32) (Entry, error) {
	block, ok := s.BlockAt(height)
	if !ok {
		return Entry{}, fmt.Errorf("height %d: %w", height, ErrNotFound)
	}
	return s.ByHash(&block)
}

// Header is [Store.ByHash] without reading the filter: Filter is nil.
func (s *Store) Header(block *chainhash.Hash) (Entry, error) {
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return Entry{}, ErrClosed
	}
	n, ok := s.catalog.find(block)
	if !ok {
		s.mu.RUnlock()
		return Entry{}, fmt.Errorf("block %v: %w", block, ErrNotFound)
	}
	at := s.catalog.positionOf(&s.catalog.slots[n])
	s.mu.RUnlock()

	r, err := s.keys.recordOf(at, block)
	if err != nil {
		return Entry{}, err
	}
	return Entry{
		Block: r.block, Prev: r.prev, Height: r.height,
		FilterHash: r.filterHash, Header: r.header,
	}, nil
}
