// Package txindex keeps where each transaction of the chain is: the index of all
// transactions, in goleveldb. schema.md has the key spaces.
//
// Transactions of blocks that leave the chain stay until they come in another
// block. A commit is with the operating system when the call returns; after a loss
// of power the store may be back at an earlier block. It is a cache of the chain and
// may be made anew at any time.
package txindex

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/syndtr/goleveldb/leveldb"
	ldberrors "github.com/syndtr/goleveldb/leveldb/errors"
	"github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

var (
	// ErrNotFound reports a transaction that is not in the index.
	ErrNotFound = errors.New("transaction is not in the index")

	// ErrDamaged reports a store that cannot be read. Remove its folder and open it
	// again: it begins empty.
	ErrDamaged = errors.New("transaction index is damaged")
)

// The key spaces.
const (
	prefixBest  = 'B'
	prefixBlock = 'n'
	prefixTx    = 't'
)

const (
	bestSize = chainhash.HashSize + 4 + 4
	rowSize  = 4 + 4
)

// A Store is an open index. Its methods are safe for concurrent use, but only one
// goroutine may change it at a time.
type Store struct {
	ldb *leveldb.DB

	best   chainhash.Hash
	height int32
	next   uint32 // number of the next block
}

// Open opens the index in a folder, or makes an empty one.
//
// Errors: [ErrDamaged].
func Open(dir string) (*Store, error) {
	ldb, err := leveldb.OpenFile(dir, &opt.Options{
		BlockCacheCapacity: 8 * opt.MiB, WriteBuffer: 8 * opt.MiB,
		OpenFilesCacheCapacity: 32, Filter: filter.NewBloomFilter(10),
	})
	if err != nil {
		return nil, fmt.Errorf("open transaction index: %w", damaged(err))
	}
	s := &Store{ldb: ldb, height: -1}
	row, err := ldb.Get([]byte{prefixBest}, nil)
	switch {
	case errors.Is(err, leveldb.ErrNotFound):
		return s, nil
	case err == nil && len(row) != bestSize:
		err = ErrDamaged
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open transaction index: %w", damaged(err)), ldb.Close())
	}
	s.best = chainhash.Hash(row)
	s.height = int32(binary.LittleEndian.Uint32(row[chainhash.HashSize:]))
	s.next = binary.LittleEndian.Uint32(row[chainhash.HashSize+4:])
	return s, nil
}

// damaged puts our sentinel in the place of goleveldb's errors about damage.
func damaged(err error) error {
	if ldberrors.IsCorrupted(err) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}

// Best returns the last block that was added and is not taken back. ok is false for
// an empty index. It is for the goroutine that changes the store.
func (s *Store) Best() (hash chainhash.Hash, height int32, ok bool) {
	return s.best, s.height, s.height >= 0
}

// Add adds the transactions of a block, in their order, and makes it the best one.
func (s *Store) Add(block *chainhash.Hash, height int32, txs []chainhash.Hash) error {
	batch := leveldb.MakeBatch((len(txs) + 4) * (chainhash.HashSize + rowSize + 16))
	batch.Put(blockKey(s.next), block[:])
	for i := range txs {
		row := binary.LittleEndian.AppendUint32(make([]byte, 0, rowSize), s.next)
		batch.Put(txKey(&txs[i]), binary.LittleEndian.AppendUint32(row, uint32(i)))
	}
	return s.commit(batch, block, height, s.next+1)
}

// Back makes an earlier block the best one; what came after it stays findable.
func (s *Store) Back(block *chainhash.Hash, height int32) error {
	return s.commit(new(leveldb.Batch), block, height, s.next)
}

func (s *Store) commit(batch *leveldb.Batch, best *chainhash.Hash, height int32, next uint32) error {
	row := binary.LittleEndian.AppendUint32(append(make([]byte, 0, bestSize), best[:]...), uint32(height))
	batch.Put([]byte{prefixBest}, binary.LittleEndian.AppendUint32(row, next))
	if err := s.ldb.Write(batch, nil); err != nil {
		return fmt.Errorf("write transaction index: %w", damaged(err))
	}
	s.best, s.height, s.next = *best, height, next
	return nil
}

// Find returns the block that a transaction came in last, and its place there.
//
// Errors: [ErrNotFound], [ErrDamaged].
func (s *Store) Find(tx *chainhash.Hash) (block chainhash.Hash, index int, err error) {
	row, err := s.ldb.Get(txKey(tx), nil)
	if errors.Is(err, leveldb.ErrNotFound) {
		return block, 0, ErrNotFound
	}
	if err == nil && len(row) != rowSize {
		err = ErrDamaged
	}
	var hash []byte
	if err == nil {
		hash, err = s.ldb.Get(blockKey(binary.LittleEndian.Uint32(row)), nil)
	}
	if err == nil && len(hash) != chainhash.HashSize {
		err = ErrDamaged
	}
	if err != nil {
		return block, 0, fmt.Errorf("transaction %v: %w", tx, damaged(err))
	}
	return chainhash.Hash(hash), int(binary.LittleEndian.Uint32(row[4:])), nil
}

// Close closes the index.
func (s *Store) Close() error { return s.ldb.Close() }

func txKey(tx *chainhash.Hash) []byte { return append([]byte{prefixTx}, tx[:]...) }

func blockKey(number uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{prefixBlock}, number)
}
