package segment

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
)

// A file of a range filter is a header and the filter:
//
//	0   8   magic
//	8   4   version of these files, little-endian as all numbers
//	12  4   number of the group
//	16  4   number of blocks
//	20  4   CRC-32 (IEEE) of the filter
//	24  32  SHA-256 over block, length and CRC-32 of each block's filter
//	56  16  first bytes of a SHA-256 over the key
//	72  8   length of the filter
//	80  12  zero
//	92  4   CRC-32 (IEEE) of the 92 bytes before
//	96      the filter
const (
	rangeHeader  = 96
	rangeVersion = 1
)

// RangeKeySize is the size of the key of a store's range filters, in bytes.
const RangeKeySize = 16

var rangeMagic = []byte("TRAWLRNG")

var errForeignRange = errors.New("range filter of other blocks, or of another key")

// rangeFile is a mapped range filter. It does not change. It starts with one
// reference, the store's; the mapping ends with the last.
type rangeFile struct {
	mem  []byte // the mapping; nil: there can be no filter
	crc  uint32 // of what follows the header
	refs atomic.Int64
}

func (r *rangeFile) acquire() {
	if r != nil {
		r.refs.Add(1)
	}
}

func (r *rangeFile) release() {
	if r != nil && r.refs.Add(-1) == 0 && r.mem != nil {
		munmap(r.mem)
	}
}

// Range is a range filter, not checked.
type Range struct {
	Data []byte
	CRC  uint32 // CRC-32 (IEEE) of Data
}

func rangePath(dir string, group int) string {
	return filepath.Join(dir, fmt.Sprintf("rang%05d.dat", group))
}

// RangeKey is the secret under which range filters are made; ok is false for a
// store that keeps none.
func (s *Store) RangeKey() (key [RangeKeySize]byte, ok bool) { return s.rangeKey, s.ranged }

// NextRange returns the blocks of the first range that has no filter yet: 2,048
// of them in the order of Append. ok is false when there is none.
func (s *Store) NextRange() (number int, blocks []chainhash.Hash, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !s.ranged || s.closed {
		return 0, nil, false
	}
	number = slices.Index(s.ranges, nil)
	if number < 0 {
		number = len(s.ranges)
	}
	if (number+1)*groupSize > len(s.catalog.slots) {
		return 0, nil, false
	}
	for i := range groupSize {
		blocks = append(blocks, s.catalog.slots[number*groupSize+i].block)
	}
	return number, blocks, true
}

// PutRange keeps the filter of a range that NextRange returned. The file takes
// its place in one step.
func (s *Store) PutRange(number int, data []byte) error {
	v := s.View()
	defer v.Release()
	if len(v.slots) < (number+1)*groupSize {
		return ErrClosed
	}
	slots := v.slots[number*groupSize:][:groupSize]
	path := rangePath(s.dir, number)
	out := append(s.appendRangeHeader(nil, number, slots, data), data...)
	if err := vfs.ReplaceFile(s.fs, path, out, 0o600); err != nil {
		return fmt.Errorf("store range filter: %w", err)
	}
	r, err := s.openRange(path, number, slots)
	if err != nil {
		return fmt.Errorf("store range filter: %w", err)
	}
	s.setRange(number, r)
	return nil
}

// SkipRange notes that the filter of a range cannot be made.
func (s *Store) SkipRange(number int) { s.setRange(number, newRange(nil, 0)) }

// DropRange forgets the filter of the range around a block, because it is
// damaged, to be rebuilt; it sends on [Store.ProbesLost].
func (s *Store) DropRange(block *chainhash.Hash) {
	s.mu.RLock()
	n, ok := s.catalog.find(block)
	number := int(n) / groupSize
	known := ok && !s.closed && number < len(s.ranges) && s.ranges[number] != nil
	s.mu.RUnlock()
	if !known {
		return
	}
	s.log.Warn("range filter is damaged, making it anew", "file", filepath.Base(rangePath(s.dir, number)))
	s.setRange(number, nil)
	select {
	case s.probesLost <- struct{}{}:
	default:
	}
}

// Range returns the filter of the range with the block at a height of the active
// chain, and the next height whose block is outside the range. It returns false
// if there is no filter. The bytes are valid until Release, and are read under
// [Guard].
func (v *View) Range(height int32) (r Range, to int32, ok bool) {
	group := v.active[height] / groupSize
	if int(group) >= len(v.ranges) || v.ranges[group] == nil || v.ranges[group].mem == nil {
		return Range{}, height, false
	}
	for to = height + 1; int(to) < len(v.active) && v.active[to]/groupSize == group; {
		to++
	}
	f := v.ranges[group]
	return Range{f.mem[rangeHeader:], f.crc}, to, true
}

