// Package scriptindex keeps at which heights of the chain each script is paid to or spent from. It only proposes:
// blocks decide. A proposed block may lack the script: by a chance of one in a thousand, or since it has left the
// chain. No other block has the script.
//
// New blocks are kept in memory, in a log from [Store.Sync] on, and from some number of blocks on in tables of
// package heighttable, which [Store.Tidy] joins into few. Files are complete or absent: the manifest names them.
// After a kill or a loss of power the store is back at an earlier block, that of the last Sync or a later one. It is
// a cache of the chain and may be made anew at any time. schema.md has the formats.
//
// Scripts are hashed with a secret of the store, so that nobody can make scripts that are taken for another.
package scriptindex

import (
	"crypto/sha256"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/siphash"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/internal/ledger"
	"github.com/seed61375155/trawl/store/scriptindex/heighttable"
)

var (
	// ErrDamaged reports a store that cannot be read as it was written; see [Store.Wipe].
	ErrDamaged = heighttable.ErrDamaged

	// ErrClosed reports a store that was closed.
	ErrClosed = errors.New("script index is closed")

	// ErrForeign and ErrNewer report, from [Open], a folder that is not to be touched.
	ErrForeign, ErrNewer = ledger.ErrForeign, ledger.ErrNewer
)

// A Key stands for scripts in the store.
type Key = heighttable.Key

// Options say where a store lies.
type Options struct {
	FS      vfs.FS // nil: the operating system's
	Dir     string
	Network [4]byte // as it appears on the wire
	Limits  Limits
	Log     *slog.Logger
}

// Limits say when blocks become a table, and when tables are joined. Zero: the default.
type Limits struct {
	Elements int // in memory, of which each takes 8 bytes; default 8 million
	Blocks   int // that become a table at the tip; default 144
	Kept     int // last blocks that do not, since they may leave the chain; default 100
	Tables   int // that a look-up reads, and a few more; default 16
	Runs     int // tables behind the tip, where nobody looks anything up; default 800
}

func (l *Limits) setDefaults() {
	for _, d := range []struct {
		value *int
		is    int
	}{{&l.Elements, 8 << 20}, {&l.Blocks, 144}, {&l.Kept, 100}, {&l.Tables, 16}, {&l.Runs, 800}} {
		if *d.value == 0 {
			*d.value = d.is
		}
	}
}

// maxPending is how many blocks are in no table at most: a look-up goes over them.
const maxPending = 20_000

// A Position is a block that the store has come to. Height -1 stands for none.
type Position struct {
	Hash   chainhash.Hash
	Height int32
}

var nowhere = Position{Height: -1}

// A block is a block that is in no table yet. It does not change.
type block struct {
	Position

	keys []Key // sorted, each once
}

// A Store is an open index. Its methods are safe for concurrent use, but only one goroutine may change it at a time,
// while others may look up and one may call Tidy.
type Store struct {
	o      Options
	secret [secretSize]byte

	numbers atomic.Uint32 // of files: the last that was taken
	tip     atomic.Bool   // the last block added was the chain's last

	tidying  sync.Mutex // held while tables are joined
	changing sync.Mutex // held while the manifest or the log are written

	mu       sync.RWMutex
	tables   []*table // in the order in which they were made
	base     Position // the last block of the tables
	pending  []block  // on base, ascending
	elements int      // of pending
	epoch    int      // how often the tables were given up
	closed   bool

	log logFile // guarded by changing
}

// KeyOf returns the key of a script by the script's SHA-256.
func (s *Store) KeyOf(hash *[sha256.Size]byte) Key {
	return Key(siphash.SumKey(&s.secret, hash[:]) >> (64 - heighttable.KeyBits))
}

// Best returns the last block in the index; ok is false when it is empty.
func (s *Store) Best() (hash chainhash.Hash, height int32, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	at := s.best()
	return at.Hash, at.Height, at.Height >= 0
}

// best returns the last block. s.mu is held.
func (s *Store) best() Position {
	if n := len(s.pending); n > 0 {
		return s.pending[n-1].Position
	}
	return s.base
}

// Add adds the block that follows the best one. The keys of its scripts are sorted, each once, and become the store's.
// left is how many blocks follow in the chain. After an error of the disk the block may have been added.
func (s *Store) Add(at Position, keys []Key, left int32) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	s.pending = append(s.pending, block{at, keys})
	s.elements += len(keys)
	n, full := len(s.pending), s.elements >= s.o.Limits.Elements || len(s.pending) >= maxPending
	s.mu.Unlock()
	s.tip.Store(left == 0)
	switch l := &s.o.Limits; {
	case left == 0 && n >= l.Blocks+l.Kept, full && n > l.Kept && left < int32(l.Kept):
		return s.flush(n - l.Kept)
	case full:
		return s.flush(n)
	}
	return nil
}

