package segment

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
)

// MakeLines appends the probe lines of a block's filter to dst, and returns how
// many items the filter has. A filter may have no lines.
type MakeLines func(dst []byte, block *chainhash.Hash, filter []byte) (lines []byte, items uint32, err error)

// groupSize is how many filters, one after the other in the order of Append,
// have their probe lines in one file.
const groupSize = 2048

// lineEntry are the probe lines of one filter.
type lineEntry struct {
	lines []byte // of a mapping, or of memory
	items uint32 // of the filter
	sum   uint32 // CRC-32 (IEEE) of the lines
}

// lineGroup are the probe lines of up to groupSize filters: of a mapped file, or,
// for the last filters, in memory. It does not change. It starts with one
// reference, the store's; the mapping ends with the last.
type lineGroup struct {
	entries []lineEntry
	mem     []byte // the mapping
	refs    atomic.Int64
}

func newGroup(entries []lineEntry, mem []byte) *lineGroup {
	g := &lineGroup{entries: entries, mem: mem}
	g.refs.Store(1)
	return g
}

func (g *lineGroup) acquire() {
	if g != nil {
		g.refs.Add(1)
	}
}

func (g *lineGroup) release() {
	if g != nil && g.refs.Add(-1) == 0 && g.mem != nil {
		munmap(g.mem)
	}
}

// len is how many filters have their lines; g may be nil.
func (g *lineGroup) len() int {
	if g == nil {
		return 0
	}
	return len(g.entries)
}

func linesPath(dir string, group int) string {
	return filepath.Join(dir, fmt.Sprintf("prob%05d.dat", group))
}

// WithoutProbes returns how many filters have no probe lines yet; 0 for a store that
// keeps none.
func (s *Store) WithoutProbes() int {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.makeLines == nil || s.closed {
		return 0
	}
	left := len(s.catalog.slots)
	for _, g := range s.groups {
		left -= g.len()
	}
	return left
}

// AddProbes makes the probe lines of some filters that have none, of a fraction of a
// second's work, and returns how many are left. The lines of a complete group are
// put into a file, which gets its name in one step. The lines of the last filters
// are in memory alone, to be made again by the next start. Readers and appends go on
// meanwhile. One goroutine may call it at a time.
//
// Errors: [*DamagedError] for a filter that lines cannot be made of, [ErrClosed],
// those of the file system and of ctx.
func (s *Store) AddProbes(ctx context.Context) (left int, err error) {
	if s.makeLines == nil {
		return 0, nil
	}
	v := s.View()
	defer v.Release()
	n := v.firstUnlaid()
	if n*groupSize >= len(v.slots) {
		if s.isClosed() {
			return 0, ErrClosed
		}
		return 0, nil
	}
	g, err := s.makeGroup(ctx, v, n)
	if err != nil {
		return 0, err
	}
	if g.len() == groupSize {
		if g, err = s.storeGroup(v, n, g); err != nil {
			return 0, fmt.Errorf("store probe lines: %w", err)
		}
	}
	s.setGroup(n, g)
	return s.WithoutProbes(), nil
}

// firstUnlaid returns the first group that has not the lines of all its filters.
func (v *View) firstUnlaid() int {
	for n, g := range v.groups {
		if g.len() < min(groupSize, len(v.slots)-n*groupSize) {
			return n
		}
	}
	return len(v.groups)
}

// makeGroup makes the lines of a group, in memory. Lines that the view has are
// taken over.
func (s *Store) makeGroup(ctx context.Context, v *View, n int) (*lineGroup, error) {
	slots := v.slots[n*groupSize : min((n+1)*groupSize, len(v.slots))]
	entries := make([]lineEntry, 0, groupSize)
	if n < len(v.groups) && v.groups[n] != nil {
		entries = append(entries, v.groups[n].entries...)
	}
	for i := len(entries); i < len(slots); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e, err := s.makeEntry(v, &slots[i])
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return newGroup(entries, nil), nil
}

