// Package txindex keeps where each transaction of the chain is: the index of all
// transactions. schema.md has the key spaces.
//
// Transactions of blocks that leave the chain stay until they come in another
// block. A commit is with the operating system when the call returns. After a loss
// of power the store is back at an earlier block, the one of the last [Store.Sync] or
// a later one. It is a cache of the chain and may be made anew at any time.
package txindex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

var (
	// ErrNotFound reports a transaction that is not in the index.
	ErrNotFound = errors.New("transaction is not in the index")

	// ErrDamaged reports a store that cannot be read; see [Store.Wipe].
	ErrDamaged = ledger.ErrDamaged

	// ErrForeign and ErrNewer report, from [Open], a folder that is not to be touched.
	ErrForeign, ErrNewer = ledger.ErrForeign, ledger.ErrNewer
)

// formatVersion is that of the keys. In version 1 there was no record of it; in version
// 2 no row had an offset, and rows of that time have none.
const formatVersion, withoutOffsets = 3, 2

// The key spaces.
var (
	prefixBlock = []byte{'n'}
	prefixTx    = []byte{'t'}
	oldBest     = []byte{'B'} // of version 1
)

const (
	positionSize = chainhash.HashSize + 4
	oldBestSize  = positionSize + 4
	oldRowSize   = 4 + 4
	rowSize      = oldRowSize + 4 + 4
)

// keptMarks is how many earlier states one may go back to: more than a chain loses
// with the power.
const keptMarks = 64

// Options say where a store lies.
type Options struct {
	FS      vfs.FS // nil: the operating system's
	Dir     string
	Network [4]byte // as it appears on the wire
	Log     *slog.Logger
}

// A Store is an open index. Its methods are safe for concurrent use, but only one
// goroutine may change it at a time.
type Store struct {
	ledger *ledger.Ledger

	best   chainhash.Hash
	height int32
	next   uint32 // number of the next block
	turned bool   // the best block was taken back since the last commit was made sure of
}

// Open opens the index in a folder, or makes an empty one. A damaged one is emptied.
//
// Errors: [ErrForeign], [ErrNewer], and those of the file system.
func Open(o Options) (*Store, error) {
	l, position, err := ledger.Open(ledger.Options{
		FS: o.FS, Dir: o.Dir, Name: "txindex", Version: formatVersion, Oldest: withoutOffsets,
		Network: o.Network, Owns: owns, Adopt: adopt,
		Marks: keptMarks,
		Cache: 8 << 20, WriteBuffer: 8 << 20, Bloom: true, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	s := &Store{ledger: l}
	if err := s.restore(position); errors.Is(err, ErrDamaged) {
		err = s.Wipe()
		if err == nil {
			return s, nil
		}
		return nil, errors.Join(err, l.Close())
	} else if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return s, nil
}

// adopt takes an index of version 1 over. Its blocks are numbered, and each came in
// one step with its transactions: so a loss shows.
func adopt(old ledger.Reader, change *ledger.Batch) (position []byte, err error) {
	best, err := old.Get(oldBest)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return nil, err
	}
	if len(best) != oldBestSize {
		return nil, ledger.ErrForeign
	}
	var want uint32
	for pair, err := range old.Range(prefixBlock) {
		if err != nil {
			return nil, err
		}
		if number, ok := blockNumber(pair.Key); !ok || number != want {
			return nil, fmt.Errorf("%w: block %d is missing", ErrDamaged, want)
		}
		want++
	}
	if next := binary.LittleEndian.Uint32(best[positionSize:]); next != want {
		return nil, fmt.Errorf("%w: %d blocks of %d", ErrDamaged, want, next)
	}
	change.Delete(oldBest)
	return best[:positionSize], nil
}

// restore takes a position over, and finds the number of the next block. The number
// is higher than any block's, and higher than in any transaction's row left by a
// lost commit.
func (s *Store) restore(position []byte) error {
	s.best, s.height, s.next, s.turned = chainhash.Hash{}, -1, 0, true
	if _, err := s.ledger.Get(oldBest); !errors.Is(err, ledger.ErrNotFound) {
		if err == nil {
			err = fmt.Errorf("%w: an earlier version has written to it", ErrDamaged)
		}
		return err
	}
	last, err := s.ledger.Last(prefixBlock)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return err
	}
	if number, ok := blockNumber(last); ok {
		s.next = number + 1
	}
	if position == nil {
		return nil
	}
	if len(position) != positionSize {
		return fmt.Errorf("%w: position %x", ErrDamaged, position)
	}
	s.best = chainhash.Hash(position[:chainhash.HashSize])
	s.height = int32(binary.LittleEndian.Uint32(position[chainhash.HashSize:]))
	return nil
}

