// Package attachdb is a node's own directory of a chain that another node validates.
// It has the headers, the places of each block and its undo data in that node's files,
// the tip, and the source of each filter. schema.md has the key spaces.
//
// Blocks have numbers from 1 on, in the order in which they were added; the genesis
// block is number 0 and is not stored. A commit is with the operating system when the
// call returns. Everything here can be asked for again. Records that cannot be read
// as they were written are dropped with all later records, and are never believed. A
// directory is open once at a time.
package attachdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

var (
	// ErrNotFound reports a number that no block has.
	ErrNotFound = errors.New("block is not in the directory")

	// ErrDamaged reports a directory that cannot be read; see [Store.Wipe].
	ErrDamaged = ledger.ErrDamaged

	// ErrForeign, ErrNewer and ErrLocked report, from [Open], a folder that is not to be
	// touched: of another program or network, of a later version, or already open.
	ErrForeign, ErrNewer, ErrLocked = ledger.ErrForeign, ledger.ErrNewer, ledger.ErrLocked
)

// formatVersion is that of the keys.
const formatVersion = 1

// The key spaces.
var (
	prefixBlock  = []byte{'h'}
	prefixFilter = []byte{'f'}
	prefixFirst  = []byte{'n'}
)

// A position is what a commit leads to.
type position struct {
	count uint32 // of blocks
	tip   Tip
}

const positionSize = 4 + 4 + chainhash.HashSize

// Options say where a directory lies.
type Options struct {
	FS      vfs.FS // nil: the operating system's
	Dir     string
	Network [4]byte // as it appears on the wire
	Log     *slog.Logger
}

// A Store is an open directory. It is safe for concurrent use.
type Store struct {
	ledger *ledger.Ledger

	mu sync.Mutex // one change at a time; guards what follows
	position
}

// A Tip is the last block of the followed chain.
type Tip struct {
	Number uint32
	Hash   chainhash.Hash
}

// Open opens a directory, or makes an empty one. [Store.Load] comes next.
//
// Errors: [ErrForeign], [ErrNewer], [ErrLocked], and those of the file system.
func Open(o Options) (*Store, error) {
	l, raw, err := ledger.Open(ledger.Options{
		FS: o.FS, Dir: o.Dir, Name: "directory of the followed chain", Version: formatVersion, Network: o.Network,
		Owns: owns, Marks: 1, Cache: 1 << 20, Log: o.Log,
	})
	if err != nil {
		return nil, err
	}
	s := &Store{ledger: l}
	if s.position, err = decodePosition(raw); err != nil {
		err = s.Wipe()
	}
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return s, nil
}

// decodePosition is the inverse of encode; nil is that of an empty directory.
func decodePosition(raw []byte) (p position, err error) {
	if raw == nil {
		return p, nil
	}
	if len(raw) != positionSize {
		return p, fmt.Errorf("%w: position %x", ErrDamaged, raw)
	}
	count, number := binary.BigEndian.Uint32(raw), binary.BigEndian.Uint32(raw[4:])
	if number > count {
		return p, fmt.Errorf("%w: block %d of %d is the tip", ErrDamaged, number, count)
	}
	return position{count, Tip{number, chainhash.Hash(raw[8:])}}, nil
}

func (p position) encode() []byte {
	raw := binary.BigEndian.AppendUint32(make([]byte, 0, positionSize), p.count)
	raw = binary.BigEndian.AppendUint32(raw, p.tip.Number)
	return append(raw, p.tip.Hash[:]...)
}

// Count returns how many blocks there are, without the genesis block.
func (s *Store) Count() uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// Tip returns the tip of the last commit, the zero value where there was none.
func (s *Store) Tip() Tip {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tip
}

// Sync makes what was committed survive a loss of power.
func (s *Store) Sync() error { return s.ledger.Sync() }

// Close syncs and closes the directory.
func (s *Store) Close() error { return s.ledger.Close() }

// Wipe empties the directory.
func (s *Store) Wipe() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.position = position{}
	return s.ledger.Wipe()
}
