package segment

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/vfs"
)

// MakeFilter rebuilds the filter of a block, as [Entry] has it.
type MakeFilter func(ctx context.Context, block *chainhash.Hash) ([]byte, error)

// Rebuild rewrites a segment and no other. Filters that still have their
// filter hash are kept, the others are asked of makeFilter and must have the
// hash that is recorded. The new file takes the old one's place in one step;
// readers and appends go on meanwhile, and views keep the old file. The last
// segment gets no more filters afterwards.
//
// A filter that cannot be made does not stop the others from being rebuilt; it
// remains damaged, and the error says why.
//
// Errors: those of makeFilter and the file system, [*DamagedError] for a
// filter that came out with another hash, [ErrNotFound] for no such segment,
// [ErrClosed], that of ctx, with nothing changed.
func (s *Store) Rebuild(ctx context.Context, segment int, makeFilter MakeFilter) error {
	s.rebuild.Lock()
	defer s.rebuild.Unlock()
	c, err := s.freeze(segment)
	if err != nil {
		return err
	}
	c.hashOf = s.filterHash
	file, err := vfs.CreateReplacement(s.fs, c.path, 0o600)
	if err != nil {
		return fmt.Errorf("rebuild filter segment %d: %w", segment, err)
	}
	lost, err := c.remake(ctx, file, makeFilter)
	if err == nil {
		err = s.replace(c, file)
	}
	if err != nil {
		_ = file.Discard() // Open does it otherwise
		return fmt.Errorf("rebuild filter segment %d: %w", segment, err)
	}
	s.log.Info("filter segment is rebuilt", "segment", segment, "filters", len(c.slots))
	return lost
}

// freeze returns the check of a segment that does not grow any more.
func (s *Store) freeze(segment int) (*checkup, error) {
	s.write.Lock()
	defer s.write.Unlock()
	c, err := s.checkup(segment)
	if err == nil && c.grows {
		s.seal()
	}
	return c, err
}

// replace puts a new file in the place of the old one, on the disk and for
// readers.
func (s *Store) replace(c *checkup, file *vfs.Replacement) error {
	s.write.Lock()
	defer s.write.Unlock()
	if err := file.Commit(); err != nil {
		return err
	}
	i, _ := s.catalog.segmentAt(int(c.info.number))
	fresh := newRegion(s.fs, s.dir, c.info.number, c.info.size())
	s.mu.Lock()
	old := s.regions[i]
	regions := slices.Clone(s.regions) // views hold the old slice
	regions[i] = fresh
	s.regions = regions
	s.mu.Unlock()
	old.release()
	return nil
}

// remake writes the segment to a new file. Filters that could not be made are left
// zero and reported in lost.
func (c *checkup) remake(ctx context.Context, f *vfs.Replacement, makeFilter MakeFilter) (lost, err error) {
	old, err := openFile(c.fs, c.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	defer closeFile(old)

	if err := f.Truncate(c.info.size()); err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(appendHeader(nil, c.info.number), 0); err != nil {
		return nil, err
	}
	var buf []byte
	for i := range c.slots {
		s := &c.slots[i]
		buf = grow(buf, s.length)
		filter, makeErr := c.remakeFilter(ctx, old, s, buf, makeFilter)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if makeErr != nil {
			lost = errors.Join(lost, makeErr)
			continue
		}
		if _, err := f.WriteAt(filter, int64(s.offset)); err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// remakeFilter returns the filter of a slot: as it is in the old file, read
// into buf, if it is intact, else a new one.
func (c *checkup) remakeFilter(
	ctx context.Context, old vfs.File, s *slot, buf []byte, makeFilter MakeFilter,
) ([]byte, error) {
	if readAt(old, buf, int64(s.offset)) == nil && c.checkFilter(s, buf) == nil {
		return buf, nil
	}
	block := s.block
	filter, err := makeFilter(ctx, &block)
	if err != nil {
		return nil, fmt.Errorf("filter of block %v: %w", block, err)
	}
	return filter, c.checkFilter(s, filter)
}
