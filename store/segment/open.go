package segment

import (
	"errors"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
	"github.com/seed61375155/trawl/store/internal/dbfiles"
)

// Open opens the store in a directory, or makes one.
//
// Damage does not stop it. Bytes after the last acknowledged filter are cut,
// and so are filters since the last Sync that a loss of power tore. A database
// that cannot be read is recovered as far as possible, else the store begins
// empty. A tip whose ancestors are no longer all there gives way to the highest
// block that has them. All repairs are logged. Damage to the segments
// themselves is not looked for here: see [Store.Verify].
//
// Errors: [ErrForeign], one of the lock when the store is already open, and
// those of the file system.
func Open(options Options) (*Store, error) {
	s := &Store{
		fs: options.FS, dir: options.Dir, segmentSize: options.SegmentSize, log: options.Log,
		makeLines: options.MakeLines, probesLost: make(chan struct{}, 1), ranged: options.RangeFilters,
	}
	if s.fs == nil {
		s.fs = vfs.OS
	}
	if s.segmentSize == 0 {
		s.segmentSize = DefaultSegmentSize
	}
	if s.segmentSize < 0 || s.segmentSize > maxSegmentSize {
		return nil, fmt.Errorf("filter index: segment size %d is out of range", s.segmentSize)
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if whose, err := Look(s.dir); err != nil {
		return nil, fmt.Errorf("look at filter index: %w", err)
	} else if whose == dbfiles.Foreign {
		return nil, ErrForeign
	}
	keyDir := filepath.Join(s.dir, "db")
	if err := vfs.MakeDir(s.fs, keyDir, 0o700); err != nil {
		return nil, fmt.Errorf("make filter index: %w", err)
	}
	k, c, m, err := openKeys(s.fs, keyDir, keyOptions(options.keyBuffer), s.log)
	if err != nil {
		return nil, err
	}
	s.keys, s.catalog = k, c
	if err := s.restore(m); err != nil {
		s.seal()
		for _, r := range s.regions {
			r.release()
		}
		for _, g := range s.groups {
			g.release()
		}
		for _, r := range s.ranges {
			r.release()
		}
		return nil, errors.Join(err, k.close())
	}
	return s, nil
}

// restore brings files, records and tip to agree.
func (s *Store) restore(m marks) error {
	if err := s.restoreSynced(m); err != nil {
		return fmt.Errorf("cut filter index: %w", err)
	}
	if err := s.removeStrays(); err != nil {
		return fmt.Errorf("clean filter index: %w", err)
	}
	if err := s.openSegments(); err != nil {
		return fmt.Errorf("open filter segments: %w", err)
	}
	if err := s.openGroups(); err != nil {
		return fmt.Errorf("open probe lines: %w", err)
	}
	if err := s.openRanges(); err != nil {
		return fmt.Errorf("open range filters: %w", err)
	}
	if err := s.restoreTip(m); err != nil {
		return fmt.Errorf("restore tip of filter index: %w", err)
	}
	return nil
}

// restoreSynced checks the filters that were not synced and cuts from the first
// filter that a loss of power took. A mark that was itself lost leaves the
// question to Verify and to the check of every read.
func (s *Store) restoreSynced(m marks) error {
	s.synced = m.synced.end
	if end := s.catalog.end(); !m.hasSynced || end.compare(s.synced) < 0 {
		s.synced = end
	}
	first, _ := slices.BinarySearchFunc(s.catalog.slots, s.synced, func(sl slot, p position) int {
		return s.catalog.positionOf(&sl).compare(p)
	})
	s.dirty = first < len(s.catalog.slots)
	torn := s.firstTorn(first)
	if torn == len(s.catalog.slots) {
		return nil
	}
	s.log.Warn("filter index is cut after an unclean stop",
		"filters", torn, "lost", len(s.catalog.slots)-torn)
	if err := s.keys.cut(s.catalog.positionOf(&s.catalog.slots[torn])); err != nil {
		return err
	}
	s.catalog.truncate(torn)
	return nil
}

// firstTorn returns the first slot from a given slot on whose filter is torn. A
// filter is torn if it is not in its file, or does not follow the filter
// before, since records between them were lost. It returns the number of slots
// if there is none.
func (s *Store) firstTorn(from int) int {
	slots := s.catalog.slots
	var f vfs.File
	defer func() { closeFile(f) }()
	var buf []byte
	for n := from; n < len(slots); n++ {
		sl, begin := &slots[n], int64(headerSize)
		sameFile := n > 0 && slots[n-1].segment == sl.segment
		if sameFile {
			begin = slots[n-1].end()
		}
		if f == nil || !sameFile {
			closeFile(f)
			f, _ = openFile(s.fs, segmentPath(s.dir, s.catalog.segments[sl.segment].number))
		}
		buf = grow(buf, sl.length)
		if begin != int64(sl.offset) || readAt(f, buf, begin) != nil || crc32.ChecksumIEEE(buf) != sl.crc {
			return n
		}
	}
	return len(slots)
}

// removeStrays removes segment files that no record names, and what an
// interrupted Rebuild left.
func (s *Store) removeStrays() error {
	files, err := filesLike(s.fs, s.dir, "fltr*.dat*")
	if err != nil {
		return err
	}
	named := make(map[string]bool, len(s.catalog.segments))
	for _, info := range s.catalog.segments {
		named[segmentPath(s.dir, info.number)] = true
	}
	for _, path := range files {
		if named[path] {
			continue
		}
		s.log.Info("filter index removes a file without filters", "file", filepath.Base(path))
		if err := s.fs.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// openSegments maps all segments, with surplus bytes cut off, and opens the
// last segment for appending.
func (s *Store) openSegments() error {
	for i, info := range s.catalog.segments {
		if err := s.trim(info); err != nil {
			return err
		}
		size := info.size()
		if i == len(s.catalog.segments)-1 {
			size = max(size, s.segmentSize)
			var err error
			if s.tail, err = openTail(s.fs, s.dir, info, size); err != nil {
				return err
			}
		}
		s.regions = append(s.regions, newRegion(s.fs, s.dir, info.number, size))
	}
	return nil
}

// trim makes a file end with the padding after its last filter, and logs a file
// that is too short for its filters. After a loss of power a file may have the
// size of before, but the beginning of a lost filter where its padding was.
func (s *Store) trim(info segmentInfo) error {
	path := segmentPath(s.dir, info.number)
	stat, err := s.fs.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && stat.Size() < info.end {
		s.log.Warn("filter segment is damaged", "segment", info.number, "want_bytes", info.size())
		return nil
	}
	if err != nil || stat.Size() == info.size() && isPadded(s.fs, path, info.end) {
		return err
	}
	f, err := s.fs.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	s.log.Info("filter segment is trimmed to its filters",
		"segment", info.number, "bytes", stat.Size(), "want_bytes", info.size())
	return errors.Join(cut(f, info.end), f.Close())
}

// isPadded reports whether zeros follow the last filter of a file. Unreadable
// bytes count as zeros: a later read of the file will notice.
func isPadded(fs vfs.FS, path string, end int64) bool {
	f, err := openFile(fs, path)
	if err != nil {
		return true
	}
	defer f.Close()
	var got [padding]byte
	_, err = f.ReadAt(got[:], end)
	return err != nil || got == [padding]byte{}
}

// restoreTip makes the chain of the stored tip active, else that of the tip at
// the last Sync, else the longest there is.
func (s *Store) restoreTip(m marks) error {
	if m.hasTip && s.tryTip(&m.tip) {
		return nil
	}
	if !m.hasSynced || !s.tryTip(&m.synced.tip) {
		longest, _ := s.catalog.longest()
		s.tryTip(&longest)
	}
	tip := s.catalog.tip()
	s.log.Warn("filter index lost filters below its tip", "lost_tip", m.tip, "tip", tip)
	return s.setTip(&tip, nil)
}

// tryTip makes the chain of tip active, which may be the zero hash for none.
// False means that not all ancestors are there.
func (s *Store) tryTip(tip *chainhash.Hash) bool {
	if *tip == (chainhash.Hash{}) {
		return true
	}
	branch, err := s.catalog.branch(tip)
	if err == nil {
		s.catalog.setTip(tip, branch)
	}
	return err == nil
}
