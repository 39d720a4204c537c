// Package searchdb keeps searches: what each looks for, how far it is, and what it has found.
// schema.md has the key spaces.
//
// Every commit is durable when the call returns: all that a reader was shown survives a loss of power.
// [Store.SetModes] writes the modes of searches, as to pause or to end, apart from their results, and waits for no
// commit. Every record has a checksum over itself and its key. A search with a damaged definition or state is dropped
// when the store is opened, which is logged. A search that the disk does not read is kept, and is read again the next
// time. Reading a damaged entry returns [ErrDamaged].
package searchdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/search"
	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/internal/ledger"
)

var (
	// ErrDamaged reports records that cannot be read as they were written.
	ErrDamaged = ledger.ErrDamaged

	// ErrForeign, ErrNewer and ErrLocked report, from [Open], a folder that is not to be
	// touched: of another program or network, of a later version, or already open.
	ErrForeign, ErrNewer, ErrLocked = ledger.ErrForeign, ledger.ErrNewer, ledger.ErrLocked
)

const (
	// formatVersion is that of the keys and values. Version 3 had no gaps, version 2 no indices that are used either,
	// and withoutChanges no changes of the mode in a status.
	formatVersion  = 4
	withoutChanges = 1

	// writeBuffer is how many bytes of changes are a table: larger than a change of thousands of entries, which
	// would be written as tables of its own otherwise.
	writeBuffer = 8 << 20
)

// An ID names a search.
type ID uint64

// String returns the 16 hex digits.
func (id ID) String() string { return fmt.Sprintf("%016x", uint64(id)) }

// An Object is a scan object, as it is shown: it has no private key.
type Object string

// A Script is an output script that a search looks for.
type Script struct {
	Script []byte
	Object uint32 // number
	Index  int32  // at which it was derived; -1: of an object without a range
}

// A Definition says what a search is of, for ever.
type Definition struct {
	Name, Owner string
	Number      uint64 // in the order in which searches were made
	Created     time.Time
	Start, Stop int32 // heights; Stop is -1 if the search follows the chain
	StopBlock   chainhash.Hash
	BlocksOnly  bool
	Mempool     bool
	Sum         [32]byte // of all that was asked for
}

// A Mode is what is to be done with a search.
type Mode uint8

// The modes.
const (
	Running Mode = iota
	Paused
	Done
	Aborted
	Failed
	modes
)

// A Status is how far a search is, and what it does.
type Status struct {
	search.State

	Mode    Mode
	Reason  string // why it failed
	Updated time.Time
	Changes uint64 // how often the mode has changed
}

// A Search is all that is kept of one but its entries.
type Search struct {
	ID ID
	Definition
	Objects []Object
	Scripts []Script
	Ranges  []Range // of the objects that have one, in their order: see [RangesOf]
	Status  Status
	Used    Used // nil: not known, since an earlier version has found the entries
	Gaps    Gaps // nil: no object has one

	// Unread says that the disk could not read all of the search. It is [Failed], with no objects and no scripts, and
	// is not to be written: on the disk it is as it was.
	Unread bool
}

// A Change is what one commit does, all of it or nothing.
type Change struct {
	Create  []*Search
	Extend  []Extension
	Status  map[ID]Status
	Used    map[ID]Used
	Entries []Entry
	Remove  []ID // their entries stay until [Store.Sweep]
}

// Empty reports whether there is nothing to do.
func (c *Change) Empty() bool {
	return len(c.Create)+len(c.Extend)+len(c.Status)+len(c.Used)+len(c.Entries)+len(c.Remove) == 0
}

// An Extension adds to what a search looks for. First numbers are those of the objects and
// scripts that are there.
type Extension struct {
	ID                       ID
	FirstObject, FirstScript uint32
	Objects                  []Object
	Scripts                  []Script
	Gaps                     Gaps // of all objects of the search; nil: as they are
}

// An Entry belongs to a search, and has its place there.
type Entry struct {
	ID ID
	Place
	search.Entry
}