func (s *Store) makeEntry(v *View, at *slot) (e lineEntry, err error) {
	fault := Guard(func() {
		var filter []byte
		if filter, err = v.checked(at); err != nil {
			return
		}
		e.lines, e.items, err = s.makeLines(nil, &at.block, filter)
		if err != nil {
			err = v.damaged(at, err)
		}
	})
	if fault != nil {
		return e, v.damaged(at, fault)
	}
	e.lines = slices.Clip(e.lines)
	e.sum = checksum(e.lines)
	return e, err
}

// setGroup makes a group the n-th, and drops what was there.
func (s *Store) setGroup(n int, g *lineGroup) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		g.release()
		return
	}
	old := replaceAt(&s.groups, n, g)
	s.mu.Unlock()
	old.release()
}

// replaceAt makes an item the n-th of a list, in a copy, because views hold the old
// one, and returns what was there.
func replaceAt[T any](list *[]*T, n int, item *T) (old *T) {
	grown := slices.Clone(*list)
	for len(grown) <= n {
		grown = append(grown, nil)
	}
	old, grown[n] = grown[n], item
	*list = grown
	return old
}

// DropLines forgets the probe lines around a block's filter, because they are
// damaged, so that [Store.AddProbes] rebuilds them; it sends on [Store.ProbesLost].
func (s *Store) DropLines(block *chainhash.Hash) {
	s.mu.RLock()
	n, ok := s.catalog.find(block)
	group := int(n) / groupSize
	known := ok && !s.closed && group < len(s.groups) && s.groups[group] != nil
	s.mu.RUnlock()
	if !known {
		return
	}
	s.log.Warn(
		"probe lines of block filters are damaged, making them anew", "file", filepath.Base(linesPath(s.dir, group)),
	)
	s.setGroup(group, nil)
	select {
	case s.probesLost <- struct{}{}:
	default:
	}
}

// ProbesLost tells when probe lines were found damaged.
func (s *Store) ProbesLost() <-chan struct{} { return s.probesLost }

// VerifyLines reads all probe lines, and drops those that are damaged.
func (s *Store) VerifyLines(ctx context.Context) error {
	v := s.View()
	defer v.Release()
	for n, g := range v.groups {
		if err := ctx.Err(); err != nil {
			return err
		}
		if g.len() > 0 && !g.intact() {
			s.DropLines(&v.slots[n*groupSize].block)
		}
	}
	return nil
}

func (g *lineGroup) intact() (intact bool) {
	fault := Guard(func() {
		intact = !slices.ContainsFunc(g.entries, func(e lineEntry) bool { return checksum(e.lines) != e.sum })
	})
	return fault == nil && intact
}

// fingerprint tells the filters of a group from all others.
func fingerprint(slots []slot) [sha256.Size]byte {
	b := make([]byte, 0, len(slots)*(chainhash.HashSize+8))
	for i := range slots {
		b = append(b, slots[i].block[:]...)
		b = binary.LittleEndian.AppendUint32(b, slots[i].length)
		b = binary.LittleEndian.AppendUint32(b, slots[i].crc)
	}
	return sha256.Sum256(b)
}

// openGroups maps the files of probe lines that belong to the filters, and
// removes the others.
func (s *Store) openGroups() error {
	files, err := filesLike(s.fs, s.dir, "prob*.dat*")
	if err != nil {
		return err
	}
	slots := s.catalog.slots
	for n := 0; s.makeLines != nil && (n+1)*groupSize <= len(slots); n++ {
		path := linesPath(s.dir, n)
		g, err := openGroup(s.fs, path, n, slots[n*groupSize:(n+1)*groupSize])
		if err != nil {
			if !errors.Is(err, os.ErrNotExist) {
				s.log.Warn("probe lines cannot be used, making them anew", "file", filepath.Base(path), "err", err)
			}
			s.groups = append(s.groups, nil)
			continue
		}
		s.groups = append(s.groups, g)
		files = slices.DeleteFunc(files, func(f string) bool { return f == path })
	}
	for _, path := range files {
		s.log.Info("filter index removes probe lines that are of no use", "file", filepath.Base(path))
		if err := s.fs.Remove(path); err != nil {
			return err
		}
	}
	return nil
}
