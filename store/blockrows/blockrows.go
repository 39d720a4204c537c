// Package blockrows keeps a row for each block and the state after the last one: the
// store of an index that sums the chain up. schema.md has the key spaces.
//
// Rows of blocks that leave the chain stay. A commit is with the operating system
// when the call returns. After a loss of power the store is back at an earlier block,
// the one of the last [Store.Sync] or a later one. It is a cache of the chain and may
// be made anew at any time.
package blockrows

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

var (
	// ErrNotFound reports a block without a row.
	ErrNotFound = errors.New("block has no row in the index")

	// ErrDamaged reports a store that cannot be read; see [Store.Wipe].
	ErrDamaged = ledger.ErrDamaged

	// ErrForeign and ErrNewer report, from [Open], a folder that is not to be touched.
	ErrForeign, ErrNewer = ledger.ErrForeign, ledger.ErrNewer
)

// formatVersion is the version of the keys. Version 1 had no record of its version.
const formatVersion = 2

// The key spaces.
var (
	prefixRow = []byte{'s'}
	oldBest   = []byte{'B'} // of version 1
)

// bestSize is that of a position without the state.
const bestSize = chainhash.HashSize + 4

// keptMarks is how many earlier states one may go back to: more than a chain loses
// with the power.
const keptMarks = 64

// A Best is the last block in the index, and the state after it.
type Best struct {
	Block  chainhash.Hash
	Height int32
	State  []byte
}

// decodeBest is the inverse of encode; nil for no position.
func decodeBest(position []byte) (*Best, error) {
	if position == nil {
		return nil, nil
	}
	if len(position) < bestSize {
		return nil, fmt.Errorf("%w: position %x", ErrDamaged, position)
	}
	return &Best{
		Block:  chainhash.Hash(position[:chainhash.HashSize]),
		Height: int32(binary.LittleEndian.Uint32(position[chainhash.HashSize:])),
		State:  bytes.Clone(position[bestSize:]),
	}, nil
}

func (b *Best) encode() []byte {
	position := append(make([]byte, 0, bestSize+len(b.State)), b.Block[:]...)
	return append(binary.LittleEndian.AppendUint32(position, uint32(b.Height)), b.State...)
}

// Options say where a store lies.
type Options struct {
	FS      vfs.FS // nil: the operating system's
	Dir     string
	Name    string  // of the index, in logs and errors
	Network [4]byte // as it appears on the wire
	Log     *slog.Logger
}

// A Store is an open index. Its methods are safe for concurrent use, but only one
// goroutine may change it at a time.
type Store struct{ ledger *ledger.Ledger }

// Open opens the index in a folder, or makes an empty one, and returns its last
// block, nil when it is empty. A damaged one is emptied.
//
// Errors: [ErrForeign], [ErrNewer], and those of the file system.
func Open(o Options) (*Store, *Best, error) {
	l, position, err := ledger.Open(ledger.Options{
		FS: o.FS, Dir: o.Dir, Name: o.Name, Version: formatVersion, Network: o.Network, Owns: owns, Adopt: adopt,
		Marks: keptMarks,
		Cache: 4 << 20, Log: o.Log,
	})
	if err != nil {
		return nil, nil, err
	}
	s := &Store{l}
	best, err := decodeBest(position)
	if _, old := l.Get(oldBest); !errors.Is(old, ledger.ErrNotFound) {
		err = errors.Join(fmt.Errorf("%w: an earlier version has written to it", ErrDamaged), old)
	}
	if errors.Is(err, ErrDamaged) {
		best, err = nil, s.Wipe()
	}
	if err != nil {
		return nil, nil, errors.Join(err, l.Close())
	}
	return s, best, nil
}

// adopt takes an index of version 1 over. Of a chain of blocks each has its row,
// unless some were lost.
func adopt(old ledger.Reader, change *ledger.Batch) (position []byte, err error) {
	row, err := old.Get(oldBest)
	if err != nil && !errors.Is(err, ledger.ErrNotFound) {
		return nil, err
	}
	if len(row) < bestSize {
		return nil, ledger.ErrForeign
	}
	best, err := decodeBest(row)
	if err != nil {
		return nil, err
	}
	var rows int32
	for _, err := range old.Range(prefixRow) {
		if err != nil {
			return nil, err
		}
		rows++
	}
	if rows <= best.Height {
		return nil, fmt.Errorf("%w: %d rows at height %d", ErrDamaged, rows, best.Height)
	}
	change.Delete(oldBest)
	return row, nil
}

// Put makes a block the last one, with its row unless that is nil.
func (s *Store) Put(best *Best, row []byte) error {
	batch := new(ledger.Batch)
	if row != nil {
		batch.Put(rowKey(&best.Block), row)
	}
	return s.ledger.Commit(batch, best.encode())
}

// Sync makes what was put survive a loss of power.
func (s *Store) Sync() error { return s.ledger.Sync() }

// Rewind takes the index back to the newest known block that was the last block
// at a Sync, and returns that block. If none is known, the index is emptied.
func (s *Store) Rewind(known func(block *chainhash.Hash) bool) (*Best, error) {
	position, err := s.ledger.Rewind(func(position []byte) bool {
		return len(position) >= bestSize && known((*chainhash.Hash)(position[:chainhash.HashSize]))
	})
	if err != nil {
		return nil, err
	}
	return decodeBest(position)
}

// Wipe empties the index.
func (s *Store) Wipe() error { return s.ledger.Wipe() }

// Row returns the row of a block.
//
// Errors: [ErrNotFound], [ErrDamaged].
func (s *Store) Row(block *chainhash.Hash) ([]byte, error) {
	row, err := s.ledger.Get(rowKey(block))
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("row of block %v: %w", block, err)
	}
	return row, nil
}

// Close closes the index.
func (s *Store) Close() error { return s.ledger.Close() }

func rowKey(block *chainhash.Hash) []byte {
	return append([]byte{prefixRow[0]}, block[:]...)
}