// Back takes the best block back. before is the block before it; height -1 if there is none.
func (s *Store) Back(before Position) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.cut(max(0, len(s.pending)-1), before)
	return nil
}

// cut leaves the first n pending blocks, and makes a block the best one. s.changing and s.mu are held.
func (s *Store) cut(n int, at Position) {
	s.setPending(s.pending[:n])
	if n == 0 {
		s.base = at
	}
	s.log.cut(n)
}

// setPending makes a copy of some blocks those that are in no table. Readers have the list of before. s.mu is held.
func (s *Store) setPending(list []block) {
	s.pending, s.elements = slices.Clone(list), 0
	for i := range list {
		s.elements += len(list[i].keys)
	}
}

// Sync makes what was added survive a loss of power.
func (s *Store) Sync() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.isClosed() {
		return ErrClosed
	}
	return s.writeLog()
}

func (s *Store) isClosed() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.closed
}

// Rewind takes the index back to the newest block that is known. If none is known, the index is emptied.
func (s *Store) Rewind(known func(block *chainhash.Hash) bool) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.isClosed() {
		return ErrClosed
	}
	s.mu.RLock()
	pending, tables, base := s.pending, s.tables, s.base
	s.mu.RUnlock()
	n := len(pending)
	for n > 0 && !known(&pending[n-1].Hash) {
		n--
	}
	at := base
	if n == 0 {
		for i := len(tables); i > 0 && (at.Height < 0 || !known(&at.Hash)); {
			i--
			at = tables[i].last
		}
		if at.Height < 0 || !known(&at.Hash) {
			return s.wipe()
		}
	}
	s.mu.Lock()
	s.cut(n, at)
	s.mu.Unlock()
	return s.writeLog()
}

// Wipe empties the index.
func (s *Store) Wipe() error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.isClosed() {
		return ErrClosed
	}
	return s.wipe()
}

func (s *Store) wipe() error {
	s.mu.Lock()
	old := s.tables
	s.tables, s.base = nil, nowhere
	s.setPending(nil)
	s.epoch++
	s.mu.Unlock()
	s.log.broken = true // the log is of the tables
	err := s.commit(nil, nowhere, nil)
	for _, t := range old {
		t.release()
		if err == nil {
			s.remove(t.number, tabName)
		}
	}
	return err
}

// Close syncs and closes the index.
func (s *Store) Close() error {
	s.changing.Lock()
	err := s.writeLog()
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		s.changing.Unlock()
		return nil
	}
	s.closed = true
	tables := s.tables
	s.tables, s.pending = nil, nil
	s.mu.Unlock()
	s.changing.Unlock()

	s.tidying.Lock() // it ends soon
	defer s.tidying.Unlock()
	for _, t := range tables {
		t.release()
	}
	return errors.Join(err, s.log.close())
}

// Found is in which blocks a script may be.
type Found struct {
	Heights []int32  // ascending; nil where there are too many
	Blocks  int      // how many there are, or some more
	Best    Position // the blocks up to this one are in the index
}

// Find returns the heights at which scripts with a key may be; more than most are only counted.
func (s *Store) Find(key Key, most int) (f Found, err error) {
	s.mu.RLock()
	if s.closed {
		s.mu.RUnlock()
		return f, ErrClosed
	}
	f.Best = s.best()
	tables, pending := slices.Clone(s.tables), s.pending
	for _, t := range tables {
		t.acquire()
	}
	s.mu.RUnlock()
	defer func() {
		for _, t := range tables {
			t.release()
		}
	}()
	for _, t := range tables {
		heights, n, err := t.heights.Find(key, most)
		if err != nil {
			return f, t.failed(err)
		}
		f.Blocks += n
		for _, h := range heights {
			f.Heights = append(f.Heights, int32(h))
		}
	}
	for i := range pending {
		if _, has := slices.BinarySearch(pending[i].keys, key); has {
			f.Blocks++
			f.Heights = append(f.Heights, pending[i].Height)
		}
	}
	if f.Blocks > most {
		f.Heights = nil
		return f, nil
	}
	slices.Sort(f.Heights)
	f.Heights = slices.Compact(f.Heights)
	f.Blocks = len(f.Heights)
	return f, nil
}

// State is what the store is made of, for metrics and logs.
type State struct {
	Tables   int
	Elements uint64 // in them
	Pending  int    // blocks that are in none
}

// State returns what the store is made of now.
func (s *Store) State() (st State) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, t := range s.tables {
		st.Elements += t.heights.Elements()
	}
	st.Tables, st.Pending = len(s.tables), len(s.pending)
	return st
}
