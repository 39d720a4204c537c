// Package blockrows keeps a row for each block and the state after the last one: the
// store of an index that sums the chain up. It lies in goleveldb; schema.md has the
// key spaces.
//
// Rows of blocks that leave the chain stay. A commit is with the operating system
// when the call returns; after a loss of power the store may be back at an earlier
// block. It is a cache of the chain and may be made anew at any time.
package blockrows

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"
	ldberrors "github.com/syndtr/goleveldb/leveldb/errors"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

var (
	// ErrNotFound reports a block without a row.
	ErrNotFound = errors.New("block has no row in the index")

	// ErrDamaged reports a store that cannot be read. Remove its folder and open it
	// again: it begins empty.
	ErrDamaged = errors.New("index is damaged")
)

// The key spaces.
const (
	prefixBest = 'B'
	prefixRow  = 's'
)

const bestSize = chainhash.HashSize + 4

// A Best is the last block in the index, and the state after it.
type Best struct {
	Block  chainhash.Hash
	Height int32
	State  []byte
}

// A Store is an open index. Its methods are safe for concurrent use, but only one
// goroutine may change it at a time.
type Store struct{ ldb *leveldb.DB }

// Open opens the index in a folder, or makes an empty one, and returns its last
// block, nil when it is empty.
//
// Errors: [ErrDamaged].
func Open(dir string) (*Store, *Best, error) {
	ldb, err := leveldb.OpenFile(dir, &opt.Options{BlockCacheCapacity: 4 * opt.MiB, OpenFilesCacheCapacity: 16})
	if err != nil {
		return nil, nil, fmt.Errorf("open index: %w", damaged(err))
	}
	s := &Store{ldb}
	row, err := ldb.Get([]byte{prefixBest}, nil)
	switch {
	case errors.Is(err, leveldb.ErrNotFound):
		return s, nil, nil
	case err == nil && len(row) < bestSize:
		err = ErrDamaged
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open index: %w", damaged(err)), ldb.Close())
	}
	return s, &Best{
		Block: chainhash.Hash(row), Height: int32(binary.LittleEndian.Uint32(row[chainhash.HashSize:])),
		State: bytes.Clone(row[bestSize:]),
	}, nil
}

// damaged puts our sentinel in the place of goleveldb's errors about damage.
func damaged(err error) error {
	if ldberrors.IsCorrupted(err) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// Put makes a block the last one, with its row unless that is nil.
func (s *Store) Put(best *Best, row []byte) error {
	batch := new(leveldb.Batch)
	if row != nil {
		batch.Put(rowKey(&best.Block), row)
	}
	value := binary.LittleEndian.AppendUint32(append([]byte(nil), best.Block[:]...), uint32(best.Height))
	batch.Put([]byte{prefixBest}, append(value, best.State...))
	if err := s.ldb.Write(batch, nil); err != nil {
		return fmt.Errorf("write index: %w", damaged(err))
	}
	return nil
}

// Forget makes the index empty but for its rows.
func (s *Store) Forget() error {
	if err := s.ldb.Delete([]byte{prefixBest}, nil); err != nil {
		return fmt.Errorf("write index: %w", damaged(err))
	}
	return nil
}

// Row returns the row of a block.
//
// Errors: [ErrNotFound], [ErrDamaged].
func (s *Store) Row(block *chainhash.Hash) ([]byte, error) {
	row, err := s.ldb.Get(rowKey(block), nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("row of block %v: %w", block, damaged(err))
	}
	return row, nil
}

// Close closes the index.
func (s *Store) Close() error { return s.ldb.Close() }

func rowKey(block *chainhash.Hash) []byte {
	return append([]byte{prefixRow}, block[:]...)
}
