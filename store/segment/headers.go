package segment

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/iterator"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// Headers returns the filter headers of blocks, in their order. If the filters of blocks were
// stored one after the other, their headers are read in one go.
//
// Errors: [ErrNotFound], [ErrClosed], those of damage.
func (s *Store) Headers(blocks []chainhash.Hash) ([]chainhash.Hash, error) {
	at, err := positions(s, blocks)
	if err != nil || len(at) == 0 {
		return nil, err
	}
	it := s.keys.db.NewIterator(util.BytesPrefix(keyFilter), uncached)
	defer it.Release()
	headers := make([]chainhash.Hash, len(blocks))
	var key []byte
	for i := range blocks {
		key = at[i].append(append(key[:0], keyFilter...))
		r, err := recordAt(it, key, at[i])
		if err == nil && r.block != blocks[i] {
			err = errKeys
		}
		if err != nil {
			return nil, fmt.Errorf("filter record of block %v: %w", &blocks[i], err)
		}
		headers[i] = r.header
	}
	return headers, nil
}

// positions returns where the records of blocks of a store are.
func positions(s *Store, blocks []chainhash.Hash) ([]position, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return nil, ErrClosed
	}
	at := make([]position, len(blocks))
	for i := range blocks {
		n, ok := s.catalog.find(&blocks[i])
		if !ok {
			return nil, fmt.Errorf("block %v: %w", &blocks[i], ErrNotFound)
		}
		at[i] = s.catalog.positionOf(&s.catalog.slots[n])
	}
	return at, nil
}

// recordAt moves an iterator to a record, which may be the next.
func recordAt(it iterator.Iterator, key []byte, at position) (record, error) {
	if !it.Valid() || !it.Next() || !bytes.Equal(it.Key(), key) {
		if !it.Seek(key) || !bytes.Equal(it.Key(), key) {
			if err := it.Error(); errors.Is(err, leveldb.ErrClosed) {
				return record{}, ErrClosed
			} else if err != nil {
				return record{}, fmt.Errorf("%w: %w", errKeys, err)
			}
			return record{}, errKeys
		}
	}
	r, ok := parseRecord(at, it.Value())
	if !ok {
		return record{}, errKeys
	}
	return r, nil
}