// Options say where a store lies.
type Options struct {
	FS      vfs.FS // nil: the operating system's
	Dir     string
	Network [4]byte // as it appears on the wire
	Log     *slog.Logger
}

// A Store is open. It is safe for concurrent use.
type Store struct {
	ledger atomic.Pointer[ledger.Ledger]
	modes  atomic.Pointer[ledger.Ledger] // of the changes of modes that wait for no commit
	log    *slog.Logger

	mu      sync.Mutex // one change at a time
	options Options

	sweeper sweeper
}

// Open opens a store, or makes an empty one.
//
// Errors: [ErrForeign], [ErrNewer], [ErrLocked], and those of the file system.
func Open(o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Store{options: o, log: o.Log}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Store) open() error {
	l, _, err := ledger.Open(ledger.Options{
		FS: s.options.FS, Dir: s.options.Dir, Name: "store of searches", Version: formatVersion, Oldest: withoutChanges,
		Network: s.options.Network, Owns: owns, Marks: 1, Log: s.log,
		Paced: true, WriteBuffer: writeBuffer, Keep: true,
	})
	if err != nil {
		return err
	}
	if err := s.openModes(); err != nil {
		return errors.Join(err, l.Close())
	}
	s.ledger.Store(l)
	return nil
}

// Reopen closes the store, whatever that says, and opens it again: after a write that failed.
// Errors are as of [Open]; then it may be called again.
func (s *Store) Reopen() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.Close()
	return s.open()
}

// Lag returns how much more than usual waits to be put in order on the disk, in tables of some thousands of
// entries. The more it is, the slower callers should add entries, so that no change has to wait. Lag itself
// does not wait.
func (s *Store) Lag() int { return s.ledger.Load().Lag() }

// Close closes the store.
func (s *Store) Close() error { return errors.Join(s.modes.Load().Close(), s.ledger.Load().Close()) }

// Commit makes a change, durably. After an error nothing is taken any more until the store is
// opened again; the change may have been made.
func (s *Store) Commit(c *Change) error {
	b := new(ledger.Batch)
	for _, n := range c.Create {
		put(b, key(definitionPrefix, n.ID), n.encode())
		n.parts(b, n.ID, 0, 0)
		n.Gaps.put(b, n.ID)
		put(b, key(statusPrefix, n.ID), n.Status.encode())
	}
	for _, e := range c.Extend {
		(&Search{Objects: e.Objects, Scripts: e.Scripts}).parts(b, e.ID, e.FirstObject, e.FirstScript)
		e.Gaps.put(b, e.ID)
	}
	for id, status := range c.Status {
		put(b, key(statusPrefix, id), status.encode())
	}
	for id, used := range c.Used {
		put(b, key(usedPrefix, id), encodePairs(used))
	}
	for i := range c.Entries {
		e := &c.Entries[i]
		put(b, e.key(), encodeEntry(&e.Entry))
	}
	for _, id := range c.Remove {
		b.Delete(key(definitionPrefix, id))
		b.Delete(key(statusPrefix, id))
		b.Delete(key(usedPrefix, id))
		b.Delete(key(gapsPrefix, id))
		put(b, key(removedPrefix, id), nil)
	}
	return s.commit(b)
}

// noPosition is that of each commit: the ledgers are in step with nothing.
var noPosition = []byte{1}

func (s *Store) commit(b *ledger.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ledger.Load().CommitDurably(b, noPosition)
}