func newRange(mem []byte, crc uint32) *rangeFile {
	r := &rangeFile{mem: mem, crc: crc}
	r.refs.Store(1)
	return r
}

// setRange makes a file the n-th, and drops what was there.
func (s *Store) setRange(n int, r *rangeFile) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		r.release()
		return
	}
	old := replaceAt(&s.ranges, n, r)
	s.mu.Unlock()
	old.release()
}

// openRanges reads the key and maps the filters that belong to it and to the
// blocks, and removes the others.
func (s *Store) openRanges() error {
	files, err := filesLike(s.fs, s.dir, "rang*.dat*")
	if err != nil {
		return err
	}
	if s.ranged {
		if err := s.openRangeKey(); err != nil {
			return err
		}
	}
	slots := s.catalog.slots
	for n := 0; s.ranged && (n+1)*groupSize <= len(slots); n++ {
		path := rangePath(s.dir, n)
		r, err := s.openRange(path, n, slots[n*groupSize:(n+1)*groupSize])
		if err == nil {
			files = slices.DeleteFunc(files, func(f string) bool { return f == path })
		} else if !errors.Is(err, os.ErrNotExist) {
			s.log.Warn("range filter cannot be used, making it anew", "file", filepath.Base(path), "err", err)
		}
		s.ranges = append(s.ranges, r)
	}
	for _, path := range files {
		s.log.Info("filter index removes a range filter that is of no use", "file", filepath.Base(path))
		if err := s.fs.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// openRangeKey reads the secret, or makes one. Without it the filters that were
// made under it are worth nothing.
func (s *Store) openRangeKey() error {
	path := filepath.Join(s.dir, "range.key")
	key, err := vfs.ReadFile(s.fs, path, RangeKeySize)
	if err == nil && len(key) == RangeKeySize {
		copy(s.rangeKey[:], key)
		return s.hide(path)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) && !errors.Is(err, vfs.ErrTooLarge) {
		return err
	}
	if _, err := rand.Read(s.rangeKey[:]); err != nil {
		return err
	}
	return vfs.ReplaceFile(s.fs, path, s.rangeKey[:], 0o600)
}

// hide makes a file its owner's alone to read.
func (s *Store) hide(path string) error {
	f, err := openFile(s.fs, path)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Close())
}

func (s *Store) appendRangeHeader(b []byte, number int, slots []slot, data []byte) []byte {
	print, key := fingerprint(slots), rangeKeyID(&s.rangeKey)
	b = append(b, rangeMagic...)
	b = binary.LittleEndian.AppendUint32(b, rangeVersion)
	b = binary.LittleEndian.AppendUint32(b, uint32(number))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(slots)))
	b = binary.LittleEndian.AppendUint32(b, checksum(data))
	b = append(b, print[:]...)
	b = append(b, key[:16]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(data)))
	b = append(b, make([]byte, rangeHeader-4-len(b))...)
	return binary.LittleEndian.AppendUint32(b, checksum(b))
}

// rangeKeyID tells keys apart.
func rangeKeyID(key *[RangeKeySize]byte) [sha256.Size]byte {
	return sha256.Sum256(append([]byte("range filter key "), key[:]...))
}

// openRange maps a file and checks its header. The filter itself is checked when
// it is used.
func (s *Store) openRange(path string, number int, slots []slot) (*rangeFile, error) {
	f, err := openFile(s.fs, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	head := make([]byte, rangeHeader)
	if _, err := f.ReadAt(head, 0); err != nil {
		return nil, short(err)
	}
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	print, key := fingerprint(slots), rangeKeyID(&s.rangeKey)
	switch le := binary.LittleEndian; {
	case !bytes.Equal(
		head[:8], rangeMagic,
	), le.Uint32(head[92:]) != checksum(head[:92]), le.Uint32(head[8:]) != rangeVersion:
		return nil, errHeader
	case le.Uint32(head[12:]) != uint32(number), !bytes.Equal(
		head[24:56], print[:],
	), !bytes.Equal(head[56:72], key[:16]):
		return nil, errForeignRange
	case uint64(stat.Size()) != rangeHeader+le.Uint64(head[72:]):
		return nil, errSize
	}
	mem := mmapRandom(f, stat.Size())
	if mem == nil {
		return nil, errNoMapping
	}
	return newRange(mem, binary.LittleEndian.Uint32(head[20:])), nil
}
