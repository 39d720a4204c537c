// Package spenders keeps where each spent output of the chain was spent: in which block,
// and where in it. schema.md has the key spaces.
//
// A row has the beginning of a hash of the output alone, so that what is found has to be
// held against the block. Rows of blocks that leave the chain stay. A commit is with the
// operating system when the call returns. After a loss of power the store is back at an
// earlier block, the one of the last [Store.Sync] or a later one. It is a cache of the chain
// and may be made anew at any time.
package spenders

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/siphash"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

var (
	// ErrDamaged reports a store that cannot be read; see [Store.Wipe].
	ErrDamaged = ledger.ErrDamaged

	// ErrClosed reports a store that is closed, or is just being emptied.
	ErrClosed = ledger.ErrClosed

	// ErrForeign and ErrNewer report, from [Open], a folder that is not to be touched.
	ErrForeign, ErrNewer = ledger.ErrForeign, ledger.ErrNewer
)

const formatVersion = 1

// The key spaces.
var (
	prefixBlock = []byte{'n'}
	prefixSpend = []byte{'s'}
)

const (
	hashSize   = 5 // of four billion rows one in 300 look-ups meets another's
	numberSize = 4
	offsetSize = 4
	sumSize    = 4

	spendKeySize = 1 + hashSize + numberSize + offsetSize
	secretSize   = 16
	positionSize = chainhash.HashSize + 4 + secretSize
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

	// secret is the key of the hashes: who makes transactions cannot have many outputs
	// with one hash. It is chosen anew whenever the store is emptied.
	secret atomic.Pointer[[secretSize]byte]
	resets atomic.Uint64

	best   chainhash.Hash
	height int32
	next   uint32 // number of the next block
}