// ids returns the searches that have a record of a kind.
func (s *Store) ids(prefix []byte) (ids []ID, err error) {
	for pair, err := range s.ledger.Load().Range(prefix) {
		if err != nil {
			return nil, err
		}
		if id, ok := idOf(pair.Key); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Load returns all searches, in no order. Damaged searches are left out and removed. A search that the disk does not
// read, an EIO, has only the parts that could be read. Errors: those of the file system, [ErrDamaged] where the
// store itself is.
func (s *Store) Load() (list []*Search, err error) {
	ids, err := s.ids(definitionPrefix)
	if err != nil {
		return nil, err
	}
	var broken Change
	for _, id := range ids {
		n, err := s.load(id)
		if errors.Is(err, ErrDamaged) {
			s.log.Warn("a search is damaged and is dropped", "search", id.String(), "err", err)
			broken.Remove = append(broken.Remove, id)
			continue
		}
		if errors.Is(err, syscall.EIO) {
			s.log.Error("a search cannot be read and stands still until the next start",
				"search", id.String(), "err", err)
			n, err = n.unread(), nil
		}
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	if !broken.Empty() {
		if err := s.Commit(&broken); err != nil {
			return nil, err
		}
	}
	return list, s.loadModes(list)
}

// unread is a search that could not be read completely, with the parts that were.
func (n *Search) unread() *Search {
	u := &Search{ID: n.ID, Definition: n.Definition, Status: n.Status, Used: Used{}, Unread: true}
	if u.Name == "" {
		u.Name = u.ID.String()
	}
	if len(u.Status.Joined) == 0 {
		u.Status.State = search.NewState(search.Block{Height: u.Start - 1})
	}
	u.Status.Mode, u.Status.Reason = Failed, "The disk could not read the search. It is read again at the next start"
	return u
}

// load reads a search; with an error, what of it could be read.
func (s *Store) load(id ID) (*Search, error) {
	n := &Search{ID: id}
	for _, record := range []struct {
		prefix []byte
		decode func([]byte) error
	}{{definitionPrefix, n.decode}, {statusPrefix, n.Status.decode}} {
		k := key(record.prefix, id)
		raw, err := s.ledger.Load().Get(k)
		if errors.Is(err, ledger.ErrNotFound) {
			return n, fmt.Errorf("%w: record %x is missing", ErrDamaged, k)
		}
		if err == nil {
			raw, err = checked(k, raw)
		}
		if err == nil {
			err = record.decode(raw)
		}
		if err != nil {
			return n, err
		}
	}
	if err := s.loadParts(objectPrefix, n, n.addObjects); err != nil {
		return n, err
	}
	if err := s.loadParts(scriptPrefix, n, n.addScripts); err != nil {
		return n, err
	}
	if err := n.check(); err != nil {
		return n, err
	}
	n.Objects, n.Scripts = slices.Clone(n.Objects), slices.Clone(n.Scripts) // without the room that they grew by
	n.Ranges = RangesOf(n.Scripts)
	if err := s.loadGaps(n); err != nil {
		return n, err
	}
	return n, s.loadUsed(n)
}

func (s *Store) loadParts(prefix []byte, n *Search, add func(first uint32, raw []byte) error) error {
	for pair, err := range s.ledger.Load().Range(key(prefix, n.ID)) {
		if err != nil {
			return err
		}
		raw, err := checked(pair.Key, pair.Value)
		if err == nil && len(pair.Key) != 13 {
			err = fmt.Errorf("%w: key %x", ErrDamaged, pair.Key)
		}
		if err == nil {
			err = add(binary.BigEndian.Uint32(pair.Key[9:]), raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Entries visits the entries of a search that are behind the place after, up to and
// including the place to, until visit returns false. Meanwhile visit must not call the
// store. Errors: [ErrDamaged], those of the file system.
func (s *Store) Entries(id ID, after, to Place, visit func(Place, *search.Entry) bool) error {
	from := append(Entry{ID: id, Place: after}.key(), 0)
	end := append(Entry{ID: id, Place: to}.key(), 0)
	for pair, err := range s.ledger.Load().Between(from, end) {
		if err != nil {
			return err
		}
		raw, err := checked(pair.Key, pair.Value)
		if err != nil {
			return err
		}
		e, err := decodeEntry(raw)
		if err != nil {
			return err
		}
		if place, ok := placeOf(pair.Key); ok && !visit(place, &e) {
			return nil
		}
	}
	return nil
}
