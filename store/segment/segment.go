// Package segment keeps the BIP158 block filters of a chain on disk, laid out
// for being scanned from one end to the other.
//
// # Layout
//
// One directory holds the store. Segment files fltr00000.dat, fltr00001.dat, …
// have the filters back to back in the order they were appended. A goleveldb in
// db/ has a small record for each filter: its block, position, checksum, filter
// hash and filter header. store/schema.md lists the keys. A segment is only
// ever appended to, so a filter never moves and the filter of a block that left
// the active chain stays readable.
//
// In memory are the positions of all filters (84 bytes each, 76 MB for 900,000 blocks) and an index of block
// hashes (at most 8 bytes each). Also in memory are the active chain (4 bytes each) and the places of the
// probe lines (32 bytes each). The files are mapped. A scan therefore touches no database and allocates
// nothing for a filter.
//
// # What holds after a crash
//
// The bytes of a filter reach the operating system before the record that names
// them. Changes that [Store.Append] and [Store.SetTip] acknowledged survive the
// death of the process; changes that [Store.Sync] acknowledged survive a loss
// of power. Later changes may be lost, but [Open] notices and cuts torn
// filters.
//
// # Damage
//
// The index is a cache of the chain: damage never stops [Open]. Every filter is
// checked against its CRC-32 whenever it is read, so that a damaged one is a
// [*DamagedError] and never wrong bytes. [Store.Verify] covers every bit of a
// segment file. [Store.Rebuild] rebuilds damaged segments only.
//
// # Probe lines
//
// Beside the filters the store keeps an index of their elements, the probe lines,
// which [Store.AddProbes] makes in the background. Every 2,048 filters have a file
// prob00000.dat, prob00001.dat, …; the lines of the last, incomplete group are in
// memory. The lines are a cache of the filters. Their maker and their readers know
// the content of lines; the store knows which filter they belong to, and their
// checksums. If Options ask for range filters, it does the same with filters of
// all scripts of every 2,048 blocks.
//
// # Concurrency
//
// All methods are safe for concurrent use. Writers wait for each other; readers
// never wait for a write to the disk.
//
// The package knows bytes, hashes and heights. It decodes no filter and knows
// only the chain that the filters' previous-block hashes form.
package segment

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
)

// DefaultSegmentSize is the size in bytes up to which segments grow. It is
// small enough to rebuild a segment in about a minute, and large enough that
// the filters of a whole chain are some 200 files.
const DefaultSegmentSize = 64 << 20

// maxSegmentSize bounds what Options may ask for; offsets are 32-bit.
const maxSegmentSize = 1 << 30

// Options says where a store is and how it behaves.
type Options struct {
	FS          vfs.FS       // nil: the operating system's
	Dir         string       // holds the segment files and db/; made when absent
	SegmentSize int64        // in bytes, up to 1 GiB; 0 means DefaultSegmentSize
	Log         *slog.Logger // told of every repair; nil discards

	// MakeLines makes the probe lines that [Store.AddProbes] keeps beside the
	// filters. With nil none are kept, and those that there are are removed.
	MakeLines MakeLines

	// RangeFilters keeps a filter of all scripts of every 2,048 blocks, which
	// the store's owner makes. Without it those that there are are removed.
	RangeFilters bool

	keyBuffer int // bytes of db/ in memory; 0: goleveldb's own
}

// Store is an open filter index; make one with [Open].
type Store struct {
	fs          vfs.FS
	dir         string
	segmentSize int64
	log         *slog.Logger
	keys        *keys
	makeLines   MakeLines
	probesLost  chan struct{}
	ranged      bool // keeps range filters
	rangeKey    [RangeKeySize]byte

	// rebuild is held during Rebuild, write by everything that writes, mu
	// while what readers see changes. They are taken in this order.
	rebuild sync.Mutex
	write   sync.Mutex
	mu      sync.RWMutex

	// Guarded by write.
	tail   *tail // nil: the next filter starts a segment
	synced position
	dirty  bool  // something was written since the last Sync
	failed error // set by the first failed write; nothing is written any more

	// Guarded by mu; written only with write held.
	catalog catalog
	regions []*region    // one for each of catalog.segments; nil: file missing
	groups  []*lineGroup // of slots, groupSize each; nil: no lines. Never written to in place
	ranges  []*rangeFile // as groups
	closed  bool
}