// Best returns the last block that was added and is not taken back. ok is false for
// an empty index. It is for the goroutine that changes the store.
func (s *Store) Best() (hash chainhash.Hash, height int32, ok bool) {
	return s.best, s.height, s.height >= 0
}

// A Place is where in a block a transaction stands.
type Place struct {
	Index  int // among the block's transactions
	Offset int // in bytes of the serialized block; 0: not known

	Sum uint32 // CRC-32C of the serialized transaction
}

// Add adds the transactions of a block, in their order, and makes it the best one.
// places are where they stand, in that order too, or nil where offsets are not known.
func (s *Store) Add(block *chainhash.Hash, height int32, txs []chainhash.Hash, places []Place) error {
	if s.turned {
		// Rows of blocks that left the chain are overwritten from here on. After a
		// loss of power these must not be the best ones again.
		if err := s.ledger.Sync(); err != nil {
			return err
		}
		s.turned = false
	}
	batch := new(ledger.Batch)
	batch.Put(blockKey(s.next), block[:])
	for i := range txs {
		row := binary.LittleEndian.AppendUint32(make([]byte, 0, rowSize), s.next)
		row = binary.LittleEndian.AppendUint32(row, uint32(i))
		if places != nil {
			row = binary.LittleEndian.AppendUint32(row, uint32(places[i].Offset))
			row = binary.LittleEndian.AppendUint32(row, places[i].Sum)
		}
		batch.Put(txKey(&txs[i]), row)
	}
	if err := s.commit(batch, block, height); err != nil {
		return err
	}
	s.next++
	return nil
}

// Back makes an earlier block the best one; what came after it stays findable.
func (s *Store) Back(block *chainhash.Hash, height int32) error {
	s.turned = true
	return s.commit(new(ledger.Batch), block, height)
}

func (s *Store) commit(batch *ledger.Batch, best *chainhash.Hash, height int32) error {
	position := binary.LittleEndian.AppendUint32(append(make([]byte, 0, positionSize), best[:]...), uint32(height))
	if err := s.ledger.Commit(batch, position); err != nil {
		return err
	}
	s.best, s.height = *best, height
	return nil
}

// Sync makes what was added survive a loss of power.
func (s *Store) Sync() error { return s.ledger.Sync() }

// Rewind makes the newest of the blocks that were the best one at a Sync the best
// one again, of those that are known; where none is, the index is emptied.
func (s *Store) Rewind(known func(block *chainhash.Hash) bool) error {
	position, err := s.ledger.Rewind(func(position []byte) bool {
		return len(position) == positionSize && known((*chainhash.Hash)(position[:chainhash.HashSize]))
	})
	if err != nil {
		return err
	}
	return s.restore(position)
}

// Wipe empties the index.
func (s *Store) Wipe() error {
	if err := s.ledger.Wipe(); err != nil {
		return err
	}
	return s.restore(nil)
}

// Find returns the block that a transaction came in last, and its place there.
//
// Errors: [ErrNotFound], [ErrDamaged].
func (s *Store) Find(tx *chainhash.Hash) (block chainhash.Hash, at Place, err error) {
	row, err := s.ledger.Get(txKey(tx))
	if errors.Is(err, ledger.ErrNotFound) {
		return block, at, ErrNotFound
	}
	if err == nil && len(row) != rowSize && len(row) != oldRowSize {
		err = ErrDamaged
	}
	var hash []byte
	if err == nil {
		hash, err = s.ledger.Get(blockKey(binary.LittleEndian.Uint32(row)))
	}
	if err == nil && len(hash) != chainhash.HashSize || errors.Is(err, ledger.ErrNotFound) {
		err = ErrDamaged
	}
	if err != nil {
		return block, at, fmt.Errorf("transaction %v: %w", tx, err)
	}
	at.Index = int(binary.LittleEndian.Uint32(row[4:]))
	if len(row) == rowSize {
		at.Offset = int(binary.LittleEndian.Uint32(row[oldRowSize:]))
		at.Sum = binary.LittleEndian.Uint32(row[oldRowSize+4:])
	}
	return chainhash.Hash(hash), at, nil
}

// Close closes the index.
func (s *Store) Close() error { return s.ledger.Close() }

func txKey(tx *chainhash.Hash) []byte { return append([]byte{prefixTx[0]}, tx[:]...) }

func blockKey(number uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{prefixBlock[0]}, number)
}

// blockNumber is the inverse of blockKey.
func blockNumber(key []byte) (number uint32, ok bool) {
	if len(key) != 5 {
		return 0, false
	}
	return binary.BigEndian.Uint32(key[1:]), true
}