// Open opens the index in a folder, or makes an empty one. A damaged one is emptied.
//
// Errors: [ErrForeign], [ErrNewer], and those of the file system.
func Open(o Options) (*Store, error) {
	l, position, err := ledger.Open(ledger.Options{
		FS: o.FS, Dir: o.Dir, Name: "txospenderindex", Version: formatVersion,
		Network: o.Network, Owns: owns, Marks: keptMarks,
		Cache: 8 << 20, WriteBuffer: 8 << 20, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	s := &Store{ledger: l}
	if err = s.restore(position); errors.Is(err, ErrDamaged) {
		err = s.Wipe()
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return s, nil
}

// restore takes a position over, and finds the number of the next block, which is higher
// than any block's.
func (s *Store) restore(position []byte) error {
	s.best, s.height, s.next = chainhash.Hash{}, -1, 0
	last, err := s.ledger.Last(prefixBlock)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return err
	}
	if number, ok := blockNumber(last); ok {
		s.next = number + 1
	}
	secret := new([secretSize]byte)
	if position == nil {
		_, _ = rand.Read(secret[:]) // never fails
		s.secret.Store(secret)
		return nil
	}
	if len(position) != positionSize {
		return fmt.Errorf("%w: position %x", ErrDamaged, position)
	}
	s.best = chainhash.Hash(position[:chainhash.HashSize])
	s.height = int32(binary.LittleEndian.Uint32(position[chainhash.HashSize:]))
	copy(secret[:], position[chainhash.HashSize+4:])
	s.secret.Store(secret)
	return nil
}

// Best returns the last block that was added and is not taken back. ok is false for
// an empty index. It is for the goroutine that changes the store.
func (s *Store) Best() (hash chainhash.Hash, height int32, ok bool) {
	return s.best, s.height, s.height >= 0
}

// A Place is where in a block a transaction stands.
type Place struct {
	Offset uint32 // in bytes of the serialized block
	Sum    uint32 // CRC-32C of the serialized transaction
}

// A Spend is an output that a transaction spends, and where that stands.
type Spend struct {
	Out wire.OutPoint
	Place
}

// Add adds what a block spends, and makes it the best one.
func (s *Store) Add(block *chainhash.Hash, height int32, spends []Spend) error {
	batch := new(ledger.Batch)
	batch.Put(blockKey(s.next), block[:])
	var key, sum []byte // the batch copies them
	for i := range spends {
		key = binary.BigEndian.AppendUint32(s.appendPrefix(key[:0], &spends[i].Out), s.next)
		key = binary.BigEndian.AppendUint32(key, spends[i].Offset)
		sum = binary.LittleEndian.AppendUint32(sum[:0], spends[i].Sum)
		batch.Put(key, sum)
	}
	if err := s.commit(batch, block, height); err != nil {
		return err
	}
	s.next++
	return nil
}

// Back makes an earlier block the best one; what came after it stays findable.
func (s *Store) Back(block *chainhash.Hash, height int32) error {
	return s.commit(new(ledger.Batch), block, height)
}

func (s *Store) commit(batch *ledger.Batch, best *chainhash.Hash, height int32) error {
	position := binary.LittleEndian.AppendUint32(append(make([]byte, 0, positionSize), best[:]...), uint32(height))
	if err := s.ledger.Commit(batch, append(position, s.secret.Load()[:]...)); err != nil {
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
	s.resets.Add(1)
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
	s.resets.Add(1)
	if err := s.ledger.Wipe(); err != nil {
		return err
	}
	return s.restore(nil)
}

// Resets returns how often the index has begun to go back or to be emptied. A search that has
// found nothing counts only if the number is the same before and after.
func (s *Store) Resets() uint64 { return s.resets.Load() }

// A Candidate is a transaction that may spend an output.
type Candidate struct {
	Block chainhash.Hash // of any branch
	Place
}

// Find returns where an output may have been spent, the block first that was added last.
//
// Errors: [ErrDamaged].
func (s *Store) Find(out *wire.OutPoint) ([]Candidate, error) {
	prefix := s.appendPrefix(nil, out)
	var numbers []uint32
	var list []Candidate
	for pair, err := range s.ledger.Range(prefix) {
		if err != nil {
			return nil, fmt.Errorf("spender of %v: %w", out, err)
		}
		if len(pair.Key) != spendKeySize || len(pair.Value) != sumSize {
			return nil, fmt.Errorf("spender of %v: %w: row %x", out, ErrDamaged, pair.Key)
		}
		at := pair.Key[len(prefix):]
		numbers = append(numbers, binary.BigEndian.Uint32(at))
		list = append(list, Candidate{Place: Place{
			Offset: binary.BigEndian.Uint32(at[numberSize:]), Sum: binary.LittleEndian.Uint32(pair.Value),
		}})
	}
	for i, number := range numbers {
		hash, err := s.block(number)
		if err != nil {
			return nil, fmt.Errorf("spender of %v: %w", out, err)
		}
		list[i].Block = hash
	}
	slices.Reverse(list)
	return list, nil
}

// Newest returns the block that was added last, whether it was taken back or not; ok is false
// for an empty index.
//
// Errors: [ErrDamaged].
func (s *Store) Newest() (hash chainhash.Hash, ok bool, err error) {
	key, err := s.ledger.Last(prefixBlock)
	if errors.Is(err, ledger.ErrNotFound) {
		return hash, false, nil
	}
	if err != nil {
		return hash, false, err
	}
	number, ok := blockNumber(key)
	if !ok {
		return hash, false, fmt.Errorf("%w: key %x", ErrDamaged, key)
	}
	hash, err = s.block(number)
	return hash, err == nil, err
}

// block returns the block with a number.
func (s *Store) block(number uint32) (chainhash.Hash, error) {
	hash, err := s.ledger.Get(blockKey(number))
	if errors.Is(err, ledger.ErrNotFound) || err == nil && len(hash) != chainhash.HashSize {
		err = fmt.Errorf("%w: block %d", ErrDamaged, number)
	}
	if err != nil {
		return chainhash.Hash{}, err
	}
	return chainhash.Hash(hash), nil
}

// Close closes the index.
func (s *Store) Close() error { return s.ledger.Close() }

// appendPrefix appends how the keys of an output's rows begin.
func (s *Store) appendPrefix(dst []byte, out *wire.OutPoint) []byte {
	var message [chainhash.HashSize + 4]byte
	copy(message[:], out.Hash[:])
	binary.LittleEndian.PutUint32(message[chainhash.HashSize:], out.Index)
	var hash [8]byte
	binary.BigEndian.PutUint64(hash[:], siphash.SumKey(s.secret.Load(), message[:]))
	return append(append(dst, prefixSpend...), hash[:hashSize]...)
}

func blockKey(number uint32) []byte {
	return binary.BigEndian.AppendUint32(bytes.Clone(prefixBlock), number)
}

// blockNumber is the inverse of blockKey; ok is false for other keys.
func blockNumber(key []byte) (number uint32, ok bool) {
	if len(key) != 1+numberSize {
		return 0, false
	}
	return binary.BigEndian.Uint32(key[1:]), true
}