// Sync makes everything acknowledged so far survive a loss of power.
func (s *Store) Sync() error {
	s.write.Lock()
	defer s.write.Unlock()
	return s.writing(s.sync)
}

// Close syncs the store and closes it. It waits for a running Rebuild, which
// ends with its context, and not for views: they stay readable, and the memory
// that they pin is unmapped with their release.
func (s *Store) Close() error {
	s.rebuild.Lock()
	defer s.rebuild.Unlock()
	s.write.Lock()
	defer s.write.Unlock()
	if s.isClosed() {
		return nil
	}
	var err error
	if s.failed == nil {
		err = s.sync()
	}
	s.mu.Lock()
	s.closed = true
	regions, groups, ranges := s.regions, s.groups, s.ranges
	s.regions, s.groups, s.ranges = nil, nil, nil
	s.mu.Unlock()

	for _, r := range regions {
		r.release()
	}
	for _, g := range groups {
		g.release()
	}
	for _, r := range ranges {
		r.release()
	}
	s.seal()
	return errors.Join(err, s.keys.close())
}

// writing runs one write. After the first that fails the disk and the memory
// may disagree, so no other is tried until the store is opened again.
func (s *Store) writing(write func() error) error {
	if s.isClosed() {
		return ErrClosed
	}
	if s.failed != nil {
		return fmt.Errorf("%w: %w", ErrFailed, s.failed)
	}
	s.failed = write()
	return s.failed
}

// sync flushes the segments first: the mark may only cover what is on disk.
func (s *Store) sync() error {
	if !s.dirty {
		return nil
	}
	mark := syncMark{end: s.catalog.end(), tip: s.catalog.tip()}
	for _, info := range s.catalog.segments {
		if info.number < s.synced.segment {
			continue
		}
		if err := syncFile(s.fs, segmentPath(s.dir, info.number)); err != nil {
			return fmt.Errorf("sync filter segment: %w", err)
		}
	}
	if err := s.fs.SyncDir(s.dir); err != nil {
		return fmt.Errorf("sync filter segments: %w", err)
	}
	if err := s.keys.sync(mark); err != nil {
		return fmt.Errorf("sync filter keys: %w", err)
	}
	s.synced, s.dirty = mark.end, false
	return nil
}

// seal ends the growing segment.
func (s *Store) seal() {
	if s.tail == nil {
		return
	}
	s.tail.file.Close() // what was written is already with the system
	s.tail = nil
}

func (s *Store) isClosed() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.closed
}

// Entry is the filter of a block with all fields that the store keeps.
type Entry struct {
	Block, Prev chainhash.Hash // the block and its previous block
	Height      int32          // 0 for the genesis block
	FilterHash  chainhash.Hash // double SHA-256 of Filter
	Header      chainhash.Hash // filter header after BIP157
	Filter      []byte         // as on the wire: CompactSize of the items, coded set
}

// SegmentInfo describes one segment file.
type SegmentInfo struct {
	Number  int    // as in the file's name; rising, without promise of no gaps
	Path    string // of the file
	Filters int    // held by it
	Size    int64  // in bytes that the file ought to have
}

// Segments lists the segments in the order they were written.
func (s *Store) Segments() []SegmentInfo {
	s.mu.RLock()
	defer s.mu.RUnlock()
	infos := make([]SegmentInfo, len(s.catalog.segments))
	for i, info := range s.catalog.segments {
		infos[i] = SegmentInfo{
			Number:  int(info.number),
			Path:    segmentPath(s.dir, info.number),
			Filters: len(s.catalog.slotsOf(i)),
			Size:    info.size(),
		}
	}
	return infos
}

// Len returns the number of filters stored, those of stale blocks included.
func (s *Store) Len() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.catalog.slots)
}

func segmentPath(dir string, number uint32) string {
	return filepath.Join(dir, fmt.Sprintf("fltr%05d.dat", number))
}
